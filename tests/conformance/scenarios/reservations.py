"""/reserve, /unreserve and their v1 calls: the RV rows that need no framework."""

import json
from typing import Any
from urllib.parse import quote

from tests.conformance.scenario import Row, Step, api, form, get, scalar, send

from .reserving import cpus, dynamic, mem, ports, reserve, shows, static, unreserve
from .setups import RESERVERS, STANDARD, UNRESERVABLE

R = dynamic("r")
ONE = cpus(1, R)
CHALLENGE = {"WWW-Authenticate": 'Basic realm="mesos-master-readwrite"'}


def row(name: str, *steps: Step) -> Row:
    return Row(name, STANDARD, *steps)


def refused(name: str, *entries: dict[str, Any]) -> Row:
    return row(name, *(reserve(entry).gives(400) for entry in entries), shows())


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
        get("/reserve").gives(405, headers={"Allow": "POST"}),
        get("/unreserve").gives(405, headers={"Allow": "POST"}),
    ),
    row(
        "RV-16",
        send("POST", "/reserve", f"slaveId=@A1;resources={quote(json.dumps([ONE]))}").gives(202),
        reserve(ONE).with_headers(Content_Type="text/plain").gives(202),
        form("/reserve?slaveId=@A1", resources=[ONE]).gives(400),
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
        call("UNRESERVE_RESOURCES", [ONE]).gives(409),
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
        "RV-15",
        reserve(cpus(1, dynamic("r", b="2", a="1"))).gives(202),
        reserve(cpus(1, dynamic("r", a="1", b="2"))).gives(202),
        shows(r=[cpus(2.0, dynamic("r", b="2", a="1"))]),
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
        reserve(cpus(1, dynamic("ops", "op"))).by("op").gives(202),
        unreserve(cpus(1, dynamic("ops", "op"))).by("dev").gives(403),
        unreserve(cpus(1, dynamic("ops", "dev"))).by("op").gives(409),
        unreserve(cpus(1, dynamic("ops", "op"))).by("op").gives(202),
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
    Row("RV-19", UNRESERVABLE, reserve(ONE).gives(403), reserve(cpus(100, R)).gives(403), shows()),
    Row(
        "RV-20",
        RESERVERS,
        reserve(cpus(1, dynamic("jedi", "op")), cpus(1, dynamic("sith", "op"))).by("op").gives(202),
    ),
)

ROWS = (*REQUESTS, *RESOURCES, *SOURCES, *ACCESS)
