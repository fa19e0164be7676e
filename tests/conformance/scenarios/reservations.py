"""/reserve, /unreserve and their v1 calls: the RV rows that need no framework."""

import json
from typing import Any
from urllib.parse import quote

from tests.conformance.scenarios.reserving import cpus, disk, dynamic, mem, ports, reserve, shows, static, unreserve
from tests.conformance.scenarios.scenario import Row, Step, api, form, get, scalar, send
from tests.conformance.scenarios.setups import (
    ONE_SEES_LITTLE,
    RESERVERS,
    STANDARD,
    UNDOES_ONE,
    UNRESERVABLE,
    WITH_A_SET,
)

R = dynamic("r")
ONE = cpus(1, R)
CHALLENGE = {"WWW-Authenticate": 'Basic realm="mesos-master-readwrite"'}


def row(name: str, *steps: Step, **more: Any) -> Row:
    return Row(name, STANDARD, *steps, **more)


def refused(name: str, *entries: dict[str, Any]) -> Row:
    return row(name, *(reserve(entry).gives(400) for entry in entries), shows())


def reserves(role: str, **amounts: float) -> Step:
    """What /roles says is reserved for a role."""
    return get("/roles").gives(200, amounts, part=lambda roles: _named(roles, role)["reserved"])


def _named(roles: Any, role: str) -> Any:
    return next(entry for entry in roles["roles"] if entry["name"] == role)


def _first(slaves: Any) -> Any:
    return next(agent for agent in slaves["slaves"] if agent["pid"].startswith("slave(1)@"))


def zones(*names: str) -> dict[str, Any]:
    return {"name": "zones", "type": "SET", "set": {"item": list(names)}, "reservations": [R]}


def whole(names: str) -> Step:
    """The summary of all zones of the first agent."""
    return get("/slaves").gives(200, names, part=lambda slaves: _first(slaves)["resources"]["zones"])


def _owners_in_full(slaves: Any) -> list[str]:
    return sorted(_first(slaves)["reserved_resources_full"])


def _owners_of_all(answer: Any) -> list[str]:
    """The owner of each resource of the first agent."""
    agents = answer["get_agents"]["agents"]
    total = next(agent["total_resources"] for agent in agents if agent["pid"].startswith("slave(1)@"))
    return sorted(
        {entry["reservations"][-1]["role"] if "reservations" in entry else "*" + entry["name"] for entry in total}
    )


def call(kind: str, resources: Any, **more: Any) -> Step:
    field = kind.lower()
    return api(kind, **{field: {"agent_id": {"value": "@A1"}, "resources": resources, **more}})


