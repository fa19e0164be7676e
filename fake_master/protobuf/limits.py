"""How many values a protobuf message holds and how deeply they are nested, counted before any of them is made.

Parsed empty messages take some thirty times their bytes in memory, and the protobuf package does not limit values.
"""

from collections.abc import Mapping
from functools import cache

from mesosctl.mesos.messages.protobuf_json.message_tables import Enumeration, Field, Message, Scalar

DEEPEST = 100
"""Messages inside the outermost one: the limit of the protobuf package, here and in Mesos."""
_VARINT, _SIZED = 0, 2
_FIXED = {1: 8, 5: 4, 3: 0, 4: 0}
"""The bytes after the tag by type on the wire; the fields of a group, between 3 and 4, count like those around it."""
_TEXTS = ("string", "bytes")
_LONGEST_VARINT = 10
Parts = Mapping[int, Message | None]
"""The fields of a message whose bytes hold values, by number: each a message, or None for packed numbers."""


class MessageTooLarge(ValueError):
    """A message with too many values, or nested too deeply."""


class _Malformed(Exception):
    pass


def check_size(message: Message, body: bytes, most_values: int) -> None:
    """Raise TooLarge if the bytes of a message may hold more values than allowed, or are nested too deeply.

    It counts each field that the bytes hold, each element of a list, and each empty message, as commas and brackets are
    counted in JSON; never too few. Bytes that are malformed are for the parser to refuse.
    """
    values = at = 0
    parts, end = _parts(message), len(body)
    outer: list[tuple[Parts, int]] = []
    while at < end or outer:
        if at == end:
            parts, end = outer.pop()
            continue
        try:
            number, start, at = _field(body, at, end)
        except _Malformed:
            at = end  # what is around it may have other fields
            continue
        values += 1
        if number in parts:
            inner = parts[number]
            if inner is None:
                values += at - start
            else:
                values += at == start
                outer.append((parts, end))
                parts, end, at = _parts(inner), at, start
        if values > most_values:
            raise MessageTooLarge(f"The message holds more than {most_values} values")
        if len(outer) > DEEPEST:
            raise MessageTooLarge("The message is nested too deeply")


@cache
def _parts(message: Message) -> Parts:
    found: dict[int, Message | None] = {}
    for field in message.fields.values():
        if field.label == "map":
            found[field.number] = _entry(field)
        elif isinstance(field.type, Message):
            found[field.number] = field.type
        elif field.label == "repeated" and _is_number(field.type):
            found[field.number] = None
    return found


def _entry(field: Field) -> Message:
    """Return the message that each entry of a map is in protobuf."""
    return Message("", {"key": Field("string", number=1), "value": Field(field.type, number=2)})


def _is_number(type_: Scalar | Enumeration) -> bool:
    return isinstance(type_, Enumeration) or type_ not in _TEXTS


def _field(body: bytes, at: int, end: int) -> tuple[int, int, int]:
    """Return the number of the field at a place and where its bytes start and end; the number is 0 if it has no size.

    Raises _Malformed.
    """
    tag, start = _varint(body, at, end)
    wire_type, number = tag & 7, 0
    if wire_type == _SIZED:
        size, start = _varint(body, start, end)
        number, after = tag >> 3, start + size
    elif wire_type == _VARINT:
        _, after = _varint(body, start, end)
    elif wire_type in _FIXED:
        after = start + _FIXED[wire_type]
    else:
        raise _Malformed
    if after > end:
        raise _Malformed
    return number, start, after


def _varint(body: bytes, at: int, end: int) -> tuple[int, int]:
    """Return a whole number of variable length, and the place after it.  Raises _Malformed."""
    if at < end and body[at] < 0x80:
        return body[at], at + 1
    value = 0
    for place in range(at, min(end, at + _LONGEST_VARINT)):
        byte = body[place]
        value |= (byte & 0x7F) << 7 * (place - at)
        if byte < 0x80:
            return value, place + 1
    raise _Malformed
