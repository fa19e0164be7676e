"""Protobuf bytes to and from the documents that the fake master reads and writes as JSON.

No rule of a message is written here: bytes become the document that the same call has in JSON, and are judged as that.
"""

import base64
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

from google.protobuf.message import DecodeError
from google.protobuf.message import Message as ProtobufMessage

from fake_master.protobuf.descriptors import FieldTable, message_class, tables

Document = dict[str, Any]
_RANGES = {"int32": (-(2**31), 2**31), "int64": (-(2**63), 2**63), "uint32": (0, 2**32), "uint64": (0, 2**64)}


class NotAMessage(ValueError):
    """Bytes that are not the message: cut off, malformed, or without a required field."""


def parse(name: str, body: bytes) -> Document:
    """Return the document of a message by its full name.  Raises NotAMessage.

    As in Mesos, unknown fields, fields of another wire type and unknown values of enumerations are passed over.
    """
    message = message_class(name)()
    try:
        message.ParseFromString(body)
    except DecodeError as error:
        raise NotAMessage(str(error)) from error
    if not message.IsInitialized():
        raise NotAMessage("a required field is missing")
    return _document(message, _readers(name))


def serialize(name: str, document: Mapping[str, Any]) -> bytes:
    """Return the bytes of a document; fields that the message does not have are left out."""
    return message_class(name)(**_writable(name, document)).SerializePartialToString()


# --- From bytes ---------------------------------------------------------------------------------------

Reader = Callable[[Any], Any]


def _document(message: ProtobufMessage, readers: Mapping[int, tuple[str, Reader]]) -> Document:
    document = {}
    for field, value in message.ListFields():
        name, read = readers[field.number]
        document[name] = read(value)
    return document


@cache
def _readers(name: str) -> Mapping[int, tuple[str, Reader]]:
    """Return the name of each field and the function that makes JSON of its value, by number."""
    return {field.number: (field.name, _field_reader(field)) for field in tables().messages[name].values()}


def _field_reader(field: FieldTable) -> Reader:
    read = _value_reader(field)
    if field.is_list:
        return lambda values: [read(value) for value in values]
    if field.is_map:
        return lambda values: {key: read(values[key]) for key in values if isinstance(key, str)}
    return read


def _value_reader(field: FieldTable) -> Reader:
    kind = tables().kind(field)
    if kind == "message":
        return lambda message: _document(message, _readers(field.type))
    if kind == "enumeration":
        names = {number: value for value, number in reversed(tables().enumerations[field.type].items())}
        return names.__getitem__
    if kind == "text":
        return _text
    if kind == "bytes":
        return lambda value: base64.b64encode(value).decode()
    return lambda value: value


def _text(value: bytes) -> str:
    return value.decode(errors="surrogateescape")


# --- To bytes -----------------------------------------------------------------------------------------

Writer = Callable[[Any], Any]
_NOTHING = object()
"""The mark of a value that a field cannot hold."""


def _writable(name: str, document: Mapping[str, Any]) -> Document:
    """Return the values that the class of a message can hold, by the names of its fields."""
    found: Document = {}
    writers = _writers(name)
    for key, value in document.items():
        write = writers.get(key)
        if write is not None and value is not None:
            written = write(value)
            if written is not _NOTHING:
                found[key] = written
    return found


@cache
def _writers(name: str) -> Mapping[str, Writer]:
    return {field.name: _field_writer(field) for field in tables().messages[name].values()}


def _field_writer(field: FieldTable) -> Writer:
    write = _value_writer(field)
    if field.is_list:
        return partial(_write_list, write)
    if field.is_map:
        return partial(_write_map, write, field.type)
    return write


def _write_list(write: Writer, values: Any) -> Any:
    # A framework may have sent a lone value where a list belongs, and JSON takes that.
    written = map(write, values if isinstance(values, list | tuple) else (values,))
    return [value for value in written if value is not _NOTHING]


def _write_map(write: Writer, type_: str, values: Any) -> Any:
    if not isinstance(values, Mapping):
        return _NOTHING
    is_message = type_ in tables().messages
    written = ((key, write(value)) for key, value in values.items() if _is_utf8(key))
    return {
        key: message_class(type_)(**value) if is_message else value for key, value in written if value is not _NOTHING
    }


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _value_writer(field: FieldTable) -> Writer:
    kind = tables().kind(field)
    if kind == "message":
        return lambda value: _writable(field.type, value) if isinstance(value, Mapping) else _NOTHING
    if kind == "enumeration":
        return partial(_write_name, tables().enumerations[field.type])
    if kind == "text":
        return _write_text
    if kind == "bytes":
        return _write_bytes
    if kind == "bool":
        return lambda value: value if isinstance(value, bool) else _NOTHING
    if kind == "number":
        return _write_number
    return partial(_write_whole, *_RANGES[field.type])


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
