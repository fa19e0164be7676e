"""Routing, methods and headers of the information endpoints: the EP rows that need one master and no framework."""

from tests.conformance.scenarios.scenario import JSON, Row, Step, get, send
from tests.conformance.scenarios.setups import AUTHENTICATED, OPERATORS, STANDARD

JAVASCRIPT = "text/javascript"
TO_LEADER = {"Location": "//{leader}"}
READONLY_CHALLENGE = {"WWW-Authenticate": 'Basic realm="mesos-master-readonly"'}


def answers(step: Step) -> Step:
    """A step that gives some JSON."""
    return step.gives(200, content_type=JSON)


def each(row: str, *steps: Step) -> Row:
    return Row(row, STANDARD, *steps)


ROWS = (
    each("EP-1", *(answers(get(path)) for path in ("/state/x", "/quota/", "/roles/x", "/slaves/", "//state"))),
    each(
        "EP-1 with the prefix",
        *(
            answers(get(f"/master/{name}"))
            for name in ("state", "state-summary", "slaves", "roles", "quota", "weights", "flags")
        ),
        get("/master/health").gives(200),
        get("/master/redirect").gives(307, headers=TO_LEADER),
    ),
    each(
        "EP-2",
        *(
            get(path).gives(404)
            for path in (
                "/state.json",
                "/nonexistent",
                "/redirect/x",
                "/",
                "/master",
                "/Quota",
                "/master/version",
                "/master/metrics/snapshot",
                "/api/v2",
            )
        ),
        send("POST", "/nonexistent", "{").gives(404),
    ),
    each(
        "EP-2 slashes, and what stands for a letter",
        *(
            answers(get(path))
            for path in (
                "//quota",
                "/master//quota",
                "/quota//x/",
                "/quota/.",
                "/quota/a..b",
                "/%6Daster/quota",
                "/%76ersion",
                "/version//",
                "/metrics//snapshot",
                "/maintenance/status//x",
            )
        ),
        *(
            get(path).gives(404)
            for path in (
                "//master/quota",
                "//version",
                "//metrics/snapshot",
                "/version/x",
                "/maintenance//status",
                "/api//v1",
                "/master/%71uota",
                "/%71uota",
                "/quota/..",
                "/quota/...",
                "/redirect/",
                "/master/redirect/",
                "/master/master/quota",
            )
        ),
        send("DELETE", "/%6Daster/quota/r").gives(400),
        send("DELETE", "/quota/...").gives(404),
    ),
    each(
        "EP-3",
        *(
            answers(send(method, path))
            for method, path in (
                ("POST", "/state"),
                ("PUT", "/roles"),
                ("PATCH", "/slaves"),
                ("POST", "/state-summary"),
                ("DELETE", "/version"),
                ("POST", "/flags"),
            )
        ),
        send("POST", "/health").gives(200),
        send("POST", "/redirect").gives(307, headers=TO_LEADER),
    ),
    each("EP-4", get("/redirect").gives(307, headers=TO_LEADER), get("/redirect?x=1").gives(307, headers=TO_LEADER)),
    each("EP-6", answers(get("/tasks?limit=x"))),
    each("EP-7", get("/metrics/snapshot?timeout=abc").gives(400), answers(get("/metrics/snapshot?timeout=2secs"))),
    each(
        "EP jsonp",
        *(
            get(f"/{name}?jsonp=f").gives(200, content_type=JAVASCRIPT)
            for name in ("state", "state-summary", "slaves", "roles", "quota", "weights", "flags", "version")
        ),
    ),
    each(
        "EP queries and fragments",
        *(
            get(f"/quota{rest}").gives(200, content_type=JAVASCRIPT)
            for rest in ("?x=1;jsonp=f", "?%6asonp=f", "?jsonp", "?x&jsonp=a=b", "?jsonp=f#x", "?jsonp=a&jsonp=b")
        ),
        *(answers(get(f"/quota{rest}")) for rest in ("#?jsonp=f", "?;", "??jsonp=f", "?x=jsonp")),
        send("DELETE", "/quota/r#x").gives(400),
    ),
    each(
        "EP one agent",
        get("/slaves?slave_id=none").gives(200, {"slaves": [], "recovered_slaves": []}),
        get("/slaves?slave_id=").gives(200, {"slaves": [], "recovered_slaves": []}),
    ),
    Row(
        "EP readonly is open beside an authenticated readwrite",
        AUTHENTICATED,
        *(answers(get(f"/{name}")) for name in ("state", "slaves", "roles", "flags", "version")),
    ),
    Row(
        "EP readonly authentication",
        OPERATORS,
        *(
            get(path).gives(401, headers=READONLY_CHALLENGE)
            for path in ("/state", "/slaves", "/roles", "/state-summary", "/flags", "/metrics/snapshot")
        ),
        get("/health").gives(200),
        answers(get("/version")),
        get("/redirect").gives(307),
        answers(get("/state").by("op")),
        get("/flags").by("op").gives(403),
    ),
)
