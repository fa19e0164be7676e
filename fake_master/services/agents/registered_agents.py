"""The agents of the cluster: the registered ones, and their ids.

A simulated agent belongs to a host of the cluster.  It is registered unless its machine is down, an
operator has given it up for good, or nobody can reach it.

An agent that a master shuts down loses its id: when its machine is up again, its host starts it again, and it registers
as a new agent, with the reservations and volumes that it had checkpointed. One that could only not be reached comes
back as the same agent.
"""

from fake_master.allocator.interface import Allocator
from fake_master.services.agents.draining import Draining
from fake_master.services.agents.master_failover import Failover
from fake_master.services.agents.registration import AgentRegistration
from fake_master.services.agents.registry_records import AgentRecords
from fake_master.services.agents.removal import AgentRemoval
from fake_master.state.agents import KnownAgent
from fake_master.state.master_state import MasterState

_FIRST_TIME = ("slave_registrations", "messages_register_slave", "messages_update_slave")
_RETURN = ("slave_reregistrations", "messages_reregister_slave", "messages_update_slave")


class AgentRegistry:
    """Every host with an agent, registered or not."""

    def __init__(
        self,
        state: MasterState,
        allocator: Allocator,
        records: AgentRecords,
        removal: AgentRemoval,
        draining: Draining,
        failover: Failover,
        registration: AgentRegistration,
    ) -> None:
        self._state = state
        self._known = state.known_agents
        self._allocator = allocator
        self._records = records
        self._removal = removal
        self._draining = draining
        self._failover = failover
        self._registration = registration
        self.refused: list[str] = []
        """Hosts whose agents the ACLs do not let register."""

    # --- What is known --------------------------------------------------------------------------------

    def identity(self, hostname: str) -> tuple[str, float]:
        """The id and registration time (seconds since the epoch) of the agent on `hostname`.

        Only inside a transaction: a hostname seen for the first time gets the next id.
        """
        record = self._known.records.get(hostname) or self._records.new_identity(hostname)
        return record["id"], record["registered_time"]

    # --- What happens ---------------------------------------------------------------------------------

    def enlist(self, agent: KnownAgent) -> None:
        """Take in the agent of a host that starts with the cluster.  Only inside a transaction.  Raises DoesNotFit."""
        self._known.hosts[agent.hostname] = agent
        if agent.deactivated:
            self._known.deactivated_from_start.add(agent.hostname)
        self._plan_absence(agent)
        self._failover.remember_agent(agent)
        if agent.absence is None and "unreachable_time" in self._known.records[agent.hostname]:
            # It came back although it was no longer awaited.
            self._records.note(agent.hostname, unreachable_time=None, forgotten=None)
            self._failover.expect(agent)
        if not self._is_away(agent):
            self._records.apply(agent)
            self._register(agent)
            self._draining.go_on(agent)

    def adopt(self, agent: KnownAgent) -> None:
        """Register the agent of a host that had its id before this cluster was made.

        Only inside a transaction. Raises DoesNotFit. The first of several agents on one host represents it.
        """
        if agent.hostname in self._known.hosts:
            self._register(agent)
            return
        if self._known.record(agent)["id"] != agent.id:
            self._records.write(agent.hostname, {"id": agent.id, "registered_time": agent.registered_time})
        self.enlist(agent)

    def load(self) -> None:
        """Apply the registry, which another process may have written, to every agent.  Raises RegistryFailure."""
        self._records.load()
        for hostname, agent in list(self._known.hosts.items()):
            record = self._known.records.get(hostname)
            if record is None:
                continue
            away = self._is_away(agent)
            if agent.id in self._state.agents and (away or record["id"] != agent.id):
                self._removal.follow(agent, gone=bool(record.get("gone")))
            if not away and record["id"] != agent.id:
                agent.id, agent.registered_time = record["id"], record["registered_time"]
            if not away and agent.id not in self._state.agents:
                self._reset(agent)
                self._register(agent)
            self._records.apply(agent)

    def start_agents(self) -> None:
        """Hosts whose machine is up again start their agents, each as a new one.  Inside a transaction."""
        for hostname, agent in self._known.hosts.items():
            record = self._known.records[hostname]
            if self._is_away(agent) or agent.id in self._state.agents:
                continue
            if record.get("shut_down"):
                self._records.spend_identity(hostname)
                record = self._records.new_identity(hostname)
            agent.id, agent.registered_time = record["id"], record["registered_time"]
            self._reset(agent)
            self._register(agent)

    # --- Within ---------------------------------------------------------------------------------------

    def _is_away(self, agent: KnownAgent) -> bool:
        record = self._known.record(agent)
        lost = bool(record.get("gone")) or "unreachable_time" in record or self._left_before(agent)
        return lost or self._state.maintenance.is_down(agent)

    def _left_before(self, agent: KnownAgent) -> bool:
        """Return whether the agent left a former leader, so that this one waits for it, and is not back yet."""
        absence, first = agent.absence, agent.registered_time
        if absence is None or first + absence.leaves_after > self._failover.began:
            return False
        return absence.returns_after is None or self._state.now < first + absence.returns_after

    def _reset(self, agent: KnownAgent) -> None:
        agent.connected = True
        self._known.deactivated_from_start.discard(agent.hostname)
        agent.answers.clear()
        self._records.apply(agent)

    def _register(self, agent: KnownAgent) -> None:
        if self._failover.came_back(agent):
            self._state.counts.update(_RETURN)
            agent.registered_time = agent.reregistered_time = self._state.now
        else:
            for name in _FIRST_TIME:
                self._state.counts[name] += 1
        self._registration.register(agent)

    def _plan_absence(self, agent: KnownAgent) -> None:
        """Plan the absence that the cluster file gives the agent."""
        if agent.absence is None:
            return
        timers, first = self._state.timers, agent.registered_time
        back = agent.absence.returns_after
        if (back is None or first + back > self._state.now) and not self._left_before(agent):
            timers.at(first + agent.absence.leaves_after, lambda: self._removal.disconnect(agent))
        if back is not None:
            timers.at(first + back, lambda: self.come_back(agent))

    def come_back(self, agent: KnownAgent) -> None:
        """The agent can be reached again, unchanged; nothing happens if it was never lost."""
        with self._records.transaction():
            agent.absence = None
            record = self._known.record(agent)
            lost = record["id"] == agent.id and "unreachable_time" in record and not record.get("gone")
            agent.absence = None  # whatever the cluster file planned, it is over
            if self._state.agents.get(agent.id) is agent and not agent.connected:
                agent.connected = True
                agent.reregistered_time = self._state.now
                if agent.active:
                    self._allocator.activate_agent(agent.id)
            elif lost:
                self._records.note(agent.hostname, unreachable_time=None, forgotten=None)
                if self._is_away(agent):
                    return
                agent.connected = True
                agent.registered_time = agent.reregistered_time = self._state.now
                self._records.apply(agent)
                self._registration.register(agent, self._removal.still_held_on(agent.id))
                self._removal.regain(agent)
            elif agent.hostname in self._known.awaited and not self._is_away(agent):
                self._records.apply(agent)
                self._register(agent)
                self._draining.go_on(agent)
                return
            else:
                return
            self._state.counts.update(_RETURN)
            self._draining.go_on(agent)
