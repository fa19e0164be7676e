"""Requests with numbers and resources at their bounds, at every place of a request that takes one.

A request that a master accepts is mutated: a number becomes an extreme one, a resource is replaced, gets a companion or
appears a thousand times, or a list is emptied.
"""

import copy
import json
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from tests.conformance.histories.changed_fields import Place, finite
from tests.conformance.scenarios.reserving import cpus, disk, dynamic, mem, ports
from tests.conformance.scenarios.scenario import scalars

LARGEST = 2**64 - 1
NUMBERS: tuple[float, ...] = (
    0, -0.0, -1, 0.0004, 0.0005, 1.0005, 5e-324, 2**31 - 1, 2**31, 2**32, 2**53 + 1, 9223372036854774, 9223372036854775,
    1e15, 1e16, 2**63 - 1, 2**63, 1.8e19, LARGEST, 1e300, -1e16, -(2**63), math.nan, math.inf, -math.inf,
)  # fmt: skip
SPANS = (
    ((31005, 31001),),
    ((LARGEST, LARGEST),),
    ((0, LARGEST),),
    ((31000, LARGEST), (0, 5)),
    ((LARGEST, 0),),
    ((31000, 31002), (31001, 31003)),
    ((31000, 31000), (31000, 31000)),
    (),
    tuple((port, port) for port in range(31000, 33000, 2)),
)
OWNER = [dynamic("r")]
VOLUME = {"persistence": {"id": "v1"}, "volume": {"mode": "RW", "container_path": "data"}}
SHAPES: tuple[dict[str, Any], ...] = (
    {"type": "SCALAR"},
    {"type": "SCALAR", "scalar": {}},
    {"type": "RANGES"},
    {"type": "RANGES", "ranges": {"range": [{"begin": 1, "end": 2}]}},
    {"type": "SET"},
    {"type": "SET", "set": {"item": []}},
    {"type": "SET", "set": {"item": ["a", "a"]}},
    {"type": "SET", "set": {"item": [f"i{number}" for number in range(1000)]}},
    {"type": "TEXT", "text": {"value": "x"}},
    {"type": "SCALAR", "ranges": {"range": [{"begin": 1, "end": 2}]}},
    {"type": "RANGES", "scalar": {"value": 1}},
    *({"type": "RANGES", "ranges": {"range": [{"begin": b, "end": e} for b, e in span]}} for span in SPANS),
)
"""What a resource may be worth, of every kind, right or wrong."""
VALUES = ("scalar", "ranges", "set", "text", "type")


@dataclass(frozen=True)
class Request:
    """A request to an endpoint, or a call of an operator or a scheduler, as JSON.

    `place` says what was mutated.  A call of a scheduler comes from a framework that has been offered an agent.
    """

    door: str
    """"form /reserve", "json PUT /weights", "query /tasks", "operator" or "scheduler"."""
    body: Any
    place: Place = ()
    in_protobuf: bool = False

    @property
    def name(self) -> str:
        """The call or the endpoint, and the place without indices: findings of one name are one."""
        of = str(self.body.get("type", self.door)) if isinstance(self.body, dict) else self.door
        operations = self.body.get("accept", {}).get("operations") if isinstance(self.body, dict) else None
        inner = f" {operations[-1]['type']}" if operations else ""
        return f"{of}{inner}: " + ".".join(str(part) for part in self.place if not isinstance(part, int))

    def text(self) -> str:
        """The body as it is sent: a number that JSON lacks is a string, as Mesos takes it; protobuf has them all."""
        if self.in_protobuf:
            return json.dumps(self.body)
        if self.door.startswith(("form", "query")):
            fields = {key: part if isinstance(part, str) else _written(part) for key, part in self.body.items()}
            return urlencode(fields, safe="@")
        return _written(self.body)


def _written(value: Any) -> str:
    return json.dumps(finite(value))


# --- What a master accepts ----------------------------------------------------------------------------

