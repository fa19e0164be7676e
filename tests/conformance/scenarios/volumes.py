"""/create-volumes, /destroy-volumes and their v1 calls: RV-28 and RV-29, and resizing."""

from typing import Any

from tests.conformance.scenarios.reserving import create, destroy, disk, dynamic, reserve, shows, unreserve
from tests.conformance.scenarios.scenario import Row, Step, api, form, get
from tests.conformance.scenarios.setups import RESERVERS, STANDARD

DB = dynamic("db")
HUNDRED = reserve(disk(100, DB)).gives(202)


def persistence(volume_id: str, principal: str | None = None) -> dict[str, Any]:
    return {"id": volume_id} if principal is None else {"id": volume_id, "principal": principal}


def volume(amount: Any, volume_id: str, *stack: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A persistent volume; `more` changes its disk info."""
    info = {"persistence": persistence(volume_id), "volume": {"mode": "RW", "container_path": "data"}, **more}
    return disk(amount, *(stack or (DB,)), **info)


def call(kind: str, **body: Any) -> Step:
    return api(kind, **{kind.lower(): {"agent_id": {"value": "@A1"}, **body}})


V1 = volume(50, "v1")
V1_OF_TEN = volume(10, "v1")
IMAGE = {"type": "DOCKER", "docker": {"name": "i"}}
SOURCE = {"type": "SANDBOX_PATH", "sandbox_path": {"type": "PARENT", "path": "p"}}
FROM_ELSEWHERE = {"mode": "RW", "container_path": "data", "image": IMAGE, "source": SOURCE}
SHOWN_FROM_ELSEWHERE = FROM_ELSEWHERE | {"image": IMAGE | {"cached": True}}
OPS = volume(10, "v1", dynamic("dev", "dev"), persistence=persistence("v1", "op"))

ROWS = (
    Row(
        "RV-28",
        STANDARD,
        form("/create-volumes", slaveId="@A1").gives(400),
        get("/create-volumes").gives(405, headers={"Allow": "POST"}),
        HUNDRED,
        create(V1).gives(202),
        shows(db=[disk(50.0, DB), volume(50.0, "v1")]),
        create(volume(10, "v1")).gives(400),
        create(disk(10, DB, persistence=persistence("v2"))).gives(400),
        create(volume(10, "v2", volume={"mode": "RO", "container_path": "data"})).gives(400),
        create(disk(10, persistence=persistence("v2"), volume={"mode": "RW", "container_path": "data"})).gives(400),
        create(volume(500, "v2")).gives(409),
        create(volume(10, "v2", volume={"mode": "RW", "container_path": "data", "host_path": "/x"})).gives(400),
        create(disk(10, DB)).gives(400),
        create().gives(400),
    ),
    Row(
        "RV-29",
        STANDARD,
        HUNDRED,
        create(V1).gives(202),
        unreserve(V1).gives(400),
        unreserve(disk(100, DB)).gives(409),
        destroy(volume(10, "zz")).gives(400),
        destroy(volume(20, "v1")).gives(400),
        destroy(V1).gives(202),
        destroy(V1).gives(400),
        shows(db=[disk(100.0, DB)]),
    ),
    Row(
        "RO-10",
        STANDARD,
        reserve(disk(10, dynamic("a/b/c/d")), disk(10, dynamic("a/b/c"))).gives(202),
        create(volume(10, "id", dynamic("a/b/c/d")), volume(10, "d", dynamic("a/b/c"))).gives(202),
        destroy(volume(10, "id", dynamic("a/b/c/d"))).gives(202),
        destroy(volume(10, "d", dynamic("a/b/c"))).gives(202),
        shows(**{"a/b/c/d": [disk(10.0, dynamic("a/b/c/d"))], "a/b/c": [disk(10.0, dynamic("a/b/c"))]}),
    ),
    Row(
        "RV a volume is refined and handed back",
        STANDARD,
        HUNDRED,
        create(V1).gives(202),
        reserve(volume(50, "v1", DB, dynamic("db/x"))).gives(202),
        shows(db=[disk(50.0, DB)], **{"db/x": [volume(50.0, "v1", DB, dynamic("db/x"))]}),
        unreserve(volume(50, "v1", DB, dynamic("db/x"))).gives(400),
        destroy(V1).gives(400),
        reserve(volume(50, "v1", dynamic("q"))).gives(409),
        destroy(volume(50, "v1", DB, dynamic("db/x"))).gives(202),
    ),
    Row(
        "RV the source and the image of a volume are kept and shown, and mean nothing",
        STANDARD,
        HUNDRED,
        create(volume(10, "v1", volume=FROM_ELSEWHERE)).gives(202),
        shows(db=[disk(90.0, DB), volume(10.0, "v1", volume=SHOWN_FROM_ELSEWHERE)]),
        destroy(V1_OF_TEN).gives(202),
        shows(db=[disk(100.0, DB)]),
    ),
    Row(
        "RV volumes by the operator API",
        STANDARD,
        HUNDRED,
        call("CREATE_VOLUMES", volumes=[V1]).gives(202),
        call("GROW_VOLUME", volume=V1, addition=disk(10, DB)).gives(202),
        shows(db=[disk(40.0, DB), volume(60.0, "v1")]),
        call("GROW_VOLUME", volume=volume(60, "v1"), addition=disk(100, DB)).gives(409),
        call("GROW_VOLUME", volume=volume(60, "zz"), addition=disk(10, DB)).gives(409),
        call("GROW_VOLUME", volume=volume(60, "v1"), addition=disk(10, dynamic("x"))).gives(400),
        call("SHRINK_VOLUME", volume=volume(60, "v1"), subtract={"value": 20}).gives(202),
        shows(db=[disk(60.0, DB), volume(40.0, "v1")]),
        *(
            call("SHRINK_VOLUME", volume=volume(40, "v1"), subtract={"value": amount}).gives(400)
            for amount in (40, 41, 0, -1)
        ),
        call("SHRINK_VOLUME", volume=volume(60, "v1"), subtract={"value": 1}).gives(409),
        call("DESTROY_VOLUMES", volumes=[volume(40, "v1")]).gives(202),
        call("DESTROY_VOLUMES", volumes=[V1]).gives(400),
        shows(db=[disk(100.0, DB)]),
    ),
    Row(
        "RV a volume grows out of nothing",
        STANDARD,
        HUNDRED,
        create(V1).gives(202),
        call("GROW_VOLUME", volume=volume(0, "v2"), addition=disk(10, DB)).gives(202),
        call("GROW_VOLUME", volume=volume(0, "v1"), addition=disk(20, DB)).gives(202),
        call("GROW_VOLUME", volume=volume(0, "v3"), addition=disk(0, DB)).gives(400),
        call("GROW_VOLUME", volume=volume(0, "v3"), addition=disk(100, DB)).gives(409),
        shows(db=[disk(20.0, DB), V1, volume(10.0, "v2"), volume(20.0, "v1")]),
    ),
    Row(
        "RV volumes and principals",
        RESERVERS,
        reserve(disk(100, dynamic("dev", "dev"))).by("dev").gives(202),
        create(volume(10, "v1", dynamic("dev", "dev"))).by("dev").gives(400),
        create(volume(10, "v1", dynamic("dev", "dev"), persistence=persistence("v1", "op"))).by("dev").gives(400),
        create(volume(10, "v1", dynamic("dev", "dev"), persistence=persistence("v1", "op"))).by("op").gives(202),
        *(
            call("GROW_VOLUME", volume=OPS, addition=disk(1, dynamic("dev", "dev"))).by(name).gives(403)
            for name in ("dev", "op")
        ),
        call("SHRINK_VOLUME", volume=OPS, subtract={"value": 1}).by("dev").gives(403),
        destroy(volume(10, "v1", dynamic("dev", "dev"), persistence=persistence("v1", "op"))).by("dev").gives(403),
        destroy(volume(10, "v1", dynamic("dev", "dev"), persistence=persistence("v1", "op"))).by("op").gives(202),
    ),
)
