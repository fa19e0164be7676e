"""What one allocation run keeps in mind, and the steps its two stages share (spec/allocator.md §5)."""

from fake_master.allocator.amounts import Amounts, clamped_subtract, difference
from fake_master.allocator.filters import covered
from fake_master.allocator.records import Agent, Client
from fake_master.allocator.role_tree import QuotaRoom, Role
from fake_master.allocator.shapes import Part, Portion, Shape
from fake_master.allocator.state import State
from mesosctl.core.resources import Resources

Fingerprint = tuple[Amounts, Amounts, list[tuple[str, Amounts, Amounts]]]


class Run:
    """One run: the bounds that quota sets, and the offers so far."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.offered: dict[Client, dict[str, Resources]] = {}
        """By client and agent id."""
        self.sharing: set[Agent] = set()
        """Agents of which a shared volume was offered."""
        self.limited = list(state.roles.with_quota())
        for role in self.limited:
            role.room = QuotaRoom(role.quota, state.consumed_by(role))
        self.required: Amounts = {}
        """What all guarantees still lack, §5.1 step 4."""
        for role in self.limited:
            for name, amount in _room(role).missing.items():
                self.required[name] = self.required.get(name, 0) + amount
        self.headroom: Amounts = headroom(state) if self.required else {}
        """What is free and could serve a guarantee; only meaningful while `required` is not empty."""
        self._spent: dict[Shape, set[int]] = {}

    def fingerprint(self) -> Fingerprint:
        """Everything that decides how quota shrinks offers.

        Where it is at the start of a run what it was at the end of the last, what found no taker then finds none now.
        """
        rooms = [(role.name, dict(_room(role).missing), dict(_room(role).bounds)) for role in self.limited]
        return dict(self.required), dict(self.headroom), rooms

    def spent_on(self, shape: Shape) -> set[int]:
        """Tokens of roles whose bounds leave too little of any agent of this shape, whatever its filters.

        Limits and headroom only shrink in the course of a run, so that lasts until its end.
        """
        spent = self._spent.get(shape)
        if spent is None:
            spent = self._spent[shape] = set()
        return spent

    def finish(self) -> None:
        """Leave no trace in the state but the books."""
        for role in self.limited:
            role.room = None
        for agent in self.sharing:
            agent.refresh()

    def spare(self, name: str) -> int:
        """How much of `name` may go without eating into what guarantees still lack."""
        return max(0, self.headroom.get(name, 0) - self.required.get(name, 0))

    def spare_amounts(self) -> Amounts:
        """The same for all names, zeros dropped."""
        return difference(self.headroom, self.required)

    def commit(self, agent: Agent, client: Client, part: Part) -> None:
        """Hand the part out."""
        state, parcel = self.state, part.parcel
        state.hold(agent, client, parcel)
        agent.set_shape(part.after)
        by_agent = self.offered.get(client)
        if by_agent is None:
            self.offered[client] = {agent.id: parcel.tagged}
        elif agent.id in by_agent:
            by_agent[agent.id] = state.join(agent, client)
        else:
            by_agent[agent.id] = parcel.tagged
        if parcel.shared:
            self.sharing.add(agent)
        room = client.role.room
        if room is not None:
            room.charge(part.charge)
            state.situation = object()
        if self.required:
            clamped_subtract(self.headroom, part.charge)
            state.situation = object()

    def offers(self) -> dict[str, dict[str, dict[str, Resources]]]:
        """By framework id, role and agent id."""
        offers: dict[str, dict[str, dict[str, Resources]]] = {}
        for client, by_agent in self.offered.items():
            offers.setdefault(client.framework.id, {})[client.role.name] = by_agent
        return offers


def admissible(agent: Agent, client: Client) -> Portion | None:
    """What the client can have of the agent if no bound is in the way, None if nothing whatever the bounds.

    A refusal of the whole also refuses every part of it, and what is too little as a whole is too
    little in part: so None stays right until the client's token changes, the agent looks
    different, or a filter goes, and it is remembered with the agent.
    """
    shape = agent.shape
    try:
        portion = shape.portions[client.eligibility]
    except KeyError:
        portion = shape.portion(client.eligibility)
    if (
        portion is None
        or (client.filters and is_refused(agent, client, portion.whole))
        or (client.excludes is not None and client.excludes(agent.info))
    ):
        agent.barren.add(client.token)
        return None
    return portion


def is_refused(agent: Agent, client: Client, part: Part) -> bool:
    """Whether a filter of the client on this agent covers the part."""
    filters = client.filters.get(agent)
    return filters is not None and covered(filters, part.parcel.plain)


def _room(role: Role) -> QuotaRoom:
    assert role.room is not None
    return role.room


def headroom(state: State) -> Amounts:
    """§5.1 step 5: all there is, without what is used, reserved and unused, or free but revocable.

    Agents that are not being offered count too.
    """
    amounts = dict(state.totals.amounts)
    clamped_subtract(amounts, tuple(state.total_used().items()))
    root = state.roles.root
    clamped_subtract(amounts, tuple(difference(root.reservations, root.used_reserved.amounts).items()))
    for agent in state.agents.values():
        if agent.shape.revocable:
            clamped_subtract(amounts, agent.shape.revocable)
    return amounts
