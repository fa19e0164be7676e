"""A run that offers nothing and records its decisions: on each agent for some clients, as if it were their turn now.

Since it hands nothing out, no decision depends on another.  `offers explain` shows the decisions.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from fake_master.allocator.hierarchical.offerable.allocations import Pairs
from fake_master.allocator.hierarchical.offerable.free_resources import FreeResources, OfferedPart
from fake_master.allocator.hierarchical.records import AllocatorAgent, AllocatorClient
from fake_master.allocator.hierarchical.stages.run import Rejection, Remainder, Run
from fake_master.allocator.hierarchical.stages.two_stages import meet_guarantees, offerable_agents, share_fairly
from fake_master.allocator.hierarchical.state import State
from mesosctl.mesos.amounts.quantities import Limits, Quantities
from mesosctl.mesos.amounts.resources import Resources


@dataclass(frozen=True, slots=True)
class QuotaBounds:
    """The amounts that quota leaves for a role at present.  A name that is missing is not bounded."""

    limits_left: Limits
    """The limits of the role minus what it holds; empty for a role without limits."""
    spare: Quantities | None
    """Free amounts that no guarantee lacks; None if all guarantees are met."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision of a run on one agent for one client."""

    offered: Resources
    """Without allocation roles."""
    rejection: Rejection | None = None
    """Why nothing could be offered, quota apart."""
    refused: bool = False
    """Whether the client has refused the part that quota leaves."""


class TrialRun(Run):
    """A run that makes no offers, and records what it would offer."""

    def __init__(self, state: State) -> None:
        super().__init__(state)
        self.decisions: dict[tuple[str, str, str], Decision] = {}
        """By agent, framework and role; none of an agent that is not in service, or not on the whitelist."""
        self.bounds: dict[str, QuotaBounds] = {}
        """The amounts that quota leaves, by role."""
        self.lacking: dict[str, Quantities] = {
            role.name: Quantities(role.allowance.unmet_guarantee)
            for role in self.roles_with_quota
            if role.allowance is not None and role.allowance.unmet_guarantee
        }
        """The amounts that guarantees still lack, by role."""

    def passed_over(self, free_resources: FreeResources) -> int:  # noqa: ARG002
        """Return 0: every rejection is recorded."""
        return 0

    def reject(self, agent: AllocatorAgent, client: AllocatorClient, why: Rejection) -> None:
        """Remember why nothing could be offered."""
        super().reject(agent, client, why)
        self._decide(agent, client, Decision(Resources(), why))

    @property
    def is_over(self) -> bool:
        """Return False: every agent is looked at."""
        return False

    def too_little(self, agent: AllocatorAgent, client: AllocatorClient, part: OfferedPart | None) -> None:
        """Record that quota leaves too little, or only refused resources."""
        self._decide(agent, client, Decision(Resources(), refused=part is not None and part.is_allocatable))

    def commit(self, agent: AllocatorAgent, client: AllocatorClient, part: OfferedPart, guaranteed: Pairs = ()) -> None:  # noqa: ARG002
        """Remember what would be offered; nothing is."""
        self._decide(agent, client, Decision(part.allocation.without_role))

    def _decide(self, agent: AllocatorAgent, client: AllocatorClient, decision: Decision) -> None:
        """Keep the first result: what the first stage offers is no longer free in the second."""
        self.decisions.setdefault((agent.id, client.framework.id, client.role.name), decision)

    def note_bounds(self, client: AllocatorClient) -> None:
        """Remember what quota leaves for the role of a client."""
        allowance = client.role.allowance
        spare = self.spare_amounts()
        if self.state.options.quota_takes_whole_agents:
            spare = Remainder(self.state, self.roles_with_quota).left
        self.bounds[client.role.name] = QuotaBounds(
            Limits(allowance.limits_left if allowance is not None else {}),
            Quantities(spare) if self.unmet_guarantees else None,
        )


def try_offers(state: State, subjects: Iterable[tuple[str, str]]) -> TrialRun:
    """Try what each (framework id, role) would be offered of every agent, were it active and its turn now.

    Suppression and deactivation of a subject are left out of account; quota, filters, reservations, capabilities
    and constraints are not.  Nothing is handed out, and the state is as before.
    """
    for agent in state.agents.values():
        agent.forget_proofs()
    chosen = [state.frameworks[framework].clients[role] for framework, role in subjects]
    trial = TrialRun(state)
    everybody = [client for framework in state.frameworks.values() for client in framework.clients.values()]
    for client in everybody:
        _take_part(client, active=False)
    for client in chosen:
        _take_part(client, active=True)
        trial.note_bounds(client)
    agents = offerable_agents(state, state.agents.keys())
    meet_guarantees(trial, agents)
    trial.begin_second_stage()
    share_fairly(trial, agents)
    trial.finish()
    for client in everybody:
        state.set_active(client)
    return trial


def _take_part(client: AllocatorClient, *, active: bool) -> None:
    sorter = client.role.sorter
    assert sorter is not None
    if active:
        sorter.activate(client.leaf.path)
    else:
        sorter.deactivate(client.leaf.path)
