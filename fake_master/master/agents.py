"""One registered agent, as the master knows it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from mesosctl.core.quota import AgentCapacity
from mesosctl.core.resources import Resource, Resources


@dataclass(slots=True)
class Agent:
    """An agent and what the master holds of it.

    `total` includes reservations made since the agent registered; `configured` is what the agent
    itself was started with.
    """

    id: str
    hostname: str
    port: int
    pid: str
    configured: Resources
    total: Resources
    capabilities: tuple[str, ...]
    version: str
    registered_time: float
    """Seconds since the epoch."""
    attributes: Mapping[str, str | float] = field(default_factory=dict)
    used: Resources = field(default_factory=Resources)
    """What tasks and executors hold, allocation roles included."""
    connected: bool = True
    deactivated: bool = False

    @property
    def active(self) -> bool:
        """Connected and not deactivated: what may be offered."""
        return self.connected and not self.deactivated

    def volumes(self) -> list[Resource]:
        """Its persistent volumes."""
        return [resource for resource in self.total if resource.is_persistent_volume]

    @property
    def capacity(self) -> AgentCapacity:
        """What the capacity heuristic looks at."""
        return AgentCapacity(self.total, active=self.active)
