"""A new leader upon an old registry: agents that are waited for (spec/allocator.md §9, spec/quota.md §9).

A served master that starts upon a registry takes over from the one that wrote it: it has an id of
its own, and knows from the registry which agents there were.  Those it is given again register
again; the others are recovered, which is to say awaited, until they count as unreachable.  While
they are, and there is quota, the allocator makes no offers until most of them are back.  Where more
of them stay away than `--recovery_agent_removal_limit` allows, the master ends instead of giving them up.

The agents of a fake master live in its process, and what they would bring to the next leader is
kept: ids, reservations, volumes, and what operators said of them in any case; what they run, and
for whom, where the registry outlives the process (`agent_memory`).  Frameworks of the master's own
process end with it, and their tasks with them.
"""

from typing import TYPE_CHECKING, Any

from fake_master.services import descriptions
from fake_master.services.agents.store import NoAgentStore
from fake_master.state.agents import Agent
from mesosctl.model.text import parse_duration

if TYPE_CHECKING:
    from fake_master.master import Master

_INFO = "agent_info"


class Failover:
    """The agents that a former leader knew."""

    def __init__(self, master: "Master") -> None:
        self._master = master
        self._awaited: dict[str, str] = {}
        """Agent id by host name."""
        self._expected = 0
        """How many agents the registry held when this master took over."""
        self._agent_infos: dict[str, Any] = {}
        """SlaveInfo by host name."""
        self.memory = NoAgentStore(master)
        """What runs on the agents, where a next leader can know of it."""
        self.is_under_way = False
        """Whether this master took over from another one; agents register again from then on."""

    def begin(self) -> None:
        """This master was elected: wait for the agents of the registry.  Before any of them registers."""
        master = self._master
        self.is_under_way = True
        self._agent_infos = master.registry.records(_INFO)
        self._awaited = master.agent_registry.expected()
        self._expected = len(self._awaited)
        if master.registry.outlives_process:
            from fake_master.services.agents.store import AgentStore  # late: most masters have none

            self.memory = AgentStore(master)
        master.allocator.recover(len(self._awaited), master.quotas.meanings())
        if self._awaited:
            patience = parse_duration(master.flags.shown["agent_reregister_timeout"])
            master.timers.at(master.now + patience, self._give_up)

    def remember_agent(self, agent: Agent) -> None:
        """What the next leader is to know of an agent.  Only inside a transaction."""
        if not self.is_under_way:
            return
        info = descriptions.agent_info(agent)
        del info["port"]  # that of the process, whichever it will be
        if self._agent_infos.get(agent.hostname) != info:
            self._agent_infos[agent.hostname] = info
            self._master.registry.write(_INFO, agent.hostname, info)

    def expect(self, agent: Agent) -> None:
        """An agent that nobody waited for is about to register again."""
        if self.is_under_way:
            self._awaited[agent.hostname] = agent.id

    def came_back(self, agent: Agent) -> bool:
        """Whether an agent that registers was waited for, which it is no more."""
        return self._awaited.pop(agent.hostname, None) is not None

    def awaits(self, agent_id: str) -> bool:
        """Whether an agent may still come back, so that nobody can tell what became of its tasks."""
        return agent_id in self._awaited.values()

    def recovered(self) -> list[dict[str, Any]]:
        """SlaveInfo of every agent that is waited for.

        One that an operator has given up meanwhile stays among them, as on a real master.
        """
        found = []
        for hostname, agent_id in self._awaited.items():
            info = self._agent_infos.get(hostname, {"hostname": hostname, "resources": [], "checkpoint": True})
            found.append({**info, "id": {"value": agent_id}, "port": self._master.port})
        return found

    def _give_up(self) -> None:
        flags = self._master.flags
        if len(self._awaited) / self._expected > flags.removal_limit:
            self._master.ended = (
                f"{len(self._awaited)} of {self._expected} agents did not register again within "
                f"{flags.shown['agent_reregister_timeout']}, and --recovery_agent_removal_limit is "
                f"{flags.shown['recovery_agent_removal_limit']}"
            )
            return
        with self._master.transaction():
            for hostname, agent_id in self._awaited.items():
                self._master.agent_removal.never_came_back(hostname, agent_id)
        self._awaited = {}
