"""The resources that operations name: a broken rule is 400, and resources that no agent has are 409."""

from collections.abc import Callable
from typing import Any

from tests.conformance.scenarios.reserving import cpus, create, destroy, disk, dynamic, ports, reserve, shows, unreserve
from tests.conformance.scenarios.scenario import Row, Step, api, scalar
from tests.conformance.scenarios.setups import STANDARD

R = dynamic("r")
PATH = {"source": {"type": "PATH"}}


def volume(volume_id: str = "v1", *, stack: Any = (R,), more: Any = None, **info: Any) -> dict[str, Any]:
    """A volume of 1 MB; `info` changes its disk info, `more` the resource."""
    told = {"persistence": {"id": volume_id}, "volume": {"mode": "RW", "container_path": "data"}} | info
    return disk(1, *stack, **told) | (more or {})


def call(kind: str, **body: Any) -> Step:
    return api(kind, **{kind.lower(): {"agent_id": {"value": "@A1"}, **body}})


def grow(grown: dict[str, Any], addition: dict[str, Any]) -> Step:
    return call("GROW_VOLUME", volume=grown, addition=addition)


def shrink(shrunk: dict[str, Any]) -> Step:
    return call("SHRINK_VOLUME", volume=shrunk, subtract={"value": 0.5})


Operation = Callable[[dict[str, Any]], Step]
ALL: tuple[Operation, ...] = (reserve, unreserve, create, destroy)
IN_NONE = {
    "an empty persistence id": volume(""),
    "a persistence id that is a path": volume("v/1"),
    "a persistence id with a backslash": volume("v\\1"),
    "a persistence id of two dots": volume(".."),
    "a persistence id with a line end": volume("v\n"),
    "a persistence id of 256 characters": volume("v" * 256),
    "a volume without a path": volume(volume=None),
    "a volume with a host path": volume(volume={"mode": "RW", "container_path": "data", "host_path": "/x"}),
    "a path without a persistence id": volume(persistence=None),
    "a disk that says nothing": disk(1, R) | {"disk": {}},
    "a revocable volume": volume(more={"revocable": {}}),
    "an unreserved volume": volume(stack=()),
    "a part of a gpu": scalar("gpus", 0.5, reservations=[R]),
    "what is revocable": cpus(1, R, revocable={}),
}
"""Resources that no operation takes."""

ROWS = (
    *(Row(f"no operation takes {what}", STANDARD, *(operation(entry).gives(400) for operation in ALL), shows())
      for what, entry in IN_NONE.items()),
    Row("RESERVE and UNRESERVE of what the agent has not", STANDARD,
        *(reserve(scalar("gpus", amount, reservations=[R])).gives(409) for amount in (1, 1.001, 2.0004, 1.9999)),
        *(reserve(scalar("gpus", amount, reservations=[R])).gives(400) for amount in (1.002, 0.999, 2.001, 0.0005)),
        reserve(disk(1, R, **PATH)).gives(409),
        reserve(volume()).gives(409),
        unreserve(disk(1, R, **PATH)).gives(409),
        *(unreserve(cpus(1, R, allocation_info=of)).gives(409) for of in ({"role": "r"}, {"role": ""}, {})),
        unreserve(ports((31000, 31001), by=R) | {"allocation_info": {"role": "r"}}).gives(409)),
    Row("volumes that are allocated, or a provider's", STANDARD,
        reserve(disk(10, R)).gives(202),
        *(create(volume(more={"allocation_info": of})).gives(409) for of in ({"role": "r"}, {})),
        create(volume(more={"provider_id": {"value": "x"}})).gives(409),
        create(volume()).gives(202),
        destroy(volume(more={"provider_id": {"value": "x"}})).gives(409),
        destroy(volume("v2")).gives(400),
        destroy(volume(), volume("v2", more={"provider_id": {"value": "x"}})).gives(400),
        destroy(volume()).gives(202),
        shows(r=[disk(10.0, R)])),
    Row("volumes that cannot be there are not there", STANDARD,
        grow(volume(stack=()), disk(1)).gives(409),
        grow(volume(more={"revocable": {}}), disk(1, R) | {"revocable": {}}).gives(409),
        grow(volume("v/1"), disk(1, R)).gives(409),
        grow(volume(source={"type": "RAW"}), disk(1, R, source={"type": "RAW"})).gives(409),
        grow(volume(source={"type": "BLOCK"}), disk(1, R, source={"type": "BLOCK"})).gives(400),
        grow(volume(source={"type": "MOUNT"}), disk(1, R, source={"type": "MOUNT"})).gives(400),
        grow(volume(more={"provider_id": {"value": "x"}}), disk(1, R)).gives(400),
        grow(volume(more={"shared": {}}), disk(1, R)).gives(400),
        shrink(volume(stack=())).gives(409),
        shrink(volume("..")).gives(409),
        shrink(volume(source={"type": "RAW"})).gives(409),
        shrink(volume(source={"type": "BLOCK"})).gives(409),
        shrink(volume(source={"type": "MOUNT"})).gives(400),
        shrink(volume(more={"provider_id": {"value": "x"}})).gives(400),
        shrink(volume(more={"shared": {}})).gives(400)),
)  # fmt: skip
