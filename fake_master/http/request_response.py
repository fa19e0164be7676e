"""One request and one response, whatever carries them: JSON, refusals with their statuses, credentials."""

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_plus

from fake_master.http.json_text import JsonPieces, json_object, json_pieces
from fake_master.state.credentials import is_same, secret_of
from mesosctl.mesos.errors import Conflict, RuleViolation
from mesosctl.mesos.messages.http_statuses import BROKEN_RULE, NOT_AVAILABLE
from mesosctl.mesos.messages.protobuf_json.decoding import ConversionError, decode
from mesosctl.mesos.messages.protobuf_json.message_tables import Message
from mesosctl.mesos.messages.protobuf_json.messages import read

if TYPE_CHECKING:
    from fake_master.state.flags import MasterFlags
    from fake_master.state.streams import EventStream

PLAIN = "text/plain; charset=utf-8"
JSON = "application/json"
JSONP = "text/javascript"
PROTOBUF = "application/x-protobuf"
MOST_VALUES = 500_000
"""Values in one body, JSON or protobuf, which are read while no other request is answered.

A maintenance of 50,000 machines has half as many.
"""
_MOST_FIELDS = 10_000
"""Fields in one form."""
_PART = 256 * 1024
"""Bytes of a large body that are put together at once."""
_MALFORMED = re.compile("%(?![0-9a-fA-F]{2})")


def fields_of(text: str) -> dict[str, str]:
    """The fields of a query or a form; "&" and ";" both separate them, and the last of a duplicate name wins."""
    pairs = (pair.partition("=") for pair in text.replace(";", "&").split("&") if pair)
    return {_decoded(name): _decoded(value) for name, _, value in pairs}


def _decoded(text: str) -> str:
    return unquote_plus(text, errors="surrogateescape")


@dataclass(frozen=True)
class Request:
    """A request as it arrived: `target` is the raw path and query, header names are lower case."""

    method: str
    target: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def path(self) -> str:
        """The path, not decoded and not normalised."""
        return self._without_fragment.partition("?")[0]

    @cached_property
    def query(self) -> dict[str, str]:
        """The query's fields."""
        return fields_of(self._without_fragment.partition("?")[2])

    @property
    def _without_fragment(self) -> str:
        return self.target.partition("#")[0]

    def form(self) -> dict[str, str]:
        """The body as a form, whatever its content type.  Raises Refusal (400, 413)."""
        if self.body.count(b"&") + self.body.count(b";") > _MOST_FIELDS:
            raise Refusal(413, f"The form has more than {_MOST_FIELDS} fields")
        text = self.body.decode(errors="surrogateescape")
        if _MALFORMED.search(text):
            raise Refusal(400, "Unable to decode query string: malformed % escape")
        return fields_of(text)

    def json(self) -> Any:
        """The body as one JSON value.  Raises ConversionError."""
        return decode(self.body, most_values=MOST_VALUES)


@dataclass(frozen=True)
class Response:
    """A status, headers, and either a whole body or a stream of events that goes on."""

    status: int
    content: bytes | JsonPieces = b""
    """The body, or its pieces."""
    headers: Mapping[str, str] = field(default_factory=dict)
    stream: "EventStream | None" = None
    is_awaited: bool = True
    """False for a message of libprocess, whose sender reads no answer."""

    @property
    def size(self) -> int:
        """The bytes of the body."""
        return len(self.content) if isinstance(self.content, bytes) else sum(map(len, self.content))

    @cached_property
    def body(self) -> bytes:
        """The body in one piece."""
        return bytes(self.content)

    def parts(self) -> Iterator[bytes]:
        """The body in parts of a moderate size, so that a large one is never there twice."""
        gathered: list[bytes] = []
        size = 0
        for piece in (self.content,) if isinstance(self.content, bytes) else self.content:
            gathered.append(bytes(piece))
            size += len(piece)
            if size >= _PART:
                yield b"".join(gathered)
                gathered, size = [], 0
        yield b"".join(gathered)