REQUESTS = (
    row(
        "RV-1",
        form("/reserve", resources=[ONE]).gives(400),
        form("/reserve", slaveId="@A1").gives(400),
        form("/reserve", slaveId="@A1", resources="{").gives(400),
        form("/reserve", slaveId="@A1", resources="{}").gives(400),
        reserve(ONE, on="nobody").gives(400),
        form("/unreserve", resources=[ONE]).gives(400),
        form("/unreserve", slaveId="@A1").gives(400),
        unreserve(ONE, on="nobody").gives(400),
        get("/reserve").gives(405, headers={"Allow": "POST"}),
        get("/unreserve").gives(405, headers={"Allow": "POST"}),
    ),
    row(
        "RV-16",
        send("POST", "/reserve", f"slaveId=@A1;resources={quote(json.dumps([ONE]))}").gives(202),
        reserve(ONE).with_headers(Content_Type="text/plain").gives(202),
        form("/reserve?slaveId=@A1", resources=[ONE]).gives(400),
        *(
            send("POST", "/reserve", f"slaveId=@A1&resources={quote(json.dumps([ONE]))}&x={malformed}").gives(400)
            for malformed in ("%", "%4", "%zz", "100%")
        ),
        shows(r=[cpus(2.0, R)]),
    ),
    row(
        "RV-30",
        call("RESERVE_RESOURCES", [ONE]).gives(202),
        call("RESERVE_RESOURCES", [cpus(1, dynamic("q"))], source=[ONE]).gives(202),
        shows(q=[cpus(1.0, dynamic("q"))]),
        call("UNRESERVE_RESOURCES", [cpus(1, dynamic("q"))]).gives(202),
        shows(),
        api("RESERVE_RESOURCES", reserve_resources={"slave_id": {"value": "@A1"}, "resources": [ONE]}).gives(400),
        api("RESERVE_RESOURCES", reserve_resources={"agent_id": {"value": "no"}, "resources": [ONE]}).gives(400),
        call("RESERVE_RESOURCES", [cpus(100, R)]).gives(409),
        call("RESERVE_RESOURCES", [cpus(1)]).gives(400),
        # The resources are looked at before it is asked which answer would be taken.
        *(
            call(f"{kind}RESERVE_RESOURCES", [cpus(-1, R)]).with_headers(Accept="text/html").gives(400)
            for kind in ("", "UN")
        ),
        *(
            call(f"{kind}RESERVE_RESOURCES", [cpus(1)]).with_headers(Accept="text/html").gives(406)
            for kind in ("", "UN")
        ),
        call("UNRESERVE_RESOURCES", [ONE]).gives(409),
    ),
    row(
        "RV nothing beside something is passed over",
        reserve(ONE, mem(0, R)).gives(202),
        reserve(disk(0, R), ports(by=R), ONE).gives(202),
        call("RESERVE_RESOURCES", [ONE, disk(0, R)], source=[cpus(1), scalar("mem", 0)]).gives(202),
        shows(r=[cpus(3.0, R)]),
        unreserve(cpus(3, R)).gives(202),
        shows(),
        ends={"1.8.1": "zero beside something"},
    ),
    row("RV-31 empty", reserve().gives(400), unreserve().gives(400), shows()),
)