AGENT = {"value": "@A1"}
RESERVED = [cpus(1, *OWNER), mem(64, *OWNER), disk(10, *OWNER), ports((31000, 31001), by=dynamic("r"))]
"""Reserved by an operator before each request, beside the disk of the volume."""
MADE = disk(10, *OWNER, **VOLUME)
"""The volume that is there before each request."""
NEW = disk(5, *OWNER, persistence={"id": "v2"}, volume=VOLUME["volume"])
FREE = [cpus(1, *OWNER), disk(5, *OWNER), ports((31004, 31005), by=dynamic("r"))]
LIMITS = {"cpus": {"value": 2.0}, "mem": {"value": 256.0}}
UNAVAILABLE = {"start": {"nanoseconds": 1000}, "duration": {"nanoseconds": 2000}}
WINDOW = {"machine_ids": [{"hostname": "somewhere"}], "unavailability": UNAVAILABLE}
QUOTA = {"role": "web", "force": True, "guarantee": scalars(cpus=1, mem=64)}
CONFIG = {"role": "web", "guarantees": LIMITS, "limits": LIMITS}
MINIMUM = {"min_allocatable_resources": {"quantities": [{"quantities": LIMITS}]}}
INFO = {
    "user": "u",
    "name": "f",
    "roles": ["r"],
    "capabilities": [{"type": "MULTI_ROLE"}, {"type": "RESERVATION_REFINEMENT"}],
    "failover_timeout": 5.0,
    "offer_filters": {"r": MINIMUM},
}
TASK: dict[str, Any] = {
    "name": "t",
    "task_id": {"value": "t"},
    "agent_id": AGENT,
    "resources": [*scalars(cpus=0.1, mem=32.0), cpus(0.5, *OWNER), disk(10, *OWNER, **VOLUME)],
    "command": {"value": "true"},
    "kill_policy": {"grace_period": {"nanoseconds": 10}},
    "max_completion_time": {"nanoseconds": 10},
    "health_check": {
        "type": "TCP",
        "tcp": {"port": 8080},
        "delay_seconds": 1.0,
        "interval_seconds": 1.0,
        "timeout_seconds": 1.0,
        "consecutive_failures": 2,
        "grace_period_seconds": 1.0,
    },
    "check": {
        "type": "HTTP",
        "http": {"port": 80},
        "delay_seconds": 1.0,
        "interval_seconds": 1.0,
        "timeout_seconds": 1.0,
    },
    "discovery": {"visibility": "CLUSTER", "ports": {"ports": [{"number": 80, "visibility": "CLUSTER"}]}},
}
EXECUTOR = {
    "executor_id": {"value": "e"},
    "type": "DEFAULT",
    "framework_id": {"value": "@F"},
    "resources": scalars(cpus=0.1, mem=32.0, disk=1.0),
    "shutdown_grace_period": {"nanoseconds": 5},
}
IN_GROUP = {key: TASK[key] for key in ("name", "task_id", "agent_id", "resources", "command", "health_check")}
LIMITED = {**IN_GROUP, "limits": {"cpus": {"value": 1.0}, "mem": {"value": 64.0}}}


def _operator(kind: str, **body: Any) -> Request:
    return Request("operator", {"type": kind, kind.lower(): body})


def _scheduler(kind: str, **body: Any) -> Request:
    return Request("scheduler", {"type": kind, kind.lower(): body})


def _accept(kind: str, **operation: Any) -> Request:
    operations = [{"type": kind, kind.lower(): operation}]
    return _scheduler("ACCEPT", offer_ids="@O", operations=operations, filters={"refuse_seconds": 0.0})


def _on_agent(path: str, field: str, *entries: Any) -> Request:
    return Request(f"form {path}", {"slaveId": "@A1", field: list(entries)})


ACCEPTED: tuple[Request, ...] = (
    *(_on_agent("/reserve", "resources", *FREE) for _ in range(2)),
    *(_on_agent("/unreserve", "resources", *RESERVED) for _ in range(2)),
    _on_agent("/create-volumes", "volumes", NEW),
    _on_agent("/destroy-volumes", "volumes", MADE),
    _operator("RESERVE_RESOURCES", agent_id=AGENT, resources=FREE),
    _operator("RESERVE_RESOURCES", agent_id=AGENT, source=[cpus(1, *OWNER)], resources=[cpus(1, dynamic("q"))]),
    _operator("UNRESERVE_RESOURCES", agent_id=AGENT, resources=RESERVED),
    _operator("CREATE_VOLUMES", agent_id=AGENT, volumes=[NEW]),
    _operator("DESTROY_VOLUMES", agent_id=AGENT, volumes=[MADE]),
    *(_operator("GROW_VOLUME", agent_id=AGENT, volume=MADE, addition=disk(5, *OWNER)) for _ in range(2)),
    *(_operator("SHRINK_VOLUME", agent_id=AGENT, volume=MADE, subtract={"value": 2.0}) for _ in range(2)),
    Request("json POST /quota", QUOTA),
    _operator("SET_QUOTA", quota_request=QUOTA),
    *(_operator("UPDATE_QUOTA", force=True, quota_configs=[CONFIG]) for _ in range(2)),
    Request("json PUT /weights", [{"role": "web", "weight": 2.0}, {"role": "ads", "weight": 1.0}]),
    _operator("UPDATE_WEIGHTS", weight_infos=[{"role": "web", "weight": 2.0}, {"role": "ads", "weight": 1.0}]),
    Request("json POST /maintenance/schedule", {"windows": [WINDOW]}),
    _operator("UPDATE_MAINTENANCE_SCHEDULE", schedule={"windows": [WINDOW]}),
    _operator("GET_METRICS", timeout={"nanoseconds": 5_000_000_000}),
    _operator("SET_LOGGING_LEVEL", level=0, duration={"nanoseconds": 1_000_000_000}),
    _operator("LIST_FILES", path="/"),
    _operator("READ_FILE", path="/none", offset=1, length=1),
    _operator("DRAIN_AGENT", agent_id={"value": "nobody"}, max_grace_period={"seconds": 1, "nanos": 1}),
    Request("query /tasks", {"limit": 5, "offset": 1}),
    *(_scheduler("SUBSCRIBE", framework_info=INFO) for _ in range(3)),
    *(_scheduler("UPDATE_FRAMEWORK", framework_info=INFO) for _ in range(2)),
    *(_accept("RESERVE", resources=FREE) for _ in range(2)),
    *(_accept("UNRESERVE", resources=RESERVED) for _ in range(2)),
    _accept("RESERVE", source=[cpus(1, *OWNER)], resources=[cpus(1, *OWNER, dynamic("r/x"))]),
    _accept("CREATE", volumes=[NEW]),
    _accept("DESTROY", volumes=[MADE]),
    _accept("GROW_VOLUME", volume=MADE, addition=disk(5, *OWNER)),
    _accept("SHRINK_VOLUME", volume=MADE, subtract={"value": 2.0}),
    *(_accept("LAUNCH", task_infos=[TASK]) for _ in range(3)),
    *(_accept("LAUNCH_GROUP", executor=EXECUTOR, task_group={"tasks": [task]}) for task in (IN_GROUP, LIMITED)),
    _accept("CREATE_DISK", source=disk(5, source={"type": "RAW"}), target_type="MOUNT"),
    _accept("DESTROY_DISK", source=disk(5, source={"type": "MOUNT"})),
    _scheduler("DECLINE", offer_ids="@O", filters={"refuse_seconds": 0.0}),
    _scheduler("KILL", task_id={"value": "t"}, kill_policy={"grace_period": {"nanoseconds": 5}}),
    _scheduler("REQUEST", requests=[{"agent_id": AGENT, "resources": scalars(cpus=1.0, mem=64.0)}]),
    _scheduler("RECONCILE", tasks=[{"task_id": {"value": "t"}}]),
    _scheduler("SUPPRESS", roles=["r"]),
)  # fmt: skip


