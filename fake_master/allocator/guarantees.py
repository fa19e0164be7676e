"""The first stage of a run: guarantees (spec/allocator.md §5.2)."""

from fake_master.allocator.amounts import Amounts, Pairs, clamped_subtract, scalar_pairs
from fake_master.allocator.records import Agent, Client
from fake_master.allocator.role_tree import QuotaRoom, Role
from fake_master.allocator.run import Run, admissible, is_refused
from fake_master.allocator.shapes import Part, Portion
from fake_master.allocator.shrink import shrink_to_limits, shrink_to_quantities
from fake_master.allocator.sorter import Node
from mesosctl.core.resources import Resources


def meet_guarantees(run: Run, agents: list[Agent]) -> None:
    """Give to roles that lack some of their guarantee, agent by agent, in fair order."""
    state = run.state
    hungry = _hungry(run.limited)
    order: list[Node] | None = None
    for agent in agents:
        if not hungry:
            return
        situation = state.situation
        if agent.idle_in is situation or not agent.shape.has_loose:
            continue
        if order is None or not state.role_sorter.order_lasts:
            order = state.role_sorter.order([role.leaf for role in hungry if role.leaf is not None])
        before = len(agent.held), state.situation
        provable = _serve(run, agent, order)
        if (len(agent.held), state.situation) != before:
            order, hungry = None, _hungry(hungry)
        elif provable:
            agent.quiet_in = situation


def _hungry(roles: list[Role]) -> list[Role]:
    return [role for role in roles if role.room is not None and role.room.missing and role.leaf is not None]


def _serve(run: Run, agent: Agent, order: list[Node]) -> bool:
    """Offer one agent to the roles in this order.  Whether nothing of it was left to chance."""
    provable = True
    for leaf in order:
        role: Role = leaf.client
        room = role.room
        if agent.shape.is_empty:
            break
        if role.token in agent.barren:
            continue
        assert role.sorter is not None
        assert room is not None
        for client_leaf in role.sorter.walk():
            if not room.missing:
                break
            client: Client = client_leaf.client
            if client.token in agent.barren:
                continue
            portion = admissible(agent, client)
            if portion is None:
                continue
            provable = provable and portion.cut.simple
            part, guaranteed = _part(run, portion, room)
            if part is None or not part.allocatable or is_refused(agent, client, part):
                continue
            run.commit(agent, client, part)
            clamped_subtract(run.required, guaranteed)
    return provable


def _part(run: Run, portion: Portion, room: QuotaRoom) -> tuple[Part | None, Pairs]:
    """What a role is offered for its guarantee, and how much of it is for the guarantee itself.

    On top of what the guarantee lacks it gets what else is on the agent, as far as its limits
    and the headroom of all other guarantees allow.  None where nothing serves the guarantee.
    """
    cut = portion.cut
    if not cut.simple:
        return _part_by_entries(run, portion, room)
    amounts, guaranteed = [], []
    for name, available in zip(cut.names, cut.amounts, strict=True):
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
    return portion.part_of_amounts(tuple(amounts)), tuple(guaranteed)


def _part_by_entries(run: Run, portion: Portion, room: QuotaRoom) -> tuple[Part | None, Pairs]:
    """The same where a name has several entries, or some that cannot be divided."""
    shuffle = run.state.options.shuffle
    loose = portion.cut.loose
    needed = shrink_to_quantities(loose, room.missing, shuffle)
    if not needed:
        return None, ()
    guaranteed = scalar_pairs(needed)
    extra: Resources = loose - needed
    if room.bounds:
        taken = dict(guaranteed)
        left: Amounts = {name: max(0, bound - taken.get(name, 0)) for name, bound in room.bounds.items()}
        extra = shrink_to_limits(extra, left, shuffle)
    if extra and run.required:
        extra = shrink_to_quantities(extra, run.spare_amounts(), shuffle)
    return portion.part(portion.cut.rest + needed + extra), guaranteed
