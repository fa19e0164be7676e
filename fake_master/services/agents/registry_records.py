"""The registry's records of agents, and the changes that follow from them for registered agents.

The registry's records of kind "agent", by host name, hold an agent's id and the settings of operators, so that every
process that shares the registry sees the same agents.
"""

from typing import Any, cast

from fake_master.allocator.interface import Allocator
from fake_master.registry.interface import Registry, Transaction, UnreadableRegistry
from fake_master.registry.records import AgentRecord
from fake_master.services.offers import Offers
from fake_master.state.agents import KnownAgent
from fake_master.state.master_state import MasterState

_AGENT, _FORMER = "agent", "former_agent"


class AgentRecords:
    """Writes the records of agents, and makes them true.  Methods that write are called inside a transaction."""

    def __init__(
        self, state: MasterState, registry: Registry, allocator: Allocator, offers: Offers, transaction: Transaction
    ) -> None:
        self.transaction = transaction
        self._state = state
        self._known = state.known_agents
        self._registry = registry
        self._allocator = allocator
        self._offers = offers
        self._next_number = 0

    def load(self) -> None:
        """Read the records that the registry holds.  Raises UnreadableRegistry."""
        self._known.records = self._registry.records(_AGENT)
        if len({record["id"] for record in self._known.records.values()}) < len(self._known.records):
            raise UnreadableRegistry("the registry has one id for two agents")
        self._known.former = self._registry.records(_FORMER)
        self._next_number = self._known.next_number(self._state.id)

    def note(self, hostname: str, **changes: Any) -> None:
        """Set fields of a host's record, None to remove one, and make them true of its agent."""
        changed: dict[str, Any] = {**self._known.records[hostname], **changes}
        self.write(hostname, cast("AgentRecord", {name: value for name, value in changed.items() if value is not None}))
        agent = self._known.hosts.get(hostname)
        if agent is not None:
            self.apply(agent)

    def write(self, hostname: str, record: AgentRecord) -> None:
        """Replace the record of a host."""
        self._known.records[hostname] = record
        self._registry.write(_AGENT, hostname, record)

    def new_identity(self, hostname: str) -> AgentRecord:
        """Give the agent of a host the next id, and return its record."""
        state = self._state
        record: AgentRecord = {"id": f"{state.id}-S{self._next_number}", "registered_time": state.clock()}
        self._next_number += 1
        self.write(hostname, record)
        return record

    def spend_identity(self, hostname: str) -> None:
        """Note that the id of a host's agent is spent: it was shut down."""
        agent_id = self._known.records[hostname]["id"]
        self._known.former[agent_id] = {"hostname": hostname}
        self._registry.write(_FORMER, agent_id, self._known.former[agent_id])

    def apply(self, agent: KnownAgent) -> None:
        """Set service, deactivation and draining of an agent from its record."""
        record = self._known.record(agent)
        was_active = agent.active
        deactivated = bool(record.get("deactivated", agent.hostname in self._known.deactivated_from_start))
        draining = record.get("drain_info"), float(record.get("drain_start", 0.0))
        if agent.deactivated != deactivated:
            agent.deactivated = deactivated
        if (agent.drain_info, agent.drain_start) != draining:
            agent.drain_info, agent.drain_start = draining
        if agent.active == was_active or self._state.agents.get(agent.id) is not agent:
            return
        if agent.active:
            self._allocator.activate_agent(agent.id)
        else:
            self.take_out_of_service(agent)

    def take_out_of_service(self, agent: KnownAgent) -> None:
        """Stop offering an agent's resources, and rescind its offers."""
        self._allocator.deactivate_agent(agent.id)
        self._offers.rescind_all_on(agent.id)
