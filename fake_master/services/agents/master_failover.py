"""The recovery of a new leader on an old registry: it waits for the agents that the former leader knew.

A served master that starts on a registry takes over from the one that wrote it: it has a new id, and knows the agents
from the registry. Those in its cluster register again; the others are recovered, that is, awaited until they count as
unreachable.  While they are, and there is quota, the allocator makes no offers until most of them are back.  Where more
of them stay away than `--recovery_agent_removal_limit` allows, the master ends instead of giving them up.

The agents of a fake master live in its process, and what they would bring to the next leader is
kept: ids, reservations, volumes, and what operators said of them in any case; what they run, and
for whom, if the registry outlives the process (`CheckpointedTasks`).  Frameworks of the master's own
process end with it, and their tasks with them.
"""

import math

from fake_master.allocator.interface import Allocator
from fake_master.registry.interface import Registry
from fake_master.services import v1_messages
from fake_master.services.agents.checkpointed_tasks import TaskStore
from fake_master.services.agents.registry_records import AgentRecords
from fake_master.services.agents.removal import AgentRemoval
from fake_master.state.agents import KnownAgent
from fake_master.state.master_state import MasterState
from mesosctl.mesos.amounts.notation import parse_duration

_INFO = "agent_info"


class Failover:
    """The agents that a former leader knew."""

    def __init__(
        self,
        state: MasterState,
        registry: Registry,
        allocator: Allocator,
        store: TaskStore,
        records: AgentRecords,
        removal: AgentRemoval,
    ) -> None:
        self._state = state
        self._known = state.known_agents
        self._registry = registry
        self._allocator = allocator
        self._store = store
        self._records = records
        self._removal = removal
        self._expected = 0
        """The number of agents in the registry when this master took over."""
        self.began = -math.inf
        """When this master took over, in seconds since the epoch; never, for one that took nothing over."""
        self.is_under_way = False
        """Whether this master took over from another one; agents register again from then on."""

    def begin(self) -> None:
        """Begin as a new leader: wait for the agents of the registry.  Before any of them registers."""
        self.is_under_way, self.began = True, self._state.now
        self._known.infos = self._registry.records(_INFO)
        self._known.awaited = self._known.expected()
        self._expected = len(self._known.awaited)
        self._store.read(may_return={*self._known.expected().values(), *self._known.unreachable()})
        self._allocator.recover(len(self._known.awaited), self._state.quota_meanings())
        if self._known.awaited:
            timeout = parse_duration(self._state.flags.shown["agent_reregister_timeout"])
            self._state.timers.at(self._state.now + timeout, self._give_up)

    def remember_agent(self, agent: KnownAgent) -> None:
        """Keep SlaveInfo of an agent for the next leader.  Only inside a transaction."""
        if not self.is_under_way:
            return
        info = v1_messages.agent_info(agent)
        del info["port"]  # that of the process, whichever it will be
        if self._known.infos.get(agent.hostname) != info:
            self._known.infos[agent.hostname] = info
            self._registry.write(_INFO, agent.hostname, info)

    def expect(self, agent: KnownAgent) -> None:
        """Await an agent that is about to register again though it was given up."""
        if self.is_under_way:
            self._known.awaited[agent.hostname] = agent.id

    def came_back(self, agent: KnownAgent) -> bool:
        """Return whether an agent that registers was awaited, and stop waiting for it."""
        return self._known.awaited.pop(agent.hostname, None) is not None

    def _give_up(self) -> None:
        flags = self._state.flags
        if len(self._known.awaited) / self._expected > flags.removal_limit:
            self._state.ended = (
                f"{len(self._known.awaited)} of {self._expected} agents did not register again within "
                f"{flags.shown['agent_reregister_timeout']}, and --recovery_agent_removal_limit is "
                f"{flags.shown['recovery_agent_removal_limit']}"
            )
            return
        with self._records.transaction():
            for hostname, agent_id in self._known.awaited.items():
                self._removal.never_came_back(hostname, agent_id)
        self._known.awaited = {}
