"""How fast the fake master answers on its socket beside a real one, on the same cluster in one run.

    python -m tests.benchmarks.serving [--small] [--only WORDS] [--json FILE]

Both masters hold the same agents, a third of them with reservations, quotas on half of the roles,
and 50 frameworks that keep every offer.  The same client asks each question of one, then of the
other, over one connection and over 16.  Without MESOS_RUNNER it measures ours alone.  Ends with status 2 where ours is
much slower than the real one, in requests a second or in its first answer; small clusters have no limit.
"""

import asyncio
import contextlib
import sys
import tempfile
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Self

import httpx

from tests.benchmarks.cases import Case, quota_configs
from tests.benchmarks.load import Answers, ask
from tests.benchmarks.reporting.report import Cell, Chart, Reporter, arguments, ratio
from tests.conformance.masters.processes import Process
from tests.fake_master.allocator.real.real_master import RUNNER, Agents, RealMaster, Scheduler, hold

QUESTIONS = (
    "/quota",
    "/roles",
    "/frameworks",
    "/slaves",
    "/state",
    "/state-summary",
    "GET_ROLES",
    "GET_FRAMEWORKS",
    "GET_AGENTS",
    "GET_TASKS",
    "GET_EXECUTORS",
    "GET_OPERATIONS",
    "GET_STATE",
)
BUDGETED = ("/state-summary", *(question for question in QUESTIONS if question.startswith("GET_")))
FIRST = 2.0
"""How many times the real master's time the fake one may take for its first answer."""
SLOWER = 1.5
"""How many times the real master's time the fake one may take, before the benchmark ends with an error.

The budget for requests a second is 1, on a machine that does nothing else.
"""
LARGE = [Case("served", agents, 50, quota_every=2, reserved_every=3) for agents in (1000, 10_000)]
SMALL = [Case("served", 200, 5, quota_every=2, reserved_every=3)]
AT_ONCE = (1, 16)
LITTLE = 0.005
"""Seconds: a first answer that is faster says more of the connection than of the master."""


class FakeMaster:
    """A fake master with the agents of a case, on a socket; use it as a context manager."""

    def __init__(self, case: Case, interval: str) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="fake-master-", ignore_cleanup_errors=True)
        file = Path(self._folder.name) / "cluster.toml"
        agents = "".join(
            f'[[agents]]\nhostname = "agent{index:05d}"\nresources = "{case.resources_of(index)}"\n'
            for index in range(case.agents)
        )
        file.write_text(f'mesos_version = "1.11"\n{agents}', encoding="utf-8")
        command = [
            sys.executable,
            "-m",
            "fake_master",
            "--port",
            "0",
            "--cluster",
            str(file),
            "--allocation-interval",
            interval,
        ]
        self._process = Process(command, Path(self._folder.name) / "master.log")
        url = self._process.first_line()
        assert url, self._process.last_words()
        self.port = int(url.rpartition(":")[2])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.stop()
        self._folder.cleanup()


