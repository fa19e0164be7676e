"""The messages that lie, as serialized descriptors, in the library of a real Mesos."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from google.protobuf import descriptor_pb2
from google.protobuf.message import DecodeError

_NAME = re.compile(rb"\n([\x05-\x7f])([A-Za-z0-9_./]+\.proto)")
_LAST_FIELD = 12  # of FileDescriptorProto
_SCALARS = {1: "double", 2: "float", 3: "int64", 4: "uint64", 5: "int32", 8: "bool", 9: "string", 12: "bytes"} | {
    13: "uint32"
}
_LABELS = {1: "optional", 2: "required", 3: "repeated"}


class Library:
    """Messages and enumerations of a library by their full names."""

    def __init__(self, files: dict[str, descriptor_pb2.FileDescriptorProto]) -> None:
        self.messages: dict[str, descriptor_pb2.DescriptorProto] = {}
        self.enumerations: dict[str, dict[str, int]] = {}
        for file in files.values():
            for message in file.message_type:
                self._add(file.package, message)
            self._add_enumerations(file.package, file.enum_type)

    @classmethod
    def of_file(cls, path: Path) -> Self:
        """The messages of `libmesos.so`, or whatever else its name is."""
        return cls(descriptors(path))

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
        """The fields of a message as a table writes them, with the full names of their types."""
        return {field.name: self._field(name, field) for field in self.messages[name].field}

    def is_entry(self, name: str) -> bool:
        """Whether a message is only there because a map has entries: tables have no such messages."""
        return bool(self.messages[name].options.map_entry)

    def _field(self, owner: str, field: descriptor_pb2.FieldDescriptorProto) -> str:
        label, kind = _LABELS[field.label], _SCALARS.get(field.type) or field.type_name[1:]
        if kind in self.messages and self.is_entry(kind):
            key, value = self.messages[kind].field
            assert key.type == 9
            label, kind = "map", _SCALARS.get(value.type) or value.type_name[1:]
        if field.HasField("oneof_index"):
            label = f"oneof:{self.messages[owner].oneof_decl[field.oneof_index].name}"
        default = f" = {field.default_value}" if field.HasField("default_value") else ""
        return f"{field.number} {label} {kind}{default}"


def of_process(pid: int) -> Path:
    """The library of Mesos that a process has loaded."""
    found = {line.split()[-1] for line in Path(f"/proc/{pid}/maps").read_text(encoding="utf-8").splitlines()}
    return Path(next(path for path in sorted(found) if Path(path).name.startswith("libmesos")))


def descriptors(library: Path) -> dict[str, descriptor_pb2.FileDescriptorProto]:
    """Every file that the library describes, by its name (`mesos/v1/mesos.proto`)."""
    data = library.read_bytes()
    found: dict[str, descriptor_pb2.FileDescriptorProto] = {}
    for start in _starts(data):
        file = descriptor_pb2.FileDescriptorProto()
        try:
            file.ParseFromString(data[start : _end(data, start)])
        except DecodeError:
            continue
        if file.message_type:
            found.setdefault(file.name, file)
    return found


def _starts(data: bytes) -> Iterator[int]:
    for match in _NAME.finditer(data):
        size = match[1][0]
        if match[2][:size].endswith(b".proto") and len(match[2]) >= size:
            yield match.start()


def _end(data: bytes, at: int) -> int:
    """Where the fields end that can be of a file."""
    while True:
        tag = data[at]
        number, wire = tag >> 3, tag & 7
        if tag > 0x7F or not 1 <= number <= _LAST_FIELD or wire not in (0, 2):
            return at
        value, after = _varint(data, at + 1)
        at = after + (value if wire == 2 else 0)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at