# --- Mutations ----------------------------------------------------------------------------------------


class Extremes:
    """A source of requests that a seed fixes."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def request(self) -> Request:
        """A request with one thing at its bounds, or two."""
        made = self._random.choice(ACCEPTED)
        for _ in range(self._random.choice((1, 1, 1, 2))):
            places = list(_places(made.body))
            if not places:
                break
            place = self._random.choice(places)
            body = copy.deepcopy(made.body)
            made = replace(made, body=_put(body, place, self._mutated(_at(body, place))), place=place)
        in_protobuf = made.door in ("operator", "scheduler") and self._random.random() < 0.3
        return replace(made, in_protobuf=in_protobuf)

    def _mutated(self, value: Any) -> Any:
        if isinstance(value, list):
            return self._list(value)
        if isinstance(value, dict):
            return self._resource(value)
        chosen = self._random.choice(NUMBERS)
        # A place that takes integers takes them alone, but for one time in eight.
        whole = isinstance(value, int) and math.isfinite(chosen) and self._random.random() < 0.875
        return int(chosen) if whole else chosen

    def _list(self, value: list[Any]) -> list[Any]:
        kind = self._random.random()
        if kind < 0.2 or not value:
            return []
        entry = self._random.choice(value)
        if kind < 0.4:
            return [*value, entry]
        if kind < 0.5:
            return [entry] * 1000
        if _is_resource(entry):
            other = self._resource(entry)
            return [other, *value] if kind < 0.75 else [*value, other]
        return value

    def _resource(self, value: dict[str, Any]) -> dict[str, Any]:
        rest = {key: part for key, part in value.items() if key not in VALUES}
        kind = self._random.random()
        if kind < 0.45:
            return {**rest, "type": "SCALAR", "scalar": {"value": self._random.choice(NUMBERS)}}
        shape = copy.deepcopy(self._random.choice(SHAPES))
        name = self._random.choice((value["name"], value["name"], "cpus", "ports", "disk", "rays", ""))
        return {**rest, **shape, "name": name}


def _places(value: Any, place: Place = ()) -> Iterator[Place]:
    """The numbers, the lists and the resources of a body."""
    if isinstance(value, dict):
        if _is_resource(value):
            yield place
        for key, part in value.items():
            yield from _places(part, (*place, key))
    elif isinstance(value, list):
        yield place
        for index, part in enumerate(value):
            yield from _places(part, (*place, index))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield place


def _is_resource(value: Any) -> bool:
    return isinstance(value, dict) and "name" in value and "type" in value and not {"task_id", "roles"} & set(value)


def _at(value: Any, place: Place) -> Any:
    for part in place:
        value = value[part]
    return value


def _put(value: Any, place: Place, put: Any) -> Any:
    """The value with another part at a place."""
    if not place:
        return put
    _at(value, place[:-1])[place[-1]] = put
    return value
