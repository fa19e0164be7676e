"""Many frameworks on one socket, and subscribers that do not keep up."""

import asyncio
import json
from itertools import pairwise
from types import SimpleNamespace
from typing import Any, cast

import aiohttp
import pytest
from aiohttp import web

from fake_master.master import Master
from fake_master.sources.cluster_file import ClusterSpec
from fake_master.state.clock import VirtualClock
from fake_master.state.streams import LARGEST_BACKLOG, EventStream
from fake_master.state.subscription import Subscription
from fake_master.transports.limits import _LARGEST_WRITE, write_chunk
from fake_master.transports.server import Server
from mesosctl.mesos.messages.protobuf_json import recordio
from tests.endurance.jobs.load import allow_files

FRAMEWORKS = 1000
SECONDS = 600.0
"""A bound, not a measure: it takes a few seconds where nobody else is at work."""
HEADERS = {"Content-Type": "application/json", "Accept": "application/json"}


def subscription(index: int, **more: Any) -> dict[str, Any]:
    capabilities = [{"type": "MULTI_ROLE"}, {"type": "RESERVATION_REFINEMENT"}]
    info = {"user": "u", "name": f"f{index}", "roles": [f"r{index}"], "capabilities": capabilities, **more}
    return {"type": "SUBSCRIBE", "subscribe": {"framework_info": info}}


async def events(response: aiohttp.ClientResponse) -> Any:
    buffer = b""
    async for chunk, _ in response.content.iter_chunks():
        buffer += chunk
        for record in recordio.decode([buffer]):
            yield json.loads(record)
        buffer = b""


class Serving:
    """A server in this event loop; used with `async with`."""

    def __init__(self, master: Master) -> None:
        self._server = Server(master)

    async def __aenter__(self) -> str:
        ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._running = asyncio.create_task(self._server.run("127.0.0.1", 0, ready.set_result))
        return await ready

    async def __aexit__(self, *_: object) -> None:
        self._server.stop()
        await self._running


async def visit(session: aiohttp.ClientSession, url: str, index: int, everybody: asyncio.Barrier) -> int:
    """Subscribe, take an offer, give it back, stay until everybody has had one.  The offers seen."""
    async with session.post(f"{url}/api/v1/scheduler", json=None, data=json.dumps(subscription(index))) as response:
        assert response.status == 200
        stream_id = response.headers["Mesos-Stream-Id"]
        framework_id: Any = None
        async for event in events(response):
            if event["type"] == "SUBSCRIBED":
                framework_id = event["subscribed"]["framework_id"]
            if event["type"] == "OFFERS":
                offers = event["offers"]["offers"]
                declined = {"offer_ids": [o["id"] for o in offers]}
                # No more of them first: an offer of another agent would be kept from those who wait.
                for call in ({"type": "SUPPRESS"}, {"type": "DECLINE", "decline": declined}):
                    body = json.dumps({**call, "framework_id": framework_id})
                    extra = {"Mesos-Stream-Id": stream_id}
                    async with session.post(f"{url}/api/v1/scheduler", data=body, headers=extra) as answer:
                        assert answer.status == 202, await answer.text()
                await everybody.wait()
                return len(offers)
    raise AssertionError("the stream ended before an offer came")


async def crowd() -> None:
    spec = ClusterSpec(("cpus:8;mem:8192",) * 20, "1.11", flags={"allocation_interval": "50ms"})
    async with (
        Serving(spec.start()) as url,
        aiohttp.ClientSession(
            headers=HEADERS, connector=aiohttp.TCPConnector(limit=0), timeout=aiohttp.ClientTimeout(total=SECONDS)
        ) as session,
    ):
        everybody = asyncio.Barrier(FRAMEWORKS + 1)
        visits = [asyncio.create_task(visit(session, url, index, everybody)) for index in range(FRAMEWORKS)]
        await asyncio.wait_for(_met_or_failed(everybody, visits), SECONDS)
        assert all(await asyncio.gather(*visits))
        async with session.get(f"{url}/metrics/snapshot") as answer:
            figures = await answer.json()
        assert figures["master/messages_register_framework"] == FRAMEWORKS


async def _met_or_failed(everybody: asyncio.Barrier, visits: list[asyncio.Task[int]]) -> None:
    meeting = asyncio.create_task(everybody.wait())
    done, _ = await asyncio.wait([meeting, *visits], return_when=asyncio.FIRST_COMPLETED)
    for early in done - {meeting}:
        early.result()
    await meeting


@pytest.mark.socket
def test_a_thousand_frameworks_are_subscribed_and_served_at_once() -> None:
    wanted = 4 * FRAMEWORKS  # both ends of a stream and of a call, each
    if not allow_files(wanted):
        pytest.skip(f"this process may not open {wanted} files")
    asyncio.run(crowd())


# --- Subscribers that do not keep up ------------------------------------------------------------------


def two_frameworks() -> tuple[Master, EventStream, EventStream, VirtualClock]:
    clock = VirtualClock(1000.0)
    master = ClusterSpec(("cpus:1;mem:1024",), "1.11").start(clock=clock)

    def join(name: str) -> EventStream:
        info = {"user": "u", "name": name, "roles": [name], "capabilities": [{"type": "MULTI_ROLE"}]}
        return master.subscriptions.subscribe(Subscription(info))

    return master, join("dead"), join("alive"), clock


def kinds(stream: EventStream) -> list[str]:
    return [json.loads(record)["type"] for record in recordio.decode(stream.take())]


def test_a_dead_subscriber_loses_its_offers_to_the_others() -> None:
    master, dead, alive, clock = two_frameworks()
    master.advance()
    assert kinds(dead) == ["SUBSCRIBED", "HEARTBEAT"]
    assert kinds(alive) == ["SUBSCRIBED", "HEARTBEAT", "OFFERS"]
    alive.abandon()
    clock.sleep(1.0)
    master.advance()
    assert kinds(dead) == ["OFFERS"]
    assert [framework.name for framework in master.state.frameworks.values()] == ["dead"]


def test_a_subscriber_that_never_reads_is_let_go_when_its_backlog_is_too_large() -> None:
    master, slow, alive, _ = two_frameworks()
    (framework, other) = master.state.frameworks.values()
    largest = "x" * (LARGEST_BACKLOG // 8)
    for _ in range(9):
        master.events.message(framework, "agent", "executor", largest)
        master.events.message(other, "agent", "executor", "short")
    assert slow.closed
    master.advance()
    assert not framework.connected
    assert not alive.closed
    assert kinds(alive).count("MESSAGE") == 9


def test_others_have_their_turn_between_the_pieces_of_large_events() -> None:
    """The system takes megabytes for each subscriber at once, and copying them takes its time."""
    order: list[str] = []

    async def drain() -> None:
        pass  # the system takes it all

    def subscriber() -> Any:
        transport = SimpleNamespace(is_closing=lambda: False, write=lambda _piece: order.append("piece"))
        return SimpleNamespace(transport=transport, writer=SimpleNamespace(send_headers=order.clear, drain=drain))

    async def others() -> None:
        while order.count("piece") < 20:
            order.append("other")
            await asyncio.sleep(0)

    async def play() -> None:
        record, writing, response = bytes(10 * _LARGEST_WRITE), asyncio.Lock(), cast("web.StreamResponse", None)
        await asyncio.gather(*(write_chunk(subscriber(), response, record, writing) for _ in range(3)), others())

    asyncio.run(play())
    assert ("piece", "piece") not in pairwise(order[: len(order) - order[::-1].index("other")])