RESOURCES = (
    refused("RV-2", cpus(1), cpus(1, static("r")), scalar("cpus", 1, role="r")),
    row(
        "RV-3",
        reserve(scalar("cpus", 1, role="r", reservation={})).gives(202),
        reserve(ONE).gives(202),
        shows(r=[cpus(2.0, R)]),
    ),
    row(
        "RV-4",
        *(reserve(cpus(1, owner)).gives(202) for owner in (R, dynamic("r", "p"), dynamic("r", k="v"), R)),
        shows(r=[cpus(2.0, R), cpus(1.0, dynamic("r", "p")), cpus(1.0, dynamic("r", k="v"))]),
    ),
    refused(
        "RV-5",
        cpus(1, dynamic("*")),
        cpus(1, dynamic("a b")),
        cpus(1, {"role": "r"}),
        cpus(1, {"type": "DYNAMIC"}),
    ),
    row("RV-6", reserve(cpus(100, R)).gives(409), shows()),
    refused("RV-7", cpus(1, R, revocable={}), cpus(1, R, allocation_info={"role": "r"}), cpus(-1, R)),
    refused("RV-7 allocated to no role", cpus(1, R, allocation_info={}), cpus(1, R, allocation_info={"role": ""})),
    refused("GPUs are whole", scalar("gpus", 0.5, reservations=[R])),
    row("GPUs are whole, unreserved", unreserve(scalar("gpus", 0.5, reservations=[R])).gives(400)),
    row(
        "RV-8",
        reserve(cpus(2, R)).gives(202),
        reserve(cpus(1, R, dynamic("r/x"))).gives(202),
        shows(r=[ONE | {"scalar": {"value": 1.0}}], r__x=[cpus(1.0, R, dynamic("r/x"))]),
        reserve(cpus(1, R, dynamic("s"))).gives(400),
        reserve(cpus(1, dynamic("zz"), dynamic("zz/x"))).gives(409),
        unreserve(cpus(1, R, dynamic("r/x"))).gives(202),
        shows(r=[cpus(2.0, R)]),
    ),
    row(
        "RV-8 undone level by level in one request",
        reserve(cpus(1, R), mem(1, R)).gives(202),
        reserve(cpus(1, R, dynamic("r/x"))).gives(202),
        unreserve(ONE, cpus(1, R, dynamic("r/x"))).gives(409),
        unreserve(cpus(1, R, dynamic("r/x")), ONE).gives(202),
        shows(r=[mem(1.0, R)]),
    ),
    row(
        "RV-8 skipping levels",
        reserve(cpus(2, dynamic("eng"))).gives(202),
        reserve(cpus(1, dynamic("eng"), dynamic("eng/backend/db"))).gives(202),
        unreserve(cpus(1, dynamic("eng"), dynamic("eng/backend/db"))).gives(202),
        shows(eng=[cpus(2.0, dynamic("eng"))]),
    ),
    row(
        "RV-9",
        reserve(cpus(1, static("ads"), dynamic("ads/x")), on="@A2").gives(202),
        unreserve(cpus(1, static("ads"), dynamic("ads/x")), on="@A2").gives(202),
        unreserve(cpus(1, static("ads")), on="@A2").gives(400),
        shows(2, ads=[cpus(8.0, static("ads")), mem(4096.0, static("ads"))]),
    ),
    row(
        "RV-9 for no other role",
        reserve(cpus(1, static("ads"), dynamic("web")), on="@A2").gives(400),
        reserve(cpus(5, dynamic("web")), on="@A2").gives(409),
        shows(2, ads=[cpus(8.0, static("ads")), mem(4096.0, static("ads"))]),
    ),
    row(
        "RV-10",
        reserve(ONE).gives(202),
        unreserve(cpus(0.5, R)).gives(202),
        shows(r=[cpus(0.5, R)]),
        unreserve(cpus(50, R)).gives(409),
        unreserve(cpus(0.1, dynamic("r", "other"))).gives(409),
    ),
    row("RV-12", reserve(cpus(1, dynamic("m1")), mem(64, dynamic("m2"))).gives(202)),
    row(
        "RV-13",
        reserve(cpus(0.0015, dynamic("db"))).gives(202),
        reserve(cpus(1, dynamic("db"))).gives(202),
        shows(db=[cpus(1.002, dynamic("db"))]),
    ),
    row(
        "RV-14",
        reserve(ports((31000, 31004), by=R)).gives(202),
        reserve(ports((31003, 31010), by=R)).gives(409),
        unreserve(ports((31002, 31002), by=R)).gives(202),
        shows(r=[ports((31000, 31001), (31003, 31004), by=R)]),
    ),
    row(
        "RV-13 as sent, until it is reckoned with",
        reserve(cpus(1.0005, dynamic("db"))).gives(202),
        reserve(cpus(0.3333, dynamic("db", "p"))).gives(202),
        shows(db=[cpus(1.0005, dynamic("db")), cpus(0.3333, dynamic("db", "p"))]),
        reserves("db", cpus=1.334),
        unreserve(cpus(0.333, dynamic("db", "p"))).gives(202),
        reserves("db", cpus=1.0005),
        reserve(cpus(0.001, dynamic("db"))).gives(202),
        shows(db=[cpus(1.002, dynamic("db"))]),
        reserves("db", cpus=1.002),
    ),
    row(
        "RV-13 summaries are sums of doubles",
        reserve(cpus(0.1, dynamic("db")), cpus(0.2, dynamic("db", "p"))).gives(202),
        get("/slaves").gives(200, 0.1 + 0.2, part=lambda slaves: _first(slaves)["reserved_resources"]["db"]["cpus"]),
        get("/slaves").gives(200, 11.7 + 0.1 + 0.2, part=lambda slaves: _first(slaves)["resources"]["cpus"]),
        reserves("db", cpus=0.3),
    ),
    row(
        "RV-14 as sent, until it is reckoned with",
        reserve(ports((31004, 31005), (31000, 31001), (31002, 31003), by=R)).gives(202),
        shows(r=[ports((31004, 31005), (31000, 31001), (31002, 31003), by=R)]),
        unreserve(ports((31005, 31005), by=R)).gives(202),
        shows(r=[ports((31000, 31001), (31002, 31003), (31004, 31004), by=R)]),
        reserve(ports((31006, 31006), by=R)).gives(202),
        shows(r=[ports((31000, 31004), (31006, 31006), by=R)]),
        unlike={"1.4.3": "it joins adjacent ranges when something is taken off them, too"},
    ),
    Row(
        "RV-14 sets keep their order",
        WITH_A_SET,
        reserve(zones("d", "a")).gives(202),
        shows(r=[zones("d", "a")]),
        whole("{c, b, d, a}"),
        reserve(zones("b")).gives(202),
        shows(r=[zones("d", "a", "b")]),
        unreserve(zones("a")).gives(202),
        shows(r=[zones("d", "b")]),
        whole("{c, a, d, b}"),
        unreserve(zones("b", "d")).gives(202),
        whole("{c, a, b, d}"),
    ),
    row(
        "RV-15",
        reserve(cpus(1, dynamic("r", b="2", a="1"))).gives(202),
        reserve(cpus(1, dynamic("r", a="1", b="2"))).gives(202),
        shows(r=[cpus(2.0, dynamic("r", b="2", a="1"))]),
    ),
    row(
        "RV-15 labels that are none",
        reserve(cpus(1, dynamic("r") | {"labels": {"labels": []}})).gives(202),
        reserve(cpus(1, dynamic("r"))).gives(202),
        shows(r=[cpus(1.0, dynamic("r") | {"labels": {}}), cpus(1.0, dynamic("r"))]),
        unreserve(cpus(1, dynamic("r") | {"labels": {}})).gives(202),
    ),
    row(
        "RV-25",
        *(reserve(cpus(1, dynamic("r", foo=value))).gives(202) for value in ("bar", "baz")),
        unreserve(cpus(1, dynamic("r", foo="bar"))).gives(202),
        unreserve(cpus(1, dynamic("r", foo="bar"))).gives(409),
        unreserve(cpus(1, dynamic("r", foo="baz"))).gives(202),
        shows(),
    ),
)

