"""A registry that another process holds: who has to write waits for it, and everybody else is answered."""

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path

from aiohttp import ClientSession

from fake_master.carriers.limits import ClientLimits
from fake_master.carriers.server import Server
from fake_master.cluster import ClusterSpec
from fake_master.master.registry_sqlite import SqliteRegistry

from .sending import AGENT, JSON, quota

PATIENCE = 60.0
"""Seconds until a test gives up."""


@asynccontextmanager
async def served(path: Path, limits: ClientLimits) -> AsyncIterator[ClientSession]:
    server = Server(ClusterSpec(agents=(AGENT,)).start(SqliteRegistry(path)), limits=limits)
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    running = asyncio.create_task(server.run("127.0.0.1", 0, ready.set_result))
    try:
        async with ClientSession(await ready) as session:
            yield session
    finally:
        server.stop()
        await running


@contextmanager
def held(path: Path) -> Iterator[None]:
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


async def set_quota(session: ClientSession) -> int:
    async with session.post("/quota", data=json.dumps(quota("web")), headers=JSON) as answer:
        return answer.status


async def status(session: ClientSession, path: str) -> int:
    async with session.get(path) as answer:
        return answer.status


def test_who_reads_is_answered_while_a_change_waits_which_is_made_at_last(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"

    async def run() -> None:
        async with asyncio.timeout(PATIENCE), served(path, ClientLimits(registry_seconds=PATIENCE)) as session:
            with held(path):
                change = asyncio.create_task(set_quota(session))
                for _ in range(20):
                    assert [await status(session, one) for one in ("/quota", "/state", "/health")] == [200] * 3
                assert not change.done()
            assert await change == 200

    asyncio.run(run())


def test_a_change_does_not_wait_for_ever(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"

    async def run() -> None:
        async with asyncio.timeout(PATIENCE), served(path, ClientLimits(registry_seconds=0.1)) as session:
            with held(path):
                assert await set_quota(session) == 500
            assert await set_quota(session) == 200

    asyncio.run(run())
