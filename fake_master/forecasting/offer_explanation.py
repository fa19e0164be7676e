"""An account of a cluster for roles of frameworks: what a run of the allocator would offer, and where the rest is."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from fake_master.allocator.hierarchical.allocator import HierarchicalAllocator
from fake_master.allocator.hierarchical.offerable.allocations import is_unreserved_nonrevocable
from fake_master.allocator.hierarchical.records import AllocatorAgent, AllocatorClient
from fake_master.allocator.hierarchical.stages.run import Rejection
from fake_master.allocator.hierarchical.stages.trial_run import Decision, Trial, try_offers
from fake_master.master import Master
from fake_master.sources.snapshot import RestoredCluster
from fake_master.state.clock import VirtualClock
from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.agents import ClusterAgent
from mesosctl.mesos.cluster.snapshot import ClusterSnapshot
from mesosctl.mesos.door.offer_explanation import Cause, EvictableTask, ExplainedAgent, OfferAccount, WithheldResources
from mesosctl.mesos.roles import display_names, top_level

Subject = tuple[str, str]
"""Framework id and role."""
Held = tuple[str, str, Resources]
"""Framework id, role and resources, without allocation roles."""


def accounts_of(
    snapshot: ClusterSnapshot, subjects: Sequence[Subject], out_of_service: Mapping[str, str]
) -> list[OfferAccount]:
    """Return the account of each subject, in order.

    `out_of_service` has the state of agents by id, as far as it is known.  Raises BadInput for what no master could be.
    """
    master = RestoredCluster(snapshot).start(clock=VirtualClock(snapshot.taken_at))
    allocator = master.allocator
    assert isinstance(allocator, HierarchicalAllocator), "every allocator that a snapshot can name is hierarchical"
    order = [role for role, _ in allocator.serving_order()]
    accounting = _Accounting(snapshot, master, allocator, out_of_service)
    trials = try_offers(allocator.state, subjects)
    return [accounting.account(*subject, trial, order) for subject, trial in zip(subjects, trials, strict=True)]


class _Accounting:
    """One cluster: who holds what, and what is free."""

    def __init__(
        self,
        snapshot: ClusterSnapshot,
        master: Master,
        allocator: HierarchicalAllocator,
        out_of_service: Mapping[str, str],
    ) -> None:
        self._snapshot = snapshot
        self._master = master
        self._state = allocator.state
        self._out_of_service = out_of_service
        self._framework_names = {framework.id: framework.name for framework in snapshot.frameworks}
        self._agent_names = display_names({agent.id: agent.hostname for agent in snapshot.agents})
        self._used: dict[str, list[Held]] = {}
        for usage in snapshot.usages:
            self._used.setdefault(usage.agent_id, []).append((usage.framework_id, usage.role, usage.resources))
        self._offered: dict[str, list[Held]] = {}
        for offer in snapshot.offers:
            self._offered.setdefault(offer.agent_id, []).append((offer.framework_id, offer.role, offer.resources))

    def account(self, framework_id: str, role: str, trial: Trial, order: Sequence[str]) -> OfferAccount:
        """Return the account of one subject, of which `trial` is the run.

        `order` is that in which active roles are served, empty if unknown.
        """
        client = self._state.frameworks[framework_id].clients[role]
        return OfferAccount(
            framework_id=framework_id,
            framework=self._framework_names[framework_id],
            role=role,
            agents=tuple(
                ExplainedAgent(agent.id, agent.hostname, tuple(_merged(self._lines(agent, client, trial))))
                for agent in self._snapshot.agents
            ),
            lacking=trial.lacking,
            guarantee=self._snapshot.quotas.get(top_level(role), Quota()).guarantees,
            minimum=client.eligibility.minimum,
            reached=self._reached(role, trial),
            guarantee_is_limit=self._snapshot.profile.guarantee_is_limit,
            ahead=tuple(filter(self._may_get_more, order[: order.index(role)])) if role in order else (),
            evictable=tuple(self._evictable(role)),
        )

    def _reached(self, role: str, trial: Trial) -> Limits:
        """Return the limits that leave the role nothing."""
        limits = self._snapshot.profile.caps(self._snapshot.quotas.get(top_level(role), Quota()))
        return Limits({name: limits[name] for name, left in trial.limits_left.items() if left <= 0 and name in limits})

    def _may_get_more(self, role: str) -> bool:
        """Return whether its guarantee, if that is its limit, leaves it anything; what is reserved for it aside."""
        quota, node = self._snapshot.quotas.get(role), self._state.roles.get(role)
        if not self._snapshot.profile.guarantee_is_limit or quota is None or node is None:
            return True
        return not Quantities(self._state.consumed_by(node)).contains(quota.guarantees)

    def _lines(self, agent: ClusterAgent, client: AllocatorClient, trial: Trial) -> Iterator[WithheldResources]:
        """Yield the lines of one agent; loans are not part of its total, and so are in none of them."""
        held: tuple[tuple[Cause, Mapping[str, list[Held]]], ...] = (("used", self._used), ("offered", self._offered))
        for cause, by_agent in held:
            for framework_id, role, resources in by_agent.get(agent.id, ()):
                amounts = resources.filter(self._is_of_agent).separate_quantities()
                if not amounts:
                    continue
                yield WithheldResources(
                    cause,
                    amounts,
                    (role,),
                    framework_id,
                    self._framework_names[framework_id],
                    own=(framework_id, role) == (client.framework.id, client.role.name),
                )
        record = self._state.agents[agent.id]
        free = record.free_resources.resources
        decision = trial.decisions.get(agent.id)
        if decision is not None:
            yield from self._free_lines(record, free, client, decision, trial.still_lacking or trial.lacking)
        elif free:
            yield WithheldResources(
                "out-of-service", free.separate_quantities(), status=self._out_of_service.get(agent.id)
            )

    def _free_lines(
        self,
        agent: AllocatorAgent,
        free: Resources,
        client: AllocatorClient,
        decision: Decision,
        lacking: Mapping[str, Quantities],
    ) -> Iterator[WithheldResources]:
        """Yield what is free of an agent in service, by the reason why it is not offered."""
        if decision.offered:
            yield WithheldResources("open", decision.offered.separate_quantities())
        eligibility = client.eligibility
        unfit = eligibility.own_capabilities.missing_capability(agent.free_resources.features)
        visible: list[Resource] = []
        for entry in free - decision.offered:
            missing = unfit or eligibility.accepted_kinds.missing_capability(entry)
            amounts = Resources([entry]).separate_quantities()
            if not entry.allocatable_to(client.role.name):
                static = Quantities() if entry.is_dynamically_reserved else amounts
                yield WithheldResources("reserved", amounts, (entry.role,), static=static)
            elif missing is not None:
                yield WithheldResources("capability", amounts, capability=missing)
            else:
                visible.append(entry)
        left = Resources(visible)
        if not left:
            return
        cause = _cause(agent, client, decision)
        if cause is not None:
            yield WithheldResources(cause, left.separate_quantities())
            return
        if self._state.options.guarantee_is_limit and not client.role.quota.is_default:
            yield from self._capped_lines(left, client, decision, lacking)
        else:
            yield from self._bounded_lines(left, client, decision, lacking)

    def _capped_lines(
        self, left: Resources, client: AllocatorClient, decision: Decision, lacking: Mapping[str, Quantities]
    ) -> Iterator[WithheldResources]:
        """Yield what is kept from a role whose guarantee is its limit.

        Unreserved resources come only with some that the guarantee lacks, or with a reservation of the role.
        """
        bounds, role = decision.bounds, client.role.name
        counted = left.filter(is_unreserved_nonrevocable).scalar_quantities()
        own = [entry for entry in left if entry.is_reserved and not entry.revocable]
        serves = bool(own) or any(
            min(counted.get_amount(name), lacks) > 0 for name, lacks in bounds.limits_left.items()
        )
        beyond: dict[str, int] = {}
        kept: dict[str, int] = {}
        for name, amount in counted.items():
            if not serves and not decision.refused:
                beyond[name] = amount
            elif name in bounds.limits_left:
                beyond[name] = max(0, amount - bounds.limits_left[name])
            elif bounds.spare is not None:
                kept[name] = max(0, amount - bounds.spare.get_amount(name))
        rest = dict(left.separate_quantities().items())
        if not serves and not decision.refused:
            beyond = rest
        if withheld := Quantities(beyond):
            yield WithheldResources("limit", withheld, (role,), of_guarantee=True)
        for name, amount in Quantities(kept).items():
            owed = [other for other, short in lacking.items() if short.get_amount(name)]
            yield WithheldResources("guarantee", Quantities({name: amount}), tuple(sorted(owed)))
        if over := Quantities(rest) - withheld - Quantities(kept):
            yield WithheldResources("filter" if decision.refused else "minimum", over)

    def _bounded_lines(
        self, left: Resources, client: AllocatorClient, decision: Decision, lacking: Mapping[str, Quantities]
    ) -> Iterator[WithheldResources]:
        """Yield the amounts that quota withholds, and those of which it leaves too little, or only what was refused.

        Where an agent is not divided, the guarantees keep the whole of one that does not fit beside them, or all that
        could serve them.
        """
        bounds = decision.bounds
        rest = dict(left.separate_quantities().items())
        counted = left.filter(is_unreserved_nonrevocable).scalar_quantities()
        if decision.kept_whole:
            if kept := counted:
                yield WithheldResources("guarantee", kept, tuple(sorted(lacking)))
            if over := left.separate_quantities() - counted:
                yield WithheldResources("filter" if decision.refused else "minimum", over)
            return
        undivided = self._state.options.quota_takes_whole_agents and not decision.offered and not decision.refused
        if undivided and bounds.spare is not None and not bounds.spare.contains(counted):
            yield WithheldResources("guarantee", left.separate_quantities(), tuple(sorted(lacking)))
            return
        for name, amount in counted.items():
            limit = bounds.limits_left.get(name)
            spare = None if bounds.spare is None else bounds.spare.get_amount(name)
            withheld = amount - min(bound for bound in (amount, limit, spare) if bound is not None)
            if withheld <= 0:
                continue
            rest[name] -= withheld
            amounts = Quantities({name: withheld})
            if limit is not None and (spare is None or limit <= spare):
                yield WithheldResources("limit", amounts, (client.role.name,))
            else:
                owed = [role for role, short in lacking.items() if short.get_amount(name)]
                yield WithheldResources("guarantee", amounts, tuple(sorted(owed)))
        if over := Quantities(rest):
            yield WithheldResources("filter" if decision.refused else "minimum", over)

    def _is_of_agent(self, entry: Resource) -> bool:
        """Return whether it is part of an agent's total; what its owner lends is not."""
        return self._snapshot.lending is None or entry.revocability != "non-throttleable"

    def _evictable(self, role: str) -> Iterator[EvictableTask]:
        """Yield the tasks that would end if the role used everything that it can have of each agent."""
        for agent in self._master.state.agents.values():
            wanted = self._state.agents[agent.id].free_resources.resources.filter(
                lambda entry: entry.allocatable_to(role)
            )
            for _, receiver, offered in self._offered.get(agent.id, ()):
                if receiver == role:
                    wanted += offered.filter(self._is_of_agent)
            for framework, task in self._master.runtime.would_be_evicted(agent, wanted):
                yield EvictableTask(framework.name, task.id, self._agent_names[agent.id])


def _cause(agent: AllocatorAgent, client: AllocatorClient, decision: Decision) -> Cause | None:
    """Return why a client is offered nothing of what it may see of an agent, apart from quota."""
    if decision.rejection is Rejection.NOT_OFFERABLE:
        return "minimum"
    if decision.rejection is Rejection.FILTER:
        return "filter"
    if decision.rejection is Rejection.EXCLUDED:
        own = client.framework.info.excludes.get(client.role.name)
        return "constraints" if own is not None and own(agent.info) else "priority"
    return None


def _merged(lines: Iterable[WithheldResources]) -> Iterator[WithheldResources]:
    """Add up the lines of one agent that differ in nothing but amounts."""
    sums: dict[tuple[object, ...], WithheldResources] = {}
    for line in lines:
        key = (line.cause, line.roles, line.framework_id, line.detail)
        known = sums.get(key)
        sums[key] = (
            line
            if known is None
            else replace(known, amounts=known.amounts + line.amounts, static=known.static + line.static)
        )
    return iter(sums.values())
