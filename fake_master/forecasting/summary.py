"""The sums of a cluster at one moment, from the state of its master: a dry run compares two of them."""

from collections import Counter
from collections.abc import Iterable, Mapping

from fake_master.state.agents import Agent
from fake_master.state.master_state import MasterState
from mesosctl.model import roles
from mesosctl.model.quantities import Quantities, add_up
from mesosctl.model.resource import Resource
from mesosctl.model.resources import Resources
from mesosctl.planning.cluster_summary import ClusterSummary, HeldResources, LikeAgents

_NOTHING = Quantities()


class _Sums:
    """Scalars by whose they are."""

    def __init__(self) -> None:
        self._amounts: dict[str, dict[str, int]] = {}

    def add(self, whose: str, entries: Iterable[Resource]) -> None:
        for entry in entries:
            if isinstance(entry.value, int):
                own = self._amounts.setdefault(whose, {})
                # What may be taken back is beyond the totals; a master shows it so, too.
                name = f"{entry.name}_revocable" if entry.revocable else entry.name
                own[name] = own.get(name, 0) + entry.value

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
    for offer in state.offers:
        offered.add(offer.role, offer.resources)
        offered_to.add(offer.framework_id, offer.resources)
        counted.add(offer.role, _plain(offer.resources))
    if state.profile.reservations_consume_quota:
        for agent in state.agents.values():
            for owner, owned in agent.total.by_owner().items():
                counted.add(owner, owned)
    quotas = {role: quota for role, quota in state.quota_meanings().items() if not quota.is_default}
    in_service = [agent for agent in state.agents.values() if agent.active]
    rolled_up = counted.rolled_up()
    plain = _PlainAmounts()
    return ClusterSummary(
        totals=_totals(in_service),
        capacity=state.capacity(),
        free=_free(state, in_service, plain),
        roles=_held(used.rolled_up(), offered.rolled_up()),
        frameworks={one: HeldResources() for one in state.frameworks}
        | _held(used_by.quantities(), offered_to.quantities()),
        names={framework.id: framework.name for framework in state.frameworks.values()},
        quotas=quotas,
        counted={role: rolled_up.get(role, _NOTHING) for role in quotas},
        asking=_asking(state),
        like_agents=_like_agents(in_service, plain),
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


def _totals(agents: Iterable[Agent]) -> Quantities:
    """Return the sum of what agents have, added up in place as in `_free`."""
    sums: dict[str, int] = {}
    for agent in agents:
        add_up(sums, ((entry.name, entry.value) for entry in agent.total if isinstance(entry.value, int)))
    return Quantities(sums)


class _PlainAmounts:
    """The amounts of `_plain` entries; of one collection, which like agents share, they are worked out once."""

    def __init__(self) -> None:
        # Each collection is kept with its amounts, so that its id is not reused.
        self._known: dict[int, tuple[Resources, dict[str, int]]] = {}

    def of(self, resources: Resources) -> Mapping[str, int]:
        """Return thousandths by name."""
        found = self._known.get(id(resources))
        if found is None:
            amounts: dict[str, int] = {}
            for entry in resources:
                value = entry.value
                if isinstance(value, int) and _is_plain(entry):
                    amounts[entry.name] = amounts.get(entry.name, 0) + value
            found = self._known[id(resources)] = (resources, amounts)
        return found[1]


def _without(amounts: Mapping[str, int], *others: Mapping[str, int]) -> dict[str, int]:
    """Subtract; as in `Quantities`, no amount falls below zero."""
    left = dict(amounts)
    for other in others:
        for name, amount in other.items():
            if name in left:
                left[name] = max(0, left[name] - amount)
    return left


def _free(state: MasterState, agents: Iterable[Agent], plain: _PlainAmounts) -> Quantities:
    """Return what is neither used nor offered; summed up in place, because a Quantities for each agent is slow."""
    sums: dict[str, int] = {}
    for agent in agents:
        offered = (plain.of(offer.resources) for offer in state.offers.on_agent(agent.id))
        add_up(sums, _without(plain.of(agent.total), plain.of(agent.used), *offered).items())
    return Quantities(sums)


def _like_agents(agents: Iterable[Agent], plain: _PlainAmounts) -> Counter[LikeAgents]:
    """Count the agents that look the same."""
    # Like agents share one object of resources, and one of an agent of each look is looked at.
    looks: dict[tuple[int, tuple[tuple[str, int], ...]], list[Agent]] = {}
    for agent in agents:
        idle = _without(plain.of(agent.total), plain.of(agent.used))
        looks.setdefault((id(agent.total), tuple(idle.items())), []).append(agent)
    found: Counter[LikeAgents] = Counter()
    for (_, idle_amounts), alike in looks.items():
        total = alike[0].total
        owned = sorted(total.by_owner().items())
        look = LikeAgents(
            unreserved=Quantities(plain.of(total)),
            idle=Quantities(dict(idle_amounts)),
            reserved=tuple((owner, resources.scalar_quantities()) for owner, resources in owned),
        )
        found[look] += len(alike)
    return found


def _plain(entries: Iterable[Resource]) -> list[Resource]:
    """Return the entries for which `_is_plain` holds."""
    return [entry for entry in entries if _is_plain(entry)]


def _is_plain(entry: Resource) -> bool:
    """Whether an entry is unreserved and not revocable, so that it serves guarantees."""
    return not entry.reservations and not entry.revocable
