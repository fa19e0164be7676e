"""The tables of messages beside the descriptors in a real Mesos: the same names, numbers, labels and types."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from google.protobuf import descriptor_pb2

from fake_master.protobuf.descriptors import message_class
from mesosctl.mesos.messages.protobuf_json.message_tables import (
    MESOS_PACKAGES,
    Message,
    mesos_enumerations,
    mesos_messages,
)
from tests.conformance.conftest import pool
from tests.conformance.masters.carriers import REAL, Pool
from tests.conformance.scenarios.setups import NO_AGENTS
from tests.fake_master.protobuf import library
from tests.helpers.needs import needs

__all__ = ["pool"]

_SCALARS = {1: "double", 2: "float", 3: "int64", 4: "uint64", 5: "int32", 8: "bool", 9: "string", 12: "bytes"} | {
    13: "uint32"
}
_LABELS = {1: "optional", 2: "required", 3: "repeated"}
MESSAGES = {message.name: message for package in MESOS_PACKAGES for message in mesos_messages(package)}
OF_V0 = ("mesos.internal.", "mesos.scheduler.")
"""Packages of the driver, whose messages refer to v0 ones; here they refer to v1 ones."""
WRITTEN_ALL_THE_SAME = {("mesos.v1.AgentInfo", "checkpoint"): ("mesos.SlaveInfo", "7 optional bool = false")}
"""What a v1 message does not name, and a master writes: the field that the v0 message has."""


class Library:
    """Messages and enumerations of a library by their full names."""

    def __init__(self, files: dict[str, descriptor_pb2.FileDescriptorProto]) -> None:
        self.messages: dict[str, descriptor_pb2.DescriptorProto] = {}
        self.enumerations: dict[str, dict[str, int]] = {}
        for file in files.values():
            for message in file.message_type:
                self._add(file.package, message)
            self._add_enumerations(file.package, file.enum_type)

    def _add(self, outer: str, message: descriptor_pb2.DescriptorProto) -> None:
        name = f"{outer}.{message.name}"
        self.messages[name] = message
        self._add_enumerations(name, message.enum_type)
        for inner in message.nested_type:
            self._add(name, inner)

    def _add_enumerations(self, outer: str, found: object) -> None:
        for enumeration in found:  # type: ignore[attr-defined]
            self.enumerations[f"{outer}.{enumeration.name}"] = {v.name: v.number for v in enumeration.value}

    def fields(self, name: str) -> dict[str, str]:
        """As a table writes them, with full names."""
        return dict(self._field(name, field) for field in self.messages[name].field)

    def _field(self, owner: str, field: descriptor_pb2.FieldDescriptorProto) -> tuple[str, str]:
        label, kind = _LABELS[field.label], _SCALARS.get(field.type) or field.type_name[1:]
        entry = self.messages.get(kind)
        if entry is not None and entry.options.map_entry:
            key, value = entry.field
            assert key.type == 9
            label, kind = "map", _SCALARS.get(value.type) or value.type_name[1:]
        if field.HasField("oneof_index"):
            label = f"oneof:{self.messages[owner].oneof_decl[field.oneof_index].name}"
        name = field.name
        if owner.startswith(OF_V0):
            kind, name = self.in_v1(kind), name.replace("slave", "agent")
        default = f" = {field.default_value}" if field.HasField("default_value") else ""
        return name, f"{field.number} {label} {kind}{default}"

    def in_v1(self, name: str) -> str:
        """The v1 name of a v0 message, where it has one."""
        v1 = name.replace("mesos.", "mesos.v1.", 1).replace("Slave", "Agent")
        own = name in MESSAGES
        return v1 if not own and (v1 in self.messages or v1 in self.enumerations) else name


@pytest.fixture(scope="module")
@needs(*REAL.needs)
def real(pool: Pool) -> Iterator[Library]:
    master = pool.start(REAL, NO_AGENTS)
    assert master.pid is not None
    path: Path = library.of_process(master.pid)
    yield Library(library.descriptors(path))
    master.stop()


def _as_written(message: Message) -> dict[str, str]:
    return {
        name: f"{field.number} {field.label} {field.type if isinstance(field.type, str) else field.type.name}"
        + (f" = {field.default}" if field.default else "")
        for name, field in message.fields.items()
        if field.number and (message.name, name) not in WRITTEN_ALL_THE_SAME
    }


def test_messages_are_those_of_the_library(real: Library) -> None:
    assert MESSAGES
    assert {name: _as_written(message) for name, message in MESSAGES.items()} == {
        name: real.fields(name) for name in MESSAGES
    }
    for (_, field), (v0, text) in WRITTEN_ALL_THE_SAME.items():
        assert real.fields(v0)[field] == text


def test_enumerations_are_those_of_the_library(real: Library) -> None:
    found = {
        enumeration.name: enumeration.values
        for package in MESOS_PACKAGES
        for enumeration in mesos_enumerations(package)
    }
    assert found == {name: real.enumerations[name] for name in found}


def test_messages_of_a_driver_are_those_of_v1_on_the_wire(real: Library) -> None:
    """Else the driver's tables could not refer to the v1 messages."""
    v1 = [name for name in MESSAGES if name.startswith("mesos.v1.")]
    looked_at = 0
    for name in v1:
        v0 = name.replace("mesos.v1.", "mesos.", 1).replace("Agent", "Slave")
        if v0 in real.messages and name not in UNLIKE_V0:
            assert _on_the_wire(real, v0) == _on_the_wire(real, name), name
            looked_at += 1
    assert looked_at > 100


UNLIKE_V0 = {
    "mesos.v1.scheduler.Call",  # the driver's tables have it
    "mesos.v1.scheduler.Call.Subscribe",  # with `force`
    "mesos.v1.AgentInfo",  # `checkpoint`: see above
    "mesos.v1.master.Call.DrainAgent",  # an operator's
}


def _on_the_wire(real: Library, name: str) -> dict[int, tuple[int, int, str]]:
    return {
        field.number: (field.label, field.type, real.in_v1(field.type_name[1:]) if field.type_name else "")
        for field in real.messages[name].field
    }


def test_every_message_can_be_made() -> None:
    for name in MESSAGES:
        made = message_class(name)()
        made.ParseFromString(b"")
        assert made.SerializePartialToString() == b""
