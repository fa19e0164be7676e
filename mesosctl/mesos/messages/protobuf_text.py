"""Protobuf text, in which a master shows --acls and --rate_limits in /flags, whatever the JSON that it was given.

limits {
qps: 55.5
principal: "foo"
}
aggregate_default_qps: 333
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from mesosctl.mesos.messages.protobuf_json.message_tables import Enumeration, Message

_TOKEN = re.compile(
    r'\s*(?:(?P<open>\w+)\s*:?\s*\{|(?P<close>\})|(?P<name>\w+)\s*:\s*(?P<value>"(?:[^"\\]|\\.)*"|[^\s"}]+))'
)
_ESCAPE = re.compile(rb"\\([0-7]{1,3}|.)", re.DOTALL)
_NAMED = {b"n": b"\n", b"r": b"\r", b"t": b"\t"}


def from_text(text: str) -> dict[str, Any]:
    """The JSON of a message, as `protobuf_json.messages.read` takes it: a field that is repeated once has no list.

    Raises ValueError.
    """
    top: dict[str, Any] = {}
    open_: list[dict[str, Any]] = [top]
    at, end = 0, len(text.rstrip())
    while at < end:
        token = _TOKEN.match(text, at)
        if token is None or (token["close"] and len(open_) == 1):
            raise ValueError(f"'{text[at : at + 20].strip()}' is not expected")
        at = token.end()
        if token["open"]:
            inner: dict[str, Any] = {}
            _add(open_[-1], token["open"], inner)
            open_.append(inner)
        elif token["close"]:
            open_.pop()
        else:
            value = token["value"]
            _add(open_[-1], token["name"], _unquoted(value) if value.startswith('"') else value)
    if len(open_) > 1:
        raise ValueError("a brace is not closed")
    return top


def _add(message: dict[str, Any], name: str, value: Any) -> None:
    if name not in message:
        message[name] = value
    elif isinstance(message[name], list):
        message[name].append(value)
    else:
        message[name] = [message[name], value]


def _unquoted(text: str) -> str:
    def unescaped(match: re.Match[bytes]) -> bytes:
        code = match[1]
        return bytes([int(code, 8)]) if code.isdigit() else _NAMED.get(code, code)

    return _ESCAPE.sub(unescaped, text[1:-1].encode()).decode()


def to_text(kind: Message, message: Mapping[str, Any]) -> str:
    """A message that has been read, with its fields in the order of their numbers."""
    return "".join(f"{line}\n" for line in _lines(kind, message))


def _lines(kind: Message, message: Mapping[str, Any]) -> Iterator[str]:
    for name, field in sorted(kind.fields.items(), key=lambda named: named[1].number):
        for value in _values(message.get(name)):
            if isinstance(field.type, Message):
                yield f"{name} {{"
                yield from (f"  {line}" for line in _lines(field.type, value))
                yield "}"
            else:
                yield f"{name}: {_scalar(value, is_name=isinstance(field.type, Enumeration))}"


def _values(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _scalar(value: Any, *, is_name: bool) -> str:
    if isinstance(value, str):
        return value if is_name else _quoted(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    short = f"{value:.15g}"
    return short if float(short) == value else f"{value:.17g}"


def _quoted(text: str) -> str:
    named = {ord('"'): '\\"', ord("'"): "\\'", ord("\\"): "\\\\", 10: "\\n", 13: "\\r", 9: "\\t"}
    return '"' + "".join(named.get(b) or (chr(b) if 32 <= b < 127 else f"\\{b:03o}") for b in text.encode()) + '"'
