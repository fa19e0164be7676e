"""The protobuf message with which an agent registers again, made from the JSON that masters show."""

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_STATES = {"TASK_STARTING": 0, "TASK_RUNNING": 1, "TASK_FINISHED": 2, "TASK_STAGING": 6}
_TYPES = {"SCALAR": 0}
_CAPABILITIES = {"PARTITION_AWARE": 5, "MULTI_ROLE": 6, "RESERVATION_REFINEMENT": 7}
_OF_AGENTS = (1, 2, 3)
"""MULTI_ROLE, HIERARCHICAL_ROLE and RESERVATION_REFINEMENT."""
_VARINT, _DOUBLE, _BYTES = 0, 1, 2


@dataclass(frozen=True)
class _Field:
    """A field's number, and what it holds: "text", "double", "bool", the numbers of names, or a message."""

    number: int
    kind: Any = "text"


_Message = Mapping[str, _Field]
_ID: _Message = {"value": _Field(1)}
_RESOURCE: _Message = {
    "name": _Field(1),
    "type": _Field(2, _TYPES),
    "scalar": _Field(3, {"value": _Field(1, "double")}),
    "allocation_info": _Field(11, {"role": _Field(1)}),
}
_STATUS: _Message = {
    "task_id": _Field(1, _ID),
    "state": _Field(2, _STATES),
    "agent_id": _Field(5, _ID),
    "timestamp": _Field(6, "double"),
}
_COMMAND: _Message = {"value": _Field(3)}
_EXECUTOR: _Message = {
    "executor_id": _Field(1, _ID),
    "resources": _Field(5, _RESOURCE),
    "command": _Field(7, _COMMAND),
    "framework_id": _Field(8, _ID),
    "name": _Field(9),
}
_TASK: _Message = {
    "name": _Field(1),
    "task_id": _Field(2, _ID),
    "framework_id": _Field(3, _ID),
    "executor_id": _Field(4, _ID),
    "agent_id": _Field(5, _ID),
    "state": _Field(6, _STATES),
    "resources": _Field(7, _RESOURCE),
    "statuses": _Field(8, _STATUS),
}
_FRAMEWORK: _Message = {
    "user": _Field(1),
    "name": _Field(2),
    "id": _Field(3, _ID),
    "failover_timeout": _Field(4, "double"),
    "checkpoint": _Field(5, "bool"),
    "principal": _Field(8),
    "capabilities": _Field(10, {"type": _Field(1, _CAPABILITIES)}),
    "roles": _Field(12),
}
_AGENT: _Message = {
    "hostname": _Field(1),
    "resources": _Field(3, _RESOURCE),
    "id": _Field(6, _ID),
    "checkpoint": _Field(7, "bool"),
    "port": _Field(8, "int"),
}
_REREGISTRATION: _Message = {
    "slave": _Field(2, _AGENT),
    "tasks": _Field(3, _TASK),
    "executor_infos": _Field(4, _EXECUTOR),
    "version": _Field(6),
    "frameworks": _Field(8, _FRAMEWORK),
    "agent_capabilities": _Field(9, {"type": _Field(1, "int")}),
}


def reregistration(
    agent: Mapping[str, Any],
    tasks: list[dict[str, Any]],
    executors: list[dict[str, Any]],
    frameworks: list[dict[str, Any]],
) -> bytes:
    """A ReregisterSlaveMessage: SlaveInfo, Tasks, ExecutorInfos and FrameworkInfos as the operator API shows them."""
    return _encoded(
        _REREGISTRATION,
        {
            "slave": agent,
            "tasks": tasks,
            "executor_infos": executors,
            "version": "1.11.0",
            "frameworks": frameworks,
            "agent_capabilities": [{"type": number} for number in _OF_AGENTS],
        },
    )


def _encoded(message: _Message, value: Mapping[str, Any]) -> bytes:
    return b"".join(
        _field(field, part)
        for name, field in message.items()
        if name in value
        for part in (value[name] if isinstance(value[name], list) else [value[name]])
    )


def _field(field: _Field, value: Any) -> bytes:
    if field.kind == "double":
        return _varint(field.number << 3 | _DOUBLE) + struct.pack("<d", value)
    if field.kind in ("int", "bool"):
        return _varint(field.number << 3 | _VARINT) + _varint(int(value))
    if isinstance(field.kind, Mapping) and isinstance(value, str):
        return _varint(field.number << 3 | _VARINT) + _varint(field.kind[value])
    content = value.encode() if field.kind == "text" else _encoded(field.kind, value)
    return _varint(field.number << 3 | _BYTES) + _varint(len(content)) + content


def _varint(number: int) -> bytes:
    return bytes(_septets(number))


def _septets(number: int) -> Iterator[int]:
    while number > 0x7F:
        yield number & 0x7F | 0x80
        number >>= 7
    yield number
