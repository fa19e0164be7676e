"""The two stages of a run: guarantees, then fair share (docs/explanation/allocator.md, "The allocation run")."""

from collections.abc import Callable, Collection, Iterable

from fake_master.allocator.hierarchical.records import AllocatorAgent, AllocatorClient, Offered
from fake_master.allocator.hierarchical.role_tree import QuotaAllowance, RoleNode, tokens_of
from fake_master.allocator.hierarchical.sorters.sorter import Node
from fake_master.allocator.hierarchical.stages.parts_within_quota import (
    fair_part,
    guaranteed_part,
    part_up_to_guarantee,
    whole_part,
)
from fake_master.allocator.hierarchical.stages.run import Run, is_refused
from fake_master.allocator.hierarchical.state import State


def meet_guarantees(run: Run, agents: list[AllocatorAgent]) -> None:
    """Give to roles that lack some of their guarantee, agent by agent, in fair order."""
    state = run.state
    lacking_roles = [role for role in run.roles_with_quota if run.is_in_first_stage(role)]
    order: list[Node] | None = None
    tokens = tokens_of(lacking_roles)
    for agent in agents:
        if not tokens:
            return
        if agent.rejected_by & tokens == tokens:
            continue
        free_resources = agent.free_resources
        if not tokens & ~(agent.rejected_by | run.passed_over(free_resources)):
            continue
        if order is None or not state.role_sorter.order_lasts:
            order = _order_of_guarantees(state, lacking_roles)
        _offer_agent_for_guarantees(run, agent, order)
        if agent.free_resources is not free_resources:
            order, lacking_roles = None, [role for role in lacking_roles if run.is_in_first_stage(role)]
            tokens = tokens_of(lacking_roles)


def serving_order(state: State) -> list[Node]:
    """Return the active roles in the order of the next run: those of the first stage, then all others.

    Each stage is in fair order.
    """
    options = state.options
    first = [
        role
        for role in state.roles.with_quota()
        if role.leaf is not None
        and (
            options.guarantee_is_limit
            or QuotaAllowance(
                role.quota, state.consumed_by(role), one_name_is_enough=options.quota_takes_whole_agents
            ).is_below_guarantee
        )
    ]
    names = {role.name for role in first}
    return [
        *_order_of_guarantees(state, first),
        *(leaf for leaf in state.role_sorter.walk() if leaf.client.name not in names),
    ]


def _order_of_guarantees(state: State, roles: Iterable[RoleNode]) -> list[Node]:
    """The roles, which have quota and frameworks, in the order of the first stage."""
    if state.guarantees is not None:
        return state.guarantees.order(roles)
    return state.role_sorter.order([role.leaf for role in roles if role.leaf is not None])


def _offer_agent_for_guarantees(run: Run, agent: AllocatorAgent, order: list[Node]) -> None:
    """Offer one agent to the roles in this order."""
    for leaf in order:
        role: RoleNode = leaf.client
        allowance = role.allowance
        if agent.free_resources.is_empty:
            return
        if role.token & agent.rejected_by:
            continue
        assert role.sorter is not None
        assert allowance is not None
        for client_leaf in role.sorter.walk():
            if not run.is_in_first_stage(role):
                break
            client: AllocatorClient = client_leaf.client
            if client.token & agent.rejected_by:
                continue
            offerable = run.offerable(agent, client)
            if offerable is None:
                continue
            if run.state.options.quota_takes_whole_agents:
                part, guaranteed = whole_part(run, offerable, allowance)
            elif run.state.options.guarantee_is_limit:
                part, guaranteed = part_up_to_guarantee(run, offerable, allowance)
            else:
                part, guaranteed = guaranteed_part(run, offerable, allowance)
            if part is None or not part.is_allocatable or is_refused(agent, client, part):
                run.too_little(agent, client, part)
                continue
            run.commit(agent, client, part, guaranteed)


