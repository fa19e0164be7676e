"""A proxy before a master that does to each request what a script says.

with Proxy("http://127.0.0.1:5050") as proxy:
    proxy.play([fault, fault])     the fates of the next requests; afterwards all goes well
    …                              whatever asks proxy.address
    proxy.settle()                 what was held back goes to the master now, and faults are over

It listens on loopback, in a thread of its own, and ends with the block.
"""

import asyncio
import contextlib
import socket
import struct
import threading
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

from tests.endurance.faults.kinds import NONE, Fault, Way, Word
from tests.helpers.waiting import PATIENCE

_LARGEST_HEAD = 1 << 16
_DRIP, _DELAY = 0.02, 0.03
_PAGE = b"<html><head><title>Bad Gateway</title></head><body>the upstream is not well</body></html>"


@dataclass(frozen=True, slots=True)
class Message:
    """A request or an answer: what stands before the empty line, and what after it."""

    head: bytes
    body: bytes

    @property
    def first_line(self) -> str:
        return self.head.partition(b"\r\n")[0].decode("latin-1")

    def header(self, name: str) -> str | None:
        for line in self.head.decode("latin-1").split("\r\n")[1:]:
            found, _, value = line.partition(":")
            if found.strip().lower() == name:
                return value.strip()
        return None

    def with_header(self, name: str, value: str | None) -> "Message":
        """With one header replaced, or left out."""
        lines = self.head.decode("latin-1").split("\r\n")
        kept = [line for line in lines[1:] if line.partition(":")[0].strip().lower() != name]
        if value is not None:
            kept.append(f"{name}: {value}")
        return Message("\r\n".join([lines[0], *kept]).encode("latin-1"), self.body)

    def sized(self, length: int) -> "Message":
        return self.with_header("content-length", str(length))

    def bytes(self) -> bytes:
        return self.head + b"\r\n\r\n" + self.body


