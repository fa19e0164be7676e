"""What a client may cost the fake master's server: spoken over raw sockets, as no library would."""

import asyncio
import gc
import gzip
import json
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest

from fake_master.http.application import Application
from fake_master.http.request_response import Request
from fake_master.sources.cluster_file import ClusterSpec
from fake_master.transports.limits import ClientLimits, Connection
from fake_master.transports.server import Server

pytestmark = pytest.mark.socket

PATIENCE = 60.0
"""Seconds until a test gives up; a hundred times as long as any limit here."""
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
HEALTH = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"
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
            return head + await self.reader.readexactly(int(length))

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
async def served(limits: ClientLimits, flags: dict[str, str] | None = None, agents: int = 1) -> AsyncIterator[Served]:
    spec = ClusterSpec(("cpus:8;mem:8192",) * agents, "1.11", flags=flags or {})
    server = Server(spec.start(), limits=limits)
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    running = asyncio.create_task(server.run("127.0.0.1", 0, ready.set_result))
    found = Served(server, int((await ready).rpartition(":")[2]), [])
    try:
        yield found
    finally:
        for client in found.clients:
            client.close()
        server.stop()
        await running


def post(body: bytes, path: str = "/quota", **headers: Any) -> bytes:
    lines = {"Host": "x", "Content-Length": str(len(body)), **{k.replace("_", "-"): str(v) for k, v in headers.items()}}
    listed = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"POST {path} HTTP/1.1\r\n{listed}\r\n".encode() + body


@pytest.fixture(autouse=True)
def _no_traceback(caplog: pytest.LogCaptureFixture) -> Any:
    """A client's fault is no news to whoever runs the server."""
    yield
    told = [record for record in caplog.get_records("call") if record.levelno >= logging.WARNING]
    assert not told, [record.getMessage() for record in told]


def test_a_body_that_is_too_large_is_413_before_it_is_sent() -> None:
    async def play() -> None:
        async with served(SMALL) as at:
            client = await (await at.client()).says(post(b"", Content_Length=10**12))
            assert await client.status() == 413
            assert await at.healthy()

    asyncio.run(play())


def test_a_body_in_chunks_is_413_once_it_is_too_large() -> None:
    async def play() -> None:
        async with served(SMALL) as at:
            head = b"POST /quota HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
            client = await (await at.client()).says(head + b"1f4\r\n" + b"x" * 500 + b"\r\n")
            await client.says(b"1f5\r\n" + b"x" * 501 + b"\r\n")
            assert await client.status() == 413

    asyncio.run(play())


def test_a_body_that_unpacks_to_too_much_is_413() -> None:
    async def play() -> None:
        async with served(SMALL) as at:
            packed = gzip.compress(b"x" * 100_000)
            assert len(packed) < SMALL.body
            client = await (await at.client()).says(post(packed, Content_Encoding="gzip"))
            assert await client.status() == 413

    asyncio.run(play())


PACKED = gzip.compress(b"[]", mtime=0)


@pytest.mark.parametrize(
    ("packed", "sentence"),
    [
        (PACKED[:-8], b"ends early"),
        (PACKED[:-1], b"ends early"),
        (PACKED[:-8] + bytes(8), b"is not gzip"),
        (PACKED + b"x", b"follows the end"),
        (b"no gzip", b"is not gzip"),
        (b"", b"ends early"),
    ],
)
def test_a_packed_body_that_is_not_whole_is_refused(packed: bytes, sentence: bytes) -> None:
    answer = asyncio.run(answer_to_packed(packed))
    assert answer.startswith(b"HTTP/1.1 500"), "as a real master does: tests/conformance/answers/test_http_habits.py"
    assert sentence in answer


def test_a_packed_body_that_is_whole_is_read() -> None:
    answer = asyncio.run(answer_to_packed(PACKED))
    assert answer.startswith(b"HTTP/1.1 400")
    assert b"expecting a JSON object" in answer


