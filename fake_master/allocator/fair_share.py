"""The second stage of a run: fair sharing, and bursting beyond guarantees (spec/allocator.md §5.3).

The inner loop, where a run spends its time.  A client or role whose token is in the agent's
`barren` set has been seen to take nothing of an agent that looks like this; `run.admissible`
says why that lasts.
"""

from fake_master.allocator.records import Agent
from fake_master.allocator.role_tree import Role, Room
from fake_master.allocator.run import Run, admissible, is_refused
from fake_master.allocator.shapes import Part, Portion
from fake_master.allocator.shrink import shrink_to_limits, shrink_to_quantities


def share_fairly(run: Run, agents: list[Agent]) -> None:
    """Offer what is left of each agent, role by role and framework by framework in fair order."""
    state = run.state
    lacking = any(role.room is not None and role.room.missing and role.leaf is not None for role in run.limited)
    for agent in agents:
        situation = state.situation
        if agent.idle_in is situation or agent.shape.is_empty:
            continue
        # Only a run that found nothing in either stage proves that the next one will not.
        provable = not lacking or agent.quiet_in is situation or not agent.shape.has_loose
        if _serve(run, agent) and provable:
            agent.idle_in = situation


def _serve(run: Run, agent: Agent) -> bool:
    """Offer one agent round.  Whether it can be relied upon that nobody took anything."""
    idle = True
    barren = agent.barren
    for leaf in run.state.role_sorter.walk():
        role: Role = leaf.client
        if role.token in barren:
            continue
        lasting = True
        room = role.room
        for client_leaf in role.sorter.walk():  # type: ignore[union-attr]  # roles in the sorter have one
            client = client_leaf.client
            if client.token in barren:
                continue
            portion = admissible(agent, client)
            if portion is None:
                continue
            part = portion.whole
            lasting = False
            if room is not None or run.required:
                part = _part(run, portion, room)
                if part is not portion.whole and (not part.allocatable or is_refused(agent, client, part)):
                    idle = idle and portion.cut.simple
                    continue
            run.commit(agent, client, part)
            if agent.shape.is_empty:
                return False
            idle, barren = False, agent.barren
        if lasting:
            barren.add(role.token)
    return idle


def _part(run: Run, portion: Portion, room: Room | None) -> Part:
    """As much of the portion as the role's own limits and the headroom of all guarantees allow."""
    cut = portion.cut
    if not cut.simple:
        return _part_by_entries(run, portion, room)
    amounts = []
    for name, available in zip(cut.names, cut.amounts, strict=True):
        left = available
        if room is not None and name in room.bounds:
            left = min(left, room.bounds[name])
        if left and run.required:
            left = min(left, run.spare(name))
        amounts.append(left)
    return portion.part_of_amounts(tuple(amounts))


def _part_by_entries(run: Run, portion: Portion, room: Room | None) -> Part:
    """The same where a name has several entries, or some that cannot be divided."""
    shuffle = run.state.options.shuffle
    extra = portion.cut.loose
    if room is not None:
        extra = shrink_to_limits(extra, room.bounds, shuffle)
    if extra and run.required:
        extra = shrink_to_quantities(extra, run.spare_amounts(), shuffle)
    return portion.part(portion.cut.rest + extra)
