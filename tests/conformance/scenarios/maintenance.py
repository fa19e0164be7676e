"""Maintenance of machines, and the operator's word on single agents: EP-8, EP-9 and the rules around them."""

from typing import Any

from tests.conformance.scenarios.scenario import Row, Step, api, get, send
from tests.conformance.scenarios.setups import MAINTAINERS, STANDARD

READWRITE = {"WWW-Authenticate": 'Basic realm="mesos-master-readwrite"'}
SPAN = {"start": {"nanoseconds": 1895232742000000000}, "duration": {"nanoseconds": 3600000000000}}
Machine = dict[str, str]


def host(hostname: str) -> Machine:
    return {"hostname": hostname}


def window(*machines: Machine, **unavailability: Any) -> dict[str, Any]:
    return {"machine_ids": list(machines), "unavailability": unavailability or SPAN}


def schedule(*windows: dict[str, Any]) -> Step:
    return send("POST", "/maintenance/schedule", {"windows": list(windows)})


def down(*machines: Machine) -> Step:
    return send("POST", "/machine/down", list(machines))


def up(*machines: Machine) -> Step:
    return send("POST", "/machine/up", list(machines))


def about_agent(call: str, agent: str = "no such agent", **more: Any) -> Step:
    return api(call, **{call.lower(): {"agent_id": {"value": agent}, **more}})


def shown(*windows: dict[str, Any]) -> Step:
    return get("/maintenance/schedule").gives(200, {"windows": list(windows)} if windows else {})


def status(**machines: Any) -> Step:
    return get("/maintenance/status").gives(200, {f"{name}_machines": listed for name, listed in machines.items()})


NOTHING = (schedule().gives(200), shown(), status())
A, B = host("a"), host("b")
AGENT_CALLS = ("MARK_AGENT_GONE", "DRAIN_AGENT", "DEACTIVATE_AGENT", "REACTIVATE_AGENT")

MOST = 2**63 - 1
NANOSECONDS = {
    str(MOST): MOST,
    str(-MOST - 1): -MOST - 1,
    f'"{MOST}"': MOST,
    "4611686018427387905": 4611686018427387905,
    # What 64 bits do not hold becomes the lowest that they do.
    str(MOST + 1): -MOST - 1,
    str(2 * MOST + 1): -MOST - 1,
    "1e30": -MOST - 1,
    "-1e30": -MOST - 1,
    "1e18": 10**18,
    "-1.9": -1,
}
"""A time as it may be sent, and what is kept of it."""


def at(nanoseconds: str) -> Row:
    unavailability = f'{{"start":{{"nanoseconds":{nanoseconds}}}}}'
    body = f'{{"windows":[{{"machine_ids":[{{"hostname":"a"}}],"unavailability":{unavailability}}}]}}'
    return Row(
        f"maintenance at {nanoseconds}",
        STANDARD,
        send("POST", "/maintenance/schedule", body).gives(200),
        shown(window(A, start={"nanoseconds": NANOSECONDS[nanoseconds]})),
        *NOTHING,
    )


