"""Runs for one framework in one role, as if nobody else asked, which record their decisions and are then undone.

Amounts that are handed out of one agent are missing on the next, as in any run: together the decisions are what the
framework could be offered at the same time.  `offers explain` shows them.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from fake_master.allocator.hierarchical.offerable.allocations import Pairs
from fake_master.allocator.hierarchical.offerable.free_resources import FreeResources, OfferedPart
from fake_master.allocator.hierarchical.records import AllocatorAgent, AllocatorClient
from fake_master.allocator.hierarchical.stages.run import Rejection, Run
from fake_master.allocator.hierarchical.stages.two_stages import meet_guarantees, offerable_agents, share_fairly
from fake_master.allocator.hierarchical.state import State
from mesosctl.mesos.amounts.quantities import Limits, Quantities
from mesosctl.mesos.amounts.resources import Resources


@dataclass(frozen=True, slots=True)
class QuotaBounds:
    """The amounts that quota leaves for a role at one moment of a run.  A name that is missing is not bounded."""

    limits_left: Limits
    """The limits of the role minus what it holds; empty for a role without limits."""
    spare: Quantities | None
    """Free amounts that no guarantee lacks; None if all guarantees are met."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision on one agent."""

    offered: Resources
    """In all stages and runs together, without allocation roles."""
    rejection: Rejection | None = None
    """Why nothing, or nothing more, could be offered, quota apart."""
    refused: bool = False
    """Whether the framework has refused the part that quota leaves."""
    bounds: QuotaBounds = QuotaBounds(Limits(), None)
    """The amounts that quota left when the agent was decided on last."""
    kept_whole: bool = False
    """Whether all that is free and unreserved is kept, since too little for guarantees would be left beside it."""


class TrialRun(Run):
    """A run that offers nothing, and records what it would offer to the only client that takes part."""

    def __init__(self, state: State, client: AllocatorClient, decisions: dict[str, Decision]) -> None:
        """Add to `decisions` of runs before this one."""
        super().__init__(state)
        self.lacking: dict[str, Quantities] = {
            role.name: Quantities(role.allowance.unmet_guarantee)
            for role in self.roles_with_quota
            if role.allowance is not None and role.allowance.unmet_guarantee
        }
        """The amounts that guarantees lack before the run, by role."""
        self.handed_out: list[tuple[AllocatorAgent, OfferedPart]] = []
        self._client = client
        self._decisions = decisions
        self._before = decisions.copy()
        self._known_bounds: QuotaBounds | None = None
        self._refused_first: set[AllocatorAgent] = set()
        """The agents of which the first stage leaves only what the client has refused."""
        self._is_second = False
        self._keeps_whole = False
        """Whether `leaves_enough` has just said no."""

    @property
    def bounds(self) -> QuotaBounds:
        """The amounts that quota leaves for the role at this moment."""
        if self._known_bounds is None:
            allowance = self._client.role.allowance
            spare = self.spare_amounts() if self.remainder is None else self.remainder.left
            self._known_bounds = QuotaBounds(
                Limits(allowance.limits_left if allowance is not None else {}),
                Quantities(spare) if self.unmet_guarantees else None,
            )
        return self._known_bounds

    def begin_second_stage(self) -> None:
        """See `Run.begin_second_stage`."""
        super().begin_second_stage()
        self._is_second = True
        self._known_bounds = None

    def leaves_enough(self, charge: Pairs) -> bool:
        """See `Run.leaves_enough`; the next decision remembers it."""
        self._keeps_whole = not super().leaves_enough(charge)
        return not self._keeps_whole

    def passed_over(self, free_resources: FreeResources) -> int:  # noqa: ARG002
        """Return 0: every rejection is recorded."""
        return 0

    def reject(self, agent: AllocatorAgent, client: AllocatorClient, why: Rejection) -> None:
        """Remember why nothing could be offered."""
        super().reject(agent, client, why)
        self._decide(agent, rejection=why)

    @property
    def is_over(self) -> bool:
        """Return False: every agent is looked at."""
        return False

    def too_little(self, agent: AllocatorAgent, client: AllocatorClient, part: OfferedPart | None) -> None:  # noqa: ARG002
        """Record that quota leaves too little, or only refused resources."""
        refused = part is not None and part.is_allocatable
        if self.state.options.guarantee_is_limit and part is None and self._is_second:
            refused = agent in self._refused_first  # the second stage does not look at the client at all
        elif refused and not self._is_second:
            self._refused_first.add(agent)
        self._decide(agent, refused=refused)

    def commit(self, agent: AllocatorAgent, client: AllocatorClient, part: OfferedPart, guaranteed: Pairs = ()) -> None:
        """Hand the part out until the trial is over."""
        self._decide(agent, offered=part.allocation.without_role)
        self.state.hold(agent, client, part.allocation, counted=False)
        agent.set_free_resources(part.subset.left_free)
        if part.allocation.shared:
            self.agents_with_shared_offers.add(agent)
        self.handed_out.append((agent, part))
        self.charge(client.role, part, guaranteed)
        self._known_bounds = None

    def _decide(
        self,
        agent: AllocatorAgent,
        offered: Resources | None = None,
        rejection: Rejection | None = None,
        *,
        refused: bool = False,
    ) -> None:
        """Add to what was offered of the agent before, and remember the reason for the rest."""
        if offered is not None and agent.id in self._before:
            offered = offered.filter(lambda entry: not entry.shared)  # a shared volume is free again in each run
        before = self._decisions.get(agent.id)
        so_far = Resources() if before is None else before.offered
        self._decisions[agent.id] = Decision(
            so_far if offered is None else so_far + offered, rejection, refused, self.bounds, self._keeps_whole
        )
        self._keeps_whole = False


