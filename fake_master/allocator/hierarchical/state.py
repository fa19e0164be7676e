"""The state that runs read and events change, and the accounting that both share.

A run skips what is proved to come to nothing. There are four proofs. This is what voids each, and the time that a run
or a replay takes without it:

- `AllocatorAgent.rejected_by`: clients and roles, as tokens, that take nothing of the agent's present free resources,
  whatever the quotas. A run passes over an agent that has the tokens of all roles. A client and its role get new tokens
  (`renew_tokens`) when it is activated, changes its description, or drops its filters. Other free resources void it for
  one agent, and so do a filter that ends and new attributes or a new total (`AllocatorAgent.forget_proofs`). It is no
  longer kept for when the agent has the same free resources again. Without it, 1,000 agents that 50 frameworks decline
  take a run of 80 ms instead of 0.07.
- `Run.passed_over`: roles whose bounds leave too little of such free resources, or for which none of them is reserved.
  It holds for one run, in which bounds only shrink. Without it, 1,000 agents and 100 roles with quotas take 140 ms
  instead of 21.
- `State.has_changed`, if false: a run over all agents made no offer, and nothing has changed since. Every event that
  could let the next one make an offer sets it; `test_quiet_time` goes through the methods of the interface. Without
  it, a million quiet seconds are a million runs.
- `Recurrence`: two moments alike, with nothing but declined offers between them, so the time from one to the other
  repeats until something else happens. The caller forgets earlier moments then (`ReplayRun._seen`). Without it, a day
  of three agents and ten frameworks that wait takes 9.4 s instead of 0.4.

`replay_engine/scalar_replay.py` makes the same decisions without this state, and has two of these proofs in its own
form: `_idle_until`, with `until` of each client, as `rejected_by`, which other free resources or bounds, a filter that
ends and a framework that asks void; and `_leave_out_repetitions`, as `Recurrence`, which everything but a declined
offer voids (`_seen`).

The reference allocator has no proofs; `tests/fake_master/allocator/reference` compares both on random histories.
"""

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial

from fake_master.allocator.hierarchical.guarantee_order import GuaranteeOrder
from fake_master.allocator.hierarchical.offerable.allocations import Allocation, Amounts, add
from fake_master.allocator.hierarchical.offerable.eligibility import Eligibilities
from fake_master.allocator.hierarchical.offerable.free_resources import Capacity, InternPool
from fake_master.allocator.hierarchical.packed_filters import Refusals
from fake_master.allocator.hierarchical.records import AllocatorAgent, AllocatorClient, AllocatorFramework, Tokens
from fake_master.allocator.hierarchical.role_tree import RoleNode, RoleTree, tokens_of
from fake_master.allocator.hierarchical.sorters.drf_sorter import DrfSorter
from fake_master.allocator.hierarchical.sorters.ordering import Ordering
from fake_master.allocator.hierarchical.sorters.random_sorter import RandomSorter
from fake_master.allocator.hierarchical.sorters.sorter import HeldTotals, Sorter, Totals
from fake_master.allocator.interface import AgentInfo, FrameworkInfo
from fake_master.allocator.options import Options, SorterName
from mesosctl.mesos.amounts.quantities import Quota
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.rules.offers.frameworks import AgentFeatures

# The most that the pool interns, in all or for each agent; beyond that all of it is dropped, and made again as needed.
_POOL_LEAST = 1000
_POOL_PER_AGENT = 40
_MOST_UNSETTLED = 50_000
"""New and returned allocations that the role tree does not count yet."""

MakeRoleOrder = Callable[[Callable[[], Sorter]], Ordering]
"""Makes the order of roles out of sorters of the kind that the options name."""

Withheld = Callable[[str, str, AgentInfo], bool]
"""(framework id, role, agent): whether nothing of the agent may be offered there at present."""


