"""Records of an agent, a framework, and a framework in one role (a client)."""

from collections.abc import Callable, Mapping
from itertools import chain

from fake_master.allocator.hierarchical.offerable.allocations import Allocation
from fake_master.allocator.hierarchical.offerable.eligibility import Eligibility
from fake_master.allocator.hierarchical.offerable.free_resources import Capacity, FreeResources
from fake_master.allocator.hierarchical.packed_filters import ClientFilters, Refusals
from fake_master.allocator.hierarchical.role_tree import RoleNode
from fake_master.allocator.hierarchical.sorters.sorter import Node
from fake_master.allocator.interface import AgentInfo, FrameworkInfo, ResourcesByAgent, Unavailability
from mesosctl.mesos.amounts.resources import Resources

_MORE_TOKENS = 1000
"""The number of unused tokens that are allowed, in addition to as many as are in use."""


class AllocatorAgent:
    """One agent."""

    __slots__ = (
        "_free_resources",
        "accepted",
        "activated",
        "allocations",
        "capacity",
        "id",
        "info",
        "inverse_offered_to",
        "rejected_by",
        "sequence",
        "unavailability",
        "used_by_unknown",
    )  # fmt: skip

    def __init__(self, info: AgentInfo, capacity: Capacity, sequence: int) -> None:
        self.id = info.id
        self.sequence = sequence
        """The agent's place in the order of registration."""
        self.info = info
        self.activated = True
        self.allocations: list[tuple[AllocatorClient, Allocation]] = []
        """Everything offered or allocated with its client, in the order in which it was handed out."""
        self.used_by_unknown: dict[str, tuple[Allocation, ...]] = {}
        """The resources that frameworks use which are not known yet, by framework id: neither free nor any client's."""
        self.accepted: tuple[Resources, ...] = ()
        """Parts that add up to what was accepted of `allocations`, with allocation roles."""
        self.unavailability: Unavailability | None = None
        self.inverse_offered_to: frozenset[AllocatorFramework] = frozenset()
        """Frameworks with an unanswered inverse offer for it."""
        self.rejected_by = 0
        """Tokens, or-ed, of clients and roles that take nothing of the present free resources, whatever the quotas."""
        self.capacity = capacity
        """Its total and features; see `set_capacity`."""
        self._free_resources: FreeResources | None = None
        """None until somebody asks: of an agent that comes with many tasks they are worked out once."""

    def set_capacity(self, capacity: Capacity) -> None:
        """Replace the total and features."""
        self.capacity = capacity
        self.refresh()

    def give_back(self, resources: Resources) -> bool:
        """Subtract from `accepted`; return False, and do nothing, unless all of it was accepted."""
        accepted = Resources(chain.from_iterable(self.accepted))
        if not accepted.contains(resources):
            return False
        self.accepted = (accepted - resources,)
        return True

    @property
    def free_resources(self) -> FreeResources:
        """Interned; during a run, without shared volumes that were offered in it."""
        if self._free_resources is None:
            held = [allocation for _, allocation in self.allocations]
            if self.used_by_unknown:
                held += chain.from_iterable(self.used_by_unknown.values())
            self.set_free_resources(self.capacity.free(tuple(held)))
            assert self._free_resources is not None
        return self._free_resources

    def refresh(self) -> None:
        """Let the free resources be calculated again when they are read."""
        self.rejected_by = 0
        self._free_resources = None

    def set_free_resources(self, free_resources: FreeResources) -> None:
        """Replace the free resources."""
        self.rejected_by = 0
        self._free_resources = free_resources

    def forget_proofs(self, tokens: int = -1) -> None:
        """Forget that these clients and roles, or all, take nothing."""
        self.rejected_by &= ~tokens


class AllocatorFramework:
    """One framework."""

    __slots__ = ("active", "clients", "id", "info", "inverse_filters")

    def __init__(self, info: FrameworkInfo, *, active: bool) -> None:
        self.id = info.id
        self.info = info
        self.active = active
        self.clients: dict[str, AllocatorClient] = {}
        """By role: where it is subscribed, or still holds something."""
        self.inverse_filters: dict[AllocatorAgent, list[object]] = {}
        """Its refusals of inverse offers that have not ended, by agent."""


class AllocatorClient:
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

    def __init__(
        self, framework: AllocatorFramework, role: RoleNode, leaf: Node, eligibility: Eligibility, refusals: Refusals
    ) -> None:
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
        """One bit, which changes whenever the client might accept more than before."""
        self.filters = ClientFilters(refusals)


Offered = dict[AllocatorClient, ResourcesByAgent]
"""The offers of a run."""


class Tokens:
    """Gives clients and roles their tokens, one bit each, so that an agent stores many of them in one integer."""

    def __init__(self, agents: Mapping[str, AllocatorAgent], frameworks: Mapping[str, AllocatorFramework]) -> None:
        self._agents = agents
        self._frameworks = frameworks
        self._used = 0
        self._most = _MORE_TOKENS

    def renew(self, client: AllocatorClient) -> None:
        """Give another token to a client and to its role."""
        if self._used >= self._most:
            self._begin_again()
        self._give(client, client.role)

    def _give(self, *holders: AllocatorClient | RoleNode) -> None:
        for holder in holders:
            holder.token = 1 << self._used
            self._used += 1

    def _begin_again(self) -> None:
        """Reuse the bits, most of which are no longer in use; agents drop them."""
        for agent in self._agents.values():
            agent.forget_proofs()
        clients = [client for framework in self._frameworks.values() for client in framework.clients.values()]
        self._used = 0
        self._give(*clients, *{client.role.name: client.role for client in clients}.values())
        self._most = 2 * self._used + _MORE_TOKENS