class Refusal(Exception):
    """An answer other than success, raised from wherever it is found out."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.is_bare = False
        """Whether the text is that of the status, and nothing else."""
        text = {"Content-Type": PLAIN} if message else {}
        self.response = Response(status, message.encode(errors="surrogateescape"), {**text, **(headers or {})})


@contextmanager
def refusing(
    words: str = "", *, in_conflict: str | None = None, conflict_status: int = NOT_AVAILABLE
) -> Iterator[None]:
    """Answer 400 if a rule is broken in this block, and another status for a conflict.

    These texts precede the error's message. Without a text for conflicts, there are none.
    """
    try:
        yield
    except RuleViolation as error:
        raise Refusal(BROKEN_RULE, words + error.message) from error
    except Conflict as error:
        if in_conflict is None:
            raise
        raise Refusal(conflict_status, in_conflict + error.message) from error


def accepted_silently(status: int = 200) -> Response:
    """Success, and nothing to say."""
    return Response(status)


def json_response(value: Any, request: Request) -> Response:
    """JSON without blanks, wrapped if the request asks for `?jsonp=`; `value` or its fields may be `JsonPieces`."""
    body = json_object(value) if isinstance(value, dict) else json_pieces(value)
    callback = request.query.get("jsonp")
    if callback is not None:
        called = (f"{callback}(".encode(errors="surrogateescape"), *body, b")")
        return Response(200, JsonPieces(called), {"Content-Type": JSONP})
    return Response(200, body, {"Content-Type": JSON})


def standard_refusal(status: int, headers: Mapping[str, str] | None = None) -> Refusal:
    """A refusal whose body is its own status line."""
    refusal = Refusal(status, f"{status} {HTTPStatus(status).phrase}.", headers)
    refusal.is_bare = True
    return refusal


def wrong_method(allowed: tuple[str, ...], method: str) -> Refusal:
    """405, naming what would have been right."""
    listed = ", ".join(f"'{name}'" for name in allowed)
    return Refusal(
        405,
        f"405 Method Not Allowed. Expecting one of {{ {listed} }}, but received '{method}'.",
        {"Allow": ", ".join(allowed)},
    )


def json_body(request: Request, kind: type, what: str) -> Any:
    """The body as a JSON object or array.  Raises Refusal (400) for anything else."""
    try:
        value = request.json()
    except ConversionError as error:
        raise Refusal(400, f"Failed to parse {what}: {error}") from error
    if not isinstance(value, kind):
        raise Refusal(400, f"Failed to parse {what}: expecting a JSON {'object' if kind is dict else 'array'}")
    return value


def json_message(request: Request, form: Message, what: str, failure: str) -> dict[str, Any]:
    """The body, a JSON object, as a message.  Raises Refusal (400); `failure` begins the sentence on a wrong field."""
    body = json_body(request, dict, what)
    try:
        return read(form, body)
    except ConversionError as error:
        raise Refusal(400, f"{failure}: {error}") from error


def json_messages(request: Request, form: Message, what: str, failure: str) -> list[dict[str, Any]]:
    """The body, a JSON array, as messages of one form; otherwise like `json_message`."""
    body = json_body(request, list, what)
    try:
        return [read(form, entry, f"[{index}]") for index, entry in enumerate(body)]
    except ConversionError as error:
        raise Refusal(400, f"{failure}: {error}") from error


class Realm(Enum):
    """The realms of a master and of its agents; each has its own flag."""

    READONLY = "mesos-master-readonly"
    READWRITE = "mesos-master-readwrite"
    SCHEDULER = "mesos-master-scheduler"
    AGENT_READONLY = "mesos-agent-readonly"


_FLAGS = {
    Realm.READONLY: "authenticate_http_readonly",
    Realm.READWRITE: "authenticate_http_readwrite",
    Realm.SCHEDULER: "authenticate_http_frameworks",
    # Master and agents of a local cluster share their flags.
    Realm.AGENT_READONLY: "authenticate_http_readonly",
}


def authenticate(flags: "MasterFlags", realm: Realm | None, request: Request) -> str | None:
    """The principal, or None if the realm is open.  Raises Refusal (401)."""
    if realm is None or not flags.is_true(_FLAGS[realm]):
        return None
    pair = _basic(request.headers.get("authorization", ""))
    if pair is not None:
        principal, secret = pair
        if is_same(secret_of(flags.credentials, principal), secret.encode()):
            return principal
    raise standard_refusal(401, {"WWW-Authenticate": f'Basic realm="{realm.value}"'})


def _basic(header: str) -> tuple[str, str] | None:
    scheme, _, token = header.partition(" ")
    if scheme != "Basic":
        return None
    try:
        principal, colon, secret = base64.b64decode(token, validate=True).decode().partition(":")
    except (binascii.Error, ValueError):
        return None
    return (principal, secret) if colon else None
