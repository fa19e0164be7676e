"""A registry that another process holds: who has to write waits for it, and everybody else is answered."""

import asyncio
import json
import sqlite3
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, closing, contextmanager
from pathlib import Path

import pytest
from aiohttp import ClientSession

from fake_master.http.application import Application
from fake_master.http.request_response import Request, Response
from fake_master.registry.interface import SECONDS_TO_WAIT, HeldRegistry, RegistryFailure, UnreadableRegistry
from fake_master.registry.sqlite import SqliteRegistry
from fake_master.sources.cluster_file import ClusterSpec
from fake_master.transports.limits import ClientLimits
from fake_master.transports.server import Server
from tests.fake_master.sending import AGENT, JSON, quota
from tests.helpers.lab import Lab, Scheduler
from tests.helpers.lab.master import START
from tests.helpers.waiting import PATIENCE


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


async def set_quota(session: ClientSession, role: str = "web") -> int:
    async with session.post("/quota", data=json.dumps(quota(role)), headers=JSON) as answer:
        return answer.status


async def ask_v1(session: ClientSession, kind: str) -> int:
    async with session.post("/api/v1", data=json.dumps({"type": kind}), headers=JSON) as answer:
        return answer.status


async def status(session: ClientSession, path: str) -> int:
    async with session.get(path) as answer:
        return answer.status


