"""The messages of Mesos 1.11, described by tables and made into classes by the `protobuf` package.

Each file in `tables/` has a part of one package: `"NAME": {"FIELD": "NUMBER LABEL TYPE"}` for a message and
`"NAME": {"VALUE": NUMBER}` for an enumeration.  A label is `optional`, `required`, `repeated`, `map` (from strings to
the type) or `oneof:NAME`.  A type is a scalar, a name of the same package, or a name of another package with a dot
before it.

The tables hold the v1 messages.  Those of a driver (v0) are the same on the wire except for `scheduler.Call.Subscribe`,
so the driver's own tables refer to the v1 messages.
"""

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import Message as ProtobufMessage

_FieldProto = descriptor_pb2.FieldDescriptorProto
# Text is sent as bytes: a master passes on text that is not UTF-8, which the protobuf package would refuse.
_SCALARS = {
    "string": _FieldProto.TYPE_BYTES,
    "bytes": _FieldProto.TYPE_BYTES,
    "double": _FieldProto.TYPE_DOUBLE,
    "float": _FieldProto.TYPE_FLOAT,
    "bool": _FieldProto.TYPE_BOOL,
    "int32": _FieldProto.TYPE_INT32,
    "int64": _FieldProto.TYPE_INT64,
    "uint32": _FieldProto.TYPE_UINT32,
    "uint64": _FieldProto.TYPE_UINT64,
}
_LABELS = {
    "optional": _FieldProto.LABEL_OPTIONAL,
    "required": _FieldProto.LABEL_REQUIRED,
    "repeated": _FieldProto.LABEL_REPEATED,
    "map": _FieldProto.LABEL_REPEATED,
}
Kind = Literal["text", "bytes", "number", "whole number", "bool", "enumeration", "message"]
_KINDS: dict[str, Kind] = {
    "string": "text",
    "bytes": "bytes",
    "bool": "bool",
    "double": "number",
    "float": "number",
}


@dataclass(frozen=True, slots=True)
class FieldTable:
    """One field of a message; `type` is a scalar or the full name of a message or an enumeration."""

    name: str
    number: int
    label: str
    type: str

    @property
    def is_list(self) -> bool:
        """Whether the field holds any number of values, in order."""
        return self.label == "repeated"

    @property
    def is_map(self) -> bool:
        """Whether the field is a map from strings."""
        return self.label == "map"


class Tables:
    """Every message and enumeration by its full name (`mesos.v1.FrameworkInfo`)."""

    def __init__(self) -> None:
        self.messages: dict[str, dict[str, FieldTable]] = {}
        self.enumerations: dict[str, dict[str, int]] = {}
        self.packages: dict[str, str] = {}
        """The package of each message and enumeration, by its full name."""
        for entry in sorted((files(__package__) / "tables").iterdir(), key=lambda file: file.name):
            self._add(json.loads(entry.read_bytes()))

    def kind(self, field: FieldTable) -> Kind:
        """Return how values of a field are written in JSON."""
        if field.type in self.messages:
            return "message"
        if field.type in self.enumerations:
            return "enumeration"
        return _KINDS.get(field.type, "whole number")

    def _add(self, table: dict[str, Any]) -> None:
        package = table["package"]
        for name, values in table.get("enums", {}).items():
            self.enumerations[f"{package}.{name}"] = values
            self.packages[f"{package}.{name}"] = package
        for name, fields in table.get("messages", {}).items():
            self.messages[f"{package}.{name}"] = {key: _field(package, key, text) for key, text in fields.items()}
            self.packages[f"{package}.{name}"] = package


def _field(package: str, name: str, text: str) -> FieldTable:
    number, label, kind = text.split()
    if kind not in _SCALARS:
        kind = kind[1:] if kind.startswith(".") else f"{package}.{kind}"
    return FieldTable(name, int(number), label, kind)


@cache
def tables() -> Tables:
    """Return all tables, read once."""
    return Tables()


@cache
def message_class(name: str) -> type[ProtobufMessage]:
    """Return the class of a message by its full name."""
    return message_factory.GetMessageClass(_pool().FindMessageTypeByName(name))


@cache
def _pool() -> descriptor_pool.DescriptorPool:
    """Return a pool with one file for each package, after those that it refers to."""
    pool = descriptor_pool.DescriptorPool()
    found, added = tables(), set[str]()

    def add(package: str) -> None:
        if package in added:
            return
        added.add(package)
        file = descriptor_pb2.FileDescriptorProto(name=f"{package}.proto", package=package, syntax="proto2")
        for needed in _needed(package, found):
            add(needed)
            file.dependency.append(f"{needed}.proto")
        _fill(file, package, found)
        pool.AddSerializedFile(file.SerializeToString())

    for package in set(found.packages.values()):
        add(package)
    return pool


def _needed(package: str, found: Tables) -> list[str]:
    """Return the other packages that the messages of a package refer to."""
    types = (
        field.type
        for name, fields in found.messages.items()
        if found.packages[name] == package
        for field in fields.values()
    )
    return sorted({found.packages[type_] for type_ in types if type_ in found.packages} - {package})


def _fill(file: descriptor_pb2.FileDescriptorProto, package: str, found: Tables) -> None:
    messages: dict[str, descriptor_pb2.DescriptorProto] = {}
    # A message comes before those inside it: shorter names first.
    for name in sorted(
        (name for name in found.messages if found.packages[name] == package), key=lambda n: n.count(".")
    ):
        outer, _, short = name.rpartition(".")
        siblings = messages[outer].nested_type if outer in messages else file.message_type
        messages[name] = siblings.add(name=short)
        for field in found.messages[name].values():
            _add_field(messages[name], name, field, found)
    for name, values in found.enumerations.items():
        if found.packages[name] == package:
            outer, _, short = name.rpartition(".")
            enum = (messages[outer].enum_type if outer in messages else file.enum_type).add(name=short)
            for value, number in values.items():
                enum.value.add(name=value, number=number)


def _add_field(message: descriptor_pb2.DescriptorProto, name: str, field: FieldTable, found: Tables) -> None:
    made = message.field.add(name=field.name, number=field.number)
    kind, _, union = field.label.partition(":")
    made.label = _LABELS.get(kind, _FieldProto.LABEL_OPTIONAL)
    if union:
        names = [declared.name for declared in message.oneof_decl]
        if union not in names:
            message.oneof_decl.add(name=union)
            names.append(union)
        made.oneof_index = names.index(union)
    if not field.is_map:
        _set_type(made, field.type, found)
        return
    entry = message.nested_type.add(name="".join(part.capitalize() for part in field.name.split("_")) + "Entry")
    entry.options.map_entry = True
    # The key is text for the protobuf package too, which accepts no bytes there.
    entry.field.add(name="key", number=1, label=_FieldProto.LABEL_OPTIONAL, type=_FieldProto.TYPE_STRING)
    _set_type(entry.field.add(name="value", number=2, label=_FieldProto.LABEL_OPTIONAL), field.type, found)
    made.type = _FieldProto.TYPE_MESSAGE
    made.type_name = f".{name}.{entry.name}"


def _set_type(made: descriptor_pb2.FieldDescriptorProto, type_: str, found: Tables) -> None:
    if type_ in _SCALARS:
        made.type = _SCALARS[type_]
        return
    made.type = _FieldProto.TYPE_MESSAGE if type_ in found.messages else _FieldProto.TYPE_ENUM
    made.type_name = f".{type_}"