async def answer_to_packed(packed: bytes) -> bytes:
    async with served(ROOMY) as at:
        client = await (await at.client()).says(post(packed, Content_Encoding="gzip"))
        return await client.answer()


BOMBS = {
    "quotes": (b"", b'"' * 60),
    "an array of quotes": (b"[", b'"' * 60),
    "odd numbers": (b"[", b"01," * 20),
    "numbers": (b"[", b"1," * 30),
    "lists": (b"[", b"[]," * 20),
    "fields": (b"", b"a&" * 30),
}


@cache
def bomb(name: str) -> bytes:
    """At most 64 KiB that unpack to 60 MB."""
    first, rest = BOMBS[name]
    return gzip.compress(first + rest * 1_000_000, 9)[: 64 * 1024]


@pytest.mark.parametrize("name", BOMBS)
@pytest.mark.parametrize("path", ["/quota", "/reserve", "/api/v1"])
def test_a_small_body_that_unpacks_to_much_keeps_nobody_waiting(name: str, path: str) -> None:
    async def play() -> None:
        async with served(ROOMY) as at:
            packed = bomb(name)
            started = time.process_time()
            request = post(packed, path, Content_Encoding="gzip", Content_Type="application/json")
            client = await (await at.client()).says(request)
            assert await client.status() in (400, 413)
            assert await at.healthy()
            assert time.process_time() - started < 2

    asyncio.run(play())


@pytest.mark.parametrize("body", [b"[" + b"1," * 2_000_000 + b"1]", b"[" * 4_000_000, b"[" + b'"' * 4_000_000])
@pytest.mark.parametrize("path", ["/quota", "/api/v1"])
def test_a_large_body_is_refused_before_it_costs_much(body: bytes, path: str) -> None:
    async def play() -> None:
        async with served(ROOMY) as at:
            started = time.process_time()
            client = await (await at.client()).says(post(body, path, Content_Type="application/json"))
            assert await client.status() == 400
            assert time.process_time() - started < 2

    asyncio.run(play())


HALF = b"GET /hea"


@pytest.mark.parametrize(
    "first",
    [
        HEALTH + HALF,
        HEALTH + HEALTH + HALF,
        post(b"x" * 10) + HALF,
        b"POST /quota HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\na\r\n\r\n0\r\n\r\n" + HALF,
    ],
    ids=["at once", "after two", "after a body", "after chunks"],
)
def test_a_part_of_a_second_request_is_408_in_time(first: bytes) -> None:
    async def play() -> None:
        async with served(SMALL) as at:
            client = await (await at.client()).says(first)
            statuses = [await client.status()]
            while statuses[-1] not in (0, 408):
                statuses.append(await client.status())
            assert statuses[-1] == 408
            assert len(statuses) == first.count(b"HTTP/1.1") + 1
            assert await client.is_closed()

    asyncio.run(play())


@pytest.mark.parametrize(
    "first",
    [HEALTH, HEALTH + HEALTH, post(b"x\r\n\r\nGET ")],
    ids=["one", "two", "a body like a head"],
)
def test_a_connection_without_a_part_of_a_request_may_wait(first: bytes) -> None:
    async def play() -> None:
        async with served(SMALL) as at:
            client = await (await at.client()).says(first)
            for _ in range(first.count(b"HTTP/1.1")):
                assert await client.status() in (200, 400)
            slow = await (await at.client()).says(HALF)
            assert await slow.status() == 408  # as long as that takes, the other one waits
            assert await (await client.says(HEALTH)).status() == 200

    asyncio.run(play())


def test_bodies_that_are_too_large_together_are_503() -> None:
    async def play() -> None:
        async with served(ClientLimits(body=1000, bodies=1500, body_seconds=PATIENCE)) as at:
            first = await (await at.client()).says(post(b"x" * 900, Content_Length=1000))
            second = await (await at.client()).says(post(b"x" * 900, Content_Length=1000))
            asked = [asyncio.ensure_future(client.status()) for client in (first, second)]
            turned_away = await asyncio.wait(asked, return_when=asyncio.FIRST_COMPLETED)
            assert [done.result() for done in turned_away[0]] == [503]
            for waiting in turned_away[1]:
                waiting.cancel()
            assert await at.healthy()

    asyncio.run(play())


