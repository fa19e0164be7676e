"""The sums of a cluster at one moment, from the state of its master: a dry run compares two of them."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import TypeVar

from fake_master.state.master_state import MasterState
from mesosctl.model import roles
from mesosctl.model.quantities import Quantities, add_up
from mesosctl.model.resource import Resource
from mesosctl.model.resources import Resources
from mesosctl.planning.cluster_summary import ClusterSummary, HeldResources, LikeAgents

_NOTHING = Quantities()
_Object = TypeVar("_Object")


class _Sums:
    """Scalars by whose they are."""

    def __init__(self) -> None:
        self._amounts: dict[str, dict[str, int]] = {}

    def add(self, whose: str, entries: Iterable[Resource], times: int = 1) -> None:
        for entry in entries:
            if isinstance(entry.value, int):
                own = self._amounts.setdefault(whose, {})
                # What may be taken back is beyond the totals; a master shows it so, too.
                name = f"{entry.name}_revocable" if entry.revocable else entry.name
                own[name] = own.get(name, 0) + entry.value * times

    def quantities(self) -> dict[str, Quantities]:
        return {whose: Quantities(amounts) for whose, amounts in self._amounts.items()}

    def rolled_up(self) -> dict[str, Quantities]:
        """Return the quantities of roles, each counted for its ancestors too."""
        found: dict[str, Quantities] = {}
        for role, held in self.quantities().items():
            for name in (role, *roles.ancestors(role)):
                found[name] = found.get(name, _NOTHING) + held
        return found


def summarize(state: MasterState) -> ClusterSummary:
    """Return the sums of this moment."""
    used, offered, used_by, offered_to, counted = (_Sums() for _ in range(5))
    for framework in state.frameworks.values():
        for entry in framework.used():
            role = entry.allocation_role or roles.DEFAULT_ROLE
            used.add(role, [entry])
            used_by.add(framework.id, [entry])
            counted.add(role, _plain([entry]))
    for offer, times in _alike(state.offers, lambda one: (one.framework_id, one.role, id(one.resources))):
        offered.add(offer.role, offer.resources, times)
        offered_to.add(offer.framework_id, offer.resources, times)
        counted.add(offer.role, _plain(offer.resources), times)
    if state.profile.reservations_consume_quota:
        for agent, times in _alike(state.agents.values(), lambda one: id(one.total)):
            for owner, owned in agent.total.by_owner().items():
                counted.add(owner, owned, times)
    quotas = {role: quota for role, quota in state.quota_meanings().items() if not quota.is_default}
    rolled_up = counted.rolled_up()
    agents = _InService(state)
    return ClusterSummary(
        totals=Quantities(agents.totals),
        capacity=state.capacity(),
        free=Quantities(agents.free),
        roles=_held(used.rolled_up(), offered.rolled_up()),
        frameworks={one: HeldResources() for one in state.frameworks}
        | _held(used_by.quantities(), offered_to.quantities()),
        names={framework.id: framework.name for framework in state.frameworks.values()},
        quotas=quotas,
        counted={role: rolled_up.get(role, _NOTHING) for role in quotas},
        asking=_asking(state),
        like_agents=agents.alike,
    )


def _held(used: Mapping[str, Quantities], offered: Mapping[str, Quantities]) -> dict[str, HeldResources]:
    whose = sorted(used.keys() | offered.keys())
    return {one: HeldResources(used.get(one, _NOTHING), offered.get(one, _NOTHING)) for one in whose}


def _asking(state: MasterState) -> frozenset[str]:
    asked = {
        role
        for framework in state.frameworks.values()
        if framework.active
        for role in framework.roles - framework.suppressed
    }
    return frozenset(asked.union(*map(roles.ancestors, asked)))


class _InService:
    """Sums over the agents in service; of agents that share all their resources, one is looked at."""

    def __init__(self, state: MasterState) -> None:
        self.totals: dict[str, int] = {}
        self.free: dict[str, int] = {}
        """Neither used nor offered."""
        self.alike: Counter[LikeAgents] = Counter()
        looks: Counter[tuple[int, tuple[tuple[str, int], ...]]] = Counter()
        totals: dict[int, Resources] = {}
        offers_on = state.offers.on_agent
        agents = (agent for agent in state.agents.values() if agent.active)
        for agent, times in _alike(
            agents, lambda one: (id(one.total), id(one.used), *[id(offer.resources) for offer in offers_on(one.id)])
        ):
            for entry in agent.total:
                if isinstance(entry.value, int):
                    # A single amount is shown as it was sent; a product has forgotten that.
                    add_up(self.totals, [(entry.name, entry.value if times == 1 else entry.value * times)])
            idle = _without(_plain_amounts(agent.total), _plain_amounts(agent.used))
            free = _without(idle, *(_plain_amounts(offer.resources) for offer in offers_on(agent.id)))
            add_up(self.free, ((name, amount * times) for name, amount in free.items()))
            totals[id(agent.total)] = agent.total
            looks[id(agent.total), tuple(idle.items())] += times
        for (total, idle_amounts), times in looks.items():
            self.alike[_like(totals[total], dict(idle_amounts))] += times


def _like(total: Resources, idle: Mapping[str, int]) -> LikeAgents:
    owned = sorted(total.by_owner().items())
    return LikeAgents(
        unreserved=Quantities(_plain_amounts(total)),
        idle=Quantities(idle),
        reserved=tuple((owner, resources.scalar_quantities()) for owner, resources in owned),
    )


def _alike(objects: Iterable[_Object], key: Callable[[_Object], Hashable]) -> Iterator[tuple[_Object, int]]:
    """Yield one of the objects for each key, and how many have it.

    Like agents share one object of resources, and like offers too, so `id` is a key for as long as they exist.
    """
    firsts: dict[Hashable, _Object] = {}
    counts: Counter[Hashable] = Counter()
    for one in objects:
        of_one = key(one)
        firsts.setdefault(of_one, one)
        counts[of_one] += 1
    return ((one, counts[of_one]) for of_one, one in firsts.items())


def _plain_amounts(resources: Resources) -> dict[str, int]:
    """Return the amounts of `_plain` entries: thousandths by name."""
    amounts: dict[str, int] = {}
    for entry in resources:
        value = entry.value
        if isinstance(value, int) and _is_plain(entry):
            amounts[entry.name] = amounts.get(entry.name, 0) + value
    return amounts


def _without(amounts: Mapping[str, int], *others: Mapping[str, int]) -> dict[str, int]:
    """Subtract; as in `Quantities`, no amount falls below zero."""
    left = dict(amounts)
    for other in others:
        for name, amount in other.items():
            if name in left:
                left[name] = max(0, left[name] - amount)
    return left


def _plain(entries: Iterable[Resource]) -> list[Resource]:
    """Return the entries for which `_is_plain` holds."""
    return [entry for entry in entries if _is_plain(entry)]


def _is_plain(entry: Resource) -> bool:
    """Whether an entry is unreserved and not revocable, so that it serves guarantees."""
    return not entry.reservations and not entry.revocable
