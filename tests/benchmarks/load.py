"""A client that asks one question again and again, over connections that stay open, and takes the time."""

import socket
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Self

_MOST_SECONDS_OVER = 4.0
"""A question that is answered slowly is asked for so many times the seconds, to be asked often enough."""
_ENOUGH = 30
_PIECE = 1 << 20
_JSON = "application/json"


@dataclass(frozen=True)
class Answers:
    """What came of asking."""

    first: float
    """Seconds of the very first request."""
    seconds: list[float]
    """Of each request, in ascending order."""
    rate: float
    """Requests a second."""
    size: int
    """Bytes of a body."""

    def percentile(self, percent: int) -> float:
        """Milliseconds within which so many requests of a hundred were answered."""
        return self.seconds[min(len(self.seconds) - 1, len(self.seconds) * percent // 100)] * 1000


class Connection:
    """One connection to a master on loopback; use it as a context manager."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=120)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._buffer = bytearray(_PIECE)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def ask(self, question: str) -> int:
        """Ask for a path, or make a call of the operator API, and read the answer whole; the bytes of its body."""
        self._socket.sendall(_request(question))
        head = b""
        while b"\r\n\r\n" not in head:
            count = self._socket.recv_into(self._buffer)
            assert count, f"{question}: the connection ended early"
            head += self._buffer[:count]
        head, _, body = head.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), head
        lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
        size = int(lengths[0].partition(b":")[2])
        left = size - len(body)
        while left:
            count = self._socket.recv_into(self._buffer, min(left, _PIECE))
            assert count, f"{question}: the connection ended early"
            left -= count
        return size


def _request(question: str) -> bytes:
    """GET a path, or POST a call such as GET_STATE."""
    if question.startswith("/"):
        return f"GET {question} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
    body = f'{{"type":"{question}"}}'
    head = f"POST /api/v1 HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {_JSON}\r\nAccept: {_JSON}\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode()


def ask(port: int, question: str, *, at_once: int, seconds: float) -> Answers:
    """Ask a question over `at_once` connections for about so long, twice at least, in threads that only wait."""
    until = time.monotonic() + seconds
    enough = -(-_ENOUGH // at_once)

    def timed(connection: Connection) -> tuple[float, int]:
        started = time.perf_counter()
        size = connection.ask(question)
        return time.perf_counter() - started, size

    def one(_number: int) -> tuple[float, list[float], int]:
        own: list[float] = []
        with Connection(port) as connection:
            first, size = timed(connection)  # whatever is made once is made now
            while (
                not own
                or (now := time.monotonic()) < until
                or (len(own) < enough and now < until + _MOST_SECONDS_OVER * seconds)
            ):
                took, size = timed(connection)
                own.append(took)
        return first, own, size

    started = time.perf_counter()
    with ThreadPoolExecutor(at_once) as threads:
        asked = list(threads.map(one, range(at_once)))
    took = time.perf_counter() - started
    found = sorted(entry for _, own, _ in asked for entry in own)
    return Answers(asked[0][0], found, (len(found) + at_once) / took, max(size for _, _, size in asked))