@pytest.mark.parametrize(
    "head",
    [
        b"GET /quota?" + b"x" * 5000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /quota HTTP/1.1\r\nHost: x\r\nX-Y: " + b"x" * 5000 + b"\r\n\r\n",
        b"GET /quota HTTP/1.1\r\nHost: x\r\n" + b"".join(b"X-%d: y\r\n" % n for n in range(500)) + b"\r\n",
        b"GET /quota HTTP/1.1\r\nHost: x\r\nX-Y" + b"x" * 5000 + b": 1\r\n\r\n",
        b"GET /quota HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"GET /quota HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"GET /quota HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"GET /quota HTTP/1.1\r\nno colon\r\n\r\n",
        b"GET /quota HTTP/1.1\r\nX-Y: a\0b\r\n\r\n",
        b"GET\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 this is TLS \r\n\r\n",
        b"\0\0\0\0\r\n\r\n",
        b"GET /quota HTTP/9.9.9\r\n\r\n",
        b"GET http://[ HTTP/1.1\r\nHost: x\r\n\r\n",
    ],
    ids=lambda head: repr(head[:40]),
)
def test_a_head_that_is_too_large_or_broken_is_400(head: bytes) -> None:
    async def play() -> None:
        async with served(SMALL) as at:
            client = await (await at.client()).says(head)
            assert await client.status() == 400
            assert await client.is_closed()
            assert await at.healthy()

    asyncio.run(play())


def test_a_slow_head_is_408() -> None:
    async def play() -> None:
        async with served(SMALL) as at:
            client = await (await at.client()).says(b"GET /quota HTTP/1.1\r\nHost:")
            assert await client.status() == 408
            assert await client.is_closed()

    asyncio.run(play())


def test_a_slow_head_after_an_answer_is_408() -> None:
    async def play() -> None:
        async with served(SMALL) as at:
            client = await (await at.client()).says(HEALTH)
            assert await client.status() == 200
            await client.says(b"GET /quota HTTP/1.1\r\nHost:")
            assert await client.status() == 408

    asyncio.run(play())


def test_who_says_nothing_at_all_is_left() -> None:
    async def play() -> None:
        async with served(SMALL) as at:
            assert await (await at.client()).status() == 0

    asyncio.run(play())


def test_a_slow_body_is_408() -> None:
    async def play() -> None:
        async with served(SMALL) as at:
            client = await (await at.client()).says(post(b"{", Content_Length=100))
            assert await client.status() == 408
            assert await client.is_closed()

    asyncio.run(play())


def test_a_listener_that_says_no_more_from_the_first_is_gone() -> None:
    async def play() -> None:
        async with served(ROOMY) as at:
            client = await (await at.client()).says(post(LISTEN, "/api/v1", Content_Type="application/json"))
            client.writer.write_eof()
            assert await client.is_closed()
            assert await at.healthy()

    asyncio.run(play())


def test_a_body_that_ends_early_is_no_change() -> None:
    async def play() -> None:
        async with served(SMALL) as at:
            client = await (await at.client()).says(post(b'{"role":"r"', Content_Length=100))
            client.writer.write_eof()
            assert await client.status() in (0, 400)
            assert await at.healthy()

    asyncio.run(play())


def test_who_does_not_read_an_answer_is_cut_off() -> None:
    async def play() -> None:
        async with served(SMALL, agents=100) as at:
            client = await at.client()
            transport = client.writer.transport
            assert isinstance(transport, asyncio.Transport)
            transport.pause_reading()
            while not transport.is_closing():
                client.writer.write(b"GET /slaves HTTP/1.1\r\nHost: x\r\n\r\n" * 100)
                async with asyncio.timeout(PATIENCE):
                    try:
                        await client.writer.drain()
                    except ConnectionError:
                        break
                assert await at.healthy()

    asyncio.run(play())