class Loop:
    """An event loop in a thread of its own: frameworks live there while requests are timed here."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def enter(self, stack: contextlib.ExitStack, context: contextlib.AbstractAsyncContextManager[None]) -> None:
        """Run a context there until the stack ends."""
        self._do(context.__aenter__())
        stack.callback(lambda: self._do(context.__aexit__(None, None, None)))

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _do(self, work: Any) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result()


@contextlib.asynccontextmanager
async def peopled(case: Case, port: int, interval: float, *, with_agents: bool) -> AsyncIterator[None]:
    """Quotas, agents where they come over the network, and frameworks that hold whatever they are offered."""
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=120) as client:
        body = {"type": "UPDATE_QUOTA", "update_quota": {"force": True, "quota_configs": quota_configs(case)}}
        (await client.post("/api/v1", json=body)).raise_for_status()
        agents = Agents(port)
        if with_agents:
            await agents.start()
            for index in range(case.agents):
                await agents.register(case.resources_of(index))
            while (await _figures(client))["master/slaves_active"] < case.agents:  # noqa: ASYNC110  # another process's
                await asyncio.sleep(0.5)
        schedulers = [Scheduler(port, f"f{index}", [case.role_of(index)], hold) for index in range(case.frameworks)]
        tasks = [asyncio.create_task(scheduler.run()) for scheduler in schedulers]
        # Nothing moves any more once two runs of the allocator in a row found nothing to offer.
        seen = -1
        while (count := sum(len(scheduler.offers) for scheduler in schedulers)) != seen or not count:
            seen = count
            await asyncio.sleep(2.5 * interval)
        yield
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if with_agents:
            await agents.stop()


async def _figures(client: httpx.AsyncClient) -> dict[str, float]:
    answer = await client.get("/metrics/snapshot")
    return dict(answer.json())


@contextlib.contextmanager
def masters(case: Case, interval: float) -> Iterator[tuple[int, int | None]]:
    """The ports of the fake and of the real master, both peopled in the same way."""
    flag = f"{interval * 1000:.0f}ms"
    with contextlib.ExitStack() as stack:
        loop = Loop()
        stack.callback(loop.stop)
        fake = stack.enter_context(FakeMaster(case, flag)).port
        loop.enter(stack, peopled(case, fake, interval, with_agents=False))
        real = stack.enter_context(RealMaster(allocation_interval=flag)).port if RUNNER else None
        if real is not None:
            loop.enter(stack, peopled(case, real, interval, with_agents=True))
        yield fake, real


def _client() -> ProcessPoolExecutor:
    """Return a process that only asks: the frameworks and agents of this one would count as time of an answer."""
    return ProcessPoolExecutor(1, get_context("spawn"))


def _asked(reporter: Reporter, question: str, at_once: int, ours: Answers, real: Answers | None) -> None:
    reporter.row(
        f"{question}, {at_once} at once",
        round(ours.size / 1000, 1),
        ours.rate,
        real.rate if real else None,
        ours.rate / real.rate if real else None,
        ours.percentile(50),
        real.percentile(50) if real else None,
        ours.percentile(99),
        real.percentile(99) if real else None,
        ratio(ours.percentile(99), real.percentile(99) if real else None),
        *_firsts(question, at_once, ours, real),
    )


def _firsts(question: str, at_once: int, ours: Answers, real: Answers | None) -> tuple[Cell, Cell, Cell]:
    """Milliseconds of the first answers, and their ratio; none of what is put together from other answers."""
    if at_once > 1 or question == "GET_STATE":
        return None, None, None
    return ours.first * 1000, real.first * 1000 if real else None, ratio(ours.first, real.first if real else None)


def _held(reporter: Reporter, label: str, ours: Answers, real: Answers, *, is_first: bool) -> None:
    """Hold a question to its budgets, loosely."""
    reporter.limit(f"{label}, a request", real.rate / ours.rate, SLOWER)
    if is_first and ours.first > LITTLE:
        reporter.limit(f"{label}, the first answer", ours.first / real.first, FIRST)


def _budgets(reporter: Reporter, agents: int, asked: dict[tuple[str, int], tuple[Answers, Answers]]) -> None:
    """Name the question that is closest to each budget, by its ratio to the real master."""
    rates = {pair: ours.rate / real.rate for pair, (ours, real) in asked.items() if pair[0] in BUDGETED}
    firsts = {
        question: ours.first / real.first
        for (question, at_once), (ours, real) in asked.items()
        if question in BUDGETED and at_once == 1 and question != "GET_STATE" and ours.first > LITTLE
    }
    if rates:
        question, at_once = min(rates, key=rates.__getitem__)
        name = (
            f"requests a second divided by the real master's, {agents:,} agents, lowest: {question}, {at_once} at once"
        )
        reporter.budget(name, rates[question, at_once], 1.0, is_least=True)
    if firsts:
        question = max(firsts, key=firsts.__getitem__)
        name = f"the first answer divided by the real master's, {agents:,} agents, slowest: {question}"
        reporter.budget(name, firsts[question], FIRST)


def main() -> None:
    """Ask every question of both masters."""
    parser = arguments(__doc__)
    parser.add_argument("--seconds", type=float, help="how long each question is asked")
    given = parser.parse_args()
    seconds = given.seconds or (0.2 if given.small else 2.0)
    reporter = Reporter(
        "Serving",
        "Requests a second, and milliseconds for each request, of the fake master (one Python process) and the "
        "real one (C++, several threads). Both run at the same time, and the same client sends requests to them in "
        "turn. A rate ratio above 1 and a p99 ratio below 1 mean that the fake master is faster. Nothing changes "
        "during the measurement, so the fake master answers from its cache. `first` is the time of the first "
        "answer, with an empty cache, which is roughly the time of an answer after everything has changed. "
        "The budgets, for `/state-summary` and the v1 calls only: a rate ratio of at least 1, and a first ratio of at "
        "most 1. A first answer within "
        f"{LITTLE * 1000:g} ms does not count, because it says more about the connection than about the master.",
    )
    for case in SMALL if given.small else LARGE:
        # One at a time first: a master that many have just asked still tidies up, and slows the other's first answer.
        pairs = [(question, at_once) for at_once in AT_ONCE for question in QUESTIONS]
        wanted = [pair for pair in pairs if given.only in "{} {}, {} at once".format(case.agents, *pair)]
        if not wanted:
            continue
        reporter.table(
            f"{case.agents:,} agents, {case.frameworks} frameworks",
            "request",
            "kB",
            "ours /s",
            "real /s",
            "rate ratio",
            "ours p50 ms",
            "real p50 ms",
            "ours p99 ms",
            "real p99 ms",
            "p99 ratio",
            "ours first ms",
            "real first ms",
            "first ratio",
        )
        with masters(case, 0.2 if given.small else 1.0) as (fake, real), _client() as client:
            rates: dict[str, list[tuple[float | str, float]]] = {}
            asked: dict[tuple[str, int], tuple[Answers, Answers]] = {}
            for question, at_once in wanted:
                how = partial(ask, question=question, at_once=at_once, seconds=seconds)
                ours = client.submit(how, fake).result()
                theirs = None if real is None else client.submit(how, real).result()
                _asked(reporter, question, at_once, ours, theirs)
                if theirs is not None:
                    asked[question, at_once] = ours, theirs
                if theirs is not None and not given.small:
                    label = f"{case.agents:,} agents, {question}, {at_once} at once"
                    _held(reporter, label, ours, theirs, is_first=at_once == 1 and question != "GET_STATE")
                for name, answers in (("ours", ours), ("Mesos 1.11.0", theirs)):
                    if answers is not None:
                        rates.setdefault(f"{name}, {at_once} at once", []).append((question, answers.rate))
            _budgets(reporter, case.agents, asked)
            title = f"Requests a second, {case.agents:,} agents"
            reporter.chart(Chart(f"serving-{case.agents}", title, "request", "requests a second", rates))
    reporter.finish(given.json)


if __name__ == "__main__":
    main()
