"""A copy of a cluster in virtual time: settled, changed, and settled again.

dry_run = DryRun(master, clock, snapshot, options)    settled at once: `before`
dry_run.prepare(…)                                    what a snapshot does not have: no change, and settled again
dry_run.begin("lose two agents")
dry_run.lose_agents([…])                            a change that no request makes
dry_run.transport                                   for a client of httpx: it asks the fake master
dry_run.forecast()                                  time passes: the state after it, and what happened between
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from io import BufferedIOBase

from fake_master.allocator.interface import DEFAULT_REFUSE_SECONDS
from fake_master.forecasting.alike_agents import alike_agents
from fake_master.forecasting.cluster_changes import add_agents, restarted, take_over_quotas
from fake_master.forecasting.gains_and_losses import RunSummary, forecast
from fake_master.forecasting.lost_tasks import LostTasks
from fake_master.forecasting.recorder import AgentNames, Evictions, Recorder, RescindedOffers
from fake_master.forecasting.tasks_without_place import EndedTasks
from fake_master.forecasting.upgraded import answered_differently, differences
from fake_master.master import Master
from fake_master.registry.interface import MemoryRegistry, Registry
from fake_master.sources.cluster_file import ClusterSpec
from fake_master.sources.snapshot import RestoredCluster
from fake_master.sources.source_file import read_opened
from fake_master.state.account import AccountsOfMaster
from fake_master.state.agents import KnownAgent
from fake_master.state.clock import VirtualClock
from fake_master.state.offers import OutstandingOffer
from fake_master.state.tasks import KnownTask
from fake_master.transports.in_process import ConnectionTransport
from mesosctl.mesos.amounts.notation import listed
from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.holdings import RegisteredAgent, spread
from mesosctl.mesos.cluster.message_rates import Simulation
from mesosctl.mesos.cluster.snapshot import ClusterSnapshot, evaluable
from mesosctl.mesos.door.forecast import (
    AgentLoss,
    AnsweredChange,
    Assumption,
    DryRunOptions,
    Forecast,
    TasksWithoutPlace,
    TriedChange,
)
from mesosctl.mesos.door.upgrade import SentRequest, Upgrade
from mesosctl.mesos.rules.rate_limits import RateLimits
from mesosctl.mesos.rules.upgrade import loses_quota, why_it_does_not_start
from mesosctl.mesos.rules.version_profile import Profile, recovery_factor, recovery_seconds

_NAMED = 20
"""Agents in one sentence; the forecast has them all."""


class DryRun:
    """A separate master, and everything that is tried on it."""

    def __init__(
        self,
        master: Master,
        clock: VirtualClock,
        snapshot: ClusterSnapshot,
        options: DryRunOptions | None = None,
        wants: str | None = None,
        source: ClusterSpec | RestoredCluster | None = None,
    ) -> None:
        self.clock = clock
        self._source = source
        self._flags: dict[str, str] = {}
        """The flags that replace the master's own."""
        self._restarted = self._moved = False
        self._offers_suspended = 0.0
        self._upgrade: Upgrade | None = None
        self.traffic: Simulation | None = None
        """Recorded messages under other rate limits; this master is sent none."""
        self.snapshot = snapshot
        self._wants = wants
        self._options = options or DryRunOptions()
        self._rescinded = RescindedOffers(master.state)
        self._answers: list[AnsweredChange] = []
        self._changes: list[TriedChange] = []
        self._lost: list[AgentLoss] = []
        self._ended = EndedTasks()
        self._done = 0
        self._take(master)
        self._lost_tasks = LostTasks(master.state)
        self._accounts = AccountsOfMaster()
        self._settle()
        self.connection = Recorder(master, clock, self._answers.append)
        self.transport = ConnectionTransport(self.connection)
        self._watch()

    @property
    def notes(self) -> list[str]:
        """Notes about the version of its file or snapshot."""
        return [] if self._source is None else self._source.notes()

    def _take(self, master: Master) -> None:
        """Look at this master from now on."""
        self._master = master
        self._names = AgentNames(master.state)
        self._evictions = Evictions(master.state, master.runtime, master.revoking, self._names)
        after = self._options.cycles * master.allocation_interval
        # The filters of the change itself stay in force this long.
        after = max(after, DEFAULT_REFUSE_SECONDS + 2 * master.allocation_interval)
        after += self._evictions.longest_grace
        self._cycles_after = math.ceil((after + self._offers_suspended) / master.allocation_interval)

    def _settle(self) -> None:
        """Let time pass, and look at the state before the changes."""
        self._pass(self._options.cycles)
        self.before = self._accounts.of(self._master.state)

    def prepare(self, requests: Callable[[], object]) -> None:
        """Make requests that are no change: they repeat what the cluster has and a snapshot does not.

        Only before the first change.
        """
        requests()
        self._answers.clear()
        self._done = 0
        self._settle()
        self._rescinded = RescindedOffers(self._master.state)
        self._watch()

    def _watch(self) -> None:
        """Count everything that happens from now on as an effect of the changes."""
        self._evictions.begin()
        self._rescinded.watch(self._master, self._names)

    # --- Changes --------------------------------------------------------------------------------------

    @property
    def has_moved(self) -> bool:
        """Whether agents or frameworks have come or gone."""
        return self._moved

    @property
    def flags(self) -> Mapping[str, str]:
        """The flags of the master, as it shows them."""
        return self._master.state.flags.shown

    @property
    def rate_limits(self) -> RateLimits | None:
        """The limits of the master; None for one made from a snapshot, which does not have them."""
        return None if isinstance(self._source, RestoredCluster) else self._master.state.flags.rate_limits

    def restart(self, flags: Mapping[str, str], part: float = 1.0) -> None:
        """Another master leads, with these flags instead of its own, and `part` of the agents is back.

        It keeps the quotas, weights and reservations, and the frameworks have subscribed again. If any role has quota,
        it makes no offers until enough agents are back, or the recovery timeout is over. Raises BadInput for invalid
        flags.
        """
        self._flags |= flags
        everybody = sorted(self._master.state.agents.values(), key=lambda agent: (agent.hostname, agent.id))
        missing = len(everybody) - math.floor(round(len(everybody) * part, 6))
        away = spread(everybody, missing)
        options = {**self._master.state.flags.shown, **self._flags}
        needed = int(len(everybody) * recovery_factor(options))
        if missing and self._master.state.quotas and len(everybody) - missing < needed:
            self._offers_suspended = recovery_seconds(options)
        if not flags:
            self._tell_failover(len(everybody), away, needed)
        self._lead(self._master.state.profile, away)

    def upgrade(self, profile: Profile, requests: Sequence[SentRequest] = ()) -> None:
        """A master of another release leads, on the registry of the one before, and all agents are back.

        If it does not start there, the present master goes on.  `requests` are tried on copies of both masters.
        """
        former, before = self._master, self._master.state.profile
        quotas = former.state.quota_meanings()
        reason = why_it_does_not_start(quotas, before, profile)
        again = (
            tuple((role, quotas[role].guarantees) for role in sorted(quotas)) if loses_quota(before, profile) else ()
        )
        upgrade = Upgrade(profile.version, profile.name, str(profile), reason is None, reason or "", set_again=again)
        registry = former.registry
        if requests:
            assert isinstance(registry, MemoryRegistry), "a dry run forgets what it keeps"
            copies = [registry.copied(), registry.copied()]
            take_over_quotas(copies[1], before, profile)
            today, there = self._twin(copies[0], before), self._twin(copies[1], profile)
            upgrade = upgrade._replace(requests=answered_differently(today, there, requests), tried=len(requests))
        if reason is None:
            take_over_quotas(registry, before, profile)
            self._lead(profile)
            upgrade = upgrade._replace(differences=tuple(differences(former, self._master)))
        self._upgrade = upgrade

    def _twin(self, registry: Registry, profile: Profile) -> Master:
        """A master like the present one, of a profile, whose time passes by itself."""
        clock = VirtualClock(self.clock())
        master = self._started(registry, clock, profile)
        clock.sleep(master.allocation_interval)
        master.advance()
        return master

    def _started(
        self, registry: Registry, clock: VirtualClock, profile: Profile, away: Sequence[KnownAgent] = ()
    ) -> Master:
        assert self._source is not None, "only a master made from a file or a snapshot can start again"
        return restarted(self._source, registry, clock, self._flags, away, profile)

    def _lead(self, profile: Profile, away: Sequence[KnownAgent] = ()) -> None:
        """Another master leads, without the agents that are away."""
        master = self._started(self._master.registry, self.clock, profile, away)
        self._restarted = True
        self._take(master)
        self._lost_tasks.restart()
        self.connection.follow(master)
        self._watch()
        master.advance()

    def _tell_failover(self, known: int, away: Sequence[KnownAgent], needed: int) -> None:
        """Describe in the last change which agents are back, and how long offers wait."""
        wait = (
            f"no offers for {self._offers_suspended:g} s, because fewer than {needed} are back"
            if self._offers_suspended
            else "offers are made at once"
        )
        missing = f"; away: {listed([self._names.of(agent.id) for agent in away], _NAMED)}" if away else ""
        back = f"{known - len(away)} of {known} agents {'is' if known - len(away) == 1 else 'are'} back"
        self._changes[-1:] = [TriedChange(f"failover: {back}: {wait}{missing}")]

    def lose_agents(self, agent_ids: Iterable[str], why: str = "") -> None:
        """Remove agents; the change names them and their resources, and `why` explains the number.

        Raises KeyError for one that is not registered.
        """
        everybody = self._master.state.agents
        gone = [(everybody[agent_id].hostname, agent_id) for agent_id in dict.fromkeys(agent_ids)]
        names = listed([self._names.of(agent_id) for _, agent_id in gone], _NAMED)
        had = Quantities.total(everybody[agent_id].total.scalar_quantities() for _, agent_id in gone)
        share = f"{len(gone)} of {len(everybody)}{f' ({why})' if why else ''}"
        kept: dict[str, Quantities] = {}
        for _, agent_id in gone:
            for role, owned in everybody[agent_id].total.by_owner().items():
                kept[role] = kept.get(role, Quantities()) + owned.scalar_quantities()
        self._moved = True
        self._lost += (AgentLoss(hostname, agent_id) for hostname, agent_id in gone)
        ran = self._running_tasks
        self._ended.add(self._master.state, [agent_id for _, agent_id in gone])
        with self._master.transaction():
            self._master.agent_removal.give_up([everybody[agent_id] for _, agent_id in gone])
        ended = ran - self._running_tasks
        self._changes[-1:] = [TriedChange(f"agents lost: {share}: {names}", had, tuple(sorted(kept.items())), ended)]
        self._master.advance()

    @property
    def _running_tasks(self) -> int:
        return sum(framework.alive for framework in self._master.state.frameworks.values())

    def add_agents(self, total: Resources, count: int, attributes: Mapping[str, str]) -> None:
        """Agents register; the change tells their resources."""
        self._moved = True
        each = total.scalar_quantities()
        added = Quantities({name: milli * count for name, milli in each.items()})
        self._changes[-1:] = [change._replace(added=added) for change in self._changes[-1:]]
        add_agents(self._master, total, count, attributes)
        self._names.grown()
        self._master.advance()

    def lose_framework(self, framework_id: str) -> None:
        """A framework is gone for good, with its tasks.  Raises KeyError for one that is not registered."""
        self._moved = True
        self._master.subscriptions.remove(self._master.state.frameworks[framework_id])
        self._master.advance()

    @property
    def capacity(self) -> Quantities:
        """The amounts that guarantees can promise now."""
        return self._master.state.capacity()

    @property
    def agents(self) -> list[RegisteredAgent]:
        """The registered agents, without what is used and offered of them."""
        everybody = self._master.state.agents.values()
        return [
            RegisteredAgent(agent.id, agent.hostname, agent.pid, agent.total, attributes=agent.attributes)
            for agent in everybody
        ]

    @property
    def assumption(self) -> Assumption:
        """The behaviour of frameworks."""
        return self._options.assume

    def alike_agents(self) -> list[tuple[str, ...]]:
        """The ids of the agents in service in groups of alike ones: it makes no difference which of them is lost."""
        return alike_agents(self._master.state)

    @property
    def frameworks(self) -> dict[str, str]:
        """Names of the registered frameworks, by id."""
        return {framework.id: framework.name for framework in self._master.state.frameworks.values()}

    def be_silent(self) -> None:
        """Report no progress any more: another process shows it."""
        self._options = replace(self._options, progress=lambda _: None)

    # --- Time -----------------------------------------------------------------------------------------

    def _pass(self, cycles: int) -> None:
        for _ in range(cycles):
            self._lost_tasks.ask_again(self._master)
            self.clock.sleep(self._master.allocation_interval)
            self._master.advance()
            self._lost_tasks.answer(self._master)
            if self._options.assume == "accept":
                self._accept_everything()
            self._done += 1
            self._options.progress(self._done / (self._options.cycles + self._cycles_after))

    def _accept_everything(self) -> None:
        """Turn each offer into a task that uses all of it and does not end."""
        master = self._master
        for offer in master.state.offers:
            if master.state.offers.get(offer.id) is None:  # rescinded for one of those before it
                continue
            master.offers.discard(offer)
            master.allocator.transition_offered_to_allocated(offer.agent_id, offer.resources)
            if self._evictions.are_possible:
                self._launch(offer)
            else:
                master.state.frameworks[offer.framework_id].hold(master.state.agents[offer.agent_id], offer.resources)

    def _launch(self, offer: OutstandingOffer) -> None:
        """If tasks can be evicted, each is separate."""
        framework, name = self._master.state.frameworks[offer.framework_id], f"assumed-{offer.id}"
        task = KnownTask(name, framework.id, offer.agent_id, {"name": name}, offer.resources, offer.role)
        self._master.task_runner.launch(framework, task, None)

    # --- The answer -----------------------------------------------------------------------------------

    @property
    def answers(self) -> tuple[AnsweredChange, ...]:
        """The answers to all requests so far."""
        return tuple(self._answers)

    @contextmanager
    def without_answers(self) -> Iterator[None]:
        """Requests in here belong to the course of things, and their answers are not answers to the question."""
        before = len(self._answers)
        yield
        del self._answers[before:]

    def begin(self, change: str) -> None:
        """Note that a change is tried."""
        self._changes.append(TriedChange(change))

    def refuse(self, answer: AnsweredChange) -> None:
        """Note a change that is refused before any request is made."""
        self._answers.append(answer)

    def forecast(self) -> Forecast:
        """Let time pass until the change has settled, and compare."""
        self._pass(self._cycles_after)
        course = RunSummary(
            snapshot=self.snapshot,
            cycles=self._cycles_after,
            seconds=self._cycles_after * self._master.allocation_interval,
            assume=self._options.assume,
            changes=tuple(self._changes),
            lost=tuple(self._lost),
            answers=self.answers,
            rescinded=self._rescinded.found(),
            evicted=self._evictions.found(),
            wants=self._wants,
            asked_again=self._lost_tasks.were_asked_for,
            offers_suspended=self._offers_suspended,
            restarted=self._restarted,
            traffic=self.traffic,
            upgrade=self._upgrade,
        )
        return forecast(self.before, self._accounts.of(self._master.state), course)

    def tasks_without_place(self) -> tuple[TasksWithoutPlace, ...]:
        """The tasks that ended with lost agents and find no place, at the end of the forecast."""
        state = self._master.state
        return self._ended.without_place(state, self._accounts.of(state), self._lost_tasks.waiting(state))


def of_snapshot(snapshot: ClusterSnapshot, options: DryRunOptions) -> DryRun:
    """A master as the snapshot says, at the moment when it was taken.  Raises BadInput."""
    return _of_restored(RestoredCluster(evaluable(snapshot)), options)


def of_file(file: BufferedIOBase, where: str, options: DryRunOptions) -> DryRun:
    """A snapshot, or a cluster file with simulated frameworks.  Raises BadInput, and OSError."""
    spec = read_opened(file, where, options.mesos_version)
    if isinstance(spec, RestoredCluster):
        return _of_restored(spec, options)
    clock = VirtualClock()
    master = spec.start(clock=clock)
    snapshot = ClusterSnapshot(
        master.state.profile.version,
        clock(),
        flags=master.state.flags.shown,
        mesos_profile=master.state.profile.name,
    )
    return DryRun(master, clock, snapshot, options, wants="what the cluster file says about them", source=spec)


def _of_restored(restored: RestoredCluster, options: DryRunOptions) -> DryRun:
    clock = VirtualClock(restored.snapshot.taken_at)
    return DryRun(restored.start(clock=clock), clock, restored.played_snapshot, options, source=restored)
