"""POST /api/v1: the envelope of every call, and the shapes of the read calls."""

from typing import Any

from tests.conformance.scenarios.scenario import JSON, Row, Step, api, get, send
from tests.conformance.scenarios.setups import AUTHENTICATED, NO_AGENTS, STANDARD

ALLOW = {"Allow": "POST"}
CHALLENGE = {"WWW-Authenticate": 'Basic realm="mesos-master-readwrite"'}
HEALTHY = {"type": "GET_HEALTH", "get_health": {"healthy": True}}


def raw(body: str) -> Step:
    """A call with the right content type and this text."""
    return send("POST", "/api/v1", body).with_headers(Content_Type=JSON)


def accepting(accept: str) -> Step:
    return api("GET_HEALTH").with_headers(Accept=accept)


def typed(content_type: str) -> Step:
    return send("POST", "/api/v1", {"type": "GET_HEALTH"}).with_headers(Content_Type=content_type)


def drained(grace: Any) -> Any:
    return {"agent_id": {"value": "nobody"}, "max_grace_period": grace}


def draining(grace: Any) -> Step:
    """A call that reads, with the body of another."""
    return api("GET_HEALTH", drain_agent=drained(grace))


ENVELOPE = (
    Row(
        "v1 method",
        STANDARD,
        *(send(method, "/api/v1").gives(405, headers=ALLOW) for method in ("GET", "PUT", "DELETE", "HEAD", "PATCH")),
    ),
    Row("v1 path", STANDARD, get("/api/v1/x").gives(405), get("/master/api/v1").gives(405), get("/api").gives(404)),
    Row(
        "v1 content type",
        STANDARD,
        send("POST", "/api/v1", {"type": "GET_HEALTH"}).gives(400),
        typed("application/json; charset=utf-8").gives(415),
        typed("APPLICATION/JSON").gives(415),
        typed("text/plain").gives(415),
        typed("").gives(415),
        typed("application/x-protobuf").gives(400),
        typed(JSON).gives(200, HEALTHY),
    ),
    Row(
        "v1 a grace period in a call of another type has seconds",
        STANDARD,
        *(draining(grace).gives(400) for grace in ({}, {"seconds": 0}, {"nanos": 5})),
        *(draining(grace).gives(200, HEALTHY) for grace in ({"seconds": 1, "nanos": 5}, {"seconds": -1}, None)),
        api("DRAIN_AGENT", drain_agent=drained({"nanos": 5})).gives(400),
    ),
    Row("v1 content type before the body", STANDARD, send("POST", "/api/v1", "{").gives(400)),
    Row(
        "v1 accept",
        STANDARD,
        accepting("text/html").gives(406),
        accepting("application/json;q=0").gives(406),
        accepting("*/*").gives(200, HEALTHY),
        accepting("application/*").gives(200, HEALTHY),
        accepting(JSON).gives(200, HEALTHY),
        accepting("text/html, application/json;q=0.5").gives(200, HEALTHY),
    ),
    Row(
        "v1 body",
        STANDARD,
        *(
            raw(text).gives(400)
            for text in ("", "{", "[]", "null", '"x"', "{} x", "{}", '{"type":"NONE_SUCH"}', '{"type":"get_health"}')
        ),
        *(raw(text).gives(400) for text in ('{"type":5}', '{"type":null}', '{"type":["GET_HEALTH"]}')),
        raw('{"type":"UNKNOWN"}').gives(501),
        raw('{"type":"GET_VERSION","type":"GET_HEALTH"}').gives(200, HEALTHY),
        raw('{"type":"GET_HEALTH","no such key":1}').gives(200, HEALTHY),
        raw(' {"type":"GET_HEALTH"}\n').gives(200, HEALTHY),
    ),
    Row(
        "v1 refused before accept is looked at",
        STANDARD,
        send("POST", "/api/v1", "{").with_headers(Content_Type=JSON, Accept="text/html").gives(400),
    ),
    Row(
        "v1 authentication",
        AUTHENTICATED,
        api("GET_HEALTH").gives(401, headers=CHALLENGE),
        send("GET", "/api/v1").gives(401, headers=CHALLENGE),
        api("GET_HEALTH").by("op", "wrong").gives(401, headers=CHALLENGE),
        api("GET_HEALTH").by("op").gives(200, HEALTHY),
    ),
)

READ_CALLS = (
    Row("GET_HEALTH", STANDARD, api("GET_HEALTH").gives(200, HEALTHY)),
    *(
        Row(name, STANDARD, api(name).gives(200, keys=f"type {name.lower()}"))
        for name in ("GET_AGENTS", "GET_FLAGS", "GET_QUOTA", "GET_STATE", "GET_VERSION")
    ),
    Row(
        "GET_METRICS",
        STANDARD,
        api("GET_METRICS").gives(400),
        api("GET_METRICS", get_metrics={}).gives(200, keys="type get_metrics"),
        api("GET_METRICS", get_metrics={"timeout": {"nanoseconds": 10**9}}).gives(200, keys="type get_metrics"),
        api("GET_METRICS", get_metrics={"timeout": {}}).gives(400),
        api("GET_METRICS", get_metrics={"timeout": {"nanoseconds": "x"}}).gives(400),
    ),
    Row("GET_WEIGHTS, none set", STANDARD, api("GET_WEIGHTS").gives(200, {"type": "GET_WEIGHTS"})),
    Row(
        "GET_ROLES",
        STANDARD,
        api("GET_ROLES").gives(200, {"type": "GET_ROLES", "get_roles": {"roles": [{"name": "ads", "weight": 1.0}]}}),
    ),
    Row("GET_ROLES, none known", NO_AGENTS, api("GET_ROLES").gives(200, {"type": "GET_ROLES", "get_roles": {}})),
    Row(
        "GET_AGENTS, none registered",
        NO_AGENTS,
        api("GET_AGENTS").gives(200, {"type": "GET_AGENTS", "get_agents": {"agents": [], "recovered_agents": []}}),
    ),
)

ROWS = (*ENVELOPE, *READ_CALLS)
