"""The first stage of a run: guarantees (spec/allocator.md §5.2)."""

from collections.abc import Collection
from enum import Enum

from fake_master.allocator.hierarchical.allocations import Amounts, Pairs, clamped_subtract, scalar_pairs
from fake_master.allocator.hierarchical.free_resources import OfferableResources, Part
from fake_master.allocator.hierarchical.records import Agent, Client
from fake_master.allocator.hierarchical.role_tree import QuotaRoom, Role
from fake_master.allocator.hierarchical.run import (
    Fingerprint,
    Run,
    admissible,
    is_refused,
    shrink_to_limits,
    shrink_to_quantities,
)
from fake_master.allocator.hierarchical.sorter import Node
from fake_master.allocator.hierarchical.state import State
from fake_master.allocator.interface import Offers
from mesosctl.model.resources import Resources


def meet_guarantees(run: Run, agents: list[Agent]) -> None:
    """Give to roles that lack some of their guarantee, agent by agent, in fair order."""
    state = run.state
    hungry = _hungry(run.limited)
    order: list[Node] | None = None
    for agent in agents:
        if not hungry:
            return
        epoch = state.epoch
        if agent.idle_in is epoch or not agent.free_resources.has_unreserved_nonrevocable:
            continue
        if order is None or not state.role_sorter.order_lasts:
            order = state.role_sorter.order([role.leaf for role in hungry if role.leaf is not None])
        before = len(agent.held), state.epoch
        provable = _serve(run, agent, order)
        if (len(agent.held), state.epoch) != before:
            order, hungry = None, _hungry(hungry)
        elif provable:
            agent.quiet_in = epoch


def _hungry(roles: list[Role]) -> list[Role]:
    return [role for role in roles if role.room is not None and role.room.missing and role.leaf is not None]


def _serve(run: Run, agent: Agent, order: list[Node]) -> bool:
    """Offer one agent to the roles in this order.  Whether nothing of it was left to chance."""
    provable = True
    for leaf in order:
        role: Role = leaf.client
        room = role.room
        if agent.free_resources.is_empty:
            break
        if role.token in agent.rejected:
            continue
        assert role.sorter is not None
        assert room is not None
        for client_leaf in role.sorter.walk():
            if not room.missing:
                break
            client: Client = client_leaf.client
            if client.token in agent.rejected:
                continue
            offerable = admissible(agent, client)
            if offerable is None:
                continue
            provable = provable and offerable.visible_resources.simple
            part, guaranteed = _part(run, offerable, room)
            if part is None or not part.allocatable or is_refused(agent, client, part):
                continue
            run.commit(agent, client, part)
            clamped_subtract(run.required, guaranteed)
    return provable


def _part(run: Run, offerable: OfferableResources, room: QuotaRoom) -> tuple[Part | None, Pairs]:
    """What a role is offered for its guarantee, and how much of it is for the guarantee itself.

    On top of what the guarantee lacks it gets what else is on the agent, as far as its limits
    and the headroom of all other guarantees allow.  None where nothing serves the guarantee.
    """
    visible_resources = offerable.visible_resources
    if not visible_resources.simple:
        return _part_by_entries(run, offerable, room)
    amounts, guaranteed = [], []
    for name, available in zip(visible_resources.names, visible_resources.amounts, strict=True):
        needed = min(available, room.missing.get(name, 0))
        extra = available - needed
        if name in room.bounds:
            extra = min(extra, max(0, room.bounds[name] - needed))
        if extra and run.required:
            extra = min(extra, run.spare(name))
        amounts.append(needed + extra)
        if needed:
            guaranteed.append((name, needed))
    if not guaranteed:
        return None, ()
    return offerable.part_of_amounts(tuple(amounts)), tuple(guaranteed)


def _part_by_entries(run: Run, offerable: OfferableResources, room: QuotaRoom) -> tuple[Part | None, Pairs]:
    """The same where a name has several entries, or some that cannot be divided."""
    shuffle = run.state.options.shuffle
    unreserved_nonrevocable = offerable.visible_resources.unreserved_nonrevocable
    needed = shrink_to_quantities(unreserved_nonrevocable, room.missing, shuffle)
    if not needed:
        return None, ()
    guaranteed = scalar_pairs(needed)
    extra: Resources = unreserved_nonrevocable - needed
    if room.bounds:
        taken = dict(guaranteed)
        left: Amounts = {name: max(0, bound - taken.get(name, 0)) for name, bound in room.bounds.items()}
        extra = shrink_to_limits(extra, left, shuffle)
    if extra and run.required:
        extra = shrink_to_quantities(extra, run.spare_amounts(), shuffle)
    return offerable.part(offerable.visible_resources.rest + needed + extra), guaranteed