@dataclass(frozen=True, slots=True)
class Trial:
    """The decisions of the next runs for one client that is alone."""

    decisions: Mapping[str, Decision]
    """By agent; none of an agent that is not in service, or not on the whitelist."""
    limits_left: Limits
    """The amounts that its limits leave to the role at first."""
    lacking: Mapping[str, Quantities]
    """The amounts that guarantees lack at first, by role."""
    still_lacking: Mapping[str, Quantities]
    """The same when nothing more is offered."""


def try_offers(state: State, subjects: Iterable[tuple[str, str]]) -> Iterator[Trial]:
    """Try what each (framework id, role) would be offered, were it active and alone, until it is offered no more.

    Suppression and deactivation of a subject are left out of account; quota, filters, reservations, capabilities
    and constraints are not.  The state is as before once all are read.
    """
    everybody = [client for framework in state.frameworks.values() for client in framework.clients.values()]
    for client in everybody:
        _take_part(client, active=False)
    agents = offerable_agents(state, state.agents.keys())
    for framework, role in subjects:
        client = state.frameworks[framework].clients[role]
        _take_part(client, active=True)
        yield _try(state, client, agents)
        _take_part(client, active=False)
    for client in everybody:
        state.set_active(client)


def _try(state: State, client: AllocatorClient, agents: list[AllocatorAgent]) -> Trial:
    """Run until nothing changes any more, and take everything back.

    What a role below one with a guarantee is offered in the second stage counts towards that in the next run only.
    """
    decisions: dict[str, Decision] = {}
    runs: list[TrialRun] = []
    limits_left = Limits()
    while not runs or (runs[-1].roles_with_quota and any(part.quota_charge for _, part in runs[-1].handed_out)):
        for agent in agents:
            agent.forget_proofs()
        run = TrialRun(state, client, decisions)
        if not runs:
            limits_left = run.bounds.limits_left
        meet_guarantees(run, agents)
        run.begin_second_stage()
        share_fairly(run, agents)
        run.finish()
        runs.append(run)
    for agent, part in (handed_out for run in runs for handed_out in run.handed_out):
        state.give_back(agent, client, part.allocation)
        agent.refresh()
    return Trial(decisions, limits_left, runs[0].lacking, runs[-1].lacking)


def _take_part(client: AllocatorClient, *, active: bool) -> None:
    sorter = client.role.sorter
    assert sorter is not None
    if active:
        sorter.activate(client.leaf.path)
    else:
        sorter.deactivate(client.leaf.path)
