"""The connections that a master opens to drivers: whoever sends a message names where to, so they are bounded."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

import pytest

from fake_master.driver.messages import Address
from fake_master.protobuf.conversion import serialize
from fake_master.transports import driver_connections
from fake_master.transports.driver_connections import DriverConnections
from tests.fake_master.transports.raw_clients import ROOMY, post, served
from tests.helpers.waiting import PATIENCE

MIB = 1024 * 1024


def addresses(number: int) -> list[Address]:
    return [Address(f"10.0.0.{each}", 4000) for each in range(1, number + 1)]


@pytest.fixture
def never_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """No attempt to connect ever ends."""

    async def hang(*_arguments: Any) -> Any:
        await asyncio.Event().wait()

    monkeypatch.setattr(asyncio, "open_connection", hang)


def run(most: int, play: Callable[[DriverConnections, list[Address]], Coroutine[Any, Any, None]]) -> None:
    async def playing() -> None:
        lost: list[Address] = []
        connections = DriverConnections(lost.append, most)
        try:
            await play(connections, lost)
        finally:
            await connections.close()

    asyncio.run(playing())


def test_what_waits_for_connections_is_bounded(never_open: None) -> None:
    async def play(connections: DriverConnections, lost: list[Address]) -> None:
        for to in addresses(60):
            for _ in range(3):
                connections.post(to, b"x" * MIB)
        assert connections._waiting.size <= driver_connections._LARGEST_WAITING
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert len(lost) >= 50  # those whose messages are lost are told so
        assert connections._waiting.size <= driver_connections._LARGEST_WAITING

    run(100, play)


def test_what_waited_is_forgotten_with_the_connection(never_open: None) -> None:
    async def play(connections: DriverConnections, lost: list[Address]) -> None:
        for to in addresses(3):
            connections.post(to, b"x" * MIB)
        for to in addresses(3):
            connections._open[to].task.cancel()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert (connections._waiting.size, len(lost)) == (0, 3)

    run(100, play)


def test_connections_without_a_driver_make_room_and_others_do_not(never_open: None) -> None:
    async def play(connections: DriverConnections, lost: list[Address]) -> None:
        first, second, *others = addresses(20)
        connections.link(first)
        connections.link(second)
        for to in others:
            connections.post(to, b"x")
            assert len(connections._open) <= 3
        assert list(connections._open) == [first, second, others[-1]]
        connections.link(others[-1])
        connections.link(others[0])  # there is no room: as if it could not be reached
        await asyncio.sleep(0)
        assert lost[-1:] == [others[0]]
        assert list(connections._open) == [first, second, others[-1]]

    run(3, play)


@pytest.mark.socket
def test_forged_authentications_leave_descriptors_for_others() -> None:
    most, senders = 4, 40
    open_now = [0, 0]

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        open_now[0] += 1
        open_now[1] += 1
        try:
            while await reader.read(65536):
                pass
        finally:  # also of one that is cancelled because everything ends
            open_now[0] -= 1
            writer.close()

    async def play() -> None:
        hosts = [f"127.0.0.{number}" for number in range(1, senders + 1)]
        first = await asyncio.start_server(accept, hosts[0], 0)
        port = first.sockets[0].getsockname()[1]
        rest = await asyncio.start_server(accept, hosts[1:], port)
        limits = replace(ROOMY, connections=20, driver_connections=most)
        async with served(limits, drivers=True) as at, asyncio.timeout(PATIENCE):
            client = await at.client()
            name = "mesos.internal.AuthenticateMessage"
            for host in hosts:
                sender = f"a@{host}:{port}"
                body = serialize(name, {"pid": sender})
                await client.says(post(body, f"/master/{name}", Libprocess_From=sender))
                assert await client.status() == 202
            while not (open_now[1] and open_now[0] <= most):  # noqa: ASYNC110  # the servers have no event for it
                await asyncio.sleep(0.01)
            assert await at.healthy()
        first.close()
        rest.close()

    asyncio.run(play())
