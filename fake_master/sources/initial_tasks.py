"""Tasks that run when a master starts: those of simulated frameworks in a cluster file, and those of a snapshot.

A snapshot of a master that lends has every task with its name and its phase; any other snapshot only counts tasks,
which are of equal size and get their names here.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from sys import intern

from fake_master.master import Master
from fake_master.state.agents import KnownAgent
from fake_master.state.frameworks import KnownFramework
from fake_master.state.tasks import Ending, Executor, KnownTask, TaskGroup, TaskStatus
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.amounts.values import Value, value_is_empty, value_subtract
from mesosctl.mesos.cluster.snapshot import FrameworkUsage, Lending, SnapshotTask
from mesosctl.mesos.errors import BadInput
from mesosctl.mesos.messages.resources import list_to_json
from mesosctl.mesos.roles import did_you_mean


@dataclass(frozen=True, slots=True)
class RunningTasks:
    """Tasks of a simulated framework that run on an agent when the master starts."""

    agent: str
    """A host name."""
    resources: Resources
    """The resources that they hold together, in text form: a reserved entry names the role that owns it."""
    tasks: int = 1
    """The number of tasks of equal size; 0 means an executor without tasks."""
    role: str | None = None
    """One of the framework's roles; None is its only one."""
    volumes: tuple[str, ...] = ()
    """Ids of persistent volumes that they use."""
    where: str = field(default="the running tasks", compare=False)
    """The place of its table in the cluster file."""


def usage_of(running: RunningTasks, framework: KnownFramework, hosts: Mapping[str, KnownAgent]) -> FrameworkUsage:
    """Return the tasks' part of the free resources of their agent.  Raises BadInput."""
    where = f"framework '{framework.name}': running on {running.agent}"
    agent = hosts.get(running.agent)
    if agent is None:
        hint = did_you_mean(running.agent, list(hosts), "give the host name of an agent")
        raise BadInput(f"{where}: no agent is named '{running.agent}'", field=f"{running.where}.agent", hint=hint)
    role = running.role or (next(iter(framework.roles)) if len(framework.roles) == 1 else None)
    if role is None:
        hint = 'role = "web"'
        raise BadInput(f"{where}: name one of the framework's roles", field=f"{running.where}.role", hint=hint)
    free = agent.total - agent.used.allocated_to(None)
    held = Resources()
    for entry in running.resources:
        part = _part_of(free - held, entry)
        if part is None:
            problem = f"{where}: there is no room for {entry.in_words}, only for {(free - held).in_words}"
            hint = "resources of other tasks, and volumes, are not free"
            raise BadInput(problem, field=f"{running.where}.resources", hint=hint)
        held += part
    for name in running.volumes:
        volume = next(
            (resource for resource in free if resource.disk is not None and resource.disk.persistence_id == name), None
        )
        if volume is None:
            hint = "name a volume from [[volumes]] that no other task uses"
            raise BadInput(f"{where}: there is no unused volume '{name}'", field=f"{running.where}.volumes", hint=hint)
        held += Resources([volume])
    return FrameworkUsage(framework.id, agent.id, role, held, running.tasks)


def _part_of(free: Resources, wanted: Resource) -> Resources | None:
    """Return entries of an agent that make up `wanted`, which names its owner; None if there is too little."""
    found: list[Resource] = []
    missing = wanted.value
    for entry in free:
        same = entry.name == wanted.name and entry.disk_identity == wanted.disk_identity and not entry.revocable
        if same and entry.role == wanted.role and entry.is_reserved == wanted.is_reserved:
            if entry.never_merges and entry.value != wanted.value:  # a whole disk, which has no parts
                continue
            taken = _common(missing, entry.value)
            if not value_is_empty(taken):
                found.append(replace(entry, value=taken))
            missing = value_subtract(missing, taken)
    return Resources(found) if value_is_empty(missing) else None


def _common(value: Value, other: Value) -> Value:
    """Return the intersection of two values of one kind."""
    if isinstance(value, int) and isinstance(other, int):
        return min(value, other)
    return value_subtract(value, value_subtract(value, other))


_Key = tuple[str, str, str]


@dataclass(slots=True)
class _Restored:
    """A task, and the resources of its executor."""

    framework: KnownFramework
    task: KnownTask
    executor: Executor | None = None


