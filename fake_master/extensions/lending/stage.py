"""The third stage of a run: lending idle resources, and taking them back.

It reads what the two regular stages left free, and does not affect them (docs/explanation/allocator.md, "Allocator"
and "Taking back in the allocator").  It decides how much to take back, and from whom;
`fake_master/services/rescinding.py` decides which offers are rescinded for that.
"""

from collections.abc import Callable

from fake_master.allocator.hierarchical.allocation_runs import RunSteps
from fake_master.allocator.hierarchical.offerable.allocations import Amounts, add
from fake_master.allocator.hierarchical.records import AllocatorAgent, AllocatorClient, Offered
from fake_master.allocator.hierarchical.state import State
from fake_master.allocator.interface import FrameworkId, ResourcesByAgent
from fake_master.extensions.lending.batch import JoinedOffers, LendingBatch
from fake_master.extensions.lending.idle_reservations import Borrower, LentAgent, excess, lendable_to, overlap
from fake_master.extensions.lending.lent_resources import LentState
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.rules.offers.frameworks import is_allocatable

RescindCallback = Callable[[FrameworkId, ResourcesByAgent], None]
"""Takes the resources that are no longer lent, with allocation roles; called once for each framework and run."""


class LendingStage(RunSteps):
    """Third stages, one after another."""

    def __init__(self, state: State, lent: LentState, on_rescind: RescindCallback) -> None:
        self._state = state
        self._lent = lent
        self._on_rescind = on_rescind
        self._rescinded: dict[FrameworkId, ResourcesByAgent] = {}
        self._joined = JoinedOffers()
        self._batch = LendingBatch(state, lent, self._joined)
        self.rescinds = 0
        """The number of times that something was taken back from a framework."""

    def third_stage(self, agents: list[AllocatorAgent], offered: Offered) -> None:
        """Update what every agent can lend, and offer the idle resources of these agents, in this order."""
        lent, records = self._lent, self._lent.agents
        self._rescinded = {}
        unsettled = False
        for agent in self._state.agents.values():
            record, free_resources = records[agent.id], agent.free_resources
            if record.slack_worked_out_for is not free_resources:
                lent.set_slack(record, free_resources)
            unsettled = unsettled or not record.settled
        for record in records.values() if unsettled else ():
            if not record.settled:
                self._settle(record)
        batch, place, most = self._batch, 0, len(agents)
        batch.begin(offered)
        while place < most:
            agent = agents[place]
            record = records[agent.id]
            if record.idle_epoch is lent.epoch or not (record.allocation_slack or record.usage_slack):
                place += 1
            elif (next_place := batch.lend(agents, place)) > place:
                place = next_place
            else:
                if not self._offer_agent(agent, record, offered):
                    record.idle_epoch = lent.epoch
                place += 1

    def before_offers(self) -> None:
        """Report what was taken back in the run."""
        for framework, by_agent in self._rescinded.items():
            self.rescinds += 1
            self._on_rescind(framework, by_agent)

    # --- Taking back --------------------------------------------------------------------------------

    def _settle(self, record: LentAgent) -> None:
        """Take back loans beyond what is idle, or turn debts back into loans; valid until either changes."""
        if record.lent:
            self._take_back(record)
        if record.debt:
            self._turn_debts_back(record)
        record.settled = True

    def _take_back(self, record: LentAgent) -> None:
        """If more is lent than is idle, take it back, from the borrower with the largest share first, as a debt."""
        over = excess(record.lent_in_all(), record.allocation_slack)
        if not over:
            return
        for borrower in sorted(record.lent, key=self._lent.fair_rank, reverse=True):
            part = overlap(over, record.lent[borrower])
            if part:
                tagged = self._lent.unlend(record, borrower, part)
                self._lent.owe(record, borrower, part, 1)
                over = excess(over, part)
                by_agent = self._rescinded.setdefault(borrower.framework, {})
                by_agent[record.id] = by_agent.get(record.id, Resources()) + tagged

    def _turn_debts_back(self, record: LentAgent) -> None:
        """Turn debts back into loans as resources become idle again, before anybody else borrows."""
        free = excess(record.allocation_slack, record.lent_in_all())
        for borrower in sorted(record.debt, key=self._lent.fair_rank) if free else ():
            part = overlap(free, record.debt[borrower])
            if part:
                self._lent.owe(record, borrower, part, -1)
                self._lent.lend(record, borrower, part, counted=False)
                free = excess(free, part)

    # --- Lending ------------------------------------------------------------------------------------

    def _offer_agent(self, agent: AllocatorAgent, record: LentAgent, offered: Offered) -> bool:
        """Offer one agent to all borrowers; the first that can takes everything that is free.

        Return whether one did.
        """
        gave = False
        left, usage = record.allocation_slack, record.usage_free()
        if record.lent:
            left = excess(left, record.lent_in_all())
        if not left and not usage:
            return False
        idle = self._lent.idle(agent.free_resources)
        for place in self._lent.role_sorter.walk():
            role = place.client
            for leaf in role.sorter.walk() if role.accepts_revocable else ():
                borrower: Borrower = leaf.client
                client = self._state.frameworks[borrower.framework].clients[role.name]
                if not _can_take(client, agent):
                    continue
                slack = lendable_to(record, idle, role.name, left)
                if (
                    usage
                    and is_allocatable(usage, client.eligibility.minimum)
                    and not _is_refused(client, agent, usage)
                ):
                    self._joined.add(offered, client, agent, self._lent.throttle(record, borrower, usage))
                    gave = True
                    usage = record.usage_free()
                if slack and self._wants_slack(client, agent, borrower, slack):
                    self._joined.add(offered, client, agent, self._lent.lend(record, borrower, slack))
                    gave = True
                    left = excess(left, slack)
                if not left and not usage:
                    return gave
        return gave

    def _wants_slack(self, client: AllocatorClient, agent: AllocatorAgent, borrower: Borrower, slack: Amounts) -> bool:
        """Whether slack of allocation reaches the minimum and is not refused; the other kind is tested on its own."""
        allocation = self._lent.allocation(borrower.role.name, slack)
        return self._lent.is_allocatable(allocation, client.eligibility) and not _is_refused(
            client, agent, allocation.without_role
        )


def _can_take(client: AllocatorClient, agent: AllocatorAgent) -> bool:
    eligibility = client.eligibility
    return (
        eligibility.accepted_kinds.revocable
        and eligibility.admits(agent.capacity.features)
        and not (client.excludes is not None and client.excludes(agent.info))
    )


def _is_refused(client: AllocatorClient, agent: AllocatorAgent, resources: Resources) -> bool:
    return client.filters.cover(agent.sequence, resources)


def totals(lent: LentState) -> dict[str, Amounts]:
    """`throttleable/total`, `throttleable/allocated` and so on, over all agents."""
    sums: dict[str, Amounts] = {}
    for record in lent.agents.values():
        found = {
            "throttleable/total": record.usage_slack.scalar_quantities().items(),
            "throttleable/allocated": [
                pair for held in record.throttled.values() for pair in held.scalar_quantities().items()
            ],
            "non_throttleable/total": record.allocation_slack.items(),
            "non_throttleable/allocated": record.lent_in_all().items(),
        }
        for name, pairs in found.items():
            add(sums.setdefault(name, {}), tuple(pairs))
    return sums
