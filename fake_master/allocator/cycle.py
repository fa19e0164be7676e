"""One allocation run over some agents (spec/allocator.md §5)."""

from collections.abc import Collection

from fake_master.allocator.fair_share import share_fairly
from fake_master.allocator.guarantees import meet_guarantees
from fake_master.allocator.records import Agent
from fake_master.allocator.run import Fingerprint, Run
from fake_master.allocator.state import State
from mesosctl.core.resources import Resources

Offers = dict[str, dict[str, dict[str, Resources]]]


class Cycle:
    """Runs, one after another; remembers how the last one left the bounds of quota."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._last: Fingerprint | None = None
        self.visited: list[Agent] = []
        """The agents of the last run, in the order in which they were shared out."""

    def run(self, candidates: Collection[str]) -> Offers:
        """Hand out what the candidate agents have free: {framework: {role: {agent: resources}}}."""
        state = self._state
        agents = self._agents(candidates)
        shuffle = state.options.shuffle
        shuffle(agents)
        run = Run(state)
        if run.fingerprint() != self._last:
            state.situation = object()
        meet_guarantees(run, agents)
        shuffle(agents)
        self.visited = agents
        share_fairly(run, agents)
        self._last = run.fingerprint()
        run.finish()
        state.trim()
        return run.offers()

    def _agents(self, candidates: Collection[str]) -> list[Agent]:
        """Those of the candidates that may be offered, in the order of their registration."""
        state = self._state
        known = state.agents
        if len(candidates) * 8 < len(known):
            few = (known[agent] for agent in candidates if agent in known)
            chosen = sorted(few, key=lambda agent: agent.sequence)
        else:
            chosen = [agent for agent in known.values() if agent.id in candidates]
        hosts = state.whitelist
        return [agent for agent in chosen if agent.activated and (hosts is None or agent.info.hostname in hosts)]
