"""A real Mesos master on loopback, with simulated agents and frameworks, for comparisons.

It is started by the command in MESOS_RUNNER, which serves 127.0.0.1:PORT.  Agents are
registration messages from silent end points; frameworks speak the v1 scheduler API in JSON.
"""

import asyncio
import contextlib
import json
import os
import re
import socket
import struct
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any, Self
from uuid import UUID

import httpx

from tests.conformance.masters import real
from tests.conformance.masters.cluster import Setup

RUNNER = os.environ.get("MESOS_RUNNER")
OLDEST_CAPABILITIES = (1, 2, 3)
"""MULTI_ROLE, HIERARCHICAL_ROLE and RESERVATION_REFINEMENT."""
_RESOURCE_VERSION = UUID("00010203-0405-4607-8809-0a0b0c0d0e0f").bytes
"""Of the resources of each agent: a master that sends operations needs to know one."""
_MESSAGE = re.compile(rb"POST /slave\(\d+\)/mesos\.internal\.(\w+) HTTP")
Handler = Callable[["Scheduler", list[dict[str, Any]]], "dict[str, Any] | None"]
"""What a framework answers to offers: the body of a call, or nothing."""


class RealMaster:
    """A master that waits for simulated agents; use it as a context manager."""

    def __init__(self, release: str | None = None, **flags: str) -> None:
        """By default, of the release that the runner chooses."""
        self._folder = tempfile.TemporaryDirectory(prefix="real-master-", ignore_cleanup_errors=True)
        # Nothing answers the pings of simulated agents.
        setup = Setup(flags={"agent_ping_timeout": "15mins", **flags})
        self._cluster = real.start(setup, Path(self._folder.name), release)
        self.url = self._cluster.address
        self.port = int(self.url.rpartition(":")[2])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._cluster.stop()
        self._folder.cleanup()

    def metrics(self) -> dict[str, float]:
        # A master with tens of thousands of agents answers when its allocator has time.
        return dict(httpx.get(f"{self.url}/metrics/snapshot", timeout=600, trust_env=False).json())

    def version(self) -> str:
        return str(self._cluster.read("/version")["version"])

    def call(self, body: dict[str, Any]) -> None:
        answer = self._cluster.call(**{"name" if key == "type" else key: value for key, value in body.items()})
        assert answer.status == 200, answer.content


