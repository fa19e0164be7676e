"""Which of the cluster's agents take part, and under which id.

A simulated agent belongs to a host of the cluster.  It is registered unless its machine is down, an
operator has given it up for good, or nobody can reach it.  The registry's records of kind "agent",
by host name, hold its id and what operators have said of it, so that every process that shares the
registry sees the same agents.

An agent that a master shuts down spends its id: when its machine is up again its host starts it
anew, and it registers as a new agent, with the reservations and volumes that it had checkpointed.
One that could only not be reached comes back as the same agent.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fake_master.registry.interface import UnreadableRegistry
from fake_master.state.agents import Agent

if TYPE_CHECKING:
    from fake_master.master import Master

_AGENT, _FORMER = "agent", "former_agent"


class AgentRegistry:
    """Every host with an agent, registered or not."""

    def __init__(self, master: "Master") -> None:
        self._master = master
        self.hosts: dict[str, Agent] = {}
        """By host name."""
        self.refused: list[str] = []
        """Hosts whose agents the ACLs do not let register."""
        # What the registry holds, kept at hand: there may be thousands of hosts.
        self._records: dict[str, Any] = {}
        self._former: dict[str, Any] = {}
        self._next_number = 0
        self._idle: set[str] = set()
        """Hosts whose agents were started out of service, which counts until an operator says otherwise."""
        self.registrations = 0
        self.returns = 0
        """How many agents have registered since the master started, and registered again under the same id."""

    # --- What is known --------------------------------------------------------------------------------

    def identity(self, hostname: str) -> tuple[str, float]:
        """The id and registration time (seconds since the epoch) of the agent on `hostname`.

        Only inside a transaction: a hostname seen for the first time gets the next id.
        """
        record = self._records.get(hostname) or self._new_identity(hostname)
        return record["id"], record["registered_time"]

    def hostname_of(self, agent_id: str) -> str | None:
        """The host of an agent that is registered or cannot be reached at the moment."""
        for hostname, record in self._records.items():
            if record["id"] == agent_id and not (record.get("gone") or record.get("shut_down")):
                return hostname
        return None

    def service(self, hostname: str) -> tuple[bool, Mapping[str, Any] | None]:
        """Whether the agent of a host, registered or awaited, is out of service, and its DrainInfo."""
        record = self._records.get(hostname, {})
        return bool(record.get("deactivated", hostname in self._idle)), record.get("drain_info")

    def is_gone(self, agent_id: str) -> bool:
        """Whether an operator has given up this agent for good."""
        return any(record["id"] == agent_id and record.get("gone") for record in self._records.values())

    def unreachable(self) -> dict[str, float]:
        """Since when each agent that has got lost cannot be reached, by id, in seconds since the epoch."""
        return {
            record["id"]: record["unreachable_time"]
            for record in self._records.values()
            if "unreachable_time" in record and not record.get("gone")
        }

    def expected(self) -> dict[str, str]:
        """The agents that the registry holds as registered: id by host name."""
        return {
            hostname: record["id"]
            for hostname, record in self._records.items()
            if not (record.get("gone") or record.get("shut_down") or "unreachable_time" in record)
        }

    # --- What happens ---------------------------------------------------------------------------------

    def enlist(self, agent: Agent) -> None:
        """A host starts with the cluster.  Only inside a transaction.  Raises DoesNotFit."""
        self.hosts[agent.hostname] = agent
        if agent.deactivated:
            self._idle.add(agent.hostname)
        self._plan_absence(agent)
        self._master.failover.remember_agent(agent)
        if agent.absence is None and "unreachable_time" in self._records[agent.hostname]:
            # Nobody waited for it any more, and here it is.
            self.note(agent.hostname, unreachable_time=None)
            self._master.failover.expect(agent)
        if not self._is_away(agent):
            self._apply(agent)
            self._register(agent)
            self._master.draining.go_on(agent)

    def adopt(self, agent: Agent) -> None:
        """A host starts with an agent that had its id before this cluster was made.

        Only inside a transaction.  Raises DoesNotFit.  Of several agents on one host the first stands for it.
        """
        if agent.hostname in self.hosts:
            self._register(agent)
            return
        if self._records.get(agent.hostname, {}).get("id") != agent.id:
            self._write(agent.hostname, {"id": agent.id, "registered_time": agent.registered_time})
        self.enlist(agent)

    def note(self, hostname: str, **changes: Any) -> None:
        """Set fields of a host's record, None to remove one, and make them true of its agent."""
        changed = {**self._records[hostname], **changes}
        self._write(hostname, {name: value for name, value in changed.items() if value is not None})
        agent = self.hosts.get(hostname)
        if agent is not None:
            self._apply(agent)

    def load(self) -> None:
        """Make what the registry says true of every agent, whoever wrote it.  Raises RegistryFailure."""
        self._records = self._master.registry.records(_AGENT)
        if len({record["id"] for record in self._records.values()}) < len(self._records):
            raise UnreadableRegistry("the registry has one id for two agents")
        self._former = self._master.registry.records(_FORMER)
        self._next_number = self._unused_number()
        for hostname, agent in list(self.hosts.items()):
            record = self._records.get(hostname)
            if record is None:
                continue
            away = self._is_away(agent)
            if agent.id in self._master.agents and (away or record["id"] != agent.id):
                self._master.agent_removal.follow(agent, gone=bool(record.get("gone")))
            if not away and record["id"] != agent.id:
                agent.id, agent.registered_time = record["id"], record["registered_time"]
            if not away and agent.id not in self._master.agents:
                self._reset(agent)
                self._register(agent)
            self._apply(agent)

    def start_agents(self) -> None:
        """Hosts whose machine is up again start their agents, each as a new one.  Inside a transaction."""
        for hostname, agent in self.hosts.items():
            record = self._records[hostname]
            if self._is_away(agent) or agent.id in self._master.agents:
                continue
            if record.get("shut_down"):
                self._former[record["id"]] = {"hostname": hostname}
                self._master.registry.write(_FORMER, record["id"], self._former[record["id"]])
                record = self._new_identity(hostname)
            agent.id, agent.registered_time = record["id"], record["registered_time"]
            self._reset(agent)
            self._register(agent)

    # --- Within ---------------------------------------------------------------------------------------

    def _write(self, hostname: str, record: dict[str, Any]) -> None:
        self._records[hostname] = record
        self._master.registry.write(_AGENT, hostname, record)

    def _new_identity(self, hostname: str) -> dict[str, Any]:
        master = self._master
        record = {"id": f"{master.id}-S{self._next_number}", "registered_time": master.clock()}
        self._next_number += 1
        self._write(hostname, record)
        return record

    def _unused_number(self) -> int:
        """The number of the next agent; each master begins at 0, and ids of former leaders stay."""
        own = f"{self._master.id}-S"
        ids = (*self._former, *(record["id"] for record in self._records.values()))
        numbers = [known.removeprefix(own) for known in ids if known.startswith(own)]
        return max((int(number) for number in numbers if number.isdecimal()), default=-1) + 1

    def _is_away(self, agent: Agent) -> bool:
        record = self._records.get(agent.hostname, {})
        return bool(record.get("gone")) or "unreachable_time" in record or self._master.machines.is_down(agent)

    def _reset(self, agent: Agent) -> None:
        agent.connected = True
        self._idle.discard(agent.hostname)
        agent.answers.clear()
        self._apply(agent)

    def _register(self, agent: Agent) -> None:
        if self._master.failover.came_back(agent):
            self.returns += 1
            agent.registered_time = agent.reregistered_time = self._master.now
        else:
            self.registrations += 1
        self._master.failover.memory.register(agent)

    def _apply(self, agent: Agent) -> None:
        """Service or not, and draining, as the record says."""
        record: Mapping[str, Any] = self._records.get(agent.hostname, {})
        was_active = agent.active
        agent.deactivated = bool(record.get("deactivated", agent.hostname in self._idle))
        agent.drain_info, agent.drain_start = record.get("drain_info"), float(record.get("drain_start", 0.0))
        if agent.active == was_active or self._master.agents.get(agent.id) is not agent:
            return
        if agent.active:
            self._master.allocator.activate_agent(agent.id)
        else:
            self._master.agent_removal.take_out_of_service(agent)

    def _plan_absence(self, agent: Agent) -> None:
        """The cluster file says that the agent gets lost, and perhaps when it is back."""
        if agent.absence is None:
            return
        timers, first = self._master.timers, agent.registered_time
        back = agent.absence.returns_after
        if back is None or first + back > self._master.now:
            timers.at(first + agent.absence.leaves_after, lambda: self._master.agent_removal.disconnect(agent))
        if back is not None:
            timers.at(first + back, lambda: self._return(agent))

    def _return(self, agent: Agent) -> None:
        """The agent can be reached again, and is the same as ever."""
        master = self._master
        with master.transaction():
            record = self._records.get(agent.hostname, {})
            lost = record.get("id") == agent.id and "unreachable_time" in record and not record.get("gone")
            if master.agents.get(agent.id) is agent and not agent.connected:
                agent.connected = True
                agent.reregistered_time = master.now
                if agent.active:
                    master.allocator.activate_agent(agent.id)
            elif lost:
                self.note(agent.hostname, unreachable_time=None)
                if self._is_away(agent):
                    return
                agent.connected = True
                agent.registered_time = agent.reregistered_time = master.now
                self._apply(agent)
                master.failover.memory.register(agent, master.agent_removal.still_held_on(agent.id))
                master.agent_removal.regain(agent)
            else:
                return
            self.returns += 1
            master.draining.go_on(agent)
