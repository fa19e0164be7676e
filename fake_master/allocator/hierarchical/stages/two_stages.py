"""The two stages of a run: guarantees, then fair share (docs/explanation/allocator.md, "The allocation run")."""

from collections.abc import Callable, Collection, Iterable
from enum import Enum

from fake_master.allocator.hierarchical.records import Agent, Client, Offered
from fake_master.allocator.hierarchical.role_tree import QuotaAllowance, Role
from fake_master.allocator.hierarchical.sorters.sorter import Node
from fake_master.allocator.hierarchical.stages.parts_within_quota import fair_part, guaranteed_part, whole_part
from fake_master.allocator.hierarchical.stages.run import (
    Fingerprint,
    Run,
    is_refused,
)
from fake_master.allocator.hierarchical.state import State


def meet_guarantees(run: Run, agents: list[Agent]) -> None:
    """Give to roles that lack some of their guarantee, agent by agent, in fair order."""
    state = run.state
    lacking_roles = _below_guarantee(run.roles_with_quota)
    order: list[Node] | None = None
    for agent in agents:
        if not lacking_roles:
            return
        epoch = state.epoch
        if agent.idle_epoch is epoch or not _may_serve_guarantee(state, agent):
            continue
        if order is None or not state.role_sorter.order_lasts:
            order = state.role_sorter.order([role.leaf for role in lacking_roles if role.leaf is not None])
        before = len(agent.allocations), state.epoch
        provable = _offer_agent_for_guarantees(run, agent, order)
        if (len(agent.allocations), state.epoch) != before:
            order, lacking_roles = None, _below_guarantee(lacking_roles)
        elif provable:
            agent.guarantees_idle_epoch = epoch


def serving_order(state: State) -> list[Node]:
    """Return the active roles in the order of the next run: those below their guarantee, then all others.

    Each stage is in fair order.
    """
    whole_agents = state.options.quota_takes_whole_agents
    below = {
        role.name
        for role in state.roles.with_quota()
        if QuotaAllowance(role.quota, state.consumed_by(role), one_name_is_enough=whole_agents).is_below_guarantee
    }
    return sorted(state.role_sorter.walk(), key=lambda leaf: leaf.client.name not in below)


def _may_serve_guarantee(state: State, agent: Agent) -> bool:
    """Whether an agent has anything for the first stage; of a whole agent the reservations of a role go along."""
    free_resources = agent.free_resources
    return free_resources.has_unreserved_nonrevocable or (
        state.options.quota_takes_whole_agents and not free_resources.is_empty
    )


def _below_guarantee(roles: list[Role]) -> list[Role]:
    return [
        role
        for role in roles
        if role.allowance is not None and role.allowance.is_below_guarantee and role.leaf is not None
    ]


def _offer_agent_for_guarantees(run: Run, agent: Agent, order: list[Node]) -> bool:
    """Offer one agent to the roles in this order.  Return whether nothing of it was left to chance."""
    provable = True
    for leaf in order:
        role: Role = leaf.client
        allowance = role.allowance
        if agent.free_resources.is_empty:
            break
        if role.token & agent.rejected_by:
            continue
        assert role.sorter is not None
        assert allowance is not None
        for client_leaf in role.sorter.walk():
            if not allowance.is_below_guarantee:
                break
            client: Client = client_leaf.client
            if client.token & agent.rejected_by:
                continue
            offerable = run.offerable(agent, client)
            if offerable is None:
                continue
            if run.state.options.quota_takes_whole_agents:
                part, guaranteed = whole_part(run, offerable, allowance)
            else:
                provable = provable and offerable.visible_resources.shrinks_by_name
                part, guaranteed = guaranteed_part(run, offerable, allowance)
            if part is None or not part.is_allocatable or is_refused(agent, client, part):
                continue
            run.commit(agent, client, part, guaranteed)
    return provable


def share_fairly(run: Run, agents: list[Agent]) -> None:
    """Offer the rest of each agent to roles and their frameworks in fair order."""
    state = run.state
    lacking = any(
        role.allowance is not None and role.allowance.is_below_guarantee and role.leaf is not None
        for role in run.roles_with_quota
    )
    for agent in agents:
        if agent.idle_epoch is state.epoch or agent.free_resources.is_empty:
            continue
        if run.is_over:
            return
        epoch = state.epoch
        # Only a run that found nothing in either stage proves that the next one will not.
        provable = not lacking or agent.guarantees_idle_epoch is epoch or not _may_serve_guarantee(state, agent)
        if _offer_agent_fairly(run, agent) and provable:
            agent.idle_epoch = epoch


