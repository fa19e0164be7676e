"""Allocation runs on the cluster of a case, here and in the real master, each with the time that it took."""

import asyncio
import contextlib
import gc
import time

from fake_master.allocator.hierarchical.allocator import HierarchicalAllocator
from fake_master.allocator.interface import AgentInfo, Callbacks, FrameworkInfo
from fake_master.allocator.options import Options, facts_of
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.rules.version_profile import profile_of
from tests.benchmarks.cases import QUOTA, Case, quota_configs
from tests.fake_master.allocator.real.real_master import Agents, RealMaster, Scheduler, decline, hold

RUN_MS = "allocator/mesos/allocation_run_ms"
RUNS = "allocator/mesos/allocation_runs"
FOR_LONG = 30 * 86400.0
MOST_REAL_AGENTS = 10_000
"""With more, and 1,000 frameworks, the real master is not expected to finish."""
PATIENCE, PATIENCE_BEYOND = 240.0, 60.0
"""Seconds for one case on the real master, up to so many agents and with more."""


class Ours:
    """The fake's allocator on a cluster of a case, with frameworks that decline everything."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._outstanding: list[tuple[str, str, Resources]] = []
        self._refuse = FOR_LONG if case.shape == "decline" else None
        self._now = 0.0
        self.recover_us: list[float] = []
        profile = profile_of(case.release)
        allocator = self.allocator = HierarchicalAllocator(
            Options(**facts_of(profile)), Callbacks(self._on_offers), 0.0
        )
        for role in case.with_quota():
            amounts = {name: int(amount * 1000) for name, amount in QUOTA.items()}
            limits = Limits(amounts) if profile.knows_update_quota else Limits()
            allocator.update_quota(role, Quota(Quantities(amounts), limits))
        for index in range(case.frameworks):
            allocator.add_framework(FrameworkInfo(f"f{index:05d}", frozenset({case.role_of(index)})))
        for index in range(case.agents):
            allocator.add_agent(AgentInfo(f"a{index:05d}"), parse_resources(case.resources_of(index)))

    def _on_offers(self, framework: str, by_role: dict[str, dict[str, Resources]]) -> None:
        for by_agent in by_role.values():
            self._outstanding += [(framework, agent, offered) for agent, offered in by_agent.items()]

    def first_offered(self) -> Resources:
        """Return the resources of one of the offers that nobody has answered yet."""
        return self._outstanding[0][2]

    def decline_all(self) -> None:
        """Answer until nothing is offered any more."""
        while self._outstanding:
            self.cycle()

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

    def measure(self, samples: int) -> list[float]:
        """So many of the cycles that the case is about."""
        for _ in range(3):
            self.cycle()  # the first hands out what registered together, and fills the caches
        if self._case.shape == "decline":
            self.decline_all()
        gc.collect()
        return [self.idle_cycle() if self._case.shape == "decline" else self.cycle() for _ in range(samples)]

    def idle_cycle(self) -> float:
        """A cycle in which nothing is offered: its run is asked for, because time alone brings none then."""
        self.allocator.allocate()
        return self.cycle()


async def real_samples(case: Case, samples: int) -> list[float]:
    """The same on the real master: its own figure over as many runs."""
    # Where offers are passed, each run is asked for by a REVIVE once all of the last have been answered.
    passes = case.shape == "pass"
    interval = "1hrs" if passes else "100ms"
    with RealMaster(release=case.release, allocation_interval=interval) as master:
        await asyncio.to_thread(_set_quotas, master, case)
        seconds = FOR_LONG if case.shape == "decline" else 0.0
        names = range(case.frameworks)
        schedulers = [
            Scheduler(master.port, f"f{index}", [case.role_of(index)], decline(seconds), suppressed=passes)
            for index in names
        ]
        tasks = [asyncio.create_task(scheduler.run()) for scheduler in schedulers]
        await asyncio.gather(*(scheduler.subscribed.wait() for scheduler in schedulers))
        if passes:
            for scheduler in schedulers:  # 1.4.3 does not heed what they suppress when they subscribe
                await scheduler.suppress()
        agents = Agents(master.port)
        await agents.start()
        for index in range(case.agents):
            await agents.register(case.resources_of(index))
        try:
            if passes:
                return await _revived_samples(case, samples, master, schedulers)
            return await _settled_samples(case, samples, master, schedulers)
        finally:
            await agents.stop()
            for task in tasks:
                task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.gather(*tasks)


def _set_quotas(master: RealMaster, case: Case) -> None:
    if not case.with_quota():
        return
    if profile_of(case.release).knows_update_quota:
        configs = quota_configs(case)
        master.call({"type": "UPDATE_QUOTA", "update_quota": {"force": True, "quota_configs": configs}})
        return
    guarantee = [{"name": name, "type": "SCALAR", "scalar": {"value": amount}} for name, amount in QUOTA.items()]
    for role in case.with_quota():
        request = {"force": True, "role": role, "guarantee": guarantee}
        master.call({"type": "SET_QUOTA", "set_quota": {"quota_request": request}})


def timeout(case: Case) -> float:
    """Return how many seconds the real master has for a case."""
    return PATIENCE if case.agents <= MOST_REAL_AGENTS else PATIENCE_BEYOND


async def patient_samples(case: Case, samples: int) -> list[float] | None:
    """The same, or None if the real master does not get through the case in time."""
    try:
        async with asyncio.timeout(timeout(case)):
            return await real_samples(case, samples)
    except TimeoutError:
        return None


async def _revived_samples(case: Case, wanted: int, master: RealMaster, schedulers: list[Scheduler]) -> list[float]:
    """Ask for one run after another, and take a sample of each."""
    while (await asyncio.to_thread(master.metrics))["master/slaves_active"] < case.agents:  # noqa: ASYNC110  # a master has no events for it
        await asyncio.sleep(0.1)
    # One holds everything while the others revive: else each revival would hand out the whole cluster.
    with_quota = case.with_quota()
    number = next(index for index in range(case.frameworks) if case.role_of(index) not in with_quota)
    first, others = schedulers[number], schedulers[:number] + schedulers[number + 1 :]
    passing = first.answer_with(hold)
    held = 1 if with_quota else case.agents
    await first.revive()
    while (await asyncio.to_thread(master.metrics))["master/outstanding_offers"] < held:  # noqa: ASYNC110  # see above
        await asyncio.sleep(0.1)
    for scheduler in others:
        await scheduler.revive()
    first.answer_with(passing)
    await first.answer_all()
    samples: list[float] = []
    for _ in range(wanted + 2):  # the first two may see what was due already
        for scheduler in schedulers:
            scheduler.forget_offers()
        await first.revive()
        figures = {"master/outstanding_offers": 1.0}
        while figures["master/outstanding_offers"]:
            await asyncio.sleep(0.05)
            if any(scheduler.offers for scheduler in schedulers):
                figures = await asyncio.to_thread(master.metrics)
        samples.append(figures[RUN_MS])
    return samples[2:]


async def _settled_samples(case: Case, wanted: int, master: RealMaster, schedulers: list[Scheduler]) -> list[float]:
    """Wait until the case is in its steady state, then take one sample a run."""
    samples: list[float] = []
    seen, quiet, offers = -1.0, 0, -1
    while len(samples) < wanted:
        await asyncio.sleep(0.1)
        figures = await asyncio.to_thread(master.metrics)
        if figures["master/slaves_active"] < case.agents or figures[RUNS] <= seen:
            continue
        seen = figures[RUNS]
        count = sum(len(scheduler.offers) for scheduler in schedulers)
        quiet, offers = (quiet + 1 if count == offers else 0), count
        # The refused cluster must have fallen silent.
        if quiet > 3:
            samples.append(figures[RUN_MS])
    return samples
