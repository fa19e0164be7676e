"""One framework, as the master knows it."""

from collections import Counter, deque
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fake_master.master.agents import Agent
from fake_master.master.offers import Offer
from fake_master.master.streams import EventStream
from fake_master.master.tasks import Executor, Task
from fake_master.master.timers import Timer
from mesosctl.core import roles
from mesosctl.core.resources import Resources


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
    was_known: bool = False
    """Whether it came with an id already, as from a former leader."""
    recovered: bool = False
    """Whether it is known from its agents alone, and has not subscribed since a new leader took over."""
    is_resident: bool = False
    """Whether it lives in the master's own process, and ends with that."""
    stream: EventStream | None = None
    offers: dict[str, Offer] = field(default_factory=dict)
    inverse_offers: dict[str, str] = field(default_factory=dict)
    """Agent id by inverse offer id."""
    tasks: dict[str, Task] = field(default_factory=dict)
    unreachable_tasks: dict[str, Task] = field(default_factory=dict)
    """Tasks on agents that nobody can reach, or that an operator has given up."""
    executors: dict[tuple[str, str], Executor] = field(default_factory=dict)
    """By agent id and executor id."""
    completed_tasks: deque[Task] = field(default_factory=deque)
    """The last ones, as many as the flag max_completed_tasks_per_framework says."""
    failover_timer: Timer | None = None
    counts: Counter[str] = field(default_factory=Counter)
    """What its metrics count, by their names below the framework's own: `calls/accept`."""
    # Sums kept as tasks come and go: there may be thousands of them, and every view asks.
    _held: dict[str, Resources] = field(default_factory=dict)
    _held_anywhere: Resources = field(default_factory=Resources)

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
    def is_partition_aware(self) -> bool:
        """Whether it can tell why a task is lost."""
        return "PARTITION_AWARE" in self.capabilities

    @property
    def roles(self) -> frozenset[str]:
        """The roles it is subscribed to."""
        return roles_of(self.info)

    @property
    def failover_timeout(self) -> float:
        """Seconds it may stay away."""
        return float(self.info.get("failover_timeout", 0.0))

    def count_task(self, task: Task) -> None:
        """One more task is in its state: of active ones how many are, of ended ones how many have been."""
        self.counts[f"tasks/{'terminal' if task.is_terminal else 'active'}/{task.state.lower()}"] += 1

    def hold(self, agent: Agent, resources: Resources) -> None:
        """A task or executor takes `resources`, allocation roles included, of an agent."""
        self._held[agent.id] = self._held.get(agent.id, Resources()) + resources
        self._held_anywhere += resources
        agent.used += resources

    def release(self, agent: Agent, resources: Resources) -> None:
        """It has ended, and holds them no more."""
        left = self._held[agent.id] - resources
        if len(left):
            self._held[agent.id] = left
        else:
            del self._held[agent.id]
        self._held_anywhere -= resources
        agent.used -= resources

    def lose_agents(self, agents: Iterable[Agent]) -> None:
        """The agents are gone, and all that it held there with them."""
        gone = {agent.id: agent for agent in agents}
        for agent in gone.values():
            if agent.id in self._held:
                self.release(agent, self._held[agent.id])
        self.tasks = {name: task for name, task in self.tasks.items() if task.agent_id not in gone}
        self.executors = {key: executor for key, executor in self.executors.items() if executor.agent_id not in gone}

    @property
    def agents_used(self) -> Collection[str]:
        """The agents on which it holds anything."""
        return self._held.keys()

    def used(self) -> Resources:
        """What it holds on all agents."""
        return self._held_anywhere

    def offered(self) -> Resources:
        """What it is offered on all agents."""
        return Resources(entry for offer in self.offers.values() for entry in offer.resources)


def capabilities_of(info: Mapping[str, Any]) -> frozenset[str]:
    """The capabilities that a FrameworkInfo names."""
    return frozenset(entry["type"] for entry in info.get("capabilities", ()) if "type" in entry)


def roles_of(info: Mapping[str, Any]) -> frozenset[str]:
    """The roles that a FrameworkInfo subscribes to; without MULTI_ROLE exactly one."""
    if "MULTI_ROLE" in capabilities_of(info):
        return frozenset(info.get("roles", ()))
    return frozenset((info.get("role", roles.DEFAULT_ROLE),))
