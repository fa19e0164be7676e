"""Agents: a registered one and its resources, and the agents in the registry, registered or not."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from fake_master.allocator.interface import AgentInfo
from fake_master.registry.records import AgentRecord, DrainInfo
from mesosctl.mesos.amounts.identity import IdentityCache
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.amounts.resources import Resources


@dataclass(slots=True)
class AgentFaults:
    """Faults of the connection to an agent, for tests and cluster files.

    `loses` is the number of next messages that never arrive (-1: all), `delay` the seconds that the others take.
    """

    loses: int = 0
    delay: float = 0.0
    launch_delay: float = 0.0
    """Seconds until a launched task reaches it."""


@dataclass(frozen=True, slots=True)
class Absence:
    """When an agent loses its master: seconds since it first registered, and the same for its return."""

    leaves_after: float
    returns_after: float | None = None


@dataclass(frozen=True, slots=True)
class Domain:
    """A fault domain."""

    region: str
    zone: str

    def message(self) -> dict[str, Any]:
        """DomainInfo."""
        return {"fault_domain": {"region": {"name": self.region}, "zone": {"name": self.zone}}}


_set = object.__setattr__


@dataclass(slots=True)
class KnownAgent:
    """An agent, as the master knows it.

    `configured` are the resources that the agent was started with, `total` those after every reservation and volume
    that the master accepted, `applied` those after the ones that have reached the agent.
    """

    # The first, so that it is there when the others are set.
    _revision: object | None = field(init=False, default=None, repr=False, compare=False)
    id: str
    hostname: str
    number: int
    """N in its pid, `slave(N)@host:port`."""
    port: int
    configured: Resources
    total: Resources
    applied: Resources
    capabilities: tuple[str, ...]
    version: str
    registered_time: float
    """Seconds since the epoch."""
    reregistered_time: float | None = None
    """When it was last back, if it ever had to come back."""
    ip: str = "127.0.0.1"
    attributes: Mapping[str, str | float] = field(default_factory=dict)
    domain: Domain | None = None
    used: Resources = field(default_factory=Resources)
    """The resources that tasks and executors hold, allocation roles included."""
    connected: bool = True
    deactivated: bool = False
    drain_info: DrainInfo | None = None
    """DrainInfo of an agent that is being drained, or has been."""
    drain_start: float = 0.0
    """Seconds since the epoch; only if there is `drain_info`."""
    answers: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """InverseOfferStatus by framework id: the answers about the present maintenance."""
    absence: Absence | None = None
    faults: AgentFaults = field(default_factory=AgentFaults)
    oversubscribed: Resources = field(default_factory=Resources)
    """Slack of use, as its estimator reported it last: revocable, and beyond `total`."""
    checkpoint_key: str = ""
    """The key of its checkpoints in the registry; by default the hostname."""

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute, so that `revision` is another one."""
        _set(self, name, value)
        if self._revision is not None:
            _set(self, "_revision", None)

    @property
    def revision(self) -> object:
        """A new object after each change of these fields, so that an unchanged agent is recognised at once."""
        if self._revision is None:
            _set(self, "_revision", object())
        return self._revision

    def __post_init__(self) -> None:
        self.checkpoint_key = self.checkpoint_key or self.hostname

    @property
    def pid(self) -> str:
        """The agent as libprocess names it."""
        return f"slave({self.number})@{self.ip}:{self.port}"

    @property
    def active(self) -> bool:
        """Connected and not deactivated: what may be offered."""
        return self.connected and not self.deactivated

    @property
    def whole(self) -> Resources:
        """The resources that may be offered: `total`, and the oversubscribed ones."""
        return self.total + self.oversubscribed if self.oversubscribed else self.total

    def volumes(self) -> list[Resource]:
        """Return the persistent volumes."""
        return [resource for resource in self.total if resource.is_persistent_volume]

    def allocator_info(self) -> AgentInfo:
        """Return the agent as the allocator knows it."""
        return AgentInfo(
            id=self.id,
            hostname=self.hostname,
            attributes=_SORTED_ATTRIBUTES.of(self.attributes),
            capabilities=_capability_set(self.capabilities),
            region=self.domain.region if self.domain is not None else None,
            zone=self.domain.zone if self.domain is not None else None,
        )


