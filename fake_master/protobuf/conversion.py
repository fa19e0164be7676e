"""Protobuf bytes to and from the documents that the fake master reads and writes as JSON.

No rule of a message is written here: bytes become the document that the same call has in JSON, and are judged as that.
"""

import base64
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

from google.protobuf.message import DecodeError
from google.protobuf.message import Message as ProtobufMessage

from fake_master.protobuf.descriptors import message_class
from fake_master.protobuf.limits import check_size
from mesosctl.mesos.messages.protobuf_json.defaults import WithUnknown
from mesosctl.mesos.messages.protobuf_json.message_tables import Enumeration, Field, Message, Scalar, mesos_message

Document = dict[str, Any]
_RANGES = {"int32": (-(2**31), 2**31), "int64": (-(2**63), 2**63), "uint32": (0, 2**32), "uint64": (0, 2**64)}


class NotAMessage(ValueError):
    """Bytes that are not the message: cut off, malformed, or without a required field."""


def parse(name: str, body: bytes, *, most_values: int | None = None, release: str | None = None) -> Document:
    """Return the document of a message by its full name.  Raises NotAMessage, and TooLarge if values are limited.

    Without a release, the message is as the tables have it.

    As in Mesos, unknown fields, fields of another wire type and unknown values of enumerations say nothing, but are
    kept (`WithUnknown`).
    """
    message = mesos_message(name, release)
    if most_values is not None:
        check_size(message, body, most_values)
    parsed = message_class(name, message.release)()
    try:
        parsed.ParseFromString(body)
    except DecodeError as error:
        raise NotAMessage(str(error)) from error
    if not parsed.IsInitialized():
        raise NotAMessage("a required field is missing")
    read: Callable[[Any], Document] = _value_reader(message, keeps=_has_unknown(parsed))
    return read(parsed)


def serialize(name: str, document: Mapping[str, Any], release: str | None = None) -> bytes:
    """Return the bytes of a document; fields that the message of the release does not have are left out."""
    return _made(mesos_message(name, release), document).SerializePartialToString()


# --- From bytes ---------------------------------------------------------------------------------------

Reader = Callable[[Any], Any]


def _has_unknown(parsed: ProtobufMessage) -> bool:
    """Whether anything in a message, at any depth, is not in the tables; in most there is nothing to look for."""
    known = type(parsed)()
    known.CopyFrom(parsed)
    known.DiscardUnknownFields()
    return known.ByteSize() != parsed.ByteSize()


def _document(parsed: ProtobufMessage, readers: Mapping[int, tuple[str, Reader]]) -> Document:
    document = {}
    for field, value in parsed.ListFields():
        name, read = readers[field.number]
        document[name] = read(value)
    return document


def _document_with_unknown(parsed: ProtobufMessage, readers: Mapping[int, tuple[str, Reader]]) -> Document:
    document = _document(parsed, readers)
    rest = type(parsed)()
    rest.CopyFrom(parsed)
    for field, _ in parsed.ListFields():
        rest.ClearField(field.name)
    unknown = rest.SerializePartialToString()
    return WithUnknown(document, unknown) if unknown else document


@cache
def _readers(of: Message, *, keeps: bool) -> Mapping[int, tuple[str, Reader]]:
    """Return the name of each field and the function that makes JSON of its value, by number."""
    return {field.number: (name, _field_reader(field, keeps=keeps)) for name, field in of.fields.items()}


def _field_reader(field: Field, *, keeps: bool) -> Reader:
    read = _value_reader(field.type, keeps=keeps)
    if field.label == "repeated":
        return lambda values: [read(value) for value in values]
    if field.label == "map":
        return lambda values: {key: read(values[key]) for key in values if isinstance(key, str)}
    return read


