"""The part of a `fake:` cluster that is kept between commands beside its registry: time, frameworks, tasks and offers.

    kept = KeptCluster()
    master = spec.start(registry, clock=clock, kept=kept)     as the last command left it
    kept.settle()                                             before anything is read
    kept.write()                                              at the end of a command that changed something

Time stands still between commands.  The registry has the quotas, weights, reservations, volumes and agents; this is one
more record in it, written in one transaction and checked like the others.  Frameworks of other programs are kept only
when they have completed: the others end with the process that served them.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from fake_master.master import Master
from fake_master.registry.interface import Registry, reading_records
from fake_master.sources.simulated_frameworks import SimulatedFramework
from fake_master.state.agents import KnownAgent
from fake_master.state.frameworks import KnownFramework
from fake_master.state.local_scheduler import LocalStream
from fake_master.state.offers import OutstandingOffer
from fake_master.state.streams import SilentStream
from fake_master.state.tasks import Ending, Executor, KnownTask, TaskGroup, TaskStatus
from mesosctl.mesos.amounts.identity import IdentityCache
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.messages.protobuf_json.messages import read
from mesosctl.mesos.messages.resources import RESOURCE, list_to_json, to_model

KIND, KEY = "cluster", "kept"
"""The record."""
_MOST_RUNS = 100
"""Allocation runs until a cluster counts as settled, although it still makes offers."""


# --- To and from the record -------------------------------------------------------------------------


def kept_time(registry: Registry) -> float | None:
    """The time of the cluster, in seconds since the epoch; None if nothing is kept.  Raises UnreadableRegistry."""
    record = registry.record(KIND, KEY)
    if record is None:
        return None
    with reading_records():
        return float(record["now"])


def _to_document(master: Master, simulated: Iterable[SimulatedFramework]) -> dict[str, Any]:
    """Return the time, the frameworks, their tasks and offers as JSON."""
    table = _Table()
    refused = partial(_refusals, master, table)
    schedulers = [framework.to_document() for framework in simulated]
    return {
        "now": master.state.now,
        "frameworks": [
            {**_framework_to_document(framework, table), "refusals": refused(framework)}
            for framework in master.state.frameworks.values()
            if framework.is_simulated or isinstance(framework.stream, SilentStream)
        ],
        "completed": [
            {**_framework_to_document(framework, table), "ended": framework.unregistered_time}
            for framework in master.state.completed_frameworks.values()
        ],
        "schedulers": schedulers,
        "made": [master.subscriptions.made, master.state.offers.made],
        "resources": table.written,
        "parts": table.parts,
    }


@dataclass(slots=True)
class _Table:
    """Resources and other parts by number: thousands of tasks share a few."""

    parts: list[Any] = field(default_factory=list)
    _parts_by_text: dict[str, int] = field(default_factory=dict)
    written: list[list[dict[str, Any]]] = field(default_factory=list)
    _by_text: dict[str, int] = field(default_factory=dict)
    number: Callable[[Resources], int] = field(init=False)
    """Returns the number of resources, which are written if they are new."""

    def __post_init__(self) -> None:
        self.number = IdentityCache(self._write, most=None).of

    def _write(self, resources: Resources) -> int:
        entries = list_to_json(resources, "POST")
        number = self._by_text.setdefault(json.dumps(entries), len(self.written))
        if number == len(self.written):
            self.written.append(entries)
        return number

    @staticmethod
    def plain(part: Any) -> Any:
        """Return a part with mappings that are not read-only."""
        return json.loads(json.dumps(part, default=dict))

    def part(self, part: Any) -> int:
        """Return the number of a part of tasks that is JSON but for read-only mappings."""
        text = json.dumps(part, default=dict)
        number = self._parts_by_text.setdefault(text, len(self.parts))
        if number == len(self.parts):
            self.parts.append(json.loads(text))
        return number


def _refusals(master: Master, table: _Table, framework: KnownFramework) -> list[list[Any]]:
    """Return [role, number of the resources, end, agents] for refusals that are alike."""
    alike: dict[tuple[str, int, float], list[str]] = {}
    if framework.id in master.state.frameworks:
        for agent_id, role, refused, seconds in master.allocator.refusals(framework.id):
            key = role, table.number(refused), round(master.state.now + seconds, 3)
            alike.setdefault(key, []).append(agent_id)
    return [[*key, agents] for key, agents in alike.items()]


def _framework_to_document(framework: KnownFramework, table: _Table) -> dict[str, Any]:
    return {
        "info": table.plain(framework.info),
        "registered": framework.registered_time,
        "suppressed": sorted(framework.suppressed),
        "constraints": table.plain(framework.offer_constraints),
        "state": [framework.connected, framework.active],
        "counts": dict(framework.counts),
        "tasks": [_task_to_row(task, table) for task in framework.made_tasks() if not task.is_terminal],
        "groups": [
            [group.name, group.agent_id, group.role, table.number(group.resources), group.reported_count, group.since]
            for group in framework.task_groups()
        ],
        "unreachable": [_task_to_row(task, table) for task in framework.unreachable_tasks.values()],
        "completed": [
            _task_to_row(task, table)
            for task in (*framework.completed_tasks, *framework.made_tasks())
            if task.is_terminal
        ],
        "executors": [
            [executor.id, executor.agent_id, table.plain(executor.info), table.number(executor.resources)]
            for executor in framework.executors.values()
        ],
        "offers": [
            [offer.id, offer.agent_id, offer.role, table.number(offer.resources), offer.kind]
            for offer in framework.offers.values()
            if _holds_offers(framework)  # any other is about to answer, and will be offered again
        ],
    }


def _holds_offers(framework: KnownFramework) -> bool:
    scheduler = framework.scheduler
    return not isinstance(scheduler, SimulatedFramework) or scheduler.holds_offers


def _task_to_row(task: KnownTask, table: _Table) -> list[Any]:
    end = task.told_to_end
    return [
        task.id,
        task.agent_id,
        task.role,
        table.number(task.resources),
        task.executor_id,
        task.state,
        table.part([[status.state, status.timestamp, status.source, status.more] for status in task.statuses]),
        task.lasts,
        None if end is None else [end.at, end.state, table.plain(end.details)],
        table.part(task.info),
    ]


class _Reader:
    """The parts of a record as the master has them."""

    def __init__(self, record: Mapping[str, Any]) -> None:
        self._resources = [
            Resources(to_model(read(RESOURCE, entry)) for entry in entries) for entries in record["resources"]
        ]
        self._parts: list[Any] = record["parts"]
        self._statuses: dict[int, tuple[TaskStatus, ...]] = {}

    def resources(self, number: int) -> Resources:
        return self._resources[number]

    def task(self, row: list[Any], framework_id: str) -> KnownTask:
        name, agent_id, role, number, executor_id, state, statuses, lasts, end, info = row
        return KnownTask(
            id=name,
            framework_id=framework_id,
            agent_id=agent_id,
            info=self._parts[info],
            resources=self._resources[number],
            role=role,
            executor_id=executor_id,
            state=state,
            statuses=self._statuses_of(statuses),
            lasts=lasts,
            told_to_end=None if end is None else Ending(float(end[0]), end[1], end[2]),
        )

    def _statuses_of(self, number: int) -> tuple[TaskStatus, ...]:
        known = self._statuses.get(number)
        if known is None:
            rows = self._parts[number]
            known = tuple(TaskStatus(state, at, source, None, more) for state, at, source, more in rows)
            self._statuses[number] = known
        return known


# --- A master that goes on --------------------------------------------------------------------------


class KeptCluster:
    """A cluster that goes on with each command."""

    def __init__(self) -> None:
        self._master: Master | None = None
        self._simulated: Sequence[SimulatedFramework] = ()
        self._before: dict[str, Any] | None = None
        """The contents of the file when this command began."""

    def enter(self, master: Master, simulated: Sequence[SimulatedFramework] = ()) -> bool:
        """Enter everything that the last command left, and return True; False if nothing is kept.

        The agents have registered, with what the registry says of them.  Tasks and offers of resources that are gone,
        because a process was killed between two records, are gone too.  Inside a transaction.  Raises
        UnreadableRegistry.
        """
        self._master, self._simulated = master, simulated
        self._before = master.registry.record(KIND, KEY)
        if self._before is None:
            return False
        _restore(master, self._before, simulated)
        return True

    @property
    def is_new(self) -> bool:
        """Whether no command before this one has kept anything."""
        return self._before is None

    def settle(self) -> None:
        """Let the allocator share out what is free until nobody gets anything more; no time passes."""
        master = self._master
        assert master is not None, "the cluster has started"
        master.advance()
        for _ in range(_MOST_RUNS):
            made = master.state.offers.made
            master.allocator.allocate()
            master.advance()
            if master.state.offers.made == made:
                return

    def write(self, *, passes_time: bool) -> None:
        """Write what the next command begins with; where only time has passed, only with `passes_time`.

        Raises RegistryFailure.
        """
        assert self._master is not None, "the cluster has started"
        document = _to_document(self._master, self._simulated)
        if not passes_time and self._before is not None and {**document, "now": 0} == {**self._before, "now": 0}:
            return
        with self._master.registry.transaction():
            self._master.registry.write(KIND, KEY, document)


def _restore(master: Master, record: Mapping[str, Any], simulated: Sequence[SimulatedFramework]) -> None:
    with reading_records():
        reader = _Reader(record)
        restored = {}
        offers: list[OutstandingOffer] = []
        for document in record["frameworks"]:
            framework = _framework(document)
            restored[framework.id] = framework
            _hold(master, framework, document, reader)
            offers += _offers(document, framework, reader)
        by_scheduler = {}
        for scheduler, document in zip(simulated, record["schedulers"], strict=True):
            own = restored.get(document["framework"])
            by_scheduler[scheduler] = own
            if own is not None:
                own.is_simulated = True
                own.stream = LocalStream(scheduler) if own.connected else None
        for document, framework in zip(record["frameworks"], restored.values(), strict=True):
            master.subscriptions.restore(framework)
            _remember(framework, document, reader)
        for document in record.get("completed", ()):
            framework = _framework(document)
            framework.unregistered_time = float(document["ended"])
            master.subscriptions.restore_completed(framework)
            _remember(framework, document, reader)
        master.subscriptions.made, master.state.offers.made = map(int, record["made"])
        for offer in offers:
            _offer_again(master, offer)
        for scheduler, document in zip(simulated, record["schedulers"], strict=True):
            scheduler.resume(document, by_scheduler[scheduler])
        for document, framework in zip(record["frameworks"], restored.values(), strict=True):
            _refuse_again(master, framework, document.get("refusals", ()), reader)
        for framework in restored.values():
            for task in framework.made_tasks():
                master.task_runner.go_on(framework, task, framework.executors.get((task.agent_id, task.executor_id)))


def _framework(document: Mapping[str, Any]) -> KnownFramework:
    connected, active = document["state"]
    return KnownFramework(
        id=document["info"]["id"]["value"],
        info=document["info"],
        registered_time=float(document["registered"]),
        suppressed=frozenset(document["suppressed"]),
        offer_constraints=document["constraints"],
        connected=connected,
        active=active,
        stream=SilentStream() if connected else None,
    )


def _remember(framework: KnownFramework, document: Mapping[str, Any], reader: _Reader) -> None:
    """Give a framework the tasks that have ended or cannot be reached, and its counters."""
    framework.completed_tasks.extend(reader.task(row, framework.id) for row in document["completed"])
    for row in document["unreachable"]:
        task = reader.task(row, framework.id)
        framework.unreachable_tasks[task.id] = task
    framework.counts.clear()
    framework.counts.update(document["counts"])


def _hold(master: Master, framework: KnownFramework, document: Mapping[str, Any], reader: _Reader) -> None:
    """Give a framework its tasks and executors, agent by agent, as far as their resources are there."""
    held: dict[str, list[tuple[Resources, Callable[[], None]]]] = {}
    for row in document["tasks"]:
        task = reader.task(row, framework.id)
        held.setdefault(task.agent_id, []).append((task.resources, _adding(framework.add_task, task)))
    for name, agent_id, role, number, count, since in document["groups"]:
        group = TaskGroup(name, framework.id, agent_id, role, reader.resources(number), count, since)
        held.setdefault(agent_id, []).append((group.resources, _adding(framework.add_task_group, group)))
    for name, agent_id, info, number in document["executors"]:
        executor = Executor(name, framework.id, agent_id, info, reader.resources(number))
        held.setdefault(agent_id, []).append((executor.resources, _adding(framework.add_executor, executor)))
    for agent_id, parts in held.items():
        agent = master.state.agents.get(agent_id)
        if agent is None:
            continue
        whole = Resources.sum_of([resources for resources, _ in parts])
        if not _has_room(agent, agent.used, whole):
            continue
        for _, add in parts:
            add()
        if whole:
            framework.hold(agent, whole)


def _adding(add: Callable[[Any], None], what: Any) -> Callable[[], None]:
    return lambda: add(what)


def _has_room(agent: KnownAgent, held: Resources, wanted: Resources) -> bool:
    return (agent.whole - held.allocated_to(None)).contains(wanted.allocated_to(None))


def _offers(document: Mapping[str, Any], framework: KnownFramework, reader: _Reader) -> Iterator[OutstandingOffer]:
    for name, agent_id, role, number, kind in document["offers"]:
        executors = framework.executors_on(agent_id)
        yield OutstandingOffer(name, framework.id, agent_id, role, reader.resources(number), kind, executors)


def _refuse_again(
    master: Master, framework: KnownFramework, refusals: Iterable[Sequence[Any]], reader: _Reader
) -> None:
    """Restore the refusals that have not ended."""
    for role, number, until, agents in refusals:
        seconds = float(until) - master.state.now
        for agent_id in agents if seconds > 0 else ():
            if agent_id in master.state.agents:
                master.allocator.restore_refusal(framework.id, agent_id, role, reader.resources(number), seconds)


def _offer_again(master: Master, offer: OutstandingOffer) -> None:
    """Restore an outstanding offer, if its resources are still there and free."""
    agent = master.state.agents.get(offer.agent_id)
    if agent is None or not agent.active:
        return
    held = agent.used
    for other in master.state.offers.on_agent(agent.id):
        held += other.resources
    if _has_room(agent, held, offer.resources):
        master.offers.restore(offer)