def totals(agents: Iterable[KnownAgent]) -> list[tuple[Resources, int]]:
    """Return each object that is the total of agents, and how many have it: thousands share a few."""
    found = [agent.total for agent in agents]
    counts = Counter(map(id, found))
    return [(total, counts[of]) for of, total in dict(zip(map(id, found), found, strict=True)).items()]


def _sorted_attributes(attributes: Mapping[str, str | float]) -> tuple[tuple[str, str | float], ...]:
    return tuple(sorted(attributes.items()))


_SORTED_ATTRIBUTES = IdentityCache(_sorted_attributes)
"""The agents of a snapshot share the attributes that are equal."""


@cache
def _capability_set(capabilities: tuple[str, ...]) -> frozenset[str]:
    """Return one set for all agents with the same capabilities."""
    return frozenset(capabilities)


_NO_RECORD: AgentRecord = {"id": "", "registered_time": 0.0}


class KnownAgents:
    """The hosts that have an agent, registered or not, and the registry's record of each."""

    def __init__(self) -> None:
        self.hosts: dict[str, KnownAgent] = {}
        """Agents by host name, those that are not registered at present included."""
        self.records: dict[str, AgentRecord] = {}
        """The registry's records by host name, kept in memory because there may be thousands of hosts."""
        self.former: dict[str, Any] = {}
        """Agents that a master has shut down, by id; the ids are spent."""
        self.awaited: dict[str, str] = {}
        """Agents that a former leader knew and that have not registered again: id by host name."""
        self.infos: dict[str, Any] = {}
        """SlaveInfo by host name, of agents that a former leader knew and of those that register after it."""
        self.deactivated_from_start: set[str] = set()
        """Hosts whose agents were started out of service, which counts until an operator says otherwise."""

    def record(self, agent: KnownAgent) -> AgentRecord:
        """Return the record of an agent's host; one without an id if there is none."""
        return self.records.get(agent.hostname, _NO_RECORD)

    def hostname_of(self, agent_id: str) -> str | None:
        """Return the host of an agent that is registered or cannot be reached at the moment, or None."""
        for hostname, record in self.records.items():
            if record["id"] == agent_id and not (
                record.get("gone") or record.get("shut_down") or record.get("forgotten")
            ):
                return hostname
        return None

    def service(self, hostname: str) -> tuple[bool, DrainInfo | None]:
        """Return whether the agent of a host, registered or awaited, is out of service, and its DrainInfo."""
        from_start = hostname in self.deactivated_from_start
        record = self.records.get(hostname)
        if record is None:
            return from_start, None
        return record.get("deactivated", from_start), record.get("drain_info")

    def host_of_gone(self, agent_id: str, since: float = 0.0) -> str | None:
        """Return the host of an agent that an operator has given up for good since a moment, or None."""
        for hostname, record in self.records.items():
            if record["id"] == agent_id and record.get("gone") and not record.get("forgotten"):
                return hostname if record.get("gone_time", 0.0) >= since else None
        return None

    def is_gone(self, agent_id: str) -> bool:
        """Return whether an operator has given up this agent for good."""
        return self.host_of_gone(agent_id) is not None

    def awaits(self, agent_id: str) -> bool:
        """Return whether an agent may still register again, so that the fate of its tasks is unknown."""
        return agent_id in self.awaited.values()

    def unreachable(self) -> dict[str, float]:
        """Return since when each lost agent cannot be reached, by id, in seconds since the epoch."""
        return {
            record["id"]: record["unreachable_time"]
            for record in self.records.values()
            if "unreachable_time" in record and not (record.get("gone") or record.get("forgotten"))
        }

    def gone(self) -> dict[str, float]:
        """Return since when each agent is gone for good, by id, in seconds since the epoch."""
        return {
            record["id"]: record["gone_time"]
            for record in self.records.values()
            if record.get("gone") and "gone_time" in record and not record.get("forgotten")
        }

    def expected(self) -> dict[str, str]:
        """Return the agents that the registry holds as registered: id by host name."""
        return {
            hostname: record["id"]
            for hostname, record in self.records.items()
            if not (record.get("gone") or record.get("shut_down") or "unreachable_time" in record)
        }

    def next_number(self, master_id: str) -> int:
        """Return the number of the next agent; each master begins at 0, and ids of former leaders stay."""
        own = f"{master_id}-S"
        ids = (*self.former, *(record["id"] for record in self.records.values()))
        numbers = [known.removeprefix(own) for known in ids if known.startswith(own)]
        return max((int(number) for number in numbers if number.isdecimal()), default=-1) + 1
