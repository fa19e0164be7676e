"""Servers that never come to an end: each ends in a sentence, by the deadline or by a bound, in little memory."""

import itertools
import socket
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from mesosctl.client.address import parse_address
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.client.settings import ClientSettings
from mesosctl.mesos.errors import DeadlinePassed, MasterFailed, NoMaster
from tests.helpers.needs import needs

MIB = 1 << 20
OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


class Endless:
    """A server that says one piece after another to each connection, until it is hung up on.

    It says far more than the client waits for, and then hangs up, so that a client without bounds ends too.
    """

    def __init__(self, pieces: Callable[[], Iterator[bytes]], pause: float) -> None:
        self._pieces, self._pause = pieces, pause
        self._stopped = threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._socket.settimeout(0.1)
        self.base = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        speaking: list[threading.Thread] = []
        while not self._stopped.is_set():
            with suppress(TimeoutError):
                connection, _ = self._socket.accept()
                connection.settimeout(5)
                speaking.append(threading.Thread(target=self._speak, args=(connection,)))
                speaking[-1].start()
        for thread in speaking:
            thread.join()

    def _speak(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.recv(65536)
            for piece in itertools.islice(self._pieces(), 400 if self._pause else 5000):
                connection.sendall(piece)
                if self._stopped.wait(self._pause):
                    return

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()
        self._socket.close()


@pytest.fixture
@needs("socket")
def serve() -> Iterator[Callable[..., LeadingMaster]]:
    opened: list[tuple[Endless, LeadingMaster]] = []

    def start(pieces: Callable[[], Iterator[bytes]], pause: float = 0.0) -> LeadingMaster:
        server = Endless(pieces, pause)
        opened.append((server, LeadingMaster(parse_address(server.base), ClientSettings(timeout=1.0))))
        return opened[-1][1]

    yield start
    for server, client in opened:
        client.close()
        server.stop()


def repeated(first: bytes, again: bytes) -> Callable[[], Iterator[bytes]]:
    return lambda: itertools.chain([first], itertools.repeat(again))


BROKEN = (MasterFailed, NoMaster)
HOSTILE: dict[str, tuple[Callable[[], Iterator[bytes]], float, Any]] = {
    "drips the head": (repeated(b"HTTP/1.1 200 OK\r\nX: ", b"y"), 0.05, DeadlinePassed),
    "drips the body": (repeated(OK + b"Content-Length: 1000000\r\n\r\n", b" "), 0.05, DeadlinePassed),
    "drips chunks": (repeated(CHUNKED, b"1\r\n \r\n"), 0.05, DeadlinePassed),
    "endless headers": (repeated(OK, b"X-Y: " + b"z" * 1000 + b"\r\n"), 0.0, BROKEN),
    "an endless header": (repeated(OK + b"X-Y: ", b"z" * 1000), 0.0, BROKEN),
    "an endless status line": (repeated(b"HTTP/1.1 200 ", b"z" * 1000), 0.0, BROKEN),
    "endless announcements": (
        repeated(b"", b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" * 100),
        0.0,
        DeadlinePassed,
    ),
    "an endless size of a chunk": (repeated(CHUNKED, b"0" * 1000), 0.0, BROKEN),
    "a chunk of 2^80 bytes": (
        repeated(CHUNKED + b"1" + b"0" * 20 + b"\r\n", b" " * 1000),
        0.0,
        (MasterFailed, NoMaster),
    ),
    "endless extensions of chunks": (repeated(CHUNKED + b"1;", b"x" * 1000), 0.0, BROKEN),
    "chunks of one byte": (repeated(CHUNKED, b"1\r\n \r\n" * 1000), 0.0, (DeadlinePassed, MasterFailed)),
    "endless trailers": (repeated(CHUNKED + b"0\r\n", b"X-Y: z\r\n" * 100), 0.0, BROKEN),
    "nothing at all": (lambda: iter(()), 0.0, BROKEN),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_server_without_an_end(serve: Callable[..., LeadingMaster], name: str) -> None:
    pieces, pause, error = HOSTILE[name]
    client = serve(pieces, pause)
    tracemalloc.start()
    try:
        with pytest.raises(error) as caught:
            client.get("/quota")
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert caught.value.message
    assert most < 4 * MIB
