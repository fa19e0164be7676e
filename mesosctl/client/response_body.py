"""The body of an answer: decompressed, stored compactly until it is parsed, and parsed within bounds.

A master may send anything, so neither decompressing nor parsing may exhaust the memory: a body is counted while it is
decompressed, and the cost of JSON is estimated before it is parsed.
"""

import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from socket import SHUT_RDWR
from typing import Any, Self, TypeVar

import httpx

from mesosctl.client.deadline import Deadline
from mesosctl.mesos.errors import DeadlinePassed, MesosctlError, UnexpectedAnswer
from mesosctl.mesos.messages.protobuf_json import recordio
from mesosctl.mesos.messages.protobuf_json.decoding import MOST_VALUES, ConversionError, decode

BROKEN = (httpx.HTTPError, httpx.StreamError)
"""Every error that httpx raises for an exchange."""
LARGEST_ANSWER = 512 * 1024 * 1024
"""Decompressed bytes. `/slaves` of 50,000 agents is about 150 MB; a larger answer is an error."""
VALUES_A_SECOND = 1_500_000
"""The speed of parsing in the worst case: numbers, which are the slowest."""
Value = TypeVar("Value")
_PACKED = ("gzip", "x-gzip", "deflate")
_PIECE = 1 << 16
_UNPACKED = 1 << 19
"""Bytes that are decompressed at once: a reader looks twice at what is cut at the end of a piece."""
_QUICKEST = 1


def pieces_of(response: httpx.Response) -> Iterator[bytes]:
    """The body as it arrives, decompressed.

    Raises errors of httpx, DecodingError also for truncated gzip. httpx itself would accept a truncated body as
    complete, and read only the first of several members.
    """
    if response.is_stream_consumed:  # from a transport in this process, which returns the whole decompressed body
        return response.iter_bytes()
    return _unpacked(response.iter_raw()) if is_packed(response) else response.iter_raw()


def is_packed(response: httpx.Response) -> bool:
    """Whether the body is still compressed when it arrives."""
    encoding = response.headers.get("content-encoding", "").strip().lower()
    return encoding in _PACKED and not response.is_stream_consumed