ROWS = (
    *map(at, NANOSECONDS),
    Row(
        "EP-8",
        STANDARD,
        schedule(window()).gives(400),
        schedule(window({})).gives(400),
        schedule(window(A, A)).gives(400),
        schedule(window(A, start={"nanoseconds": 1}, duration={"nanoseconds": -1})).gives(400),
        schedule(window(A)).gives(200),
        shown(window(A)),
        down(A).gives(200),
        status(down=[A]),
        schedule().gives(400),
        up(A).gives(200),
        shown(),
        status(),
    ),
    Row("EP-9", STANDARD, down(A).gives(400), up(A).gives(400)),
    Row(
        "maintenance methods",
        STANDARD,
        send("PUT", "/maintenance/schedule").gives(405, headers={"Allow": "GET, POST"}),
        send("POST", "/maintenance/status").gives(405, headers={"Allow": "GET"}),
        get("/machine/down").gives(405, headers={"Allow": "POST"}),
        send("PUT", "/machine/up").gives(405, headers={"Allow": "POST"}),
        get("/maintenance").gives(404),
        get("/machine").gives(404),
        get("/master/maintenance/schedule/x").gives(200, {}),
        get("/maintenance/status?jsonp=f").gives(200, content_type="text/javascript"),
    ),
    Row(
        "maintenance bodies",
        STANDARD,
        *(send("POST", "/maintenance/schedule", body).gives(400) for body in ("", "x", "[]", '{"windows":[{}]}')),
        send("POST", "/maintenance/schedule", {"windows": [{"machine_ids": [A]}]}).gives(400),
        send("POST", "/maintenance/schedule", {"windows": [{"machine_ids": [A], "unavailability": {}}]}).gives(400),
        *(
            schedule(window(machine)).gives(400)
            for machine in ({"hostname": ""}, {"hostname": "", "ip": ""}, {"ip": "1.2.3.999"}, {**A, "ip": "nowhere"})
        ),
        *(send("POST", path, body).gives(400) for path in ("/machine/down", "/machine/up")
          for body in ("", "x", "{}", "[]", "[{}]", "[5]", '[{"hostname":5}]')),
        *NOTHING,
    ),
    Row(
        "maintenance times",
        STANDARD,
        schedule(window(A, start={"nanoseconds": -5}, duration={"nanoseconds": 0})).gives(200),
        shown(window(A, start={"nanoseconds": -5}, duration={"nanoseconds": 0})),
        schedule(window(B, start={"nanoseconds": "7"})).gives(200),
        shown(window(B, start={"nanoseconds": 7})),
        status(draining=[{"id": B}]),
        *NOTHING,
    ),
    Row(
        "an empty name is another than none",
        STANDARD,
        schedule(window({"ip": "10.0.0.2"}, {"hostname": "", "ip": "10.0.0.2"})).gives(200),
        schedule(window(host("c"), {"hostname": "c", "ip": ""})).gives(200),
        down(host("c")).gives(200),
        status(down=[host("c")], draining=[{"id": {"hostname": "c", "ip": ""}}]),
        up({"hostname": "c", "ip": ""}).gives(400),
        up(host("c")).gives(200),
        *NOTHING,
    ),
    Row(
        "a machine in any case of letters, once",
        STANDARD,
        schedule(window(host("c"), host("C"))).gives(400),
        schedule(window(host("c")), window(host("C"))).gives(400),
        schedule(window(host("c"), {"ip": "1.2.3.4"}, {"hostname": "C", "ip": "1.2.3.4"})).gives(200),
        down(host("C"), host("c")).gives(400),
        down(host("C")).gives(200),
        status(down=[host("c")], draining=[{"id": {"ip": "1.2.3.4"}}, {"id": {"hostname": "C", "ip": "1.2.3.4"}}]),
        up(host("c")).gives(200),
        *NOTHING,
    ),
    Row(
        "machines come up and go down together or not at all",
        STANDARD,
        schedule(window(A, B), window(host("d"))).gives(200),
        down(A, host("unscheduled")).gives(400),
        up(A).gives(400),
        down(A, B).gives(200),
        down(A).gives(400),
        up(A, host("d")).gives(400),
        up(A, A).gives(400),
        schedule(window(A)).gives(400),
        schedule(window(B, A, host("e"))).gives(200),
        status(down=[A, B], draining=[{"id": host("e")}]),
        up(A).gives(200),
        shown(window(B, host("e"))),
        up(B).gives(200),
        *NOTHING,
    ),
    Row(
        "maintenance by calls",
        STANDARD,
        *(api(name).gives(400) for name in ("UPDATE_MAINTENANCE_SCHEDULE", "START_MAINTENANCE", "STOP_MAINTENANCE")),
        api("UPDATE_MAINTENANCE_SCHEDULE", update_maintenance_schedule={}).gives(400),
        api("START_MAINTENANCE", start_maintenance={}).gives(400),
        api("STOP_MAINTENANCE", stop_maintenance={}).gives(400),
        api("GET_MAINTENANCE_SCHEDULE").gives(
            200, {"type": "GET_MAINTENANCE_SCHEDULE", "get_maintenance_schedule": {"schedule": {}}}
        ),
        api(
            "UPDATE_MAINTENANCE_SCHEDULE", update_maintenance_schedule={"schedule": {"windows": [window(A)]}}
        ).gives(200),
        api("GET_MAINTENANCE_SCHEDULE").gives(
            200,
            {"type": "GET_MAINTENANCE_SCHEDULE", "get_maintenance_schedule": {"schedule": {"windows": [window(A)]}}},
        ),
        api("START_MAINTENANCE", start_maintenance={"machines": [A]}).gives(200),
        api("GET_MAINTENANCE_STATUS").gives(
            200, {"type": "GET_MAINTENANCE_STATUS", "get_maintenance_status": {"status": {"down_machines": [A]}}}
        ),
        api("STOP_MAINTENANCE", stop_maintenance={"machines": [A]}).gives(200),
        api("GET_MAINTENANCE_STATUS").gives(
            200, {"type": "GET_MAINTENANCE_STATUS", "get_maintenance_status": {"status": {}}}
        ),
    ),
    Row(
        "calls about an agent that nobody knows",
        STANDARD,
        *(api(name).gives(400) for name in AGENT_CALLS),
        *(api(name, **{name.lower(): {}}).gives(400) for name in AGENT_CALLS),
        about_agent("MARK_AGENT_GONE").gives(404),
        *(about_agent(name).gives(400) for name in AGENT_CALLS[1:]),
        about_agent("REACTIVATE_AGENT", "@A1").gives(400),
        about_agent("DRAIN_AGENT", "@A1", max_grace_period="5secs").gives(400),
    ),
    Row(
        "out of service and back",
        STANDARD,
        about_agent("DEACTIVATE_AGENT", "@A2").gives(200),
        about_agent("DEACTIVATE_AGENT", "@A2").gives(200),
        about_agent("REACTIVATE_AGENT", "@A2").gives(200),
        about_agent("REACTIVATE_AGENT", "@A2").gives(400),
    ),
    Row(
        "maintenance rights",
        MAINTAINERS,
        get("/maintenance/schedule").gives(401, headers=READWRITE),
        get("/maintenance/status").gives(200, {}),
        down(A).gives(401, headers=READWRITE),
        schedule(window()).by("dev").gives(400),
        schedule(window(A)).by("dev").gives(403),
        schedule(window(A)).by("op").gives(200),
        get("/maintenance/schedule").by("dev").gives(200, {}),
        get("/maintenance/schedule").by("op").gives(200, {"windows": [window(A)]}),
        get("/maintenance/status").by("dev").gives(200, {}),
        down(B).by("dev").gives(400),
        down(A).by("dev").gives(403),
        down(A).by("op").gives(200),
        up(A).by("dev").gives(403),
        up(A).by("op").gives(200),
        *(about_agent(name).by("dev").gives(403) for name in AGENT_CALLS),
        about_agent("MARK_AGENT_GONE").by("op").gives(404),
    ),
)  # fmt: skip
