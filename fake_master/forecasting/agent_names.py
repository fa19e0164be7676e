"""What sentences of a forecast call agents, those that are gone by then included."""

from fake_master.master.master import Master
from mesosctl.core.agent_names import told_apart


class AgentNames:
    """The names of all agents that a master has had since this was made; worked out once, and again after `grown`."""

    def __init__(self, master: Master) -> None:
        self._master = master
        self._names: dict[str, str] = {}
        self._hostnames: dict[str, str] = {}
        self.grown()

    def grown(self) -> None:
        """Look at the agents again: some have registered."""
        self._hostnames |= {agent.id: agent.hostname for agent in self._master.agents.values()}
        self._names = told_apart(self._hostnames)

    def of(self, agent_id: str) -> str:
        """Return what a sentence calls the agent."""
        return self._names[agent_id]