@pytest.mark.socket
def test_who_reads_is_answered_while_a_change_waits_which_is_made_at_last(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"

    async def run() -> None:
        async with asyncio.timeout(PATIENCE), served(path, ClientLimits(registry_seconds=PATIENCE)) as session:
            with held(path):
                change = asyncio.create_task(set_quota(session))
                for _ in range(20):
                    assert [await status(session, one) for one in ("/quota", "/state", "/health")] == [200] * 3
                    assert [await ask_v1(session, one) for one in ("GET_ROLES", "SUBSCRIBE")] == [200] * 2
                assert not change.done()
            assert await change == 200

    asyncio.run(run())


def test_who_opens_a_registry_says_how_long_it_waits(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    with closing(SqliteRegistry(path, 0.05)) as registry, held(path):
        started = time.monotonic()
        with pytest.raises(HeldRegistry), registry.transaction():
            pytest.fail("it is held")
        assert time.monotonic() - started < SECONDS_TO_WAIT / 2


def test_who_opens_a_registry_does_not_wait_for_who_writes(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    SqliteRegistry(path).close()
    with held(path), closing(SqliteRegistry(path, 0)) as registry:
        assert registry.records("weight") == {}


class Attempts:
    """The outcomes of attempts to open a registry; the clock moves only between attempts."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, code: int | None, *, fail: int) -> None:
        self.made = 0
        self.now = 100.0
        prepare = SqliteRegistry._prepare

        def attempt(registry: SqliteRegistry) -> None:
            self.made += 1
            if self.made <= fail:
                error = sqlite3.OperationalError("it failed")
                if code is not None:
                    error.sqlite_errorcode = code
                raise error
            prepare(registry)

        def sleep(seconds: float) -> None:
            assert seconds > 0
            self.now += seconds

        monkeypatch.setattr(SqliteRegistry, "_prepare", attempt)
        monkeypatch.setattr(time, "sleep", sleep)
        monkeypatch.setattr(time, "monotonic", lambda: self.now)


@pytest.mark.parametrize("code", [sqlite3.SQLITE_BUSY, sqlite3.SQLITE_BUSY_RECOVERY])
def test_who_opens_a_held_registry_tries_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    attempts = Attempts(monkeypatch, code, fail=3)
    SqliteRegistry(tmp_path / "r.sqlite", 5).close()
    assert attempts.made == 4


def test_who_opens_a_held_registry_gives_up_after_the_time_to_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts = Attempts(monkeypatch, sqlite3.SQLITE_BUSY, fail=10_000)
    with pytest.raises(HeldRegistry):
        SqliteRegistry(tmp_path / "r.sqlite", 5)
    assert 105 <= attempts.now < 106


@pytest.mark.parametrize(("code", "kind"), [(sqlite3.SQLITE_IOERR, RegistryFailure), (None, UnreadableRegistry)])
def test_another_failure_to_open_a_registry_is_told_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int | None, kind: type[RegistryFailure]
) -> None:
    attempts = Attempts(monkeypatch, code, fail=1)
    with pytest.raises(kind) as refused:
        SqliteRegistry(tmp_path / "r.sqlite", 5)
    assert attempts.made == 1
    assert type(refused.value) is kind


@pytest.mark.socket
def test_a_change_does_not_wait_for_ever(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"

    async def run() -> None:
        async with asyncio.timeout(PATIENCE), served(path, ClientLimits(registry_seconds=0.1)) as session:
            with held(path):
                async with session.post("/quota", data=json.dumps(quota("web")), headers=JSON) as answer:
                    assert answer.status == 500
                    assert b"nothing was changed" in await answer.read()
            assert await set_quota(session) == 200

    asyncio.run(run())


@pytest.mark.socket
def test_of_several_changes_that_wait_one_at_a_time_tries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "r.sqlite"
    tries: list[str] = []
    respond = Application.respond

    def noted(self: Application, request: Request) -> Response:
        if request.method == "POST":
            tries.append(json.loads(request.body)["role"])
        return respond(self, request)

    async def until(session: ClientSession, number: int) -> None:
        while len(tries) < number:
            assert await status(session, "/health") == 200

    async def run() -> None:
        async with asyncio.timeout(PATIENCE), served(path, ClientLimits(registry_seconds=PATIENCE)) as session:
            with held(path):
                changes = []
                for role in "abc":
                    changes.append(asyncio.create_task(set_quota(session, role)))
                    while role not in tries:
                        assert await status(session, "/health") == 200
                await until(session, len(tries) + 10)
                assert [tries.count(role) for role in "bc"] == [1, 1]
            assert await asyncio.gather(*changes) == [200] * 3
        assert tries[-3:] == ["a", "b", "c"]

    monkeypatch.setattr(Application, "respond", noted)
    asyncio.run(run())


@contextmanager
def throttled(path: Path, qps: float) -> Iterator[Lab]:
    """In virtual time, with frameworks of one principal."""
    with closing(SqliteRegistry(path)) as registry:
        registry.wait_at_most(0)
        yield Lab(rate_limits={"limits": [{"principal": "p", "qps": qps}]}, registry=lambda: registry)


def test_a_call_whose_turn_comes_meanwhile_is_made_later_and_none_overtakes_it(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    with throttled(path, qps=2) as cluster:
        framework = Scheduler(cluster, principal="p")
        framework.send("a", "b", "c", "d")
        with held(path):
            cluster.at(0.5)
            assert framework.processed == ["a"]
            assert cluster.counters() == {"p": (4, 1)}
        cluster.at(1)
        assert framework.processed in (["a"], ["a", "b", "c"])
        cluster.at(10)
        assert framework.processed == ["a", "b", "c", "d"]
        assert cluster.counters() == {"p": (4, 4)}


def test_a_call_that_waits_for_the_registry_is_tried_once_a_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "r.sqlite"
    with throttled(path, qps=2) as cluster:
        Scheduler(cluster, principal="p").send("a", "b")
        begin, tries = cluster.master.registry.transaction, list[float]()

        def noted() -> AbstractContextManager[None]:
            tries.append(cluster.clock.now - START)
            return begin()

        monkeypatch.setattr(cluster.master.registry, "transaction", noted)
        with held(path):
            for quarter in range(12):
                cluster.at(quarter / 4)
        assert tries == [0.5, 1.5, 2.5]


def test_a_call_that_need_not_wait_for_its_turn_waits_for_those_that_came_before(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    with throttled(path, qps=10) as cluster:
        framework = Scheduler(cluster, principal="p")
        framework.send("a", "b")
        with held(path):
            cluster.at(0.1)
        cluster.at(0.5)
        framework.send("c")
        cluster.at(10)
        assert framework.processed == ["a", "b", "c"]


def test_a_framework_that_is_gone_meanwhile_has_made_its_calls(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    with throttled(path, qps=10) as cluster:
        framework = Scheduler(cluster, principal="p", failover_timeout=1e6)
        framework.send("a", "b")
        with held(path):
            cluster.at(0.1)
            cluster.at(0.5)
            framework.stream.abandon()
        cluster.at(10)
        assert cluster.counters() == {"p": (2, 2)}
        assert [known["connected"] for known in cluster.frameworks()] == [False]


def test_only_what_did_not_begin_may_be_tried_again(tmp_path: Path) -> None:
    """Where the file system has no WAL, somebody who reads can hold up a commit, after everything was done."""
    path = tmp_path / "r.sqlite"
    with closing(SqliteRegistry(path)) as registry, closing(sqlite3.connect(path, isolation_level=None)) as other:
        registry.wait_at_most(0)
        assert registry._connection.execute("PRAGMA journal_mode=DELETE").fetchone() == ("delete",)
        other.execute("BEGIN")
        other.execute("SELECT * FROM record").fetchall()
        with pytest.raises(RegistryFailure) as caught, registry.transaction():
            registry.write("kind", "key", 1)
        assert not isinstance(caught.value, HeldRegistry)
        assert registry.records("kind") == {}
