"""The second stage of a run: fair sharing, and bursting beyond guarantees (spec/allocator.md §5.3).

The inner loop, where a run spends its time.  A client or role whose token is in the agent's
`barren` set has been seen to take nothing of an agent that looks like this; `run.admissible`
says why that lasts.
"""

from enum import Enum

from fake_master.allocator.records import Agent
from fake_master.allocator.role_tree import QuotaRoom, Role
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


class _Verdict(Enum):
    """How a role took an agent, and how long a refusal lasts."""

    GAVE = "something was handed out"
    NEVER = "nothing for it, whatever the quotas, while the agent looks like this"
    SPENT = "its bounds leave too little of any agent like this, in this run"
    NOT_NOW = "nothing, while neither bounds nor filters change"
    BY_CHANCE = "nothing, but another shuffle might have found something"


def _serve(run: Run, agent: Agent) -> bool:
    """Offer one agent round.  Whether it can be relied upon that nobody took anything."""
    idle = True
    barren, spent = agent.barren, run.spent_on(agent.shape)
    for leaf in run.state.role_sorter.walk():
        role: Role = leaf.client
        token = role.token
        if token in barren or token in spent:
            continue
        verdict = _serve_role(run, agent, role)
        if verdict is _Verdict.GAVE:
            if agent.shape.is_empty:
                return False
            idle = False
            barren, spent = agent.barren, run.spent_on(agent.shape)
        elif verdict is _Verdict.NEVER:
            barren.add(token)
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
        portion = admissible(agent, client) if client.token not in agent.barren else None
        if portion is None:
            spent = False
            continue
        lasting = False
        part = portion.whole
        if room is not None or run.required:
            part = _part(run, portion, room)
            refused = part.allocatable and part is not portion.whole and is_refused(agent, client, part)
            if refused or not part.allocatable:
                certain = certain and portion.cut.simple
                spent = spent and not refused
                continue
        run.commit(agent, client, part)
        if agent.shape.is_empty:
            return _Verdict.GAVE
        gave = True
    if gave:
        return _Verdict.GAVE
    if lasting:
        return _Verdict.NEVER
    if not certain:
        return _Verdict.BY_CHANCE
    return _Verdict.SPENT if spent else _Verdict.NOT_NOW


def _part(run: Run, portion: Portion, room: QuotaRoom | None) -> Part:
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


def _part_by_entries(run: Run, portion: Portion, room: QuotaRoom | None) -> Part:
    """The same where a name has several entries, or some that cannot be divided."""
    shuffle = run.state.options.shuffle
    extra = portion.cut.loose
    if room is not None:
        extra = shrink_to_limits(extra, room.bounds, shuffle)
    if extra and run.required:
        extra = shrink_to_quantities(extra, run.spare_amounts(), shuffle)
    return portion.part(portion.cut.rest + extra)
