"""The messages of Mesos, as the tables describe them, made into classes by the `protobuf` package."""

from functools import cache

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import Message as ProtobufMessage

from mesosctl.mesos.messages.protobuf_json.message_tables import (
    MESOS_PACKAGES,
    Enumeration,
    Field,
    Message,
    Scalar,
    mesos_enumerations,
    mesos_messages,
    package_of,
)

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


@cache
def message_class(name: str, release: str | None = None) -> type[ProtobufMessage]:
    """Return the class of a message by its full name, as a release of Mesos has it or else as the tables do."""
    return message_factory.GetMessageClass(_pool(release).FindMessageTypeByName(name))


@cache
def _pool(release: str | None) -> descriptor_pool.DescriptorPool:
    """Return a pool with one file for each package, after those that it refers to."""
    pool = descriptor_pool.DescriptorPool()
    added = set[str]()

    def add(package: str) -> None:
        if package in added:
            return
        added.add(package)
        file = descriptor_pb2.FileDescriptorProto(name=f"{package}.proto", package=package, syntax="proto2")
        for needed in _needed(package, release):
            add(needed)
            file.dependency.append(f"{needed}.proto")
        _fill(file, package, release)
        pool.AddSerializedFile(file.SerializeToString())

    for package in MESOS_PACKAGES:
        add(package)
    return pool


def _needed(package: str, release: str | None) -> list[str]:
    """Return the other packages that the messages of a package refer to."""
    types = (field.type for message in mesos_messages(package, release) for field in message.fields.values())
    return sorted({package_of(type_) for type_ in types if not isinstance(type_, str)} - {package})


def _fill(file: descriptor_pb2.FileDescriptorProto, package: str, release: str | None) -> None:
    made: dict[str, descriptor_pb2.DescriptorProto] = {}
    # A message comes before those inside it: shorter names first.
    for message in sorted(mesos_messages(package, release), key=lambda message: message.name.count(".")):
        outer, _, short = message.name.rpartition(".")
        siblings = made[outer].nested_type if outer in made else file.message_type
        made[message.name] = siblings.add(name=short)
        for name, field in message.fields.items():
            if field.number:  # a field that only JSON has has none
                _add_field(made[message.name], message, name, field)
    for enumeration in mesos_enumerations(package, release):
        if not enumeration.values:
            continue  # the release does not have it
        outer, _, short = enumeration.name.rpartition(".")
        enum = (made[outer].enum_type if outer in made else file.enum_type).add(name=short)
        for value, number in enumeration.values.items():
            enum.value.add(name=value, number=number)


def _add_field(made: descriptor_pb2.DescriptorProto, message: Message, name: str, field: Field) -> None:
    added = made.field.add(name=name, number=field.number)
    label, _, union = field.label.partition(":")
    added.label = _LABELS.get(label, _FieldProto.LABEL_OPTIONAL)
    if union:
        names = [declared.name for declared in made.oneof_decl]
        if union not in names:
            made.oneof_decl.add(name=union)
            names.append(union)
        added.oneof_index = names.index(union)
    if label != "map":
        _set_type(added, field.type)
        return
    entry = made.nested_type.add(name="".join(part.capitalize() for part in name.split("_")) + "Entry")
    entry.options.map_entry = True
    # The key is text for the protobuf package too, which accepts no bytes there.
    entry.field.add(name="key", number=1, label=_FieldProto.LABEL_OPTIONAL, type=_FieldProto.TYPE_STRING)
    _set_type(entry.field.add(name="value", number=2, label=_FieldProto.LABEL_OPTIONAL), field.type)
    added.type = _FieldProto.TYPE_MESSAGE
    added.type_name = f".{message.name}.{entry.name}"


def _set_type(made: descriptor_pb2.FieldDescriptorProto, type_: Scalar | Enumeration | Message) -> None:
    if isinstance(type_, str):
        made.type = _SCALARS[type_]
        return
    made.type = _FieldProto.TYPE_MESSAGE if isinstance(type_, Message) else _FieldProto.TYPE_ENUM
    made.type_name = f".{type_.name}"
