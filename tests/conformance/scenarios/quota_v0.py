"""GET, POST and DELETE /quota: the QH rows of the specification."""

import json
from typing import Any

from tests.conformance.scenarios.reserving import cpus, dynamic, reserve
from tests.conformance.scenarios.scenario import (
    Row,
    delete,
    get,
    info,
    old_status,
    post_quota,
    quota_request,
    scalar,
    send,
    status,
)
from tests.conformance.scenarios.setups import ALL_RESERVED, AUTHENTICATED, OPERATORS, STANDARD, WHITELIST_R1

ALLOW = {"Allow": "GET, POST, DELETE"}
CHALLENGE = {"WWW-Authenticate": 'Basic realm="mesos-master-readwrite"'}
JAVASCRIPT = "text/javascript"
VALID = quota_request("r1", cpus=1)
NOTHING_SET = get("/quota").gives(200, {})
R1_HAS_ONE_CPU = get("/quota").gives(200, status(r1={"cpus": 1})).old(200, old_status(r1={"cpus": 1}))


def refused(row: str, *guarantees: list[dict[str, Any]]) -> list[Row]:
    """One row for each guarantee that must be refused and leave nothing behind."""
    return [
        Row(f"{row}.{number}", STANDARD, post_quota("r1", guarantee, force=True).gives(400), NOTHING_SET)
        for number, guarantee in enumerate(guarantees, 1)
    ]


PORTS = {"name": "ports", "type": "RANGES", "ranges": {"range": [{"begin": 31000, "end": 31005}]}}
ITEMS = {"name": "zones", "type": "SET", "set": {"item": ["a", "b"]}}
VOLUME = {"persistence": {"id": "id1"}, "volume": {"container_path": "data", "mode": "RW"}}

READING = (
    Row("QH-1", STANDARD, NOTHING_SET),
    Row(
        "QH-2",
        STANDARD,
        send("PUT", "/quota", VALID).gives(405, headers=ALLOW),
        send("HEAD", "/quota").gives(405, headers=ALLOW),
        NOTHING_SET,
    ),
    *(
        Row(f"QH-3.{number}", STANDARD, send("POST", "/quota", body).gives(400), NOTHING_SET)
        for number, body in enumerate(("{", "", "[]", "role=r1", json.dumps(VALID) + " xx"), 1)
    ),
    Row(
        "QH-4",
        STANDARD,
        send("POST", "/quota", {}).gives(400),
        post_quota("", cpus=1).gives(400),
        send("POST", "/quota", {"guarantee": [scalar("cpus", 1)]}).gives(400),
        NOTHING_SET,
    ),
    Row(
        "QH-5",
        STANDARD,
        send("POST", "/quota", {"role": "r1"}).gives(400),
        send("POST", "/quota", {"role": "r1", "guarantee": []}).gives(400),
        NOTHING_SET,
    ),
    Row("QH-6", STANDARD, send("POST", "/quota", {**VALID, "role": 5}).gives(400), NOTHING_SET),
    *refused(
        "QH-7",
        [{"name": "cpus", "scalar": {"value": 1}}],
        [{"name": "cpus", "type": "BOGUS", "scalar": {"value": 1}}],
        [{"name": "cpus", "type": "SCALAR"}],
        [{"name": "cpus", "type": "SCALAR", "scalar": {}}],
    ),
    *refused("QH-8", [scalar("cpus", -1)], [scalar("cpus", 0.0001)]),
)

RULES = (
    Row(
        "QH-9",
        STANDARD,
        post_quota("r1", cpus=0).gives(200),
        get("/quota")
        .gives(200, {"infos": [{"role": "r1"}], "configs": [{"role": "r1", "limits": {"cpus": {"value": 0}}}]})
        .old(200, {"infos": [{"role": "r1"}]}),
        post_quota("r1", cpus=1).gives(400),
        delete("/quota/r1").gives(200),
        NOTHING_SET,
    ),
    *refused(
        "QH-10",
        [PORTS],
        [ITEMS],
        [scalar("cpus", 1), scalar("cpus", 2)],
        [scalar("cpus", 1, role="r1")],
        [scalar("cpus", 1, role="r1", reservation={"principal": "p"})],
        [scalar("cpus", 1, reservations=[{"type": "STATIC", "role": "r1"}])],
        [scalar("cpus", 1, revocable={})],
        [scalar("disk", 1, disk=VOLUME)],
        [scalar("disk", 1, disk={})],
        [scalar("disk", 1, disk=VOLUME, shared={})],
        [scalar("disk", 1, shared={})],
    ),
    Row("QH-11", STANDARD, post_quota("*", cpus=1, force=True).gives(200).old(400)),
    Row("QH-12", STANDARD, post_quota("a b", cpus=1).gives(400), post_quota("a/b", cpus=1).gives(400), NOTHING_SET),
    Row(
        "QH-13",
        STANDARD,
        send("POST", "/quota", {**quota_request("r1", cpus="1.5", force="true"), "no such key": 1}).gives(200),
        get("/quota").gives(200, status(r1={"cpus": 1.5})).old(200, old_status(r1={"cpus": 1.5})),
    ),
    Row(
        "QH-14",
        STANDARD,
        send(
            "POST",
            "/quota",
            '{"role": "r1", "guarantee": [{"name": "cpus", "type": "SCALAR", "scalar": {"value": 1}}], "role": "r2"}',
        ).gives(200),
        get("/quota").gives(200, status(r2={"cpus": 1})).old(200, old_status(r2={"cpus": 1})),
    ),
)