def _value_reader(type_: Scalar | Enumeration | Message, *, keeps: bool) -> Reader:
    if isinstance(type_, Message):
        document = _document_with_unknown if keeps else _document
        return lambda parsed: document(parsed, _readers(type_, keeps=keeps))
    if isinstance(type_, Enumeration):
        names = {number: value for value, number in reversed(type_.values.items())}
        return names.__getitem__
    if type_ == "string":
        return _text
    if type_ == "bytes":
        return lambda value: base64.b64encode(value).decode()
    return lambda value: value


def _text(value: bytes) -> str:
    return value.decode(errors="surrogateescape")


# --- To bytes -----------------------------------------------------------------------------------------

Writer = Callable[[Any], Any]
_NOTHING = object()
"""The mark of a value that a field cannot hold."""


def _made(of: Message, document: Mapping[str, Any]) -> ProtobufMessage:
    made = message_class(of.name, of.release)(**_writable(of, document))
    if isinstance(document, WithUnknown):
        made.MergeFromString(document.unknown)
    return made


def _writable(of: Message, document: Mapping[str, Any]) -> Document:
    """Return the values that the class of a message can hold, by the names of its fields."""
    found: Document = {}
    writers = _writers(of)
    for key, value in document.items():
        write = writers.get(key)
        if write is not None and value is not None:
            written = write(value)
            if written is not _NOTHING:
                found[key] = written
    return found


@cache
def _writers(of: Message) -> Mapping[str, Writer]:
    return {name: _field_writer(field) for name, field in of.fields.items() if field.number}


def _field_writer(field: Field) -> Writer:
    write = _value_writer(field.type)
    if field.label == "repeated":
        return partial(_write_list, write)
    if field.label == "map":
        return partial(_write_map, write, field.type)
    return write


def _write_list(write: Writer, values: Any) -> Any:
    # A framework may have sent a lone value where a list belongs, and JSON takes that.
    written = map(write, values if isinstance(values, list | tuple) else (values,))
    return [value for value in written if value is not _NOTHING]


def _write_map(write: Writer, type_: Scalar | Enumeration | Message, values: Any) -> Any:
    if not isinstance(values, Mapping):
        return _NOTHING
    if isinstance(type_, Message):
        write = partial(_made, type_)
        values = {key: value for key, value in values.items() if isinstance(value, Mapping)}
    written = ((key, write(value)) for key, value in values.items() if _is_utf8(key))
    return {key: value for key, value in written if value is not _NOTHING}


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _value_writer(type_: Scalar | Enumeration | Message) -> Writer:
    if isinstance(type_, Message):
        return partial(_write_message, type_)
    if isinstance(type_, Enumeration):
        return partial(_write_name, type_.values)
    if type_ == "string":
        return _write_text
    if type_ == "bytes":
        return _write_bytes
    if type_ == "bool":
        return lambda value: value if isinstance(value, bool) else _NOTHING
    if type_ in _RANGES:
        return partial(_write_whole, *_RANGES[type_])
    return _write_number


def _write_message(type_: Message, value: Any) -> Any:
    if isinstance(value, WithUnknown):
        return _made(type_, value)
    return _writable(type_, value) if isinstance(value, Mapping) else _NOTHING


def _write_text(value: Any) -> Any:
    try:
        return value.encode(errors="surrogateescape") if isinstance(value, str) else _NOTHING
    except UnicodeEncodeError:  # half of a surrogate pair, which no master accepts
        return _NOTHING


def _write_name(numbers: Mapping[str, int], value: Any) -> Any:
    return numbers.get(value, _NOTHING) if isinstance(value, str) else _NOTHING


def _write_bytes(value: Any) -> Any:
    try:
        return base64.b64decode(value, validate=True) if isinstance(value, str) else _NOTHING
    except ValueError:
        return _NOTHING


def _write_number(value: Any) -> Any:
    try:
        return float(value) if _is_number(value) else _NOTHING
    except OverflowError:
        return _NOTHING


def _write_whole(least: int, end: int, value: Any) -> Any:
    return int(value) if _is_number(value) and least <= value < end else _NOTHING


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
