"""A server on a socket, and clients that speak to it by raw bytes, as no library would."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from fake_master.sources.cluster_file import ClusterSpec
from fake_master.transports.limits import ClientLimits
from fake_master.transports.server import Server
from tests.helpers.waiting import PATIENCE

SMALL = ClientLimits(
    body=1000,
    bodies=1500,
    line=2000,
    header=2000,
    connections=4,
    request_seconds=0.6,
    body_seconds=0.6,
    answer_seconds=0.6,
    idle_seconds=3600,
)
ROOMY = ClientLimits()
HEALTH = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
LISTEN = b'{"type":"SUBSCRIBE"}'


@dataclass
class Client:
    """One connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def says(self, data: bytes) -> "Client":
        self.writer.write(data)
        await self.writer.drain()
        return self

    async def status(self) -> int:
        """Of the next answer, which is read to its end where it says how long it is; 0 for a closed connection."""
        async with asyncio.timeout(PATIENCE):
            head = b""
            while not head.endswith(b"\r\n\r\n"):
                line = await self.reader.readline()
                if not line:
                    return 0
                head += line
            lengths = [line for line in head.lower().splitlines() if line.startswith(b"content-length:")]
            if lengths:
                await self.reader.readexactly(int(lengths[0].partition(b":")[2]))
            return int(head.split()[1])

    async def answer(self) -> bytes:
        """The next answer, whole, of a server that says how long it is."""
        async with asyncio.timeout(PATIENCE):
            head = await self.reader.readuntil(b"\r\n\r\n")
            length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
            return head + await self.reader.readexactly(int(length or b"0"))

    async def event(self) -> bytes:
        """The next record of a stream, from the chunk that it is."""
        async with asyncio.timeout(PATIENCE):
            size = int(await self.reader.readline(), 16)
            chunk = await self.reader.readexactly(size)
            return chunk.partition(b"\n")[2]

    async def is_closed(self) -> bool:
        """Once the other side has closed."""
        async with asyncio.timeout(PATIENCE):
            try:
                while await self.reader.read(65536):
                    pass
            except ConnectionError:
                pass
            return True

    def close(self) -> None:
        self.writer.close()


@dataclass
class Served:
    """A running server."""

    server: Server
    port: int
    clients: list[Client]

    async def client(self) -> Client:
        self.clients.append(Client(*await asyncio.open_connection("127.0.0.1", self.port, limit=2**20)))
        return self.clients[-1]

    async def healthy(self) -> bool:
        """Whether somebody who behaves is answered."""
        client = await self.client()
        status = await (await client.says(HEALTH)).status()
        client.close()
        return status == 200


@asynccontextmanager
async def served(
    limits: ClientLimits, flags: dict[str, str] | None = None, agents: int = 1, host: str = "127.0.0.1", **more: Any
) -> AsyncIterator[Served]:
    spec = ClusterSpec(("cpus:8;mem:8192",) * agents, "1.11", flags=flags or {})
    server = Server(spec.start(), limits=limits, **more)
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    running = asyncio.create_task(server.run(host, 0, ready.set_result))
    found = Served(server, int((await ready).rpartition(":")[2]), [])
    try:
        yield found
    finally:
        for client in found.clients:
            client.close()
        server.stop()
        await running


def post(body: bytes, path: str = "/quota", **headers: Any) -> bytes:
    usual = {"Host": "localhost", "Content-Length": str(len(body))}
    lines = usual | {name.replace("_", "-"): str(value) for name, value in headers.items()}
    listed = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"POST {path} HTTP/1.1\r\n{listed}\r\n".encode() + body