CAPACITY = (
    Row("QH-15", STANDARD, post_quota("r1", cpus=16, mem=8192).gives(200)),
    Row("QH-16", STANDARD, post_quota("r1", cpus=17, mem=1).gives(200).old(409)),
    Row("QH-17", STANDARD, post_quota("r1", cpus=24, mem=12288).gives(200).old(409)),
    Row("QH-18", STANDARD, post_quota("r1", cpus=25, mem=1).gives(409), NOTHING_SET),
    Row(
        "QH-19",
        STANDARD,
        post_quota("r1", cpus=25, mem=1, force=True).gives(200),
        get("/quota").gives(200, status(r1={"cpus": 25, "mem": 1})).old(200, old_status(r1={"cpus": 25, "mem": 1})),
    ),
    Row(
        "QH-20",
        STANDARD,
        post_quota("r1", cpus=10, mem=1).gives(200),
        post_quota("r2", cpus=7, mem=1).gives(200).old(409),
    ),
    Row(
        "QH-20 at the brim",
        STANDARD,
        post_quota("r1", cpus=10).gives(200),
        post_quota("r2", cpus=14.001).gives(409),
        post_quota("r2", cpus=14).gives(200).old(409),
        post_quota("r3", cpus=0.001).gives(409).old(200),
        post_quota("r4", cpus=6).gives(409),
        post_quota("r5", cpus=5.999).gives(409).old(200),
        post_quota("r6", cpus=0.001).gives(409),
    ),
    Row(
        "QH-21",
        STANDARD,
        post_quota("r1", cpus=1).gives(200),
        post_quota("r1", cpus=2).gives(400),
        post_quota("r1", cpus=2, force=True).gives(400),
        R1_HAS_ONE_CPU,
    ),
    Row(
        "QH-22",
        STANDARD,
        reserve(cpus(2, dynamic("web"))).gives(202),
        post_quota("r1", cpus=16, mem=1).gives(200),
    ),
    Row("QH-24", STANDARD, post_quota("r1", gpus=1).gives(409), NOTHING_SET),
    Row("QH-31", ALL_RESERVED, post_quota("r1", cpus=1, mem=512).gives(200).old(409)),
)

PATHS = (
    Row(
        "QH-25",
        STANDARD,
        post_quota("r1", cpus=1).gives(200),
        delete("/quota").gives(400),
        delete("/quota/").gives(400),
        delete("/quota/nope").gives(400),
        delete("/quota/r1/").gives(400),
        delete("/quota/r1/x").gives(400),
        delete("/quota/%72%31").gives(400),
        R1_HAS_ONE_CPU,
        delete("//quota//r1").gives(200),
        NOTHING_SET,
        post_quota("r1", cpus=1).gives(200),
        delete("/master/quota/r1").gives(200),
        NOTHING_SET,
        post_quota("r1", cpus=1).gives(200),
        delete("/quota/r1?role=r2").gives(200),
        NOTHING_SET,
    ),
    Row(
        "QH-26",
        STANDARD,
        send("POST", "/quota/x", VALID).gives(200),
        get("/quota/x").gives(200, status(r1={"cpus": 1})).old(200, old_status(r1={"cpus": 1})),
        get("/quota?jsonp=cb").gives(200, content_type=JAVASCRIPT),
    ),
    Row("QH-26 prefix", STANDARD, send("POST", "/master/quota", VALID).gives(200), R1_HAS_ONE_CPU),
)

ACCESS = (
    *(
        Row(
            f"QH-27 {name}",
            AUTHENTICATED,
            get("/quota").with_headers(**headers).gives(401, headers=CHALLENGE),
            send("POST", "/quota", VALID).with_headers(**headers).gives(401, headers=CHALLENGE),
            send("POST", "/quota", "{").with_headers(**headers).gives(401, headers=CHALLENGE),
            send("PUT", "/quota").with_headers(**headers).gives(401, headers=CHALLENGE),
            delete("/quota/r1").with_headers(**headers).gives(401, headers=CHALLENGE),
            get("/quota").by("op").gives(200, {}),
        )
        for name, headers in {
            "nobody": {},
            "wrong secret": get("").by("op", "wrong").headers,
            "unknown principal": get("").by("stranger").headers,
            "no basic scheme": {"Authorization": "Bearer abc"},
            "not base64": {"Authorization": "Basic ***"},
        }.items()
    ),
    Row(
        "QH-28",
        OPERATORS,
        post_quota("dev", cpus=1).by("dev").gives(200),
        post_quota("web", cpus=1).by("dev").gives(403),
        send("POST", "/quota", "{").by("dev").gives(400),
        post_quota("web", cpus=-1).by("dev").gives(400),
        post_quota("web", cpus=1000).by("dev").gives(403),
        post_quota("web", cpus=1000).by("op").gives(409),
        post_quota("web", cpus=1).by("op").gives(200),
        delete("/quota/web").by("dev").gives(403),
        delete("/quota/none").by("dev").gives(400),
        delete("/quota/dev").by("dev").gives(200),
    ),
    Row(
        "QH-29",
        OPERATORS,
        post_quota("dev", cpus=1).by("op").gives(200),
        post_quota("web", mem=32).by("op").gives(200),
        get("/quota").by("dev").gives(200, status(dev={"cpus": 1})).old(200, old_status(dev={"cpus": 1})),
        get("/quota")
        .by("op")
        .gives(200, status(dev={"cpus": 1}, web={"mem": 32}))
        .old(200, old_status(dev={"cpus": 1}, web={"mem": 32})),
    ),
    Row(
        "QH-30",
        WHITELIST_R1,
        post_quota("r2", cpus=1).gives(400),
        delete("/quota/r2").gives(400),
        post_quota("r1", cpus=1).gives(200),
        get("/quota").gives(200, status(r1={"cpus": 1})).old(200, {"infos": [info("r1", "*", cpus=1)]}),
    ),
)

ROWS = (*READING, *RULES, *CAPACITY, *PATHS, *ACCESS)
