"""One registered agent, as the master knows it, and what the agent itself holds."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from fake_master.allocator.interface import AgentInfo
from mesosctl.core.quota import AgentCapacity
from mesosctl.core.resources import Resource, Resources


@dataclass(slots=True)
class AgentFaults:
    """What is wrong with the way to an agent; a cluster file or a test asks for it.

    `loses` is how many of the next messages never arrive (-1: every one), `delay` how many seconds
    the others take.
    """

    loses: int = 0
    delay: float = 0.0


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
    ip: str = "127.0.0.1"
    attributes: Mapping[str, str | float] = field(default_factory=dict)
    used: Resources = field(default_factory=Resources)
    """What tasks and executors hold, allocation roles included."""
    connected: bool = True
    deactivated: bool = False
    faults: AgentFaults = field(default_factory=AgentFaults)

    @property
    def pid(self) -> str:
        """The agent as libprocess names it."""
        return f"slave({self.number})@{self.ip}:{self.port}"

    @property
    def active(self) -> bool:
        """Connected and not deactivated: what may be offered."""
        return self.connected and not self.deactivated

    def volumes(self) -> list[Resource]:
        """Its persistent volumes."""
        return [resource for resource in self.total if resource.is_persistent_volume]

    def allocator_info(self) -> AgentInfo:
        """What the allocator needs to know of it."""
        return AgentInfo(
            id=self.id,
            hostname=self.hostname,
            attributes=tuple(sorted(self.attributes.items())),
            capabilities=frozenset(self.capabilities),
        )

    @property
    def capacity(self) -> AgentCapacity:
        """What the capacity heuristic looks at."""
        return AgentCapacity(self.total, active=self.active)
