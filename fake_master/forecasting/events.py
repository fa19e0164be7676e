"""What happens to a cluster without being asked for: agents that come and go."""

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from fake_master.master.agents import Agent
from fake_master.master.master import Master
from mesosctl.core.resources import Resources


@dataclass(frozen=True, slots=True)
class NewAgents:
    """Agents that register."""

    total: Resources
    count: int = 1
    hostname: str = "new-agent"
    """Of the first; a number is appended."""
    attributes: Mapping[str, str | float] = field(default_factory=dict)


def lose_agents(master: Master, agent_ids: Iterable[str]) -> None:
    """The agents are gone for good: offers are rescinded, tasks are lost.  Raises KeyError."""
    gone = [master.agents[agent_id] for agent_id in agent_ids]
    master.allocator.pause()
    for agent in gone:
        agent.connected = False
        master.allocator.deactivate_agent(agent.id)
        for offer in master.offers.on_agent(agent.id):
            master.offers.rescind(offer)
    for framework in master.frameworks.values():
        framework.lose_agents(gone)
    for agent in gone:
        master.allocator.remove_agent(agent.id)
        del master.agents[agent.id]
        master.tell.failure(agent.id)
    master.allocator.resume()


def add_agents(master: Master, new: NewAgents) -> None:
    """They register, with the capabilities of this version, under host names that nobody has yet."""
    taken = {agent.hostname for agent in master.agents.values()}
    names = (name for number in itertools.count(1) if (name := f"{new.hostname}-{number}") not in taken)
    first = 1 + max((agent.number for agent in master.agents.values()), default=0)
    with master.transaction():
        for number in range(first, first + new.count):
            _add(master, next(names), number, new)


def _add(master: Master, hostname: str, number: int, new: NewAgents) -> None:
    agent_id, registered_time = master.membership.identity(hostname)
    master.membership.enlist(
        Agent(
            id=agent_id,
            hostname=hostname,
            number=number,
            port=master.port,
            ip=master.hostname,
            configured=new.total,
            total=new.total,
            applied=new.total,
            capabilities=master.profile.agent_capabilities,
            version=master.profile.version,
            registered_time=registered_time,
            attributes=new.attributes,
        )
    )
