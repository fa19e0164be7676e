"""One framework, as the master knows it."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fake_master.master.offers import Offer
from fake_master.master.streams import EventStream
from fake_master.master.tasks import Executor, Task
from fake_master.master.timers import Timer
from mesosctl.core import roles
from mesosctl.core.resources import Resources

_MOST_COMPLETED_TASKS = 1000


@dataclass(slots=True)
class Framework:
    """A framework and what it holds.  Times are seconds since the epoch."""

    id: str
    info: Mapping[str, Any]
    """FrameworkInfo, as it was sent."""
    registered_time: float
    suppressed: frozenset[str] = frozenset()
    offer_constraints: Mapping[str, Any] = field(default_factory=dict)
    active: bool = True
    connected: bool = True
    reregistered_time: float | None = None
    unregistered_time: float | None = None
    stream: EventStream | None = None
    offers: dict[str, Offer] = field(default_factory=dict)
    inverse_offers: dict[str, str] = field(default_factory=dict)
    """Agent id by inverse offer id."""
    tasks: dict[str, Task] = field(default_factory=dict)
    executors: dict[tuple[str, str], Executor] = field(default_factory=dict)
    """By agent id and executor id."""
    completed_tasks: deque[Task] = field(default_factory=lambda: deque(maxlen=_MOST_COMPLETED_TASKS))
    failover_timer: Timer | None = None

    @property
    def name(self) -> str:
        """What the framework calls itself."""
        return str(self.info["name"])

    @property
    def principal(self) -> str | None:
        """Its principal, if it has one."""
        return self.info.get("principal")

    @property
    def capabilities(self) -> frozenset[str]:
        """What it can deal with: MULTI_ROLE, RESERVATION_REFINEMENT and so on."""
        return capabilities_of(self.info)

    @property
    def roles(self) -> frozenset[str]:
        """The roles it is subscribed to."""
        return roles_of(self.info)

    @property
    def failover_timeout(self) -> float:
        """Seconds it may stay away."""
        return float(self.info.get("failover_timeout", 0.0))

    def used_on(self, agent_id: str) -> Resources:
        """What its tasks and executors hold on one agent, allocation roles included."""
        held = Resources()
        for task in self.tasks.values():
            if task.agent_id == agent_id and not task.is_terminal:
                held += task.resources
        for (on_agent, _), executor in self.executors.items():
            if on_agent == agent_id:
                held += executor.resources
        return held

    @property
    def agents_used(self) -> set[str]:
        """The agents on which it holds anything."""
        return {task.agent_id for task in self.tasks.values() if not task.is_terminal} | {
            agent_id for agent_id, _ in self.executors
        }

    def used(self) -> Resources:
        """What it holds on all agents."""
        held = Resources()
        for agent_id in self.agents_used:
            held += self.used_on(agent_id)
        return held

    def offered(self) -> Resources:
        """What it is offered on all agents."""
        held = Resources()
        for offer in self.offers.values():
            held += offer.resources
        return held


def capabilities_of(info: Mapping[str, Any]) -> frozenset[str]:
    """The capabilities that a FrameworkInfo names."""
    return frozenset(entry["type"] for entry in info.get("capabilities", ()) if "type" in entry)


def roles_of(info: Mapping[str, Any]) -> frozenset[str]:
    """The roles that a FrameworkInfo subscribes to; without MULTI_ROLE exactly one."""
    if "MULTI_ROLE" in capabilities_of(info):
        return frozenset(info.get("roles", ()))
    return frozenset((info.get("role", roles.DEFAULT_ROLE),))
