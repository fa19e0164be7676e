"""How long one allocation cycle takes, here and in the real master, on the same cluster in one run.

    python -m tests.benchmarks.allocation [--small] [--only WORDS]

Prints milliseconds of `allocator/mesos/allocation_run_ms`, median and best of 15 runs each, the
ratios of both, and how ours grow with agents and with frameworks.  On a busy machine the best
says more.  Without MESOS_RUNNER it measures ours alone.
"""

# ruff: noqa: T201  # a command: its output is its purpose

import argparse
import asyncio
import contextlib
import gc
import math
import os
import platform
import statistics
import time

from fake_master.allocator import AgentInfo, FrameworkInfo, HierarchicalAllocator, Options
from mesosctl.core.quantities import Limits, Quantities, Quota
from mesosctl.core.resources import Resources
from mesosctl.core.text import parse_resources
from tests.allocator.real_master import RUNNER, Agents, RealMaster, Scheduler, decline
from tests.benchmarks.cases import LARGE, QUOTA, SMALL, Case

RUN_MS = "allocator/mesos/allocation_run_ms"
RUNS = "allocator/mesos/allocation_runs"
FOR_LONG = 30 * 86400.0
SAMPLES = 15


class Ours:
    """The fake's allocator on a cluster of a case, with frameworks that decline everything."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._outstanding: list[tuple[str, str, Resources]] = []
        self._refuse = FOR_LONG if case.shape == "decline" else None
        self._now = 0.0
        self.recover_us: list[float] = []
        allocator = self.allocator = HierarchicalAllocator(Options(), self._on_offers)
        for role in case.with_quota():
            amounts = {name: int(amount * 1000) for name, amount in QUOTA.items()}
            allocator.update_quota(role, Quota(Quantities(amounts), Limits(amounts)))
        for index in range(case.frameworks):
            allocator.add_framework(FrameworkInfo(f"f{index:05d}", frozenset({case.role_of(index)})))
        for index in range(case.agents):
            allocator.add_agent(AgentInfo(f"a{index:05d}"), parse_resources(case.resources_of(index)))

    def _on_offers(self, framework: str, by_role: dict[str, dict[str, Resources]]) -> None:
        for by_agent in by_role.values():
            self._outstanding += [(framework, agent, offered) for agent, offered in by_agent.items()]

    def cycle(self) -> float:
        """Everybody answers, a second passes; the milliseconds of the run, as the metric has them."""
        answered, self._outstanding = self._outstanding, []
        started = time.perf_counter()
        for framework, agent, offered in answered:
            self.allocator.recover_resources(framework, agent, offered, self._refuse)
        if answered:
            self.recover_us.append((time.perf_counter() - started) * 1e6 / len(answered))
        self._now += 1.0
        self.allocator.advance_to(self._now)
        return self.allocator.metrics()[RUN_MS]

    def measure(self) -> list[float]:
        """The cycles that the case is about."""
        for _ in range(3):
            self.cycle()  # the first hands out what registered together, and fills the caches
        while self._case.shape == "decline" and self._outstanding:
            self.cycle()
        gc.collect()
        return [self.cycle() for _ in range(SAMPLES)]


async def real_samples(case: Case) -> list[float]:
    """The same on the real master: its own figure over as many runs."""
    with RealMaster() as master:
        quotas = [
            {"role": role, "guarantees": _scalars(QUOTA), "limits": _scalars(QUOTA)} for role in case.with_quota()
        ]
        if quotas:
            await asyncio.to_thread(
                master.call, {"type": "UPDATE_QUOTA", "update_quota": {"force": True, "quota_configs": quotas}}
            )
        seconds = FOR_LONG if case.shape == "decline" else 0.0
        names = range(case.frameworks)
        schedulers = [Scheduler(master.port, f"f{index}", [case.role_of(index)], decline(seconds)) for index in names]
        tasks = [asyncio.create_task(scheduler.run()) for scheduler in schedulers]
        await asyncio.gather(*(scheduler.subscribed.wait() for scheduler in schedulers))
        agents = Agents(master.port)
        await agents.start()
        for index in range(case.agents):
            await agents.register(case.resources_of(index))
        try:
            return await _settled_samples(case, master, schedulers)
        finally:
            await agents.stop()
            for task in tasks:
                task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.gather(*tasks)


async def _settled_samples(case: Case, master: RealMaster, schedulers: list[Scheduler]) -> list[float]:
    """Wait until the case is in its steady state, then take one sample a run."""
    samples: list[float] = []
    seen, quiet, offers, batches = -1.0, 0, -1, 0
    while len(samples) < SAMPLES:
        await asyncio.sleep(0.2)
        figures = await asyncio.to_thread(master.metrics)
        if figures["master/slaves_active"] < case.agents or figures[RUNS] <= seen:
            continue
        seen = figures[RUNS]
        count = sum(len(scheduler.offers) for scheduler in schedulers)
        quiet, offers, batches = (quiet + 1 if count == offers else 0), count, batches + 1
        # The first runs belong to registrations, and a refused cluster must have fallen silent.
        if (batches if case.shape == "pass" else quiet) > 3:
            samples.append(figures[RUN_MS])
    return samples


def _scalars(amounts: dict[str, float]) -> dict[str, dict[str, float]]:
    return {name: {"value": amount} for name, amount in amounts.items()}


def growth(what: str, clusters: list[Case]) -> str:
    """The exponent e of time ~ size ** e between the first and the last cluster."""
    first, last = clusters[0], clusters[-1]
    size = (last.agents * last.frameworks) / (first.agents * first.frameworks)
    times = [min(Ours(case).measure()) for case in clusters]
    shown = ", ".join(f"{case.agents}x{case.frameworks}: {ms:.1f} ms" for case, ms in zip(clusters, times, strict=True))
    return f"cost against {what}: {shown}; exponent {math.log(times[-1] / times[0]) / math.log(size):.2f}"


def main() -> None:
    """Measure every case and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="small clusters, for a quick look and for CI")
    parser.add_argument("--only", default="", help="cases whose line contains this")
    arguments = parser.parse_args()
    print(
        f"{platform.python_implementation()} {platform.python_version()}, {platform.machine()}, load {os.getloadavg()}"
    )
    print(f"{'':44} {'median':^27} {'best':^27} {'decline':>8}")
    print(f"{'case':44} " + f"{'ours ms':>9} {'real ms':>9} {'ratio':>7} " * 2 + f"{'ours us':>8}")
    for case in SMALL if arguments.small else LARGE:
        label = f"{case.agents} x {case.frameworks} {case.name}"
        if arguments.only not in label:
            continue
        ours = Ours(case)
        samples = ours.measure()
        real = asyncio.run(real_samples(case)) if RUNNER else [math.nan]
        line = f"{label:44} "
        for of in (statistics.median, min):
            line += f"{of(samples):9.2f} {of(real):9.2f} {of(samples) / of(real):7.3f} "
        print(line + f"{statistics.median(ours.recover_us):8.1f}", flush=True)
    scale = 1 if arguments.small else 5
    print(growth("agents", [Case("", n * scale, 40 * scale) for n in (100, 200, 400, 800)]))
    print(growth("frameworks", [Case("", 200 * scale, n * scale) for n in (10, 20, 40, 80)]))


if __name__ == "__main__":
    main()