def _unpacked(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Decompress gzip, with one or several members, or zlib, a little at a time."""
    unpacking = None
    try:
        for piece in pieces:
            packed = piece
            while packed:
                unpacking = unpacking or zlib.decompressobj(zlib.MAX_WBITS | 32)
                yield unpacking.decompress(packed, _UNPACKED)
                packed = unpacking.unconsumed_tail or unpacking.unused_data
                unpacking = None if unpacking.eof else unpacking
        while unpacking is not None and (rest := unpacking.decompress(b"", _UNPACKED)):
            yield rest
            unpacking = None if unpacking.eof else unpacking
    except zlib.error as error:
        raise httpx.DecodingError(str(error)) from error
    if unpacking is not None:
        raise httpx.DecodingError("it is incomplete")


class HeldBody:
    """A large body between the network and its reader: received at once, and parsed later, in any thread.

    A master or proxy should not have to wait for a slow parser. JSON compresses to a twentieth of its size, at about
    200 MB a second, where its sender has not done so.
    """

    def __init__(
        self, pieces: Iterable[bytes], url: str, *, packed: bool = False, largest: int = LARGEST_ANSWER
    ) -> None:
        """Read all pieces; `packed` if they are compressed. Raises the errors of reading them.

        `url` is that of the request, for messages; `largest`: decompressed bytes.
        """
        self._url = url
        self._largest = largest
        self._packed = bytearray()
        for piece in pieces if packed else _squeezed(pieces):
            self._packed += piece

    def pieces(self, deadline: Deadline) -> Iterator[bytes]:
        """The decompressed body in pieces of other sizes, for a reader that has until `deadline`.

        Raises UnexpectedAnswer and DeadlinePassed.
        """
        packed = (bytes(self._packed[at : at + _PIECE]) for at in range(0, len(self._packed), _PIECE))
        try:
            for piece in limited(_unpacked(packed), self._url, self._largest):
                if deadline.remaining() <= 0:
                    raise _too_large_to_read(deadline, self._url)
                yield piece
        except httpx.DecodingError:
            raise UnexpectedAnswer(f"{self._url} answered with a broken content encoding") from None


def _squeezed(pieces: Iterable[bytes]) -> Iterator[bytes]:
    squeezing = zlib.compressobj(_QUICKEST)
    for piece in pieces:
        yield squeezing.compress(piece)
    yield squeezing.flush()


def limited(pieces: Iterable[bytes], url: str, largest: int) -> Iterator[bytes]:
    """The pieces of a body of at most `largest` bytes.  Raises UnexpectedAnswer."""
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > largest:
            raise UnexpectedAnswer(f"{url} answered with more than {largest} bytes").advised("master.not-mesos")
        yield piece


def check_readable(deadline: Deadline, url: str, body: bytes) -> None:
    """Check that JSON can be parsed in bounded memory and in the remaining time.

    Raises UnexpectedAnswer, and DeadlinePassed if a longer `--timeout` would help.
    """
    values = sum(map(body.count, (b",", b"[", b"{")))
    if values > MOST_VALUES:
        raise UnexpectedAnswer(f"{url} answered with JSON of more than {MOST_VALUES} values").advised(
            "master.not-mesos"
        )
    if values / VALUES_A_SECOND > deadline.remaining():
        raise _too_large_to_read(deadline, url)


def _too_large_to_read(deadline: Deadline, url: str) -> DeadlinePassed:
    return DeadlinePassed(
        f"the answer from {url} is too large to read within {deadline.seconds:g} s",
        may_have_happened=True,
        hint="allow more time with --timeout",
    )


def event_of(record: bytes) -> dict[str, Any]:
    """The event of a record.  Raises ConversionError and UnexpectedAnswer."""
    event = decode(record)
    if not isinstance(event, dict) or not isinstance(event.get("type"), str):
        raise UnexpectedAnswer("the stream contains something that is not an event")
    return event


class EventStream:
    """Events, one after the other, until the master ends the stream; used with `with`.

    Iterating raises Unreachable if the connection breaks, DeadlinePassed if no event arrives for the agreed time, and
    UnexpectedAnswer if it is not a stream of JSON events. `url` is for messages.
    """

    def __init__(self, response: httpx.Response, url: str, translate: Callable[[Exception], MesosctlError]) -> None:
        self._response = response
        self._url = url
        self._translate = translate
        self._records = recordio.Records(pieces_of(response))

    @property
    def id(self) -> str:
        """`Mesos-Stream-Id`, which the calls of a framework must name."""
        return str(self._response.headers.get("mesos-stream-id", ""))

    def cut(self) -> None:
        """End the stream from another thread: the waiting reader gets Unreachable."""
        network = self._response.extensions.get("network_stream")
        if network is not None:  # in process there is no wait: time passes in the thread that reads
            with suppress(OSError):  # it may have ended by itself
                network.get_extra_info("socket").shutdown(SHUT_RDWR)

    def gather(self, seconds: float) -> None:
        """Read the events of this time together, in half of the time that reading them one by one takes."""
        network = self._response.extensions.get("network_stream")
        if network is not None:
            network.pause = seconds

    def next_in_pieces(self, take: Callable[[Iterable[bytes]], Value], deadline: Deadline) -> Value | None:
        """The value that `take` makes of the next event, which may be as large as a cluster; None at the end.

        It is received at once and read afterwards, until the deadline; raises what iterating does.
        """
        with self._explained():
            pieces = self._records.next_in_pieces()
            if pieces is None:
                return None
            return take(HeldBody(limited(pieces, self._url, LARGEST_ANSWER), self._url).pieces(deadline))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return self.read_each(event_of)

    def read_each(self, read: Callable[[bytes], Value]) -> Iterator[Value]:
        """The values that `read` makes of the events; raises what iterating does."""
        with self._explained():
            while (record := self._records.next_whole()) is not None:
                yield read(record)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except BROKEN as error:
            raise self._translate(error) from error
        except (recordio.BrokenRecord, ConversionError) as error:
            raise UnexpectedAnswer(f"the stream is not as documented: {error}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._response.close()
