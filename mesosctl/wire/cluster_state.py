"""GET_STATE: a whole cluster in one answer, which is of one moment (spec/endpoints.md §4)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from mesosctl.core.errors import RuleViolation, UnexpectedAnswer
from mesosctl.core.offers import Offer
from mesosctl.core.picture import PicturedAgent, PicturedFramework, Usage
from mesosctl.core.pictured_lending import Lending
from mesosctl.core.resources import Resources
from mesosctl.core.roles import DEFAULT_ROLE
from mesosctl.core.task_states import TERMINAL_STATES
from mesosctl.wire.answers import wrong
from mesosctl.wire.lending_state import lending
from mesosctl.wire.messages import ConversionError
from mesosctl.wire.offers import offer
from mesosctl.wire.resource_lists import ResourceLists, Sums

_NOTHING = Resources()
_SUPPRESSED = re.compile(r"master/frameworks/[^/]*/(?P<framework>.+?)/roles/(?P<role>.+)/suppressed")


@dataclass(slots=True)
class ClusterState:
    """What GET_STATE tells, and what it tells of without showing it."""

    agents: list[PicturedAgent] = field(default_factory=list)
    frameworks: list[PicturedFramework] = field(default_factory=list)
    usages: list[Usage] = field(default_factory=list)
    offers: list[Offer] = field(default_factory=list)
    unseen: list[tuple[str, str, Resources]] = field(default_factory=list)
    """(agent id, role, resources) that agents say are allocated, and no visible task or executor holds."""
    lending: Lending | None = None
    """None where nothing is lent."""


def cluster_state(answer: Any) -> ClusterState:
    """Raises UnexpectedAnswer."""
    try:
        state = _Reader(answer["get_state"]).state
    except RuleViolation as error:
        raise UnexpectedAnswer(
            f"the master's answer is not as documented: {error.message}", field=error.field
        ) from None
    except (KeyError, TypeError, ValueError, AttributeError, ConversionError) as error:
        raise UnexpectedAnswer(f"the master's answer is not as documented: {error!r}", field="get_state") from None
    state.lending = lending(answer)
    return state


class _Reader:
    """Reads one answer; raises whatever is natural where it is not as documented."""

    def __init__(self, message: Mapping[str, Any]) -> None:
        self._lists = ResourceLists()
        self._sums = Sums()
        self._held: dict[tuple[str, str, str], tuple[Resources, int]] = {}
        self.state = ClusterState()
        agents = message.get("get_agents", {})
        for index, entry in enumerate(agents.get("agents", ())):
            self.state.agents.append(self._agent(entry, f"get_agents.agents[{index}]"))
        for entry in message.get("get_frameworks", {}).get("frameworks", ()):
            self._framework(entry)
        for index, task in enumerate(message.get("get_tasks", {}).get("tasks", ())):
            self._task(task, f"get_tasks.tasks[{index}]")
        for index, entry in enumerate(message.get("get_executors", {}).get("executors", ())):
            self._executor(entry, f"get_executors.executors[{index}]")
        self._settle(agents.get("agents", ()))

    def _agent(self, entry: Mapping[str, Any], where: str) -> PicturedAgent:
        info = entry["agent_info"]
        domain = info.get("domain", {}).get("fault_domain", {})
        return PicturedAgent(
            id=str(info["id"]["value"]),
            hostname=str(info["hostname"]),
            pid=str(entry.get("pid", "")),
            total=self._lists.plain(entry.get("total_resources", []), f"{where}.total_resources"),
            attributes=dict(_attribute(attribute) for attribute in info.get("attributes", ())),
            capabilities=frozenset(str(one["type"]) for one in entry.get("capabilities", ()) if "type" in one),
            active=entry.get("active") is not False and entry.get("deactivated") is not True,
            region=domain.get("region", {}).get("name"),
            zone=domain.get("zone", {}).get("name"),
        )

    def _framework(self, entry: Mapping[str, Any]) -> None:
        info = entry["framework_info"]
        capabilities = frozenset(str(one["type"]) for one in info.get("capabilities", ()) if "type" in one)
        subscribed = info.get("roles", ()) if "MULTI_ROLE" in capabilities else [info.get("role", DEFAULT_ROLE)]
        framework = PicturedFramework(
            id=str(info["id"]["value"]),
            name=str(info["name"]),
            roles=tuple(map(str, subscribed)),
            principal=info.get("principal"),
            capabilities=capabilities,
            active=entry.get("active") is True,
            connected=entry.get("connected") is True,
            offer_constraints=dict(entry.get("offer_constraints", {})),
            offer_filters=dict(info.get("offer_filters", {})),
        )
        self.state.frameworks.append(framework)
        refines = "RESERVATION_REFINEMENT" in capabilities
        self.state.offers += [
            replace(offer(message, framework.name), stacked_format=refines) for message in entry.get("offers", ())
        ]

    def _task(self, task: Mapping[str, Any], where: str) -> None:
        if task["state"] not in TERMINAL_STATES:
            framework, agent = task["framework_id"]["value"], task["agent_id"]["value"]
            self._hold(framework, agent, task.get("resources", []), f"{where}.resources", tasks=1)

    def _executor(self, entry: Mapping[str, Any], where: str) -> None:
        info = entry["executor_info"]
        framework, agent = info["framework_id"]["value"], entry["agent_id"]["value"]
        self._hold(framework, agent, info.get("resources", []), f"{where}.executor_info.resources", tasks=0)

    def _hold(self, framework: str, agent: str, messages: Any, where: str, *, tasks: int) -> None:
        for role, resources in self._lists.by_role(messages, where).items():
            key = (framework, agent, role)
            held, count = self._held.get(key, (_NOTHING, 0))
            self._held[key] = self._sums.add(held, resources), count + tasks
            tasks = 0  # a task whose resources have several roles is one task all the same

    def _settle(self, entries: Any) -> None:
        """What is held of agents and by frameworks that are shown; the rest of what agents say is held is unseen."""
        agents = {agent.id for agent in self.state.agents}
        frameworks = {framework.id for framework in self.state.frameworks}
        seen: dict[tuple[str, str], Resources] = {}
        for (framework, agent, role), (resources, tasks) in self._held.items():
            if framework in frameworks and agent in agents:
                self.state.usages.append(Usage(framework, agent, role, resources, tasks))
                seen[agent, role] = self._sums.add(seen.get((agent, role), _NOTHING), resources)
        for shown, entry in zip(self.state.agents, entries, strict=True):
            allocated = self._lists.by_role(entry.get("allocated_resources", []), "allocated_resources")
            for role, resources in allocated.items():
                hidden = self._sums.subtract(resources, seen.get((shown.id, role), _NOTHING))
                if len(hidden):
                    self.state.unseen.append((shown.id, role, hidden))


def _attribute(message: Mapping[str, Any]) -> tuple[str, str | float]:
    """An Attribute message; ranges and sets as Mesos writes them in text."""
    name = str(message["name"])
    if "text" in message:
        return name, str(message["text"]["value"])
    if "scalar" in message:
        return name, float(message["scalar"]["value"])
    if "ranges" in message:
        spans = ", ".join(f"{span['begin']}-{span['end']}" for span in message["ranges"].get("range", ()))
        return name, f"[{spans}]"
    return name, "{" + ", ".join(message.get("set", {}).get("item", ())) + "}"


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
