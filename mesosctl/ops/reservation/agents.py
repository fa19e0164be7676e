"""Which agents an operator means (spec/endpoints.md §2, `/slaves`)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from mesosctl.client.master import Master
from mesosctl.core.agent_names import shared_hostnames, short_ids
from mesosctl.core.errors import NotFound, UsageError
from mesosctl.core.holdings import AgentHolding
from mesosctl.core.suggestion import did_you_mean
from mesosctl.wire import holdings

_SHOWN = 5


def read_agents(master: Master, progress: Callable[[str], None] = lambda _: None) -> list[AgentHolding]:
    """Every registered agent, by host name and id; `progress` hears how much has been read."""
    with master.hearing(lambda size: progress(f"reading the agents: {size / 2**20:.1f} MiB …")):
        agents: list[AgentHolding] = master.stream("/slaves", holdings.agents)
    master.settings.learn("/slaves", {"slaves": [{"hostname": one.hostname, "id": one.id} for one in agents]})
    return _told_apart(sorted(agents, key=lambda agent: (agent.hostname, agent.id)))


def _told_apart(agents: list[AgentHolding]) -> list[AgentHolding]:
    """The same agents, with short ids where several of them share a host name."""
    shared = shared_hostnames(agent.hostname for agent in agents)
    if not shared:
        return agents
    short = short_ids({agent.id: agent.hostname for agent in agents})
    return [replace(agent, short_id=short[agent.id], shares_host=agent.hostname in shared) for agent in agents]


def find_agent(agents: Sequence[AgentHolding], word: str) -> AgentHolding:
    """The agent whose id or host name is `word`, or whose id alone begins or ends with it.

    An end will do because the ids of one master differ only there ("S0").  Raises NotFound for
    nobody, UsageError for several.
    """
    for candidates in (
        [agent for agent in agents if agent.id == word],
        [agent for agent in agents if agent.hostname == word],
        [agent for agent in agents if agent.id.startswith(word) or agent.id.endswith(f"-{word}")],
    ):
        if len(candidates) == 1:
            return candidates[0]
        if candidates:
            named = _listed([agent.short_id or agent.id for agent in candidates])
            raise UsageError(f"'{word}' means several agents: {named}", field="agent", hint="write one of these ids")
    raise NotFound(
        f"no agent is called '{word}'",
        field="agent",
        rule="agent.exists",
        hint=did_you_mean(
            word,
            [name for agent in agents for name in (agent.hostname, agent.short_id) if name],
            f"name an id, the beginning or end of one, or a host name; {_known(agents)}",
        ),
    )


def _known(agents: Sequence[AgentHolding]) -> str:
    return f"there are {_listed([agent.name for agent in agents])}" if agents else "there is no agent at all"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def with_attributes(agents: Sequence[AgentHolding], wanted: Mapping[str, str]) -> list[AgentHolding]:
    """The agents in service that have every attribute; numbers are compared as numbers."""
    return [
        agent
        for agent in agents
        if agent.active and all(_same(agent.attributes.get(name), value) for name, value in wanted.items())
    ]


def _same(attribute: str | float | None, word: str) -> bool:
    if isinstance(attribute, int | float):
        try:
            return float(word) == attribute
        except ValueError:
            return False
    return attribute == word