class _Ear:
    """An end point that hears whoever connects, and says nothing.

    Without tasks: a server of asyncio that is closed while it takes a connection leaves that one open.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._open: list[socket.socket] = []
        self.heard = b""
        """Everything, from all connections."""
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=100)
        self.port: int = self._listener.getsockname()[1]
        self._read(self._listener, self._take)

    def _read(self, connection: socket.socket, then: Callable[[], None]) -> None:
        connection.setblocking(False)
        self._open.append(connection)
        self._loop.add_reader(connection, then)

    def _take(self) -> None:
        with contextlib.suppress(BlockingIOError, ConnectionError):  # they have thought better of it
            connection, _ = self._listener.accept()
            self._read(connection, lambda: self._hear(connection))

    def _hear(self, connection: socket.socket) -> None:
        with contextlib.suppress(BlockingIOError):
            try:
                words = connection.recv(1 << 16)
            except ConnectionError:
                words = b""
            self.heard += words
            if not words:
                self._drop(connection)

    def _drop(self, connection: socket.socket) -> None:
        self._open.remove(connection)
        self._loop.remove_reader(connection)
        connection.close()

    def close(self) -> None:
        for connection in list(self._open):
            self._drop(connection)


class Agents:
    """Simulated agents, all at one silent end point."""

    def __init__(self, port: int) -> None:
        self._master = port
        self._count = 0

    async def start(self) -> None:
        self._ear = _Ear()
        reader, self._writer = await asyncio.open_connection("127.0.0.1", self._master)
        self._reading = asyncio.create_task(_swallow(reader))

    async def register(
        self,
        resources: str,
        *,
        checkpoint: bool = False,
        region: str | None = None,
        capabilities: Sequence[int] = OLDEST_CAPABILITIES,
    ) -> None:
        """One more agent; `resources` are scalars, as `cpus:2;mem(role):10`, `capabilities` the numbers of some.

        With `checkpoint`, a master waits for it when it is disconnected.
        """
        name = f"agent{self._count:05d}"
        await self.say("RegisterSlaveMessage", _registration(name, resources, checkpoint, region, capabilities))

    def told(self) -> list[str]:
        """The names of the messages that the master has sent them, in order."""
        return [name.decode() for name in _MESSAGE.findall(self._ear.heard)]

    async def say(self, message: str, body: bytes, number: int | None = None) -> None:
        """The first words of one more agent, or the words of the one at the place `number`."""
        head = (
            f"POST /master/mesos.internal.{message} HTTP/1.1\r\n"
            f"Host: 127.0.0.1:{self._master}\r\n"
            f"Libprocess-From: {self.pid(self._count if number is None else number)}\r\n"
            f"Connection: Keep-Alive\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        self._writer.write(head.encode() + body)
        await self._writer.drain()
        self._count += number is None

    async def unregister(self, number: int, agent_id: str) -> None:
        """The last words of the agent at the place `number`."""
        await self.say("UnregisterSlaveMessage", _field(1, _field(1, agent_id.encode())), number)

    def pid(self, number: int) -> str:
        """Where a master finds an agent."""
        return f"slave({number})@127.0.0.1:{self._ear.port}"

    async def hang_up(self) -> None:
        """Let the master lose its connections to all of them."""
        self._ear.close()

    async def stop(self) -> None:
        self._reading.cancel()
        self._writer.close()
        self._ear.close()


async def _swallow(reader: asyncio.StreamReader) -> None:
    with contextlib.suppress(asyncio.CancelledError, ConnectionError):
        while await reader.read(1 << 16):
            pass


class Scheduler:
    """One framework, subscribed until its task is cancelled."""

    def __init__(self, port: int, name: str, roles: list[str], answer: Handler, *, suppressed: bool = False) -> None:
        self.name = name
        self._suppressed = roles if suppressed else []
        self.offers: list[dict[str, Any]] = []
        self.subscribed = asyncio.Event()
        self.id: dict[str, str] = {}
        self._port = port
        self._roles = roles
        self._answer = answer
        self._stream = ""

    async def run(self) -> None:
        capabilities = [{"type": "MULTI_ROLE"}, {"type": "RESERVATION_REFINEMENT"}]
        info = {"user": "root", "name": self.name, "roles": self._roles, "capabilities": capabilities}
        reader, writer = await self._post(
            {"type": "SUBSCRIBE", "subscribe": {"framework_info": info, "suppressed_roles": self._suppressed}}
        )
        try:
            async for event in self._events(reader):
                if event["type"] == "SUBSCRIBED":
                    self.id = event["subscribed"]["framework_id"]
                    self.subscribed.set()
                elif event["type"] == "OFFERS":
                    offers = event["offers"]["offers"]
                    self.offers += offers
                    body = self._answer(self, offers)
                    if body is not None:
                        _, answering = await self._post({"framework_id": self.id, **body})
                        answering.close()
        finally:
            writer.close()

    def answer_with(self, answer: Handler) -> Handler:
        """Answer offers in another way from now on; return the way until now."""
        before, self._answer = self._answer, answer
        return before

    async def answer_all(self) -> None:
        """Answer all offers that are kept."""
        body = self._answer(self, self.offers)
        if body is not None:
            _, answering = await self._post({"framework_id": self.id, **body})
            answering.close()

    def forget_offers(self) -> None:
        """Keep no offers that were answered."""
        self.offers = []

    async def revive(self) -> None:
        """Ask for offers again, upon which the master runs its allocation at once."""
        _, reviving = await self._post({"framework_id": self.id, "type": "REVIVE"})
        reviving.close()

    async def suppress(self) -> None:
        """Ask for no more offers in any role."""
        _, suppressing = await self._post({"framework_id": self.id, "type": "SUPPRESS"})
        suppressing.close()

    async def _post(self, body: dict[str, Any]) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port, limit=1 << 26)
        data = json.dumps(body).encode()
        stream = f"Mesos-Stream-Id: {self._stream}\r\n" if self._stream else ""
        writer.write(
            f"POST /api/v1/scheduler HTTP/1.1\r\nHost: 127.0.0.1\r\n{stream}Accept: application/json\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n".encode()
            + data
        )
        status = (await reader.readline()).split()[1]
        assert status in (b"200", b"202"), (status, await reader.read(1000))
        while (line := await reader.readline()).strip():
            key, _, value = line.decode().partition(":")
            if key.lower() == "mesos-stream-id":
                self._stream = value.strip()
        return reader, writer

    async def _events(self, reader: asyncio.StreamReader) -> AsyncIterator[dict[str, Any]]:
        """RecordIO inside chunked transfer coding."""
        buffer, length = bytearray(), -1
        while size := int((await reader.readline()).strip() or b"0", 16):
            buffer += await reader.readexactly(size)
            await reader.readline()
            while True:
                if length < 0:
                    head, newline, _ = buffer[:20].partition(b"\n")
                    if not newline:
                        break
                    length = int(head)
                    del buffer[: len(head) + 1]
                if len(buffer) < length:
                    break
                yield json.loads(buffer[:length])
                del buffer[:length]
                length = -1


def decline(seconds: float) -> Handler:
    """Decline whatever comes, for so long."""

    def answer(_: Scheduler, offers: list[dict[str, Any]]) -> dict[str, Any]:
        declined = {"offer_ids": [offer["id"] for offer in offers], "filters": {"refuse_seconds": seconds}}
        return {"type": "DECLINE", "decline": declined}

    return answer


def hold(_: Scheduler, __: list[dict[str, Any]]) -> None:
    """Keep every offer."""


# --- The registration message, field by field -----------------------------------------------------


def _varint(number: int) -> bytes:
    encoded = b""
    while number > 127:
        encoded += bytes([number % 128 + 128])
        number //= 128
    return encoded + bytes([number])


def _field(number: int, value: bytes | int) -> bytes:
    if isinstance(value, int):
        return _varint(number * 8) + _varint(value)
    return _varint(number * 8 + 2) + _varint(len(value)) + value


def _resource(text: str) -> bytes:
    head, _, amount = text.partition(":")
    name, _, role = head.rstrip(")").partition("(")
    scalar = _varint(1 * 8 + 1) + struct.pack("<d", float(amount))
    return _field(1, name.encode()) + _field(2, 0) + _field(3, scalar) + _field(6, (role or "*").encode())


def _registration(
    hostname: str, resources: str, checkpoint: bool, region: str | None, capabilities: Sequence[int]
) -> bytes:
    info = _field(1, hostname.encode()) + _field(7, int(checkpoint)) + _field(8, 5051)
    info += b"".join(_field(3, _resource(part)) for part in resources.split(";"))
    if region is not None:
        names = _field(1, _field(1, region.encode())) + _field(2, _field(1, b"z"))
        info += _field(10, _field(1, names))
    able = b"".join(_field(4, _field(1, number)) for number in capabilities)
    return _field(1, info) + _field(2, b"1.11.0") + able + _field(5, _field(1, _RESOURCE_VERSION))