def test_one_connection_too_many_is_503_while_all_are_at_work() -> None:
    async def play() -> None:
        async with served(SMALL) as at:
            listeners = [await at.client() for _ in range(SMALL.connections)]
            for listener in listeners:
                await listener.says(post(LISTEN, "/api/v1", Content_Type="application/json"))
                assert await listener.status() == 200
            assert await (await at.client()).status() == 503
            listeners[0].close()
            async with asyncio.timeout(PATIENCE):
                while not await at.healthy():
                    pass

    asyncio.run(play())


def test_who_is_idle_makes_room() -> None:
    async def play() -> None:
        async with served(SMALL) as at:
            for _ in range(3 * SMALL.connections):
                assert await (await (await at.client()).says(HEALTH)).status() == 200

    asyncio.run(play())


def test_the_oldest_operator_is_let_go_where_more_listen_than_may() -> None:
    async def play() -> None:
        async with served(ROOMY, {"max_operator_event_stream_subscribers": "2"}) as at:
            listeners = [await at.client() for _ in range(3)]
            for listener in listeners:
                await listener.says(post(LISTEN, "/api/v1", Content_Type="application/json"))
                assert await listener.status() == 200
            # The stream ends, the connection stays.
            async with asyncio.timeout(PATIENCE):
                await listeners[0].reader.readuntil(b"0\r\n\r\n")

    asyncio.run(play())


def test_silent_and_slow_clients_cost_the_others_nothing() -> None:
    async def play() -> None:
        async with served(ClientLimits(connections=300)) as at:
            for number in range(200):
                client = await at.client()
                await client.says(
                    [b"", b"GET /sl", post(b"{", Content_Length=50), b"GET /slaves HTTP/1.1\r\nHost: x\r\n\r\n"][
                        number % 4
                    ]
                )
            quota = json.dumps(
                {"role": "r", "force": True, "guarantee": [{"name": "cpus", "type": "SCALAR", "scalar": {"value": 1}}]}
            )
            client = await (await at.client()).says(post(quota.encode()))
            assert await client.status() == 200
            assert await at.healthy()

    asyncio.run(play())


def test_operators_that_do_not_read_cost_little_each() -> None:
    async def play() -> None:
        async with served(ROOMY, agents=1000) as at:
            request = post(LISTEN, "/api/v1", Content_Type="application/json", Accept="application/json")
            listening = [await (await at.client()).says(request) for _ in range(20)]
            for client in listening:
                assert await client.status() == 200
            assert await at.healthy()
            waiting = [transport.get_write_buffer_size() for transport in open_transports(at)]
            assert len(waiting) >= len(listening)
            assert max(waiting) < 2**20
            record = json.loads(await listening[0].event())
            assert len(record["subscribed"]["get_state"]["get_agents"]["agents"]) == 1000

    asyncio.run(play())


def test_all_operators_are_sent_the_same_bytes() -> None:
    master = ClusterSpec(("cpus:8;mem:8192",) * 10, "1.11").start()
    application = Application(master)
    types = {"content-type": "application/json", "accept": "application/json"}

    def subscribe() -> bytes:
        stream = application.handle(Request("POST", "/api/v1", types, LISTEN)).stream
        assert stream is not None
        return stream.take()[0]

    first = subscribe()
    assert subscribe() is first
    quota = {"force": True, "role": "web", "guarantee": [{"name": "cpus", "type": "SCALAR", "scalar": {"value": 1}}]}
    assert application.handle(Request("POST", "/quota", {}, json.dumps(quota).encode())).status == 200
    assert subscribe() is first  # which tells nothing of quota
    master.state.agents[next(iter(master.state.agents))].deactivated = True
    changed = subscribe()
    assert changed is not first
    assert changed.count(b'"deactivated":true') == 1


def open_transports(at: Served) -> list[asyncio.Transport]:
    """Those of the server's side."""
    found = (getattr(one, "transport", None) for one in gc.get_objects() if isinstance(one, Connection))
    return [transport for transport in found if transport is not None]
