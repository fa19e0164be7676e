"""GET_STATE: a whole cluster in one answer, at a single moment (Mesos documentation, "HTTP Endpoints")."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from operator import add, sub
from sys import intern
from typing import Any

from mesosctl.mesos.amounts.identity import IdentityCache
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.agents import ClusterAgent
from mesosctl.mesos.cluster.snapshot import FrameworkUsage, SnapshotFramework, SnapshotTask
from mesosctl.mesos.cluster.tasks import UNREACHABLE
from mesosctl.mesos.messages.elements import agents, tasks
from mesosctl.mesos.messages.elements.frameworks import FrameworkReader
from mesosctl.mesos.messages.protobuf_json.buffered_text import Run, Shortcut
from mesosctl.mesos.messages.protobuf_json.json_parts import JsonPart, parts
from mesosctl.mesos.messages.protobuf_json.message_tables import mesos_message
from mesosctl.mesos.messages.protobuf_json.resource_lists import ResourceLists
from mesosctl.mesos.messages.responses import NATURAL, Once, undocumented, wrong
from mesosctl.mesos.messages.snapshots.framework_offers import FrameworkOffers
from mesosctl.mesos.rules.offers.offers import OutstandingOffer

_NOTHING = Resources()
_SUPPRESSED = re.compile(r"master/frameworks/[^/]*/(?P<framework>.+?)/roles/(?P<role>.+)/suppressed")


@dataclass(slots=True)
class ClusterState:
    """The content of GET_STATE, with the frameworks that it names but does not show."""

    agents: list[ClusterAgent] = field(default_factory=list)
    frameworks: list[SnapshotFramework] = field(default_factory=list)
    usages: list[FrameworkUsage] = field(default_factory=list)
    offers: list[OutstandingOffer] = field(default_factory=list)
    completed: list[SnapshotFramework] = field(default_factory=list)
    unreachable_tasks: list[SnapshotTask] = field(default_factory=list)
    unseen: list[tuple[str, str, Resources]] = field(default_factory=list)
    """(agent id, role, resources) that agents report as allocated, but no visible task or executor holds."""
    lends: bool = False
    """Whether the master lends idle reservations and shows it; see `lending`."""


def cluster_state(chunks: Iterable[bytes]) -> ClusterState:
    """The state, read from an answer while its chunks arrive.

    Raises UnexpectedAnswer; ConversionError if it is not JSON.
    """
    reader = _Reader(ResourceLists())
    for part in parts(chunks, depth=3, shortcuts=reader.shortcuts, opened={"frameworks": "offers"}):
        try:
            reader.take(part)
        except NATURAL as error:
            raise undocumented(error, "get_state") from None
    return reader.settled()


class _Reader:
    """Reads one answer; raises one of `NATURAL` if it is not as documented."""

    def __init__(self, lists: ResourceLists) -> None:
        self._agent_reader, self._framework_reader = agents.AgentReader(lists), FrameworkReader()
        read = self._task_reader = tasks.TaskReader(lists)
        self._sum = IdentityCache(add).of
        self._difference = IdentityCache(sub).of
        self._held: dict[tuple[str, str, str], FrameworkUsage] = {}
        """By framework, agent and role, of those that are not shown too."""
        self._allocated: list[Mapping[str, Resources]] = []
        self._of_next = FrameworkOffers(lists)
        self._told = False
        self._state = ClusterState()
        self._agents, self._frameworks = Once(), Once()
        self._readers: dict[tuple[str, ...], Callable[[Any, str], None]] = {
            ("get_state", "get_agents", "agents"): lambda *entry: self._add([self._agent_reader.of_message(*entry)]),
            ("get_state", "get_frameworks", "frameworks"): lambda entry, _: self._framework(entry),
            ("get_state", "get_frameworks", "frameworks", "offers"): lambda entry, _: self._of_next.add([entry]),
            ("get_state", "get_frameworks", "completed_frameworks"): lambda entry, _: self._complete(entry),
            ("get_state", "get_tasks", "unreachable_tasks"): self._lose,
            ("get_state", "get_tasks", "tasks"): lambda *entry: self._hold([read.usage_of_message(*entry)]),
            ("get_state", "get_executors", "executors"): lambda *entry: self._hold([read.executor_usage(*entry)]),
        }
        """Each takes an element of a list."""
        self._runs: dict[str, Callable[[list[Any]], None]] = {
            "agents": self._add,
            "offers": self._of_next.add,
            "tasks": self._hold,
            "executors": self._hold,
        }
        """Each takes what a shortcut has read in a list of this name."""
        self._objects = {path[:depth] for path in self._readers for depth in (1, 2)}

    def shortcuts(self) -> Mapping[str, Shortcut]:
        """The readers of elements that stay text, by the name of their list."""
        from mesosctl.mesos.messages.protobuf_json.wanted_members import (  # late: it loads msgspec
            WantedMembers,
            decoded_members,
        )

        agent = decoded_members(mesos_message(agents.MESSAGE), *agents.MEMBERS)
        task = decoded_members(mesos_message(tasks.TASK), *tasks.USAGE_MEMBERS)
        executor = decoded_members(mesos_message(tasks.EXECUTOR), *tasks.EXECUTOR_USAGE_MEMBERS)
        return {
            "agents": WantedMembers(agent, self._agent_reader.of_message).read,
            "tasks": WantedMembers(task, self._task_reader.usage_of_message).read,
            "executors": WantedMembers(executor, self._task_reader.executor_usage).read,
            "offers": self._of_next.shortcut(),
        }

    def take(self, part: JsonPart) -> None:
        """One part of the answer; the parts may come in any order."""
        read = self._readers.get(part.path)
        if part.place is not None:
            if read is not None:
                if isinstance(part.value, Run):
                    self._runs[part.path[-1]](part.value.values)
                else:
                    read(part.value, part.where.removeprefix("get_state."))
            return
        self._told = self._told or part.path[:1] == ("get_state",)
        self._of_next.drop()
        expected = [] if read is not None else {} if part.path in self._objects else part.value
        if part.value != expected:
            raise wrong(part.value, "a list" if expected == [] else "an object", part.where)

    def _add(self, read: Iterable[agents.AgentMessage]) -> None:
        for agent in read:
            self._agents.take(agent.agent.id, f"get_agents.agents[{len(self._state.agents)}].agent_info.id.value")
            self._state.agents.append(agent.agent)
            self._state.lends = self._state.lends or agent.lending is not None
            self._allocated.append(agent.allocated)

    def _framework(self, entry: Mapping[str, Any]) -> None:
        framework = self._framework_reader.of_message(entry).framework
        where = f"get_frameworks.frameworks[{len(self._state.frameworks)}].framework_info.id.value"
        self._frameworks.take(framework.id, where)
        self._state.frameworks.append(framework)
        refines = "RESERVATION_REFINEMENT" in framework.capabilities
        self._state.offers += self._of_next.of(entry, framework.name, stacked_format=refines)

    def _complete(self, entry: Mapping[str, Any]) -> None:
        self._state.completed.append(self._framework_reader.of_message(entry).framework)

    def _lose(self, entry: Mapping[str, Any], where: str) -> None:
        """Add a task on an unreachable agent; one that counts as lost has no place any more."""
        task = self._task_reader.of_message(entry, where)
        if task.state == UNREACHABLE:
            self._state.unreachable_tasks.append(
                SnapshotTask(task.id, task.framework_id, task.agent_id, task.role, task.resources)
            )

    def _hold(self, held: Iterable[tasks.HeldByRole]) -> None:
        for framework_id, agent_id, by_role, count in held:
            tasks_of_role = count
            for role, resources in by_role.items():
                before = self._held.get((framework_id, agent_id, role))
                if before is None:
                    key = intern(framework_id), intern(agent_id), intern(role)
                    self._held[key] = FrameworkUsage(*key, resources, tasks_of_role)
                else:
                    key = before.framework_id, before.agent_id, before.role
                    self._held[key] = FrameworkUsage(
                        *key, self._sum(before.resources, resources), before.tasks + tasks_of_role
                    )
                tasks_of_role = 0  # a task whose resources have several roles is one task all the same

    def settled(self) -> ClusterState:
        """The whole state.

        Holdings and offers are of agents and for frameworks that are shown; the rest of what agents report as held is
        unseen.
        """
        if not self._told:
            raise wrong(None, "an object", "get_state")
        state = self._state
        frameworks = {framework.id for framework in state.frameworks}
        seen: dict[str, dict[str, Resources]] = {agent.id: {} for agent in state.agents}
        for usage in self._held.values():
            of_agent = seen.get(usage.agent_id)
            if of_agent is not None and usage.framework_id in frameworks:
                state.usages.append(usage)
                before = of_agent.get(usage.role)
                of_agent[usage.role] = usage.resources if before is None else self._sum(before, usage.resources)
        self._held.clear()
        state.offers = [offer for offer in state.offers if offer.framework_id in frameworks and offer.agent_id in seen]
        for shown, allocated in zip(state.agents, self._allocated, strict=True):
            of_agent = seen[shown.id]
            for role, resources in allocated.items():
                hidden = self._difference(resources, of_agent.get(role, _NOTHING))
                if len(hidden):
                    state.unseen.append((shown.id, role, hidden))
        return state


def suppressed_roles(metrics: Any) -> dict[str, dict[str, bool]]:
    """/metrics/snapshot: by framework id whether each role is suppressed; nothing before 1.7, or with the metrics off.

    Raises UnexpectedAnswer.
    """
    if not isinstance(metrics, dict):
        raise wrong(metrics, "an object", "")
    found: dict[str, dict[str, bool]] = {}
    for name, value in metrics.items():
        if name.endswith("/suppressed") and (match := _SUPPRESSED.fullmatch(name)) is not None:
            found.setdefault(match["framework"], {})[match["role"]] = bool(value)
    return found
