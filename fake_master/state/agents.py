"""One registered agent, as the master knows it, and what the agent itself holds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from fake_master.allocator.interface import AgentInfo
from mesosctl.model.quota.capacity import AgentCapacity
from mesosctl.model.resource import Resource
from mesosctl.model.resources import Resources


@dataclass(slots=True)
class AgentFaults:
    """What is wrong with the way to an agent; a cluster file or a test asks for it.

    `loses` is how many of the next messages never arrive (-1: every one), `delay` how many seconds
    the others take.
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
class Agent:
    """An agent and what the master holds of it.

    `configured` is what the agent was started with, `total` what it is with every reservation and
    volume that the master accepted, `applied` the same as far as the agent has heard of it.
    """

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
    """What tasks and executors hold, allocation roles included."""
    connected: bool = True
    deactivated: bool = False
    drain_info: Mapping[str, Any] | None = None
    """DrainInfo of an agent that is being drained, or has been."""
    drain_start: float = 0.0
    """Seconds since the epoch; only where there is `drain_info`."""
    answers: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """InverseOfferStatus by framework id: what they said about the present maintenance."""
    absence: Absence | None = None
    faults: AgentFaults = field(default_factory=AgentFaults)
    oversubscribed: Resources = field(default_factory=Resources)
    """Slack of use, as its estimator reported it last: revocable, and beyond `total`."""
    checkpoint_key: str = ""
    """Under what the registry keeps its checkpoints; the hostname unless given."""
    revision: object = field(init=False, repr=False, compare=False)
    """Another object after each change of what is above, so that an agent is known to be as it was at one look."""

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute, and with it `revision`."""
        _set(self, name, value)
        _set(self, "revision", object())

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
        """All that may be offered of it: `total`, and what is oversubscribed."""
        return self.total + self.oversubscribed if self.oversubscribed else self.total

    def volumes(self) -> list[Resource]:
        """Its persistent volumes."""
        return [resource for resource in self.total if resource.is_persistent_volume]

    def allocator_info(self) -> AgentInfo:
        """What the allocator needs to know of it."""
        return AgentInfo(
            id=self.id,
            hostname=self.hostname,
            attributes=tuple(sorted(self.attributes.items())),
            capabilities=_capability_set(self.capabilities),
            region=self.domain.region if self.domain is not None else None,
            zone=self.domain.zone if self.domain is not None else None,
        )

    @property
    def capacity(self) -> AgentCapacity:
        """What the capacity heuristic looks at."""
        return AgentCapacity(self.total, active=self.active)


@cache
def _capability_set(capabilities: tuple[str, ...]) -> frozenset[str]:
    """One set for all agents that are alike."""
    return frozenset(capabilities)