class State:
    """Agents, frameworks, roles and the books.

    Handing out and giving back only count allocations; the sums of the role tree are settled when they are read.
    """

    def __init__(
        self, options: Options, make_role_order: MakeRoleOrder | None = None, withheld: Withheld | None = None
    ) -> None:
        """By default, roles are in the order of the options, and nothing is withheld.

        If the answer of `withheld` changes, drop the proofs about the agent.
        """
        self.options = options
        self._withheld = withheld
        self.agents: dict[str, AllocatorAgent] = {}
        self.frameworks: dict[str, AllocatorFramework] = {}
        self.roles = RoleTree()
        self.totals = Totals(options.fair_sharing_excluded_resource_names)
        self.role_sorter = self._role_order(self.totals, make_role_order)
        self.pool = InternPool()
        self.guarantees: GuaranteeOrder | None = None
        """The order in which guarantees are met; None if it is that of all roles."""
        if options.guarantees_have_own_sorter:
            nonrevocable = Totals(options.fair_sharing_excluded_resource_names)
            order = self._role_order(nonrevocable, make_role_order)
            self.guarantees = GuaranteeOrder(nonrevocable, order, self.pool.allocations)
        self.eligibilities = Eligibilities(options)
        self.whitelist: frozenset[str] | None = None
        self.has_changed = True
        """Whether anything has changed since a run over all agents that made no offer, so that the next one might."""
        self.sequence = itertools.count()
        """Numbers agents as they register."""
        self.agents_by_sequence: dict[int, AllocatorAgent] = {}
        self.with_maintenance_ahead: set[str] = set()
        self.refusals = Refusals()
        self._tokens = Tokens(self.agents, self.frameworks)
        self._unsettled: dict[Allocation, int] = {}
        self._revocable_used: Amounts = {}

    # --- Holding and giving back --------------------------------------------------------------------

    def hold(
        self, agent: AllocatorAgent, client: AllocatorClient, allocation: Allocation, *, counted: bool = True
    ) -> None:
        """Account an allocation; the caller updates what is free on the agent.

        `counted` is whether the sorters see an allocation, or only a change of one.
        """
        agent.allocations.append((client, allocation))
        client.allocation_count += 1
        self._account(client, agent.id, allocation, 1, counted=counted)

    def give_back(self, agent: AllocatorAgent, client: AllocatorClient, allocation: Allocation) -> None:
        """The reverse.  Raises ValueError if the framework does not hold all of it there."""
        try:
            agent.allocations.remove((client, allocation))
            client.allocation_count -= 1
        except ValueError:
            self._split(agent, client, allocation)
        self._account(client, agent.id, allocation, -1)

    def _account(
        self, client: AllocatorClient, agent: str, allocation: Allocation, sign: int, *, counted: bool = True
    ) -> None:
        """Account what a client got or gave back in the sorters and the role tree; see `Sorter.allocated`."""
        role = client.role
        assert role.leaf is not None
        assert role.sorter is not None
        self.has_changed = True
        self.role_sorter.allocated(role.leaf, agent, allocation, sign, counted=counted)
        role.sorter.allocated(client.leaf, agent, allocation, sign, counted=counted)
        if self.guarantees is not None:
            self.guarantees.allocated(role, agent, allocation, sign, counted=counted)
        if isinstance(role.sorter.totals, HeldTotals):
            role.sorter.totals.hold(agent, allocation, sign)
        unsettled = self._unsettled
        unsettled[allocation] = unsettled.get(allocation, 0) + sign
        if allocation.shared:
            self.roles.hold_shared(allocation, agent, sign)

    def _split(self, agent: AllocatorAgent, client: AllocatorClient, allocation: Allocation) -> None:
        """Take an allocation out of others that together contain it."""
        own = [held for holder, held in agent.allocations if holder is client]
        if not own:
            raise ValueError(f"{client.framework.id} holds nothing on {agent.id}, not {allocation.with_role}")
        pool = self.pool.allocations
        try:
            left = pool.rest(pool.merged(own), allocation)
        except ValueError as error:
            raise ValueError(f"on {agent.id}, {client.framework.id} holds {error}") from None
        agent.allocations = [pair for pair in agent.allocations if pair[0] is not client]
        if left is not None:
            agent.allocations.append((client, left))
        client.allocation_count += (left is not None) - len(own)

    def merge_last_two(self, agent: AllocatorAgent, client: AllocatorClient) -> Resources:
        """Make one allocation of the two that a client was handed of an agent in a run, and return its resources."""
        last = agent.allocations.pop()[1]
        index = max(index for index, (holder, _) in enumerate(agent.allocations) if holder is client)
        first = agent.allocations.pop(index)[1]
        both = self.pool.allocations.merged((first, last))
        agent.allocations.append((client, both))
        client.allocation_count -= 1
        return both.with_role

    def settle(self) -> None:
        """Count new and returned allocations in the role tree."""
        self.roles.hold(self._unsettled)
        for allocation, times in self._unsettled.items():
            add(self._revocable_used, allocation.revocable, times)
        self._unsettled.clear()

    def total_used(self) -> Amounts:
        """Scalars offered or allocated on all agents, reserved and revocable ones included."""
        self.settle()
        root = self.roles.root
        used = dict(root.used_reserved.amounts)
        add(used, tuple(root.used_unreserved.items()))
        add(used, tuple(self._revocable_used.items()))
        return used

    def consumed_by(self, role: RoleNode) -> Amounts:
        """Return what counts against a role's quota at this moment."""
        self.settle()
        options = self.options
        return role.consumed(
            with_reservations=options.reservations_consume_quota, with_subroles=options.subroles_consume_quota
        )

    def hold_all(self, agent: AllocatorAgent, framework: AllocatorFramework, used: Resources) -> None:
        """Account what a framework holds on an agent when one of the two appears."""
        for allocation in self.pool.allocations.by_role(used) if used else ():
            self.hold(agent, self.ensure_client(framework, allocation.role), allocation)

    def convert(self, agent: AllocatorAgent, client: AllocatorClient, before: Allocation, after: Resources) -> None:
        """Convert resources that a client is offered; counts stay."""
        self.give_back(agent, client, before)
        if after:
            self.hold(agent, client, self.pool.allocations.of(after), counted=False)

    def mark_allocated(self, agent: AllocatorAgent, allocation: Allocation, sign: int) -> None:
        """Offered resources were accepted (+1), or are given back (-1), which is nothing unless they were accepted."""
        if sign > 0:
            agent.accepted += (allocation.with_role,)
        elif not agent.give_back(allocation.with_role):
            return
        self.roles.allocate(allocation.role, allocation.unreserved, sign)

    def mark_all_allocated(self, agent: AllocatorAgent, resources: Resources) -> None:
        """The same for resources of any allocation roles."""
        for allocation in self.pool.allocations.by_role(resources) if resources else ():
            self.mark_allocated(agent, allocation, 1)

    # --- Roles --------------------------------------------------------------------------------------

    def set_quota(self, role: str, quota: Quota) -> None:
        """Replace a top-level role's quota.  Raises ValueError for a nested role."""
        if "/" in role:
            raise ValueError(f"quota of a nested role is not supported: {role}")
        self.has_changed = True
        had, has = self.roles.get(role), not quota.is_default
        if self.guarantees is not None and had is not None and not had.quota.is_default and had.quota != quota:
            self.guarantees.leave(had)  # quota is replaced by removing it
        is_new = had is None or had.quota != quota
        self.roles.set_quota(role, quota)
        if self.guarantees is not None and has and is_new:
            node = self.roles.ensure(role)
            self.guarantees.enter(node, self._held_by_agent(node))

    def _held_by_agent(self, role: RoleNode) -> Iterator[tuple[str, list[Allocation]]]:
        for agent in self.agents.values():
            own = [allocation for client, allocation in agent.allocations if client.role is role]
            if own:
                yield agent.id, own

    def set_weights(self, weights: Mapping[str, float]) -> None:
        """Set weights by role.

        They only change the order, so nothing has changed for a run in which nobody took anything.
        """
        for role, weight in weights.items():
            self.roles.set_weight(role, weight)
            self.role_sorter.update_weight(role, weight)
            if self.guarantees is not None:
                self.guarantees.sorter.update_weight(role, weight)

    # --- Clients ------------------------------------------------------------------------------------

    def ensure_client(self, framework: AllocatorFramework, name: str) -> AllocatorClient:
        """Return the framework in a role; a new client is inactive."""
        client = framework.clients.get(name)
        if client is None:
            role = self.roles.ensure(name)
            if role.sorter is None:
                role.sorter = self._sorter(self.options.framework_sorter, self._framework_totals())
                role.leaf = self.role_sorter.add(name, role)
                self.role_sorter.activate(name)
            leaf = role.sorter.add(framework.id.replace("/", "\0"))
            leaf.client = client = AllocatorClient(
                framework, role, leaf, self.eligibilities.of(framework.info, name), self.refusals
            )
            client.excludes = self._excludes(framework.info, name)
            framework.clients[name] = client
            self.renew_tokens(client)
        return client

    def forget_client_unless_needed(self, client: AllocatorClient) -> None:
        """Forget a client that is not subscribed and holds nothing."""
        if client.subscribed or client.allocation_count:
            return
        role, framework = client.role, client.framework
        assert role.sorter is not None
        role.sorter.remove(client.leaf.path)
        del framework.clients[role.name]
        if not len(role.sorter):
            self.settle()
            role.sorter = role.leaf = None
            self.role_sorter.remove(role.name)
            self.roles.prune(role)

    def set_active(self, client: AllocatorClient) -> None:
        """Let the client take part in sharing exactly if it may."""
        role = client.role
        assert role.sorter is not None
        self.has_changed = True
        if client.subscribed and client.framework.active and not client.suppressed:
            role.sorter.activate(client.leaf.path)
            self.renew_tokens(client)
        else:
            role.sorter.deactivate(client.leaf.path)

    def tokens(self) -> int:
        """Return the tokens, or-ed, of the roles with a framework that takes part in sharing."""
        return tokens_of(role for role in self.roles if role.sorter is not None and role.sorter.active)

    def renew_tokens(self, client: AllocatorClient) -> None:
        """Drop every proof that the client accepts nothing, because it might now."""
        self._tokens.renew(client)
        self.has_changed = True

    def update_info(self, framework: AllocatorFramework, info: FrameworkInfo) -> None:
        """Replace the description of a framework: eligibility and constraints of each of its clients."""
        framework.info = info
        for name, client in framework.clients.items():
            client.eligibility = self.eligibilities.of(info, name)
            client.excludes = self._excludes(info, name)
            self.renew_tokens(client)

    def _excludes(self, info: FrameworkInfo, role: str) -> Callable[[AgentInfo], bool] | None:
        """Return the test for agents not offered in the role: the framework's constraints, and what is withheld."""
        own, withheld = info.excludes.get(role), self._withheld
        if withheld is None:
            return own
        if own is None:
            return lambda agent: withheld(info.id, role, agent)
        return lambda agent: own(agent) or withheld(info.id, role, agent)

    # --- Agents -------------------------------------------------------------------------------------

    def capacity(self, info: AgentInfo, total: Resources) -> Capacity:
        """The interned capacity of an agent."""
        features = AgentFeatures.of(
            info.capabilities,
            total,
            filter_gpus=self.options.filter_gpu_resources,
            region=info.region,
            master_region=self.options.region,
        )
        return self.pool.capacity(features, total)

    def count_total(self, capacity: Capacity, sign: int) -> None:
        """Count an agent's total in the sums (+1), or no longer (-1)."""
        self.has_changed = True
        self.totals.change(capacity.scalars, sign)
        if self.guarantees is not None:
            self.guarantees.count_total(capacity.nonrevocable, sign)
        self.roles.reserve(() if sign > 0 else capacity.reserved, capacity.reserved if sign > 0 else ())

    def replace_total(self, agent: AllocatorAgent, info: AgentInfo, total: Resources) -> None:
        """Replace an agent's total and description."""
        capacity = self.capacity(info, total)
        self.has_changed = True
        agent.info = info
        if capacity is agent.capacity:
            return
        if capacity.scalars != agent.capacity.scalars:
            self.totals.change(capacity.scalars)
            self.totals.change(agent.capacity.scalars, -1)
        if self.guarantees is not None:
            self.guarantees.count_total(capacity.nonrevocable, 1)
            self.guarantees.count_total(agent.capacity.nonrevocable, -1)
        self.roles.reserve(agent.capacity.reserved, capacity.reserved)
        agent.set_capacity(capacity)

    def set_activated(self, agent: AllocatorAgent, *, activated: bool) -> None:
        """Let an agent be offered, or no longer."""
        self.has_changed = True
        agent.activated = activated

    def set_whitelist(self, hostnames: Collection[str] | None) -> None:
        """Let agents with these host names be offered only; None allows all."""
        self.has_changed = True
        self.whitelist = None if hostnames is None else frozenset(hostnames)

    def trim(self) -> None:
        """Keep memory bounded: drop interned objects when there are too many, and rebuild those of agents."""
        if len(self._unsettled) > _MOST_UNSETTLED:
            self.settle()
        if len(self.pool) > max(_POOL_LEAST, _POOL_PER_AGENT * len(self.agents)):
            self.pool.forget()
            for agent in self.agents.values():
                agent.set_capacity(self.capacity(agent.info, agent.capacity.total))

    def _role_order(self, totals: Totals, make_role_order: MakeRoleOrder | None) -> Ordering:
        make_sorter = partial(self._sorter, self.options.role_sorter, totals)
        return make_role_order(make_sorter) if make_role_order is not None else make_sorter()

    def _framework_totals(self) -> Totals:
        """The totals of which the frameworks of one role have shares."""
        options = self.options
        if options.framework_shares_are_of_role:
            return HeldTotals(options.fair_sharing_excluded_resource_names)
        return self.totals

    def _sorter(self, kind: SorterName, totals: Totals) -> Sorter:
        options = self.options
        sorter: Sorter
        if kind == "random":
            together = options.random_order_keeps_subtrees_together
            sorter = RandomSorter(totals, None, options.random, subtrees_stay_together=together)
        else:
            sorter = DrfSorter(totals)
        sorter.inner_weights_stay = options.inner_weights_stay
        return sorter