def share_fairly(run: Run, agents: list[Agent]) -> None:
    """Offer what is left of each agent, role by role and framework by framework in fair order."""
    state = run.state
    lacking = any(role.room is not None and role.room.missing and role.leaf is not None for role in run.limited)
    for agent in agents:
        epoch = state.epoch
        if agent.idle_in is epoch or agent.free_resources.is_empty:
            continue
        # Only a run that found nothing in either stage proves that the next one will not.
        provable = not lacking or agent.quiet_in is epoch or not agent.free_resources.has_unreserved_nonrevocable
        if _serve_fair_share(run, agent) and provable:
            agent.idle_in = epoch


class _Verdict(Enum):
    """How a role took an agent, and how long a refusal lasts."""

    GAVE = "something was handed out"
    NEVER = "nothing for it, whatever the quotas, while the agent looks like this"
    SPENT = "its bounds leave too little of any agent like this, in this run"
    NOT_NOW = "nothing, while neither bounds nor filters change"
    BY_CHANCE = "nothing, but another shuffle might have found something"


def _serve_fair_share(run: Run, agent: Agent) -> bool:
    """Offer one agent round.  Whether it can be relied upon that nobody took anything."""
    idle = True
    rejected, spent = agent.rejected, run.spent_on(agent.free_resources)
    for leaf in run.state.role_sorter.walk():
        role: Role = leaf.client
        token = role.token
        if token in rejected or token in spent:
            continue
        verdict = _serve_role(run, agent, role)
        if verdict is _Verdict.GAVE:
            if agent.free_resources.is_empty:
                return False
            idle = False
            rejected, spent = agent.rejected, run.spent_on(agent.free_resources)
        elif verdict is _Verdict.NEVER:
            rejected.add(token)
        elif verdict is _Verdict.SPENT:
            spent.add(token)
        elif verdict is _Verdict.BY_CHANCE:
            idle = False
    return idle


def _serve_role(run: Run, agent: Agent, role: Role) -> _Verdict:
    """Offer one agent to the frameworks of one role."""
    gave, lasting, spent, certain = False, True, True, True
    room = role.room
    for leaf in role.sorter.walk():  # type: ignore[union-attr]  # roles in the role sorter have one
        client = leaf.client
        offerable = admissible(agent, client) if client.token not in agent.rejected else None
        if offerable is None:
            spent = False
            continue
        lasting = False
        part = offerable.whole
        if room is not None or run.required:
            part = _part_fair_share(run, offerable, room)
            refused = part.allocatable and part is not offerable.whole and is_refused(agent, client, part)
            if refused or not part.allocatable:
                certain = certain and offerable.visible_resources.simple
                spent = spent and not refused
                continue
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


def _part_fair_share(run: Run, offerable: OfferableResources, room: QuotaRoom | None) -> Part:
    """As much of the portion as the role's own limits and the headroom of all guarantees allow."""
    visible_resources = offerable.visible_resources
    if not visible_resources.simple:
        return _part_by_entries_fair_share(run, offerable, room)
    amounts = []
    for name, available in zip(visible_resources.names, visible_resources.amounts, strict=True):
        left = available
        if room is not None and name in room.bounds:
            left = min(left, room.bounds[name])
        if left and run.required:
            left = min(left, run.spare(name))
        amounts.append(left)
    return offerable.part_of_amounts(tuple(amounts))


def _part_by_entries_fair_share(run: Run, offerable: OfferableResources, room: QuotaRoom | None) -> Part:
    """The same where a name has several entries, or some that cannot be divided."""
    shuffle = run.state.options.shuffle
    extra = offerable.visible_resources.unreserved_nonrevocable
    if room is not None:
        extra = shrink_to_limits(extra, room.bounds, shuffle)
    if extra and run.required:
        extra = shrink_to_quantities(extra, run.spare_amounts(), shuffle)
    return offerable.part(offerable.visible_resources.rest + extra)


class RegularStages:
    """Both stages of each run; remembers how the last one left the bounds of quota."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._last: Fingerprint | None = None

    def run(self, candidates: Collection[str]) -> tuple[list[Agent], Offers]:
        """Hand out what the candidate agents have free.

        Returns the agents that were shared out, in the order of the second stage, and the offers.
        """
        state = self._state
        agents = self._agents(candidates)
        shuffle = state.options.shuffle
        shuffle(agents)
        run = Run(state)
        if run.fingerprint() != self._last:
            state.epoch = object()
        meet_guarantees(run, agents)
        shuffle(agents)
        share_fairly(run, agents)
        self._last = run.fingerprint()
        run.finish()
        state.trim()
        return agents, run.offers()

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
