"""GET_STATE of a master that lends idle reservations: what it tells beside what Mesos tells.

`fake_master.master.lending_view` writes it, and shows its shape; no other master has it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mesosctl.core.pictured_lending import STANDINGS, Debt, Lending, PicturedTask, Refusal
from mesosctl.core.resources import Resources
from mesosctl.core.roles import DEFAULT_ROLE
from mesosctl.core.task_states import TERMINAL_STATES
from mesosctl.wire.answers import NATURAL, text, undocumented
from mesosctl.wire.resource_lists import ResourceLists

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
    """Reads one answer; raises whatever is natural where it is not as documented."""

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

    def _in_order(self) -> Iterator[PicturedTask]:
        """Guests as their agents tell of them; then what no agent has heard of."""
        unheard = {(task.framework_id, task.id): task for task in self._tasks()}
        found = []
        for agent in self.agents:
            for guest in _told(agent).get("guests", ()):
                task = unheard.pop((_id(guest["framework_id"]), _id(guest["task_id"])), None)
                standing = guest["standing"]
                if task is not None and standing in STANDINGS:
                    found.append(replace(task, standing=standing))
        return self._with_executors([*found, *unheard.values()])

    def _tasks(self) -> Iterator[PicturedTask]:
        for index, task in enumerate(self.state.get("get_tasks", {}).get("tasks", ())):
            if task["state"] not in TERMINAL_STATES:
                role, resources = self._held(task.get("resources", []), f"get_tasks.tasks[{index}].resources")
                yield PicturedTask(
                    _id(task["task_id"]),
                    _id(task["framework_id"]),
                    _id(task["agent_id"]),
                    role,
                    resources,
                    _id(task["executor_id"]) if "executor_id" in task else None,
                    standing="arriving",
                )

    def _with_executors(self, tasks: Sequence[PicturedTask]) -> Iterator[PicturedTask]:
        """The first task in each executor, of those that have started if any has, answers for what that holds."""
        executors = dict(self._executors())
        first: dict[_Container, _Name] = {}
        for task in sorted(tasks, key=lambda task: STANDINGS.index(task.standing)):
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
        """A task is of one role."""
        parts = self.lists.by_role(messages, where)
        return next(iter(parts), DEFAULT_ROLE), self.lists.plain(messages, where)


def _told(agent: Mapping[str, Any]) -> Mapping[str, Any]:
    told: Mapping[str, Any] = agent.get("lending", {})
    return told


def _id(message: Mapping[str, Any]) -> str:
    return text(message["value"])
