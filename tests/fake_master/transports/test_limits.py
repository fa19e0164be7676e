"""The limits of clients of the fake master's server: spoken over raw sockets, as no library would."""

import asyncio
import gc
import json

import pytest

from fake_master.http.application import Application
from fake_master.http.request_response import Request
from fake_master.sources.cluster_file import ClusterSpec
from fake_master.transports.limits import ClientLimits, TimedConnection
from tests.fake_master.transports.raw_clients import HEALTH, LISTEN, ROOMY, SMALL, Served, post, served
from tests.helpers.waiting import PATIENCE

pytestmark = pytest.mark.socket


HALF = b"GET /hea"


@pytest.mark.parametrize(
    "first",
    [
        HEALTH + HALF,
        HEALTH + HEALTH + HALF,
        post(b"x" * 10) + HALF,
        b"POST /quota HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3\r\na\r\n\r\n0\r\n\r\n" + HALF,
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


@pytest.mark.parametrize(
    "head",
    [
        b"GET /quota?" + b"x" * 5000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /quota HTTP/1.1\r\nHost: localhost\r\nX-Y: " + b"x" * 5000 + b"\r\n\r\n",
        b"GET /quota HTTP/1.1\r\nHost: localhost\r\n" + b"".join(b"X-%d: y\r\n" % n for n in range(500)) + b"\r\n",
        b"GET /quota HTTP/1.1\r\nHost: localhost\r\nX-Y" + b"x" * 5000 + b": 1\r\n\r\n",
        b"GET /quota HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"GET /quota HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"GET /quota HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"GET /quota HTTP/1.1\r\nno colon\r\n\r\n",
        b"GET /quota HTTP/1.1\r\nX-Y: a\0b\r\n\r\n",
        b"GET\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 this is TLS \r\n\r\n",
        b"\0\0\0\0\r\n\r\n",
        b"GET /quota HTTP/9.9.9\r\n\r\n",
        b"GET http://[ HTTP/1.1\r\nHost: localhost\r\n\r\n",
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


def test_a_listener_that_says_no_more_from_the_first_is_gone() -> None:
    async def play() -> None:
        async with served(ROOMY) as at:
            client = await (await at.client()).says(post(LISTEN, "/api/v1", Content_Type="application/json"))
            client.writer.write_eof()
            assert await client.is_closed()
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
                client.writer.write(b"GET /slaves HTTP/1.1\r\nHost: localhost\r\n\r\n" * 100)
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
                    [
                        b"",
                        b"GET /sl",
                        post(b"{", Content_Length=50),
                        b"GET /slaves HTTP/1.1\r\nHost: localhost\r\n\r\n",
                    ][number % 4]
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
    found = (getattr(one, "transport", None) for one in gc.get_objects() if isinstance(one, TimedConnection))
    return [transport for transport in found if transport is not None]
