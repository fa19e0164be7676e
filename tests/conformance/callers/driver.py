"""A scheduler driver by hand: messages of libprocess to a real master, which throttles and counts only these.

A message is a POST whose path ends in the name of a protobuf message and whose `Libprocess-From`
says where answers go: to a listener of the driver's own, as messages of the same kind.
"""

import contextlib
import queue
import socket
import struct
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from tests.helpers.waiting import PATIENCE

SUBSCRIBE, TEARDOWN, RECONCILE = 1, 2, 9  # scheduler.Call.Type


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(number: int, value: bytes | str | int) -> bytes:
    """One field of a protobuf message: a number as a varint, everything else with its length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    encoded = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(encoded)) + encoded


def fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """Number and bytes of each field; a number is skipped over."""
    at = 0

    def number() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(message):
        tag = number()
        kind = tag & 7
        if kind == 0:
            number()
            continue
        size = number() if kind == 2 else {1: 8, 5: 4}[kind]
        yield tag >> 3, message[at : at + size]
        at += size


def inside(message: bytes, *path: int) -> bytes:
    """The bytes of a field in a field in a field."""
    for number in path:
        message = next(value for found, value in fields(message) if found == number)
    return message


@dataclass(frozen=True, slots=True)
class Received:
    """One message from the master: its short name, its body, and when it came (monotonic seconds)."""

    name: str
    body: bytes
    at: float


class Driver:
    """One framework that speaks as drivers do.  Close it."""

    def __init__(self, port: int, *, name: str = "driver", principal: str | None = None) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._address = f"scheduler(1)@127.0.0.1:{self._listener.getsockname()[1]}"
        self._inbox: queue.Queue[Received] = queue.Queue()
        self._accepted: list[socket.socket] = []
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()
        self._port = port
        self._out = socket.create_connection(("127.0.0.1", port))
        self._info = field(1, "user") + field(2, name) + (b"" if principal is None else field(8, principal))
        self.framework_id = b""

    def subscribe(self, *, failover_timeout: float = 0.0, framework_id: bytes | None = None) -> None:
        """Register; with the id of a framework (the whole message) take it over."""
        info = self._info + varint(4 << 3 | 1) + struct.pack("<d", failover_timeout)
        known, force = b"", b""
        if framework_id is not None:
            info += field(3, framework_id)
            known, force = field(1, framework_id), field(2, 1)  # without force a master keeps the old connection
        self._call(known + field(2, SUBSCRIBE) + field(3, field(1, info) + force))
        self.framework_id = inside(self.receive("FrameworkRegisteredMessage").body, 1)

    def reconcile(self, *tasks: str) -> None:
        """One call for each task, all written at once; the master answers each by a status."""
        body = b"".join(
            self._message(
                field(1, self.framework_id) + field(2, RECONCILE) + field(9, field(1, field(1, field(1, task))))
            )
            for task in tasks
        )
        self._out.sendall(body)

    def teardown(self) -> None:
        self._call(field(1, self.framework_id) + field(2, TEARDOWN))

    def receive(self, name: str) -> Received:
        """The next message of that name; others are passed over."""
        deadline = time.monotonic() + PATIENCE
        while True:
            message = self._inbox.get(timeout=max(0.01, deadline - time.monotonic()))
            if message.name == name:
                return message

    def next_of(self, *names: str) -> Received:
        deadline = time.monotonic() + PATIENCE
        while True:
            message = self._inbox.get(timeout=max(0.01, deadline - time.monotonic()))
            if message.name in names:
                return message

    def close(self) -> None:
        _hang_up(self._listener)
        self._accepting.join(PATIENCE)  # what it has just taken is among the others then
        for connection in (self._out, *self._accepted):
            _hang_up(connection)

    def _call(self, body: bytes) -> None:
        self._out.sendall(self._message(body))

    def _message(self, body: bytes) -> bytes:
        return (
            f"POST /master/mesos.scheduler.Call HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\n"
            f"Libprocess-From: {self._address}\r\nConnection: Keep-Alive\r\nContent-Length: {len(body)}\r\n\r\n"
        ).encode() + body

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._accepted.append(connection)
            threading.Thread(target=self._read, args=(connection,), daemon=True).start()

    def _read(self, connection: socket.socket) -> None:
        with connection.makefile("rb") as stream:
            try:
                while line := stream.readline():
                    name = line.split()[1].decode().rpartition(".")[2]
                    headers = dict(_headers(stream))
                    body = (
                        _chunks(stream)
                        if "transfer-encoding" in headers
                        else stream.read(int(headers.get("content-length", 0)))
                    )
                    self._inbox.put(Received(name, body, time.monotonic()))
            except (OSError, ValueError):
                return


def _hang_up(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):  # the other side may have gone first
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()


def _headers(stream: BinaryIO) -> Iterator[tuple[str, str]]:
    while line := stream.readline().strip():
        name, _, value = line.decode("latin-1").partition(":")
        yield name.lower(), value.strip()


def _chunks(stream: BinaryIO) -> bytes:
    """A chunked body, as libprocess writes its messages."""
    body = b""
    while size := int(stream.readline(), 16):
        body += stream.read(size)
        stream.readline()
    stream.readline()
    return body
