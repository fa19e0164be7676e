"""What the allocator remembers of an agent, of a framework, and of a framework in a role (spec/allocator.md §2)."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from fake_master.allocator.interface import AgentInfo, FrameworkInfo, Unavailability
from fake_master.allocator.parcels import Parcel
from fake_master.allocator.shapes import Capacity, Shape
from mesosctl.core.resources import Resources

if TYPE_CHECKING:
    from fake_master.allocator.eligibility import Eligibility
    from fake_master.allocator.filters import InverseOfferFilter, OfferFilter
    from fake_master.allocator.role_tree import Role
    from fake_master.allocator.sorter import Node

_SHAPES_REMEMBERED = 8


class Agent:
    """One agent."""

    __slots__ = (
        "_barren_by_shape", "_capacity", "activated", "allocated", "barren", "held", "id", "idle_in", "info",
        "outstanding", "quiet_in", "sequence", "shape", "unavailability",
    )  # fmt: skip

    def __init__(self, info: AgentInfo, capacity: Capacity, sequence: int) -> None:
        self.id = info.id
        self.sequence = sequence
        """Its place in the order of registration."""
        self.info = info
        self.activated = True
        self.held: list[tuple[Client, Parcel]] = []
        """Everything offered or allocated, in the order in which it was handed out."""
        self.allocated = Resources()
        """The part of it that was accepted, with allocation roles."""
        self.unavailability: Unavailability | None = None
        self.outstanding: set[Framework] = set()
        """Frameworks with an unanswered inverse offer for it."""
        self.barren: set[int] = set()
        """Tokens of clients and roles that take nothing of the present shape, whatever the quotas."""
        self.idle_in: object = None
        """The situation in which a whole run found nothing to offer of the present shape."""
        self.quiet_in: object = None
        """The same for the first stage of a run."""
        self._barren_by_shape: dict[Shape, set[int]] = {}
        self._capacity = capacity
        self.shape = capacity.free(())
        """What is free; during a run, without shared volumes that were offered in it."""

    @property
    def capacity(self) -> Capacity:
        """Its total."""
        return self._capacity

    def set_capacity(self, capacity: Capacity) -> None:
        """Another total, or other traits."""
        self._capacity = capacity
        self.forget_proofs()
        self.refresh()

    def refresh(self) -> None:
        """Work out anew what is free."""
        held = self.held
        self.set_shape(self._capacity.free(tuple([parcel for _, parcel in held]) if held else ()))

    def set_shape(self, shape: Shape) -> None:
        """What is free is this now."""
        self.shape = shape
        self.idle_in = self.quiet_in = None
        known = self._barren_by_shape
        barren = known.get(shape)
        if barren is None:
            if len(known) >= _SHAPES_REMEMBERED:
                known.clear()
            barren = known[shape] = set()
        self.barren = barren

    def forget_proofs(self, *tokens: int) -> None:
        """These clients and roles, or all, might take something again."""
        self.idle_in = self.quiet_in = None
        if not tokens:
            self._barren_by_shape = {self.shape: set()}
            self.barren = self._barren_by_shape[self.shape]
            return
        for barren in self._barren_by_shape.values():
            barren.difference_update(tokens)

    def holders(self) -> "list[Framework]":
        """Frameworks that hold or are offered something there, once each."""
        return list(dict.fromkeys(client.framework for client, _ in self.held))


class Framework:
    """One framework."""

    __slots__ = ("active", "clients", "id", "info", "inverse_filters")

    def __init__(self, info: FrameworkInfo) -> None:
        self.id = info.id
        self.info = info
        self.active = True
        self.clients: dict[str, Client] = {}
        """By role: where it is subscribed, or still holds something."""
        self.inverse_filters: dict[Agent, list[InverseOfferFilter]] = {}


class Client:
    """A framework in one role."""

    __slots__ = (
        "eligibility", "excludes", "filters", "framework", "held", "leaf", "role", "subscribed", "suppressed", "token",
    )  # fmt: skip

    def __init__(self, framework: Framework, role: "Role", leaf: "Node", eligibility: "Eligibility") -> None:
        self.framework = framework
        self.role = role
        self.leaf = leaf
        """Its place in the role's framework sorter."""
        self.eligibility = eligibility
        self.excludes: Callable[[AgentInfo], bool] | None = None
        self.subscribed = False
        self.suppressed = False
        self.held = 0
        """How many parcels it has, over all agents."""
        self.token = 0
        """Changes whenever it might take what it would not before."""
        self.filters: dict[Agent, list[OfferFilter]] = {}