@dataclass(slots=True)
class SnapshotTasks:
    """Every task and executor, framework by framework; then their phases on agents that lend."""

    master: Master
    lending: Lending
    since: float
    """When they are taken to have started: the moment of the snapshot."""
    _by_usage: dict[_Key, list[SnapshotTask]] = field(default_factory=dict)
    _named: dict[tuple[str, str], _Restored] = field(default_factory=dict)
    _nameless: list[_Restored] = field(default_factory=list)

    def __post_init__(self) -> None:
        for task in self.lending.tasks:
            self._by_usage.setdefault((task.framework_id, task.agent_id, task.role), []).append(task)

    def hold(self, framework: KnownFramework, usage: FrameworkUsage, held: Resources, number: int) -> None:
        """Add a framework's usage of one agent in one role; `number` makes names unique.

        `held` are the resources of the usage, with its role.  Raises BadInput.
        """
        known = self._by_usage.pop((framework.id, usage.agent_id, usage.role), ()) if self._by_usage else ()
        count = usage.tasks
        if known:
            held = self._hold_named(framework, usage, known).allocated_to(usage.role)
            count = max(0, count - len(known))
        # Only a task can be evicted, or keep others from starting.
        count = count or int(self.master.runtime.evicts and len(held) > 0)
        name = intern(f"pictured-{number}")  # each framework has one
        if count:
            self._add_nameless(
                framework, TaskGroup(name, framework.id, usage.agent_id, usage.role, held, count, self.since)
            )
        elif len(held):
            self._executor(framework, usage.agent_id, name, held)

    def _add_nameless(self, framework: KnownFramework, group: TaskGroup) -> None:
        if not self.master.runtime.evicts:
            framework.add_task_group(group)
            return
        for task in group.tasks():
            self._add(framework, task)
            self._nameless.append(_Restored(framework, task))

    def _hold_named(self, framework: KnownFramework, usage: FrameworkUsage, known: Iterable[SnapshotTask]) -> Resources:
        """Add the tasks whose names are known, and return the rest of the usage.  Raises BadInput."""
        resources = usage.resources
        for task in known:
            for part in (task.resources, task.executor_resources):
                if not resources.contains(part):
                    problem = f"task {task.id} holds {part}, which its framework does not use on the task's agent"
                    raise BadInput(problem, field="tasks")
                resources -= part
            self._add_named(framework, task)
        return resources

    def settle(self) -> None:
        """Finish, once all tasks are added: waiting tasks wait, and ending tasks end.  Raises BadInput."""
        for missing in self._by_usage.values():
            problem = f"task {missing[0].id} holds resources that its framework does not use on the task's agent"
            raise BadInput(problem, field="tasks")
        runtime, arriving = self.master.runtime, []
        if not runtime.evicts:
            return
        for restored in self.lending.tasks:
            restored_task = self._named[restored.framework_id, restored.id]
            if restored.phase == "arriving":
                arriving.append(restored_task)
                continue
            runtime.restore(restored_task.framework, restored_task.task, restored_task.executor)
            if restored.phase == "ending":
                self._end_later(restored_task)
        for restored_task in self._nameless:
            runtime.restore(restored_task.framework, restored_task.task, None)
        for restored_task in arriving:
            self.master.task_runner.arrive(restored_task.framework, restored_task.task, restored_task.executor)

    def _end_later(self, restored: _Restored) -> None:
        ending = Ending(self.master.state.now + self.lending.stop_seconds, "TASK_KILLED")
        self.master.task_runner.end_later(restored.framework, restored.task, ending)

    def _add_named(self, framework: KnownFramework, restored: SnapshotTask) -> None:
        started = not self.master.runtime.evicts or restored.phase in ("running", "ending")
        task = KnownTask(
            id=restored.id,
            framework_id=framework.id,
            agent_id=restored.agent_id,
            info={"name": restored.id},
            resources=restored.resources.allocated_to(restored.role),
            role=restored.role,
            executor_id=restored.executor_id or "",
            state="TASK_RUNNING" if started else "TASK_STAGING",
            statuses=(TaskStatus("TASK_RUNNING", self.since),) if started else (),
        )
        self._add(framework, task)
        executor = None
        if restored.executor_id is not None and restored.executor_resources:
            held = restored.executor_resources.allocated_to(restored.role)
            executor = self._executor(framework, restored.agent_id, restored.executor_id, held)
        self._named[framework.id, restored.id] = _Restored(framework, task, executor)

    @staticmethod
    def _add(framework: KnownFramework, task: KnownTask) -> None:
        framework.add_task(task)
        framework.count_task(task)

    @staticmethod
    def _executor(framework: KnownFramework, agent_id: str, name: str, held: Resources) -> Executor:
        info = {"executor_id": {"value": name}, "framework_id": {"value": framework.id}}
        executor = Executor(name, framework.id, agent_id, info | {"resources": list_to_json(held, "POST")}, held)
        framework.executors[agent_id, name] = executor
        return executor
