"""One connection to a master, which speaks HTTP by h11 and waits for nothing longer than it may."""

import select
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress

import h11

from mesosctl.client.failures import Broken, NotHttp, TooLate, Unanswered, Unaskable, Undecodable
from mesosctl.client.way import Patience

_PIECE = 64 * 1024
_LARGEST_HEAD = 100 * 1024
"""Bytes of status line and headers together."""
_PACKED = ("gzip", "x-gzip", "deflate")


class Connection:
    """One exchange after the other.  Whatever breaks closes it; `free` is told of an exchange that was whole."""

    def __init__(self, stream: socket.socket, free: Callable[["Connection"], None]) -> None:
        self._stream = stream
        self._free = free
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=_LARGEST_HEAD)
        self._heard = False
        """Whether the master has said anything here: by then it takes requests of this client."""

    def exchange(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes | None, patience: Patience
    ) -> "Reply":
        """Send a request and wait for the head of its answer.  Raises Failure."""
        try:
            with suppress(Broken):  # a master may refuse, and close, before it has read everything
                self._send(method, target, headers, body, patience)
            head = self._head(patience)
        except BaseException:
            self.close()
            raise
        return Reply(self, head, patience)

    def _send(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes | None, patience: Patience
    ) -> None:
        try:
            request = h11.Request(method=method, target=target.encode(), headers=list(headers.items()))
            self._write(self._http.send(request), patience)
            self._write(self._http.send(h11.Data(data=body)) if body else None, patience)
            self._write(self._http.send(h11.EndOfMessage()), patience)
        except (h11.LocalProtocolError, UnicodeError) as error:
            raise Unaskable(str(error)) from error

    def _write(self, data: bytes | None, patience: Patience) -> None:
        for start in range(0, len(data or b""), _PIECE):
            try:
                self._stream.settimeout(left(patience.to_write()))
                self._stream.sendall((data or b"")[start : start + _PIECE])
            except TimeoutError as error:
                raise TooLate(str(error)) from error
            except OSError as error:
                raise self._broken(str(error)) from error

    def _head(self, patience: Patience) -> h11.Response:
        """The head of the answer; 100 and its kind only announce one."""
        while True:
            event = self.next_event(patience)
            if isinstance(event, h11.Response):
                return event

    def next_event(self, patience: Patience) -> h11.Event:
        """What the master says next.  Raises Failure."""
        while True:
            try:
                event = self._http.next_event()
            except h11.RemoteProtocolError as error:
                raise (NotHttp if "illegal" in str(error) else Broken)(str(error)) from error
            if event is not h11.NEED_DATA:
                assert isinstance(event, h11.Event), "it pauses for nobody but a server"
                return event
            data = self._read(patience)
            if not data and self._http.their_state is h11.SEND_RESPONSE:
                raise self._broken("Server disconnected without sending a response")
            self._http.receive_data(data)

    def _read(self, patience: Patience) -> bytes:
        try:
            self._stream.settimeout(left(patience.to_read()))
            data = self._stream.recv(_PIECE)
        except TimeoutError as error:
            raise TooLate(str(error)) from error
        except OSError as error:
            raise self._broken(str(error)) from error
        patience.answered()
        self._heard = self._heard or bool(data)
        return data

    def _broken(self, words: str) -> Broken:
        return Broken(words) if self._heard else Unanswered(words)

    def end_exchange(self) -> None:
        """Free for another exchange where this one was whole and nothing came after it, closed otherwise."""
        whole = self._http.our_state is h11.DONE and self._http.their_state is h11.DONE
        if whole and not self._http.trailing_data[0]:
            self._http.start_next_cycle()
            self._free(self)
        else:
            self.close()

    @property
    def is_open(self) -> bool:
        """Whether an idle connection can be used: nobody has said anything on it, as whoever hangs up does."""
        poll = select.poll()
        poll.register(self._stream, select.POLLIN)
        return not poll.poll(0)

    def cut(self) -> None:
        """End it from another thread, which does not wait for this one."""
        with suppress(OSError):  # it may have ended by itself
            self._stream.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close it."""
        self._stream.close()


class Reply:
    """An answer over a connection: an `Incoming`."""

    def __init__(self, connection: Connection, head: h11.Response, patience: Patience) -> None:
        self.status = head.status_code
        self.headers = _joined(head)
        self._connection = connection
        self._patience = patience
        self._open = True

    def pieces(self) -> Iterator[bytes]:
        """The body as it comes, unpacked."""
        packed = self.headers.get("content-encoding", "").strip().lower() in _PACKED
        return _unpacked(self._pieces()) if packed else self._pieces()

    def _pieces(self) -> Iterator[bytes]:
        while True:
            event = self._connection.next_event(self._patience)
            if isinstance(event, h11.Data):
                yield bytes(event.data)
            else:
                return

    def cut(self) -> None:
        """End it from another thread."""
        self._connection.cut()

    def close(self) -> None:
        """Let go of the connection."""
        if self._open:
            self._open = False
            self._connection.end_exchange()


def left(seconds: float) -> float:
    """Seconds that a socket may be waited for: zero would mean not to wait at all.  Raises TimeoutError."""
    if seconds <= 0:
        raise TimeoutError("the deadline has passed")
    return seconds


def _joined(head: h11.Response) -> dict[str, str]:
    """Headers by name; one that stands there several times is one list."""
    headers: dict[str, str] = {}
    for raw_name, raw_value in head.headers:
        name, value = raw_name.decode("latin-1"), raw_value.decode("utf-8", "surrogateescape")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def _unpacked(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Out of gzip, of one member or several, or zlib, whichever it is.  Raises Undecodable, also where it is cut."""
    import zlib

    unpacking = None
    try:
        for piece in pieces:
            packed = piece
            while packed:
                unpacking = unpacking or zlib.decompressobj(zlib.MAX_WBITS | 32)
                yield unpacking.decompress(packed)
                packed = unpacking.unused_data
                unpacking = None if unpacking.eof else unpacking
    except zlib.error as error:
        raise Undecodable(str(error)) from error
    if unpacking is not None:
        raise Undecodable("it is cut off")