def share_fairly(run: Run, agents: list[AllocatorAgent]) -> None:
    """Offer the rest of each agent to roles and their frameworks in fair order."""
    tokens = run.state.tokens()
    for agent in agents:
        if agent.rejected_by & tokens == tokens:
            continue
        free_resources = agent.free_resources
        if free_resources.is_empty or not tokens & ~(agent.rejected_by | run.passed_over(free_resources)):
            continue
        if run.is_over:
            return
        _offer_agent_fairly(run, agent, tokens)


def _offer_agent_fairly(run: Run, agent: AllocatorAgent, tokens: int) -> None:
    """Offer one agent to the roles with these tokens."""
    free_resources = agent.free_resources
    left = tokens & ~(agent.rejected_by | run.passed_over(free_resources))
    for leaf in run.state.role_sorter.walk():
        role: RoleNode = leaf.client
        if not role.token & left:
            continue
        left &= ~role.token
        _offer_agent_to_role(run, agent, role)
        if agent.free_resources is not free_resources:
            free_resources = agent.free_resources
            left &= ~(agent.rejected_by | run.passed_over(free_resources))
        if not left:
            return


def _offer_agent_to_role(run: Run, agent: AllocatorAgent, role: RoleNode) -> None:
    """Offer one agent to the frameworks of one role."""
    lasting, spent = True, True
    allowance = role.allowance
    for leaf in role.sorter.walk():  # type: ignore[union-attr]  # roles in the role sorter have one
        client = leaf.client
        offerable = run.offerable(agent, client) if not client.token & agent.rejected_by else None
        if offerable is None:
            spent = False
            continue
        lasting = False
        part = offerable.full
        if allowance is not None or run.unmet_guarantees:
            bounded = fair_part(run, offerable, allowance)
            fits = bounded is not None and bounded.is_allocatable
            refused = fits and bounded is not part and is_refused(agent, client, bounded)  # type: ignore[arg-type]
            if bounded is None or refused or not fits:
                # Where a name has several entries, another shuffle might leave enough.
                spent = spent and not refused and offerable.visible_resources.shrinks_by_name
                run.too_little(agent, client, bounded)
                continue
            part = bounded
        spent = False
        run.commit(agent, client, part)
        if agent.free_resources.is_empty:
            return
    if lasting:
        agent.rejected_by |= role.token
    elif spent:
        run.pass_over(agent.free_resources, role)


Stage = Callable[[Run, list[AllocatorAgent]], None]
"""Hands out what these agents have free, in this order."""


class TwoStages:
    """Both stages of each run."""

    def __init__(self, state: State, share: Stage = share_fairly) -> None:
        self._state = state
        self._share = share

    def run(self, candidates: Collection[str]) -> tuple[list[AllocatorAgent], Offered]:
        """Offer the free resources of the candidate agents.

        Return the agents that were shared out, in the order of the second stage, and the offers.
        """
        state = self._state
        agents = offerable_agents(state, candidates)
        shuffle = state.options.shuffle
        shuffle(agents)
        run = Run(state)
        meet_guarantees(run, agents)
        if not state.options.stages_share_an_order:
            shuffle(agents)
        run.begin_second_stage()
        self._share(run, agents)
        run.finish()
        state.trim()
        return agents, run.offered


def offerable_agents(state: State, candidates: Collection[str]) -> list[AllocatorAgent]:
    """Return those of the candidates that may be offered, in the order of their registration."""
    known = state.agents
    chosen: Iterable[AllocatorAgent] = known.values()
    if len(candidates) * 8 < len(known):
        few = (known[agent] for agent in candidates if agent in known)
        chosen = sorted(few, key=lambda agent: agent.sequence)
    elif candidates != known.keys():
        chosen = [agent for agent in chosen if agent.id in candidates]
    hosts = state.whitelist
    return [agent for agent in chosen if agent.activated and (hosts is None or agent.info.hostname in hosts)]