class _Verdict(Enum):
    """The result of offering an agent to a role, and how long a refusal lasts."""

    GAVE = "something was handed out"
    NEVER = "nothing for it, whatever the quotas, while the agent looks like this"
    SPENT = "its bounds leave too little of any agent like this, in this run"
    NOT_NOW = "nothing, while neither bounds nor filters change"
    BY_CHANCE = "nothing, but another shuffle might have found something"


def _offer_agent_fairly(run: Run, agent: Agent) -> bool:
    """Offer one agent to all roles. Return whether it is proved that no framework accepts anything of it."""
    idle, free_resources = True, agent.free_resources
    passed_over = agent.rejected_by | run.exhausted_roles.of(free_resources)
    leaves = run.exhausted_roles.walk_others(free_resources)
    while (leaf := next(leaves, None)) is not None:
        role: Role = leaf.client
        if role.token & passed_over or not run.is_for(free_resources, role):
            continue
        verdict = _offer_agent_to_role(run, agent, role)
        if verdict is _Verdict.GAVE:
            free_resources = agent.free_resources
            if free_resources.is_empty:
                return False
            idle = False
            passed_over = agent.rejected_by | run.exhausted_roles.of(free_resources)
            # Often the first role takes all that is unreserved: there is no need to ask a thousand others for the rest.
            leaves = run.exhausted_roles.later_owners(leaf, free_resources) or leaves
        elif verdict is _Verdict.NEVER:
            agent.rejected_by |= role.token
        elif verdict is _Verdict.SPENT:
            run.exhausted_roles.add(free_resources, role)
        elif verdict is _Verdict.BY_CHANCE:
            idle = False
    return idle


def _offer_agent_to_role(run: Run, agent: Agent, role: Role) -> _Verdict:
    """Offer one agent to the frameworks of one role."""
    gave, lasting, spent, certain = False, True, True, True
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
                certain = certain and offerable.visible_resources.shrinks_by_name
                spent = spent and not refused
                run.too_little(agent, client, bounded)
                continue
            part = bounded
        run.commit(agent, client, part)
        if agent.free_resources.is_empty:
            return _Verdict.GAVE
        gave = True
    if gave:
        return _Verdict.GAVE
    if lasting:
        return _Verdict.NEVER
    if not certain:
        return _Verdict.BY_CHANCE
    return _Verdict.SPENT if spent else _Verdict.NOT_NOW


Stage = Callable[[Run, list[Agent]], None]
"""Hands out what these agents have free, in this order."""


class TwoStages:
    """Both stages of each run; remembers how the last one left the bounds of quota."""

    def __init__(self, state: State, share: Stage = share_fairly) -> None:
        self._state = state
        self._share = share
        self._last: Fingerprint | None = None

    def run(self, candidates: Collection[str]) -> tuple[list[Agent], Offered]:
        """Offer the free resources of the candidate agents.

        Return the agents that were shared out, in the order of the second stage, and the offers.
        """
        state = self._state
        agents = offerable_agents(state, candidates)
        shuffle = state.options.shuffle
        shuffle(agents)
        run = Run(state)
        if run.fingerprint() != self._last:
            state.epoch = object()
        meet_guarantees(run, agents)
        shuffle(agents)
        run.begin_second_stage()
        self._share(run, agents)
        self._last = run.fingerprint()
        run.finish()
        state.trim()
        return agents, run.offered


def offerable_agents(state: State, candidates: Collection[str]) -> list[Agent]:
    """Return those of the candidates that may be offered, in the order of their registration."""
    known = state.agents
    chosen: Iterable[Agent] = known.values()
    if len(candidates) * 8 < len(known):
        few = (known[agent] for agent in candidates if agent in known)
        chosen = sorted(few, key=lambda agent: agent.sequence)
    elif candidates != known.keys():
        chosen = [agent for agent in chosen if agent.id in candidates]
    hosts = state.whitelist
    return [agent for agent in chosen if agent.activated and (hosts is None or agent.info.hostname in hosts)]
