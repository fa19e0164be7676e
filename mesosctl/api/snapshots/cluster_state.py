"""GET_STATE: a whole cluster in one answer, which is of one moment (Mesos documentation, "HTTP Endpoints")."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from sys import intern
from typing import Any

from mesosctl.api.frameworks import Offered, offer, offered_of
from mesosctl.api.protobuf.interning import Known, ResourceLists, Sums
from mesosctl.api.protobuf.streaming import Part, parts
from mesosctl.api.responses import NATURAL, text, texts, undocumented, wrong
from mesosctl.model.offers.offers import Offer
from mesosctl.model.resources import Resources
from mesosctl.model.roles import DEFAULT_ROLE
from mesosctl.model.version_profile import TERMINAL_STATES
from mesosctl.planning.snapshot import SnapshotAgent, SnapshotFramework, Usage

_NOTHING = Resources()
_SUPPRESSED = re.compile(r"master/frameworks/[^/]*/(?P<framework>.+?)/roles/(?P<role>.+)/suppressed")


@dataclass(slots=True)
class ClusterState:
    """The content of GET_STATE, with the frameworks that it names and does not show."""

    agents: list[SnapshotAgent] = field(default_factory=list)
    frameworks: list[SnapshotFramework] = field(default_factory=list)
    usages: list[Usage] = field(default_factory=list)
    offers: list[Offer] = field(default_factory=list)
    unseen: list[tuple[str, str, Resources]] = field(default_factory=list)
    """(agent id, role, resources) that agents say are allocated, and no visible task or executor holds."""
    lends: bool = False
    """Whether the master lends idle reservations and shows it; see `lending`."""


def cluster_state(chunks: Iterable[bytes]) -> ClusterState:
    """The state in an answer that comes in chunks, read as it comes.

    Raises UnexpectedAnswer; ConversionError if it is no JSON.
    """
    reader = _Reader()
    for part in parts(chunks, depth=3):
        try:
            reader.take(part)
        except NATURAL as error:
            raise undocumented(error, "get_state") from None
    return reader.settled()


class _Reader:
    """Reads one answer; raises whatever is natural if it is not as documented."""

    def __init__(self) -> None:
        self._lists = ResourceLists()
        self._sums = Sums()
        self._sets: Known[frozenset[str], frozenset[str]] = Known()
        self._offers: Known[str, Offered] = Known()
        self._held: dict[tuple[str, str, str], tuple[Resources, int]] = {}
        self._allocated: list[Mapping[str, Resources]] = []
        self._told = False
        self._state = ClusterState()
        self._readers: dict[str, Callable[[Mapping[str, Any], str], None]] = {
            "get_agents.agents": self._agent,
            "get_frameworks.frameworks": self._framework,
            "get_tasks.tasks": self._task,
            "get_executors.executors": self._executor,
        }
        self._objects = frozenset(name.partition(".")[0] for name in self._readers)

    def take(self, part: Part) -> None:
        """One part of the answer, in whatever order they come."""
        if part.path[:1] != ("get_state",):
            return
        self._told = True
        name = ".".join(part.path[1:])
        if part.place is None:
            expected = [] if name in self._readers else {} if name in self._objects or not name else part.value
            if part.value != expected:
                raise wrong(part.value, "a list" if expected == [] else "an object", ".".join(part.path))
        elif name in self._readers:
            self._readers[name](part.value, f"{name}[{part.place}]")

    def _agent(self, entry: Mapping[str, Any], where: str) -> None:
        info = entry["agent_info"]
        domain = info.get("domain", {}).get("fault_domain", {})
        self._state.agents.append(
            SnapshotAgent(
                id=intern(text(info["id"]["value"])),
                hostname=text(info["hostname"]),
                pid=text(entry.get("pid", "")),
                total=self._lists.plain(entry.get("total_resources", []), f"{where}.total_resources"),
                attributes=dict(_attribute(attribute) for attribute in info.get("attributes", ())),
                capabilities=self._capabilities(entry),
                active=entry.get("active") is not False and entry.get("deactivated") is not True,
                region=domain.get("region", {}).get("name"),
                zone=domain.get("zone", {}).get("name"),
            )
        )
        self._state.lends = self._state.lends or "lending" in entry
        allocated = entry.get("allocated_resources", [])
        self._allocated.append(self._lists.by_role(allocated, f"{where}.allocated_resources"))

    def _capabilities(self, entry: Mapping[str, Any]) -> frozenset[str]:
        found = frozenset(text(one["type"]) for one in entry.get("capabilities", ()) if "type" in one)
        return self._sets.get(found, lambda: found)

    def _framework(self, entry: Mapping[str, Any], _: str) -> None:
        info = entry["framework_info"]
        capabilities = self._capabilities(info)
        subscribed = info.get("roles", []) if "MULTI_ROLE" in capabilities else [info.get("role", DEFAULT_ROLE)]
        framework = SnapshotFramework(
            id=intern(text(info["id"]["value"])),
            name=text(info["name"]),
            roles=texts(subscribed),
            principal=info.get("principal"),
            capabilities=capabilities,
            active=entry.get("active") is True,
            connected=entry.get("connected") is True,
            offer_constraints=dict(entry.get("offer_constraints", {})),
            offer_filters=dict(info.get("offer_filters", {})),
        )
        self._state.frameworks.append(framework)
        refines = "RESERVATION_REFINEMENT" in capabilities
        self._state.offers += [
            replace(offer(message, framework.name, self._offered), stacked_format=refines)
            for message in entry.get("offers", ())
        ]

    def _offered(self, messages: Any) -> Offered:
        return self._offers.get(repr(messages), lambda: offered_of(messages))

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
            key = (intern(text(framework)), intern(text(agent)), intern(role))
            held, count = self._held.get(key, (_NOTHING, 0))
            self._held[key] = self._sums.add(held, resources), count + tasks
            tasks = 0  # a task whose resources have several roles is one task all the same

    def settled(self) -> ClusterState:
        """All of it.

        What is held or offered is of agents and for frameworks that are shown; the rest of what agents say is held
        is unseen.
        """
        if not self._told:
            raise wrong(None, "an object", "get_state")
        state = self._state
        agents = {agent.id for agent in state.agents}
        frameworks = {framework.id for framework in state.frameworks}
        seen: dict[tuple[str, str], Resources] = {}
        for (framework, agent, role), (resources, tasks) in self._held.items():
            if framework in frameworks and agent in agents:
                state.usages.append(Usage(framework, agent, role, resources, tasks))
                seen[agent, role] = self._sums.add(seen.get((agent, role), _NOTHING), resources)
        self._held.clear()
        state.offers = [
            offer for offer in state.offers if offer.framework_id in frameworks and offer.agent_id in agents
        ]
        for shown, allocated in zip(state.agents, self._allocated, strict=True):
            for role, resources in allocated.items():
                hidden = self._sums.subtract(resources, seen.get((shown.id, role), _NOTHING))
                if len(hidden):
                    state.unseen.append((shown.id, role, hidden))
        return state


def _attribute(message: Mapping[str, Any]) -> tuple[str, str | float]:
    """An Attribute message; ranges and sets as Mesos writes them in text."""
    name = text(message["name"])
    if "text" in message:
        return name, text(message["text"]["value"])
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
