"""GET_STATE of a master that lends idle reservations: the parts that Mesos does not have.

`fake_master.services.v1_messages` writes it, and shows its shape; no other master has it.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from mesosctl.mesos import roles
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.snapshot import TASK_PHASES, Debt, Lending, Refusal, SnapshotTask
from mesosctl.mesos.messages.elements.agents import AgentReader
from mesosctl.mesos.messages.elements.frameworks import FrameworkReader
from mesosctl.mesos.messages.elements.snapshot_mistakes import check_unique, wrong
from mesosctl.mesos.messages.elements.tasks import TaskReader
from mesosctl.mesos.messages.protobuf_json.resource_lists import ResourceLists
from mesosctl.mesos.messages.resources import list_to_json
from mesosctl.mesos.messages.responses import NATURAL, text, undocumented
from mesosctl.mesos.rules.version_profile import TERMINAL_STATES

_NOTHING = Resources()
_Name = tuple[str, str]
_Container = tuple[str, str, str]
Value = TypeVar("Value")


def lending(answer: Any) -> Lending | None:
    """None for a master that does not lend.  Raises UnexpectedAnswer."""
    try:
        state = answer["get_state"]
        agents = state.get("get_agents", {}).get("agents", ())
        if not any("lending" in agent for agent in agents):
            return None
        return _Reader(state).lending()
    except NATURAL as error:
        raise undocumented(error, "get_state") from None


class _Reader:
    """Reads one answer; raises one of `NATURAL` if it is not as documented."""

    def __init__(self, state: Mapping[str, Any]) -> None:
        self._state = state
        self._lists = ResourceLists()
        self._tasks = TaskReader(self._lists)
        agents, frameworks = AgentReader(self._lists), FrameworkReader()
        self._agents = {
            read.agent.id: read.lending or {}
            for read in map(agents.of_message, state.get("get_agents", {}).get("agents", ()))
        }
        """The lending of each agent, by id."""
        self._refusals = {
            frameworks.of_message(entry).framework.id: entry.get("refusals", ())
            for entry in state.get("get_frameworks", {}).get("frameworks", ())
        }
        """The refusals of each framework, by id."""

    def lending(self) -> Lending:
        return Lending(
            tasks=tuple(task for task in self._in_order() if task.framework_id in self._refusals),
            debts=tuple(debt for debt in self._debts() if debt.framework_id in self._refusals),
            refusals=tuple(self._refused()),
            stop_seconds=max((float(told.get("stop_seconds", 0.0)) for told in self._agents.values()), default=0.0),
        )

    def _in_order(self) -> Iterator[SnapshotTask]:
        """Read the tasks that agents report, then those that no agent reports yet."""
        unheard = {(task.framework_id, task.id): task for task in self._launched()}
        found = []
        for told in self._agents.values():
            for guest in told.get("guests", ()):
                task = unheard.pop((_id(guest["framework_id"]), _id(guest["task_id"])), None)
                phase = guest["standing"]
                if task is not None and phase in TASK_PHASES:
                    found.append(replace(task, phase=phase))
        return self._with_executors([*found, *unheard.values()])

    def _launched(self) -> Iterator[SnapshotTask]:
        for index, entry in enumerate(self._state.get("get_tasks", {}).get("tasks", ())):
            task = self._tasks.of_message(entry, f"get_tasks.tasks[{index}]")
            if task.state not in TERMINAL_STATES:
                yield SnapshotTask(
                    task.id,
                    task.framework_id,
                    task.agent_id,
                    task.role,
                    task.resources,
                    task.executor_id,
                    phase="arriving",
                )

    def _with_executors(self, tasks: Sequence[SnapshotTask]) -> Iterator[SnapshotTask]:
        """The first task of each executor (a started one, if there is any) accounts for what the executor holds."""
        executors = dict(self._executors())
        first: dict[_Container, _Name] = {}
        for task in sorted(tasks, key=lambda task: TASK_PHASES.index(task.phase)):
            if task.executor_id is not None:
                first.setdefault((task.framework_id, task.agent_id, task.executor_id), (task.framework_id, task.id))
        held = {name: executors.get(container, _NOTHING) for container, name in first.items()}
        for task in tasks:
            yield replace(task, executor_resources=held.get((task.framework_id, task.id), _NOTHING))

    def _executors(self) -> Iterator[tuple[_Container, Resources]]:
        for index, entry in enumerate(self._state.get("get_executors", {}).get("executors", ())):
            executor = self._tasks.executor_of_message(entry, f"get_executors.executors[{index}]")
            yield (executor.framework_id, executor.agent_id, executor.id), executor.resources

    def _debts(self) -> Iterator[Debt]:
        for agent_id, told in self._agents.items():
            for debt in told.get("debts", ()):
                owed = self._lists.plain(debt["resources"], "debts")
                yield Debt(_id(debt["framework_id"]), agent_id, text(debt["role"]), owed)

    def _refused(self) -> Iterator[Refusal]:
        for framework, refusals in self._refusals.items():
            for refusal in refusals:
                agent, refused = _id(refusal["agent_id"]), self._lists.plain(refusal["resources"], "refusals")
                if agent in self._agents:
                    yield Refusal(framework, agent, text(refusal["role"]), refused, float(refusal["seconds"]))


def _id(message: Mapping[str, Any]) -> str:
    return text(message["value"])


Check = Callable[[Mapping[str, Any], str], None]
"""Raises RuleViolation for an entry that names an agent or framework which the snapshot does not have."""


def to_json(lending: Lending | None) -> dict[str, Any]:
    """The keys of a snapshot; none for a master that does not lend."""
    if lending is None:
        return {}
    return {
        "lending": {"stop_seconds": lending.stop_seconds},
        "tasks": [task_to_json(task) for task in lending.tasks],
        "debts": [_place_to_json(debt) for debt in lending.debts],
        "refusals": [_place_to_json(refusal) | {"seconds": refusal.seconds} for refusal in lending.refusals],
    }


def task_to_json(task: SnapshotTask) -> dict[str, Any]:
    """A task of a snapshot."""
    written = {"id": task.id, **_place_to_json(task), "standing": task.phase}
    if task.executor_id is not None:
        written["executor_id"] = task.executor_id
        written["executor_resources"] = list_to_json(task.executor_resources, "POST")
    return written


def _place_to_json(held: SnapshotTask | Debt | Refusal) -> dict[str, Any]:
    return {
        "framework_id": held.framework_id,
        "agent_id": held.agent_id,
        "role": held.role,
        "resources": list_to_json(held.resources, "POST"),
    }


def from_json(message: Mapping[str, Any], lists: ResourceLists, tasks: TaskReader, check: Check) -> Lending | None:
    """Read the lending of a snapshot.  Raises RuleViolation naming the place."""
    if "lending" not in message:
        return None

    def task(entry: Mapping[str, Any], where: str) -> SnapshotTask:
        check(entry, where)
        return tasks.of_snapshot(entry, where)

    def place(entry: Mapping[str, Any], where: str) -> tuple[str, str, str, Resources]:
        check(entry, where)
        role = roles.check_role(entry["role"], f"{where}.role")
        resources = lists.plain(entry.get("resources", ()), f"{where}.resources")
        return entry["framework_id"], entry["agent_id"], role, resources

    def refusal(entry: Mapping[str, Any], where: str) -> Refusal:
        return Refusal(*place(entry, where), _seconds(entry.get("seconds", 0.0), f"{where}.seconds"))

    def each(key: str, make: Callable[[Mapping[str, Any], str], Value]) -> tuple[Value, ...]:
        return tuple(make(entry, f"{key}[{index}]") for index, entry in enumerate(message.get(key, ())))

    found = Lending(
        tasks=each("tasks", task),
        debts=each("debts", lambda entry, where: Debt(*place(entry, where))),
        refusals=each("refusals", refusal),
        stop_seconds=_seconds(message["lending"].get("stop_seconds", 0.0), "lending.stop_seconds"),
    )
    check_unique((task.id for task in found.tasks), "tasks", (task.framework_id for task in found.tasks))
    return found


def _seconds(value: float, where: str) -> float:
    if not 0 <= value < math.inf:
        raise wrong(where, "seconds cannot be negative")
    return value
