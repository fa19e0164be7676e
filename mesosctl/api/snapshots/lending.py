"""GET_STATE of a master that lends idle reservations: the parts that Mesos does not have.

`fake_master.services.v1_messages` writes it, and shows its shape; no other master has it.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import Any

from mesosctl.api.protobuf_json.resource_lists import ResourceLists
from mesosctl.api.resources import list_to_json
from mesosctl.api.responses import NATURAL, text, undocumented
from mesosctl.model import roles
from mesosctl.model.errors import RuleViolation
from mesosctl.model.resources import Resources
from mesosctl.model.roles import DEFAULT_ROLE
from mesosctl.model.version_profile import TERMINAL_STATES
from mesosctl.planning.snapshot import TASK_PHASES, Debt, Lending, Refusal, SnapshotTask

_NOTHING = Resources()
_Name = tuple[str, str]
_Container = tuple[str, str, str]


def lending(answer: Any) -> Lending | None:
    """None for a master that does not lend.  Raises UnexpectedAnswer."""
    try:
        state = answer["get_state"]
        agents = state.get("get_agents", {}).get("agents", ())
        if not any("lending" in agent for agent in agents):
            return None
        return _Reader(agents, state).lending()
    except NATURAL as error:
        raise undocumented(error, "get_state") from None


@dataclass(slots=True)
class _Reader:
    """Reads one answer; raises one of `NATURAL` if it is not as documented."""

    agents: Sequence[Mapping[str, Any]]
    state: Mapping[str, Any]
    lists: ResourceLists = field(default_factory=ResourceLists)

    def lending(self) -> Lending:
        frameworks = self.state.get("get_frameworks", {}).get("frameworks", ())
        seen = {_id(entry["framework_info"]["id"]) for entry in frameworks}
        return Lending(
            tasks=tuple(task for task in self._in_order() if task.framework_id in seen),
            debts=tuple(debt for debt in self._debts() if debt.framework_id in seen),
            refusals=tuple(self._refusals(frameworks)),
            stop_seconds=max((float(_told(agent).get("stop_seconds", 0.0)) for agent in self.agents), default=0.0),
        )

    def _in_order(self) -> Iterator[SnapshotTask]:
        """Read the tasks that agents report, then those that no agent reports yet."""
        unheard = {(task.framework_id, task.id): task for task in self._tasks()}
        found = []
        for agent in self.agents:
            for guest in _told(agent).get("guests", ()):
                task = unheard.pop((_id(guest["framework_id"]), _id(guest["task_id"])), None)
                phase = guest["standing"]
                if task is not None and phase in TASK_PHASES:
                    found.append(replace(task, phase=phase))
        return self._with_executors([*found, *unheard.values()])

    def _tasks(self) -> Iterator[SnapshotTask]:
        for index, task in enumerate(self.state.get("get_tasks", {}).get("tasks", ())):
            if task["state"] not in TERMINAL_STATES:
                role, resources = self._held(task.get("resources", []), f"get_tasks.tasks[{index}].resources")
                yield SnapshotTask(
                    _id(task["task_id"]),
                    _id(task["framework_id"]),
                    _id(task["agent_id"]),
                    role,
                    resources,
                    _id(task["executor_id"]) if "executor_id" in task else None,
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
        for index, entry in enumerate(self.state.get("get_executors", {}).get("executors", ())):
            info = entry["executor_info"]
            where = f"get_executors.executors[{index}].executor_info.resources"
            container = _id(info["framework_id"]), _id(entry["agent_id"]), _id(info["executor_id"])
            yield container, self.lists.plain(info.get("resources", []), where)

    def _debts(self) -> Iterator[Debt]:
        for agent in self.agents:
            for debt in _told(agent).get("debts", ()):
                owed = self.lists.plain(debt["resources"], "debts")
                yield Debt(_id(debt["framework_id"]), _id(agent["agent_info"]["id"]), text(debt["role"]), owed)

    def _refusals(self, frameworks: Sequence[Mapping[str, Any]]) -> Iterator[Refusal]:
        known = {_id(agent["agent_info"]["id"]) for agent in self.agents}
        for entry in frameworks:
            framework = _id(entry["framework_info"]["id"])
            for refusal in entry.get("refusals", ()):
                agent, refused = _id(refusal["agent_id"]), self.lists.plain(refusal["resources"], "refusals")
                if agent in known:
                    yield Refusal(framework, agent, text(refusal["role"]), refused, float(refusal["seconds"]))

    def _held(self, messages: Any, where: str) -> tuple[str, Resources]:
        """A task has one role."""
        parts = self.lists.by_role(messages, where)
        return next(iter(parts), DEFAULT_ROLE), self.lists.plain(messages, where)


def _told(agent: Mapping[str, Any]) -> Mapping[str, Any]:
    told: Mapping[str, Any] = agent.get("lending", {})
    return told


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
        "tasks": [_task_to_json(task) for task in lending.tasks],
        "debts": [_place_to_json(debt) for debt in lending.debts],
        "refusals": [_place_to_json(refusal) | {"seconds": refusal.seconds} for refusal in lending.refusals],
    }


def _task_to_json(task: SnapshotTask) -> dict[str, Any]:
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


def from_json(message: Mapping[str, Any], lists: ResourceLists, check: Check) -> Lending | None:
    """Read the lending of a snapshot.  Raises RuleViolation naming the place."""
    if "lending" not in message:
        return None

    def place(entry: Mapping[str, Any], where: str) -> tuple[str, str, str, Resources]:
        check(entry, where)
        role = roles.check_role(entry["role"], f"{where}.role")
        resources = lists.plain(entry.get("resources", ()), f"{where}.resources")
        return entry["framework_id"], entry["agent_id"], role, resources

    def task(entry: Mapping[str, Any], where: str) -> SnapshotTask:
        phase = next((known for known in TASK_PHASES if known == entry.get("standing", "running")), None)
        if phase is None:
            raise wrong(f"{where}.standing", f"it must be one of {', '.join(TASK_PHASES)}")
        executor = lists.plain(entry.get("executor_resources", ()), f"{where}.executor_resources")
        return SnapshotTask(entry["id"], *place(entry, where), entry.get("executor_id"), executor, phase)

    def refusal(entry: Mapping[str, Any], where: str) -> Refusal:
        return Refusal(*place(entry, where), _seconds(entry.get("seconds", 0.0), f"{where}.seconds"))

    tasks, debts, refusals = (list(enumerate(message.get(key, ()))) for key in ("tasks", "debts", "refusals"))
    found = Lending(
        tasks=tuple(task(entry, f"tasks[{index}]") for index, entry in tasks),
        debts=tuple(Debt(*place(entry, f"debts[{index}]")) for index, entry in debts),
        refusals=tuple(refusal(entry, f"refusals[{index}]") for index, entry in refusals),
        stop_seconds=_seconds(message["lending"].get("stop_seconds", 0.0), "lending.stop_seconds"),
    )
    check_unique((task.id for task in found.tasks), "tasks", (task.framework_id for task in found.tasks))
    return found


def _seconds(value: float, where: str) -> float:
    if not 0 <= value < math.inf:
        raise wrong(where, "seconds cannot be negative")
    return value


def wrong(where: str, sentence: str) -> RuleViolation:
    """The error for a value at a place."""
    return RuleViolation(sentence, field=where, rule="snapshot.valid")


def check_unique(names: Iterable[str], where: str, owners: Iterable[str] = repeat("")) -> None:
    """No name appears twice in the list at `where`, or twice with one owner.  Raises RuleViolation."""
    seen: set[tuple[str, str]] = set()
    for index, (owner, name) in enumerate(zip(owners, names, strict=False)):
        if (owner, name) in seen:
            raise wrong(f"{where}[{index}]", f"'{name}' appears twice")
        seen.add((owner, name))
