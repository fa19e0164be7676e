"""One allocation run: bounds, offers so far, and shared steps (docs/explanation/allocator.md, "The allocation run")."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from enum import Enum

from fake_master.allocator.hierarchical.offerable.allocations import Amounts, Pairs, add, clamped_subtract, difference
from fake_master.allocator.hierarchical.offerable.free_resources import FreeResources, OfferableResources, OfferedPart
from fake_master.allocator.hierarchical.records import AllocatorAgent, AllocatorClient, Offered
from fake_master.allocator.hierarchical.role_tree import QuotaAllowance, RoleNode, tokens_of
from fake_master.allocator.hierarchical.state import State
from fake_master.allocator.options import Shuffle
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.rules.offers.frameworks import is_allocatable


class Rejection(Enum):
    """Why a client can be offered nothing of an agent, whatever the quotas."""

    NOT_OFFERABLE = "what is free is not for it, or too little"
    FILTER = "it has refused all of it"
    EXCLUDED = "its offer constraints exclude the agent, or the agent is kept for another framework"


class Run:
    """One run: the bounds that quota sets, and the offers so far.

    `offerable`, `reject`, `too_little` and `commit` are the decisions of a run; `trial_run.TrialRun` records them.
    """

    def __init__(self, state: State) -> None:
        self.state = state
        self.offered: Offered = {}
        self.agents_with_shared_offers: set[AllocatorAgent] = set()
        """Agents of which a shared volume was offered."""
        self.roles_with_quota = list(state.roles.with_quota())
        self.unmet_guarantees: Amounts = {}
        """The sum of what all guarantees lack."""
        for role in self.roles_with_quota:
            role.allowance = QuotaAllowance(
                role.quota,
                state.consumed_by(role),
                one_name_is_enough=state.options.quota_takes_whole_agents,
                guarantee_is_limit=state.options.guarantee_is_limit,
            )
            add(self.unmet_guarantees, tuple(role.allowance.unmet_guarantee.items()))
        self.headroom: Amounts = headroom(state) if self.unmet_guarantees else {}
        """Free amounts that could serve a guarantee; only meaningful while `unmet_guarantees` is not empty."""
        self.remainder: Remainder | None = None
        """The bound of the second stage if quota takes whole agents; None if no guarantee lacks anything."""
        self._passed_over: dict[FreeResources, int] = {}

    def is_in_first_stage(self, role: RoleNode) -> bool:
        """Whether the first stage might still give something to the role, which has quota."""
        if role.allowance is None or role.leaf is None:
            return False
        # A role whose guarantee is its limit has its reservations in this stage, too.
        return role.allowance.is_below_guarantee or (self.state.options.guarantee_is_limit and bool(role.reservations))

    def begin_second_stage(self) -> None:
        """Bound the second stage by what guarantees lack now."""
        if self.unmet_guarantees and self.state.options.quota_takes_whole_agents:
            self.remainder = Remainder(self.state, self.roles_with_quota)

    @property
    def is_over(self) -> bool:
        """Whether the second stage can offer nothing any more."""
        return self.remainder is not None and self.remainder.is_too_little

    def finish(self) -> None:
        """Remove what only a run needs from the state."""
        for role in self.roles_with_quota:
            role.allowance = None
        for agent in self.agents_with_shared_offers:
            agent.refresh()

    def spare(self, name: str) -> int:
        """Return how much of `name` may be offered without using what guarantees still lack."""
        return max(0, self.headroom.get(name, 0) - self.unmet_guarantees.get(name, 0))

    def leaves_enough(self, charge: Pairs) -> bool:
        """Whether the headroom holds what guarantees still lack, of all names, without these amounts."""
        charged = dict(charge)
        return all(
            self.headroom.get(name, 0) - charged.get(name, 0) >= amount
            for name, amount in self.unmet_guarantees.items()
        )

    def spare_amounts(self) -> Amounts:
        """The same for all names, zeros dropped."""
        return difference(self.headroom, self.unmet_guarantees)

    def passed_over(self, free_resources: FreeResources) -> int:
        """Return tokens, or-ed, of the roles that are offered nothing of these in the rest of the second stage.

        Bounds only shrink in a run, so those with too little of them keep having too little.
        """
        found = self._passed_over.get(free_resources)
        if found is None:
            found = 0
            if free_resources.is_all_reserved:
                found = ~tokens_of(self.state.roles.subtrees(free_resources.owners))
            self._passed_over[free_resources] = found
        return found

    def pass_over(self, free_resources: FreeResources, role: RoleNode) -> None:
        """Remember that the bounds of a role leave too little of these, whatever the filters."""
        self._passed_over[free_resources] = self.passed_over(free_resources) | role.token

    def offerable(self, agent: AllocatorAgent, client: AllocatorClient) -> OfferableResources | None:
        """Return what the client can be offered of the agent, quota apart; None if nothing.

        A refusal of the whole also refuses every part of it, and a part of too little is too little, so None stays
        valid until the client's token changes, the agent changes, or a filter ends. It is stored with the agent.
        """
        free_resources = agent.free_resources
        try:
            offerable = free_resources.offerable_by_eligibility[client.eligibility]
        except KeyError:
            offerable = free_resources.offerable(client.eligibility)
        if offerable is None:
            self.reject(agent, client, Rejection.NOT_OFFERABLE)
        elif client.filters.count and is_refused(agent, client, offerable.full):
            self.reject(agent, client, Rejection.FILTER)
        elif client.excludes is not None and client.excludes(agent.info):
            self.reject(agent, client, Rejection.EXCLUDED)
        else:
            return offerable
        return None

    def reject(self, agent: AllocatorAgent, client: AllocatorClient, why: Rejection) -> None:  # noqa: ARG002  # for a trial
        """Remember that the client can be offered nothing of the agent."""
        agent.rejected_by |= client.token

    def too_little(self, agent: AllocatorAgent, client: AllocatorClient, part: OfferedPart | None) -> None:
        """Called if quota leaves no part of what is offerable, or one that is too little or refused."""

    def commit(self, agent: AllocatorAgent, client: AllocatorClient, part: OfferedPart, guaranteed: Pairs = ()) -> None:
        """Offer the part to the client; `guaranteed` of it meets the guarantee of its role."""
        state, allocation = self.state, part.allocation
        state.hold(agent, client, allocation)
        agent.set_free_resources(part.subset.left_free)
        by_agent = self.offered.get(client)
        if by_agent is None:
            self.offered[client] = {agent.id: allocation.with_role}
        elif agent.id in by_agent:
            by_agent[agent.id] = state.merge_last_two(agent, client)
        else:
            by_agent[agent.id] = allocation.with_role
        if allocation.shared:
            self.agents_with_shared_offers.add(agent)
        self.charge(client.role, part, guaranteed)

    def charge(self, role: RoleNode, part: OfferedPart, guaranteed: Pairs) -> None:
        """Count a part that was handed out against the bounds of the rest of the run."""
        if role.allowance is not None:
            role.allowance.charge(part.quota_charge)
        if self.unmet_guarantees:
            clamped_subtract(self.headroom, part.quota_charge)
            clamped_subtract(self.unmet_guarantees, guaranteed)
            if self.remainder is not None:
                self.remainder.charge(part)


class Remainder:
    """Free unreserved, non-revocable scalars of all agents that no guarantee lacks.

    The masters of the design documents bound the second stage by it (docs/explanation/allocator.md, "The documents'
    master: coarse shares"): what guarantees lack is kept back from the sum over all agents, and no agent is
    divided.
    Idle reservations and revocable resources cannot serve a guarantee, so they neither add to it nor use it up.
    """

    def __init__(self, state: State, roles_with_quota: Iterable[RoleNode]) -> None:
        self.left: Amounts = headroom(state)
        for role in roles_with_quota:
            if role.allowance is not None:
                clamped_subtract(self.left, tuple(role.allowance.unmet_guarantee.items()))
        self._minimum = state.options.min_allocatable_resources

    def holds(self, part: OfferedPart) -> bool:
        """Whether a part can be offered whole."""
        left = self.left
        return all(amount <= left.get(name, 0) for name, amount in part.quota_charge)

    def charge(self, part: OfferedPart) -> None:
        """Count a part as handed out."""
        clamped_subtract(self.left, part.quota_charge)

    @property
    def is_too_little(self) -> bool:
        """Whether it is below the minimum of an offer."""
        return not is_allocatable(
            Resources(Resource(name, amount) for name, amount in sorted(self.left.items())), self._minimum
        )


def is_refused(agent: AllocatorAgent, client: AllocatorClient, part: OfferedPart) -> bool:
    """Whether a filter of the client on this agent covers the part."""
    return client.filters.cover(agent.sequence, part.allocation.without_role)


def headroom(state: State) -> Amounts:
    """Return all totals minus what is used, reserved and idle, or free but revocable.

    Agents that are not offered count too.
    """
    amounts = dict(state.totals.amounts)
    clamped_subtract(amounts, tuple(state.total_used().items()))
    root = state.roles.root
    clamped_subtract(amounts, tuple(difference(root.reservations, root.used_reserved.amounts).items()))
    for agent in state.agents.values():
        if agent.free_resources.revocable:
            clamped_subtract(amounts, agent.free_resources.revocable)
    return amounts


def shrink_to_quantities(resources: Resources, target: Mapping[str, int], shuffle: Shuffle) -> Resources:
    """Return at most `target` of each name, nothing of names it does not have."""
    return _shrink(resources, target, shuffle, keep_unnamed=False) if target else Resources()


def shrink_to_limits(resources: Resources, target: Mapping[str, int], shuffle: Shuffle) -> Resources:
    """Return at most `target` of each name it has, everything of the others."""
    return _shrink(resources, target, shuffle, keep_unnamed=True) if target else resources


def _shrink(resources: Resources, target: Mapping[str, int], shuffle: Shuffle, *, keep_unnamed: bool) -> Resources:
    entries = list(resources)
    shuffle(entries)
    left = dict(target)
    kept: list[Resource] = []
    for entry in entries:
        if entry.name not in left:
            if keep_unnamed:
                kept.append(entry)
            continue
        assert isinstance(entry.value, int), "only scalars are ever shrunk"
        if entry.disk is not None and entry.disk.indivisible:
            # It does not contain a smaller copy of itself, so it is kept whole or not at all.
            if entry.value <= left[entry.name]:
                kept.append(entry)
                left[entry.name] -= entry.value
            continue
        amount = min(entry.value, left[entry.name])
        if amount > 0:
            kept.append(entry if amount == entry.value else replace(entry, value=amount))
            left[entry.name] -= amount
    return Resources(kept)
