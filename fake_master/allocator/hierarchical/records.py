"""Records of an agent, a framework, a framework in one role (a client), and of refused offers."""

from collections.abc import Callable, Iterable

from fake_master.allocator.hierarchical.interned.allocations import Allocation
from fake_master.allocator.hierarchical.interned.eligibility import Eligibility
from fake_master.allocator.hierarchical.interned.free_resources import Capacity, FreeResources
from fake_master.allocator.hierarchical.role_tree import Role
from fake_master.allocator.hierarchical.sorters.sorter import Node
from fake_master.allocator.interface import AgentInfo, FrameworkInfo, Unavailability
from mesosctl.model.resources import Resources

_FREE_RESOURCES_REMEMBERED = 8


class Agent:
    """One agent."""

    __slots__ = (
        "_capacity",
        "_rejected_by_free_resources",
        "activated",
        "allocated",
        "allocations",
        "free_resources",
        "guarantees_idle_epoch",
        "id",
        "idle_epoch",
        "info",
        "inverse_offered_to",
        "rejected_by",
        "sequence",
        "unavailability",
    )  # fmt: skip

    def __init__(self, info: AgentInfo, capacity: Capacity, sequence: int) -> None:
        self.id = info.id
        self.sequence = sequence
        """Its place in the order of registration."""
        self.info = info
        self.activated = True
        self.allocations: list[tuple[Client, Allocation]] = []
        """Everything offered or allocated with its client, in the order in which it was handed out."""
        self.allocated = Resources()
        """The part of it that was accepted, with allocation roles."""
        self.unavailability: Unavailability | None = None
        self.inverse_offered_to: set[Framework] = set()
        """Frameworks with an unanswered inverse offer for it."""
        self.rejected_by: set[int] = set()
        """Tokens of clients and roles that take nothing of the present free resources, whatever the quotas."""
        self.idle_epoch: object = None
        """The `State.epoch` in which a whole run found no taker of the present free resources."""
        self.guarantees_idle_epoch: object = None
        """The same for the first stage, guarantees."""
        self._rejected_by_free_resources: dict[FreeResources, set[int]] = {}
        self._capacity = capacity
        self.free_resources = capacity.free(())
        """Interned; during a run, without shared volumes that were offered in it."""

    @property
    def capacity(self) -> Capacity:
        """The interned total and features."""
        return self._capacity

    def set_capacity(self, capacity: Capacity) -> None:
        """Replace the total and features."""
        self._capacity = capacity
        self.forget_proofs()
        self.refresh()

    def refresh(self) -> None:
        """Work out anew what is free from what is allocated."""
        held = self.allocations
        self.set_free_resources(self._capacity.free(tuple([allocation for _, allocation in held]) if held else ()))

    def set_free_resources(self, free_resources: FreeResources) -> None:
        """Replace what is free; what is known of those who reject it is kept with it."""
        self.free_resources = free_resources
        self.idle_epoch = self.guarantees_idle_epoch = None
        known = self._rejected_by_free_resources
        rejected_by = known.get(free_resources)
        if rejected_by is None:
            if len(known) >= _FREE_RESOURCES_REMEMBERED:
                known.clear()
            rejected_by = known[free_resources] = set()
        self.rejected_by = rejected_by

    def forget_proofs(self, *tokens: int) -> None:
        """Forget that these clients and roles, or all, take nothing."""
        self.idle_epoch = self.guarantees_idle_epoch = None
        if not tokens:
            self._rejected_by_free_resources = {self.free_resources: set()}
            self.rejected_by = self._rejected_by_free_resources[self.free_resources]
            return
        for rejected_by in self._rejected_by_free_resources.values():
            rejected_by.difference_update(tokens)

    def holders(self) -> "list[Framework]":
        """Return the frameworks that hold or are offered something there, once each."""
        return list(dict.fromkeys(client.framework for client, _ in self.allocations))


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
        "allocation_count",
        "eligibility",
        "excludes",
        "filters",
        "framework",
        "leaf",
        "role",
        "subscribed",
        "suppressed",
        "token",
    )  # fmt: skip

    def __init__(self, framework: Framework, role: Role, leaf: Node, eligibility: Eligibility) -> None:
        self.framework = framework
        self.role = role
        self.leaf = leaf
        """Its place in the role's framework sorter."""
        self.eligibility = eligibility
        self.excludes: Callable[[AgentInfo], bool] | None = None
        self.subscribed = False
        self.suppressed = False
        self.allocation_count = 0
        """How many allocations it has, over all agents."""
        self.token = 0
        """Changes whenever it might take what it would not before."""
        self.filters: dict[Agent, list[OfferFilter]] = {}


class OfferFilter:
    """The refusal of resources by a framework, in one role and on one agent.

    A scheduler that declines a large cluster for long leaves one for each agent, so it is kept small.
    """

    __slots__ = ("agent", "alive", "client", "refused", "until")

    def __init__(self, client: Client, agent: Agent, refused: Resources, until: float) -> None:
        self.client = client
        self.agent = agent
        self.refused = refused
        """Without allocation roles."""
        self.until = until
        """When it ends, on the allocator's clock."""
        self.alive = True

    def expire(self) -> None:
        """Remove the filter when its time is over, unless it was forgotten before."""
        if not self.alive:
            return
        filters = self.client.filters[self.agent]
        filters.remove(self)
        if not filters:
            del self.client.filters[self.agent]
        self.agent.forget_proofs(self.client.token, self.client.role.token)

    def covers(self, offer: Resources) -> bool:
        """Whether an offer of this, without allocation roles, is filtered.

        Any additional or differently labelled resource defeats the filter; a smaller offer does not.
        """
        return offer is self.refused or self.refused.contains(offer)


class InverseOfferFilter:
    """The refusal of an inverse offer for one agent."""

    __slots__ = ("alive",)

    def __init__(self) -> None:
        self.alive = True


def covered(filters: Iterable[OfferFilter], offer: Resources) -> bool:
    """Whether any of the filters covers an offer of this, without allocation roles."""
    return any(held.covers(offer) for held in filters)