class Proxy:
    """See the module.  `log` holds what befell which request, for the message of a test."""

    def __init__(self, master: str) -> None:
        parts = urlsplit(master)
        assert parts.hostname is not None
        assert parts.port is not None
        self._upstream = (parts.hostname, parts.port)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._server: asyncio.Server | None = None
        self._port = 0
        self._faults: list[Fault] = []
        self._held: list[Message] = []
        self._earlier: Message | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._asking: set[asyncio.Future[Any]] = set()
        self.log: list[str] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def __enter__(self) -> Self:
        self._thread.start()
        self._run(self._listen())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._run(self._stop())
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(PATIENCE)
            self._loop.close()

    def play(self, faults: Sequence[Fault]) -> None:
        """What befalls the next requests, in the order in which they come."""
        self._run(self._prepare(faults))

    def settle(self) -> None:
        """End every connection, hand over what was held back, and be well again."""
        self._run(self._settle())

    def _run(self, what: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(what, self._loop).result(2 * PATIENCE)

    async def _prepare(self, faults: Sequence[Fault]) -> None:
        self._faults, self._earlier = list(faults), None
        self.log.clear()

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self._port, limit=_LARGEST_HEAD)
        self._port = self._server.sockets[0].getsockname()[1]

    async def _close(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None

    async def _stop(self) -> None:
        await self._close()
        # What is under way to the master outlives the connection that it came from.
        ending = [*self._tasks, *self._asking]
        for task in ending:
            task.cancel()
        await asyncio.gather(*ending, return_exceptions=True)
        await asyncio.sleep(0)  # what was closed says so in the next round

    async def _settle(self) -> None:
        self._faults = []
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        # What is under way to the master is not lost by this: it comes to its end first.
        await asyncio.gather(*self._asking, return_exceptions=True)
        await self._hand_over()
        if self._server is None:
            await self._listen()

    async def _hand_over(self) -> None:
        held, self._held = self._held, []
        for request in held:
            await self._ask(request)
            self.log.append(f"{request.first_line}: arrived late")

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while (request := await _read(reader)) is not None:
                fault = self._faults.pop(0) if self._faults else NONE
                self.log.append(f"{request.first_line}: {fault}")
                if not await self._befall(fault, request, writer):
                    break
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client went away, or everything ends
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _befall(self, fault: Fault, request: Message, writer: asyncio.StreamWriter) -> bool:
        """One request; returns whether its connection lives on."""
        if fault == NONE and request.first_line.split()[1] == "/api/v1/scheduler":
            return await self._relay(request, writer)
        earlier, held = self._earlier, list(self._held)
        # A master that has begun to read a request goes on, whatever becomes of the client.
        asking = asyncio.ensure_future(self._forward(fault.way, request, fault.word))
        self._asking.add(asking)
        asking.add_done_callback(self._asking.discard)
        answer = await asyncio.shield(asking)
        if answer is not None:
            self._earlier = answer
        lives = await self._tell(fault.word, answer, earlier, writer)
        if held:
            await self._hand_over()
        return lives

    async def _forward(self, way: Way, request: Message, word: Word) -> Message | None:
        if way is Way.LATE:
            self._held.append(request)
            return None
        if way is Way.NOTHING:
            return None
        if way is Way.HALF:
            whole = request.bytes()
            await self._send(whole[: len(whole) // 2])
            return None
        first = await self._ask(request)
        second = await self._ask(request) if way is Way.TWICE else first
        return first if word is Word.FIRST_ANSWER else second

    async def _send(self, part: bytes) -> None:
        """Bytes to the master, and the end of the connection."""
        _, writer = await asyncio.open_connection(*self._upstream)
        with contextlib.suppress(OSError):
            writer.write(part)
            await writer.drain()
        writer.close()

    async def _ask(self, request: Message) -> Message | None:
        """The master's answer; of a stream that does not end, the beginning is enough to know that it was asked."""
        reader, writer = await asyncio.open_connection(*self._upstream, limit=_LARGEST_HEAD)
        try:
            writer.write(request.with_header("connection", "close").bytes())
            await writer.drain()
            async with asyncio.timeout(PATIENCE):
                answer = await _read(reader)
        finally:
            writer.close()
        return None if answer is None else answer.with_header("connection", None)

    async def _relay(self, request: Message, writer: asyncio.StreamWriter) -> bool:
        """A stream: everything as it comes."""
        reader, upward = await asyncio.open_connection(*self._upstream)
        try:
            upward.write(request.with_header("connection", "close").bytes())
            await upward.drain()
            while piece := await reader.read(1 << 16):
                writer.write(piece)
                await writer.drain()
        finally:
            upward.close()
        return False

    async def _tell(
        self, word: Word, answer: Message | None, earlier: Message | None, writer: asyncio.StreamWriter
    ) -> bool:
        if word is Word.SILENCE:
            await asyncio.sleep(PATIENCE)
            return False
        if word is Word.GONE:
            await self._close()
        if word is Word.RESET:
            _reset(writer)
        if word is Word.DELAYED:
            await asyncio.sleep(_DELAY)
        said = _said(word, answer, earlier)
        step = 1 if word is Word.DRIPPING else max(1, len(said))
        for start in range(0, len(said), step):
            writer.write(said[start : start + step])
            await writer.drain()
            if word is Word.DRIPPING:
                await asyncio.sleep(_DRIP)
        return bool(said) and word not in _ENDING


_ENDING = (Word.HALF_HEAD, Word.HALF_BODY, Word.CUT_CHUNKS, Word.GARBAGE)
_PAGES = {
    Word.PAGE_502: "502 Bad Gateway",
    Word.PAGE_503: "503 Service Unavailable",
    Word.PAGE_504: "504 Gateway Timeout",
    Word.PAGE_200: "200 OK",
}


def _said(word: Word, answer: Message | None, earlier: Message | None) -> bytes:
    """The bytes that a client gets; none where it gets nothing but the end."""
    if word in _PAGES:
        head = f"HTTP/1.1 {_PAGES[word]}\r\nContent-Type: text/html".encode()
        return Message(head, _PAGE).sized(len(_PAGE)).bytes()
    if word is Word.PLAIN_503:
        text = b"upstream connect error or disconnect/reset before headers"
        return Message(b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain", text).sized(len(text)).bytes()
    if word is Word.GARBAGE:
        return b"\x16\x03\x01\x02\x00\x01 what is this\r\n\r\n"
    if word is Word.STALE:
        return earlier.bytes() if earlier is not None else b""
    if answer is None or word in (Word.RESET, Word.CLOSED, Word.GONE):
        return b""
    return _mangled(word, answer)


def _mangled(word: Word, answer: Message) -> bytes:
    half = answer.body[: len(answer.body) // 2]
    if word is Word.HALF_HEAD:
        return answer.head[: len(answer.head) // 2]
    if word is Word.HALF_BODY:
        # An empty body is promised to be longer, so that its end is missing as well.
        return Message(answer.sized(len(answer.body) or 10).head, half).bytes()
    if word is Word.SHORT_BODY:
        return Message(answer.sized(len(half)).head, half).bytes()
    if word is Word.LONG_BODY:
        return Message(answer.sized(len(half)).head, answer.body).bytes()
    if word is Word.CUT_CHUNKS:
        chunked = answer.with_header("content-length", None).with_header("transfer-encoding", "chunked")
        return Message(chunked.head, f"{len(half):x}\r\n".encode() + half if half else b"").bytes()
    whole = answer.sized(len(answer.body)).bytes()
    return whole + whole if word is Word.ANSWER_TWICE else whole


async def _read(reader: asyncio.StreamReader) -> Message | None:
    """One whole message; None where the connection ends before one begins."""
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).removesuffix(b"\r\n\r\n")
    except asyncio.IncompleteReadError as error:
        if not error.partial:
            return None
        raise
    message = Message(head, b"")
    body = await reader.readexactly(int(message.header("content-length") or 0))
    return Message(head, body)


def _reset(writer: asyncio.StreamWriter) -> None:
    """Let the close be a RST."""
    connection: socket.socket | None = writer.get_extra_info("socket")
    if connection is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
