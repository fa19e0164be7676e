"""Messages of libprocess: a POST whose path names an actor and a message, and whose sender is named in a header.

Nothing is answered but "202 Accepted", and that only to a sender that is no libprocess.  Whatever the receiver has to
say it posts to the sender's address, as messages of its own.
"""

import re
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import unquote

from fake_master.http.exchange import Request

_AGENT = "libprocess/"
_PID = re.compile(r"([^@]*)@(\d{1,3}(?:\.\d{1,3}){3}|\[[0-9A-Fa-f:.]+\]):(\d{1,5})")


class Address(NamedTuple):
    """Where a libprocess listens."""

    ip: str
    port: int


class Pid(NamedTuple):
    """The name of one actor: `scheduler-1@127.0.0.1:8080`."""

    id: str
    address: Address

    def __str__(self) -> str:
        ip = f"[{self.address.ip}]" if ":" in self.address.ip else self.address.ip
        return f"{self.id}@{ip}:{self.address.port}"


def parse_pid(text: str) -> Pid | None:
    """The pid that a text names, or None."""
    found = _PID.fullmatch(text)
    if found is None:
        return None
    port = int(found[3])
    return Pid(found[1], Address(found[2].strip("[]"), port)) if 0 < port < 2**16 else None


@dataclass(frozen=True, slots=True)
class Message:
    """One message that has come in."""

    sender: Pid
    actor: str
    """To whom it goes: `master`, `slave(1)`."""
    name: str
    """The full name of the protobuf message that the body holds."""
    body: bytes
    wants_answer: bool
    """Whether the sender reads "202 Accepted": a libprocess does not."""


def parse_message(request: Request) -> Message | None:
    """The message that a request is; None where it is no message, or its sender cannot be named."""
    if request.method != "POST":
        return None
    agent = request.headers.get("user-agent", "")
    is_libprocess = agent.startswith(_AGENT)
    named = request.headers.get("libprocess-from") or (agent.removeprefix(_AGENT) if is_libprocess else "")
    sender = parse_pid(named)
    actor, _, name = request.path.removeprefix("/").partition("/")
    if sender is None or not actor or not name:
        return None
    return Message(sender, unquote(actor), name, request.body, wants_answer=not is_libprocess)


def packed(sender: str, to: Pid, name: str, body: bytes) -> bytes:
    """A message as it is written to a connection."""
    head = (
        f"POST /{to.id}/{name} HTTP/1.1\r\n"
        f"User-Agent: {_AGENT}{sender}\r\n"
        f"Libprocess-From: {sender}\r\n"
        "Connection: Keep-Alive\r\n"
        f"Host: {to.address.ip}:{to.address.port}\r\n"
    )
    if not body:
        return f"{head}\r\n".encode()
    return f"{head}Transfer-Encoding: chunked\r\n\r\n{len(body):x}\r\n".encode() + body + b"\r\n0\r\n\r\n"
