"""The third stage of a run: lending what lies idle, and taking it back (spec/oversubscription.md §3, §4).

It reads what the two regular stages left free and decides nothing for them.
"""

from dataclasses import dataclass, field

from fake_master.allocator.hierarchical.allocations import Amounts, add
from fake_master.allocator.hierarchical.records import Agent, Client, covered
from fake_master.allocator.hierarchical.state import State
from fake_master.extensions.idle_reservations import LentAgent, Tenant, beyond, common, free_for
from fake_master.extensions.lent_resources import LentState
from mesosctl.model.offers.admission import is_allocatable
from mesosctl.model.resources import Resources


@dataclass(slots=True)
class Decisions:
    """What a third stage came to."""

    offers: list[tuple[Client, Agent, Resources]] = field(default_factory=list)
    """What a client is offered of an agent: of one kind each, with the allocation role."""
    rescinds: dict[str, dict[str, Resources]] = field(default_factory=dict)
    """What is lent no longer, by framework and agent id, with allocation roles."""


class Lending:
    """Third stages, one after another."""

    def __init__(self, state: State, lent: LentState) -> None:
        self._state = state
        self._lent = lent

    def run(self, agents: list[Agent]) -> Decisions:
        """Work out anew what every agent has to lend, and offer what these have, in this order."""
        made = Decisions()
        for agent in self._state.agents.values():
            record = self._lent.agent(agent.id)
            if record.seen is not agent.free_resources:
                self._lent.set_slack(record, agent.free_resources)
        for record in self._lent.agents.values():
            if record.lent:
                self._take_back(record, made)
            if record.debt:
                self._turn_debts_back(record)
        for agent in agents:
            record = self._lent.agents[agent.id]
            if (record.slack or record.usage) and record.idle_in is not self._lent.epoch:
                before = len(made.offers)
                self._serve(agent, record, made)
                if len(made.offers) == before:
                    record.idle_in = self._lent.epoch
        return made

    # --- Taking back --------------------------------------------------------------------------------

    def _take_back(self, record: LentAgent, made: Decisions) -> None:
        """Where more is lent than lies idle, the best-off give first; what they hold of it becomes a debt."""
        over = beyond(record.lent_in_all(), record.slack)
        if not over:
            return
        for tenant in sorted(record.lent, key=self._lent.standing, reverse=True):
            part = common(over, record.lent[tenant])
            if part:
                tagged = self._lent.unlend(record, tenant, part)
                self._lent.owe(record, tenant, part, 1)
                over = beyond(over, part)
                by_agent = made.rescinds.setdefault(tenant.framework, {})
                by_agent[record.id] = by_agent.get(record.id, Resources()) + tagged

    def _turn_debts_back(self, record: LentAgent) -> None:
        """What lies idle again is lent to those who still have it, before anybody else."""
        free = beyond(record.slack, record.lent_in_all())
        for tenant in sorted(record.debt, key=self._lent.standing) if free else ():
            part = common(free, record.debt[tenant])
            if part:
                self._lent.owe(record, tenant, part, -1)
                self._lent.lend(record, tenant, part, counted=False)
                free = beyond(free, part)

    # --- Lending ------------------------------------------------------------------------------------

    def _serve(self, agent: Agent, record: LentAgent, made: Decisions) -> None:
        """Offer one agent round: the first who can take it takes all that is free."""
        left, usage = beyond(record.slack, record.lent_in_all()), record.usage_free()
        idle = self._lent.idle(agent.free_resources)
        for place in self._lent.role_sorter.walk():
            role = place.client
            for leaf in role.sorter.walk() if role.able else ():
                if not left and not usage:
                    return
                tenant: Tenant = leaf.client
                client = self._state.frameworks[tenant.framework].clients[role.name]
                if not _can_take(client, agent):
                    continue
                slack = free_for(record, idle, role.name, left)
                if _wants(client, agent, usage):
                    made.offers.append((client, agent, self._lent.throttle(record, tenant, usage)))
                    usage = record.usage_free()
                if slack and _wants(client, agent, self._lent.plain(tenant, slack)):
                    made.offers.append((client, agent, self._lent.lend(record, tenant, slack)))
                    left = beyond(left, slack)


def _can_take(client: Client, agent: Agent) -> bool:
    eligibility = client.eligibility
    return (
        eligibility.accepted_kinds.revocable
        and eligibility.admits(agent.capacity.traits)
        and not (client.excludes is not None and client.excludes(agent.info))
    )


def _wants(client: Client, agent: Agent, resources: Resources) -> bool:
    """Each kind is worth an offer, and is refused, on its own."""
    return is_allocatable(resources, client.eligibility.minimum) and not covered(
        client.filters.get(agent, ()), resources
    )


def totals(lent: LentState) -> dict[str, Amounts]:
    """`throttleable/total`, `throttleable/allocated` and so on, over all agents."""
    sums: dict[str, Amounts] = {}
    for record in lent.agents.values():
        found = {
            "throttleable/total": record.usage.scalar_quantities().items(),
            "throttleable/allocated": [
                pair for held in record.throttled.values() for pair in held.scalar_quantities().items()
            ],
            "non_throttleable/total": record.slack.items(),
            "non_throttleable/allocated": record.lent_in_all().items(),
        }
        for name, pairs in found.items():
            add(sums.setdefault(name, {}), tuple(pairs))
    return sums