HALF = cpus(0.5, R)
SOURCES = (
    row(
        "RV-11",
        reserve(ONE).gives(202),
        reserve(cpus(0.5, dynamic("q")), source=[HALF]).gives(202),
        shows(q=[cpus(0.5, dynamic("q"))], r=[HALF]),
        reserve(HALF, source=[cpus(0.25, R)]).gives(400),
        reserve(cpus(0.5, dynamic("q")), source=[]).gives(202),
        reserve(cpus(0.5, dynamic("q2")), source=[cpus(0.5)]).gives(202),
        reserve(cpus(0.5, dynamic("q")), mem(1, dynamic("s")), source=[HALF, mem(1, R)]).gives(400),
        reserve(HALF, source=[HALF]).gives(202),
        reserve(HALF, source=[cpus(0.5, dynamic("nobody"))]).gives(409),
        shows(q=[cpus(1.0, dynamic("q"))], r=[HALF], q2=[cpus(0.5, dynamic("q2"))]),
    ),
)

UNRESERVED = ("*cpus", "*disk", "*mem", "*ports")
ACCESS = (
    Row(
        "RV-17",
        RESERVERS,
        reserve(ONE).gives(401, headers=CHALLENGE),
        reserve(cpus(1, dynamic("dev"))).by("dev").gives(400),
        reserve(cpus(1, dynamic("dev", "op"))).by("dev").gives(400),
        reserve(cpus(1, dynamic("ops", "dev"))).by("dev").gives(403),
        reserve(cpus(100, dynamic("ops", "dev"))).by("dev").gives(403),
        reserve(cpus(100, dynamic("dev", "dev"))).by("dev").gives(409),
        reserve(cpus(1, dynamic("dev", "dev"))).by("dev").gives(202),
        # One entry that is not allowed is enough.
        reserve(cpus(1, dynamic("dev", "dev")), cpus(1, dynamic("ops", "dev"))).by("dev").gives(403),
    ),
    Row(
        "RV-18",
        RESERVERS,
        unreserve(cpus(1, dynamic("ops", "op"))).gives(401, headers=CHALLENGE),
        reserve(cpus(1, dynamic("ops", "op"))).by("op").gives(202),
        unreserve(cpus(1, dynamic("ops", "op"))).by("dev").gives(403),
        unreserve(cpus(1, dynamic("ops", "dev"))).by("op").gives(409),
        unreserve(cpus(1, dynamic("ops", "op"))).by("op").gives(202),
    ),
    Row(
        "RV-18 by the principal in the reservation",
        UNDOES_ONE,
        *(reserve(cpus(1, dynamic("r", principal))).gives(202) for principal in ("one", "two")),
        unreserve(cpus(1, dynamic("r", "two"))).gives(403),
        unreserve(cpus(1, dynamic("r", "one"))).gives(202),
        shows(r=[cpus(1.0, dynamic("r", "two"))]),
    ),
    Row(
        "RV-18 from one owner to another",
        RESERVERS,
        reserve(cpus(2, dynamic("dev", "dev"))).by("dev").gives(202),
        reserve(cpus(2, dynamic("ops", "op"))).by("op").gives(202),
        # Down: to undo op's is not allowed to dev.  Up: nor is to reserve for ops.
        reserve(cpus(1, dynamic("dev", "dev")), source=[cpus(1, dynamic("ops", "op"))]).by("dev").gives(403),
        reserve(cpus(1, dynamic("ops", "dev")), source=[cpus(1, dynamic("dev", "dev"))]).by("dev").gives(403),
        reserve(cpus(1, dynamic("ops", "op")), source=[cpus(1, dynamic("dev", "dev"))]).by("op").gives(202),
        # What both have in common is not touched.
        reserve(cpus(1, dynamic("dev", "dev"), dynamic("dev/x", "dev")), source=[cpus(1, dynamic("dev", "dev"))])
        .by("dev")
        .gives(403),
    ),
    Row(
        "RV who may see a reservation",
        ONE_SEES_LITTLE,
        reserve(cpus(1, dynamic("dev", "op")), cpus(1, dynamic("ops", "op"))).by("op").gives(202),
        reserve(mem(1, dynamic("dev", "op"))).by("op").gives(202),
        reserve(mem(1, dynamic("dev", "op"), dynamic("dev/x", "op"))).by("op").gives(202),
        *(
            get(path).by(principal).gives(200, seen, part=lambda slaves: sorted(_first(slaves)["reserved_resources"]))
            for principal, seen in {"op": ["dev", "dev/x", "ops"], "dev": ["dev", "dev/x"]}.items()
            for path in ("/slaves", "/state", "/state-summary")
        ),
        get("/slaves").by("dev").gives(200, ["dev", "dev/x"], part=_owners_in_full),
        api("GET_AGENTS").by("dev").gives(200, [*UNRESERVED, "dev", "dev/x"], part=_owners_of_all),
        api("GET_AGENTS").by("op").gives(200, [*UNRESERVED, "dev", "dev/x", "ops"], part=_owners_of_all),
    ),
    Row(
        "RV what overlaps is reserved once, and nothing is unreserved twice",
        STANDARD,
        reserve(ports((31000, 31003), by=R), ports((31002, 31005), by=R)).gives(202),
        unreserve(ports((31000, 31001), by=R), ports((31000, 31001), by=R)).gives(409),
        unreserve(ports((31000, 31003), by=R), ports((31003, 31005), by=R)).gives(409),
        unreserve(ports((31000, 31001), by=R), ports((31002, 31005), by=R)).gives(202),
        shows(),
    ),
    Row("RV-19", UNRESERVABLE, reserve(ONE).gives(403), reserve(cpus(100, R)).gives(403), shows()),
    Row(
        "RV-20",
        RESERVERS,
        reserve(cpus(1, dynamic("jedi", "op")), cpus(1, dynamic("sith", "op"))).by("op").gives(202),
    ),
)

ROWS = (*REQUESTS, *RESOURCES, *SOURCES, *ACCESS)
