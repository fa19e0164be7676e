"""The sums of a cluster at one moment, from the state of its master: a dry run compares two of them."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from fake_master.state.master_state import MasterState
from mesosctl.model import roles
from mesosctl.model.quantities import Quantities, add_up
from mesosctl.model.resource import Resource
from mesosctl.model.resources import Resources
from mesosctl.planning.cluster_summary import ClusterSummary, HeldResources, LikeAgents

_NOTHING = Quantities()
_Pairs = tuple[tuple[str, int], ...]
"""Thousandths by name."""
_Shape = tuple[_Pairs, _Pairs, tuple[tuple[str, _Pairs], ...]]
"""What `LikeAgents` have in common: what is unreserved, what is idle, and what is reserved by owner."""


class _Sums:
    """Amounts by whose they are."""

    def __init__(self) -> None:
        self._amounts: dict[str, dict[str, int]] = {}

    def add(self, whose: str, amounts: Iterable[tuple[str, int]]) -> None:
        own = self._amounts.setdefault(whose, {})
        for name, amount in amounts:
            own[name] = own.get(name, 0) + amount

    def quantities(self) -> dict[str, Quantities]:
        return {whose: Quantities(amounts) for whose, amounts in self._amounts.items() if amounts}

    def rolled_up(self) -> dict[str, Quantities]:
        """Return the quantities of roles, each counted for its ancestors too."""
        found: dict[str, Quantities] = {}
        for role, held in self.quantities().items():
            for name in (role, *roles.ancestors(role)):
                found[name] = found.get(name, _NOTHING) + held
        return found


class Summaries:
    """The sums of a cluster, each time that they are asked for; agents that have not changed are looked at once."""

    def __init__(self) -> None:
        self._looks: dict[tuple[int, ...], _Look] = {}
        """By the ids of an agent's resources: like agents share all of them."""
        self._shapes: dict[_Shape, _Shape] = {}
        self._free: dict[_Pairs, _Pairs] = {}
        """Each once: of agents with other ports and other labels most amounts are still the same."""

    def of(self, state: MasterState) -> ClusterSummary:
        """Return the sums of this moment."""
        used, offered, used_by, offered_to, counted = (_Sums() for _ in range(5))
        for framework in state.frameworks.values():
            for entry in framework.used():
                role = entry.allocation_role or roles.DEFAULT_ROLE
                used.add(role, _scalars([entry]))
                used_by.add(framework.id, _scalars([entry]))
                counted.add(role, _plain_scalars([entry]))
        for (framework_id, role), (scalars, plain) in _offered(state).items():
            offered.add(role, scalars.items())
            offered_to.add(framework_id, scalars.items())
            counted.add(role, plain.items())
        if state.profile.reservations_consume_quota:
            for agent in state.agents.values():
                for owner, owned in agent.total.by_owner().items():
                    counted.add(owner, _scalars(owned))
        quotas = {role: quota for role, quota in state.quota_meanings().items() if not quota.is_default}
        rolled_up = counted.rolled_up()
        agents = _InService(self._looks_of(state))
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

    def _looks_of(self, state: MasterState) -> "Iterator[tuple[_Look, int]]":
        """Yield each look that agents in service have, and how many have it."""
        counts: dict[tuple[int, ...], int] = {}
        for agent in state.agents.values():
            if agent.active:
                offers = [offer.resources for offer in state.offers.on_agent(agent.id)]
                key = (id(agent.total), id(agent.used), *map(id, offers))
                counts[key] = counts.get(key, 0) + 1
                if key not in self._looks:
                    self._looks[key] = self._look(agent.total, agent.used, offers)
        return ((self._looks[key], times) for key, times in counts.items())

    def _look(self, total: Resources, used: Resources, offers: Iterable[Resources]) -> "_Look":
        unreserved = _plain_amounts(total)
        idle = _without(unreserved, used)
        owned = sorted(total.by_owner().items())
        reserved = tuple((owner, tuple(resources.scalar_quantities().items())) for owner, resources in owned)
        shape = (tuple(unreserved.items()), tuple(idle.items()), reserved)
        free = tuple(_without(idle, *offers).items())
        return _Look(total, (used, *offers), self._shapes.setdefault(shape, shape), self._free.setdefault(free, free))


def _offered(state: MasterState) -> dict[tuple[str, str], tuple[dict[str, int], dict[str, int]]]:
    """Return the sums of all offers by framework id and role: all scalars, and the plain ones."""
    sums: dict[tuple[str, str], tuple[dict[str, int], dict[str, int]]] = {}
    for offer in state.offers:
        scalars, plain = sums.setdefault((offer.framework_id, offer.role), ({}, {}))
        add_up(scalars, _scalars(offer.resources))
        add_up(plain, _plain_scalars(offer.resources))
    return sums


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


class _Look(NamedTuple):
    """How the resources of an agent look in sums."""

    total: Resources
    held: tuple[Resources, ...]
    """Used and offered; kept so that their ids are not reused."""
    shape: _Shape
    free: _Pairs
    """Neither used nor offered."""


class _InService:
    """Sums over the agents in service."""

    def __init__(self, looks: Iterable[tuple[_Look, int]]) -> None:
        self.totals: dict[str, int] = {}
        self.free: dict[str, int] = {}
        """Neither used nor offered."""
        self.alike: dict[LikeAgents, int] = {}
        shapes: dict[_Shape, int] = {}
        for look, times in looks:
            for entry in look.total:
                if isinstance(entry.value, int):
                    # A single amount is shown as it was sent; a product has forgotten that.
                    add_up(self.totals, [(entry.name, entry.value if times == 1 else entry.value * times)])
            add_up(self.free, [(name, amount * times) for name, amount in look.free])
            shapes[look.shape] = shapes.get(look.shape, 0) + times
        for shape, times in shapes.items():
            like = _like(shape)
            self.alike[like] = self.alike.get(like, 0) + times


def _like(shape: _Shape) -> LikeAgents:
    unreserved, idle, reserved = shape
    return LikeAgents(
        unreserved=Quantities(dict(unreserved)),
        idle=Quantities(dict(idle)),
        reserved=tuple((owner, Quantities(dict(owned))) for owner, owned in reserved),
    )


def _without(amounts: Mapping[str, int], *others: Resources) -> dict[str, int]:
    """Subtract plain scalars; as in `Quantities`, no amount falls below zero."""
    left = dict(amounts)
    for other in others:
        for name, amount in _plain_amounts(other).items():
            if name in left:
                left[name] = max(0, left[name] - amount)
    return left


def _plain_amounts(resources: Resources) -> dict[str, int]:
    """Return the sums of the plain scalars."""
    amounts: dict[str, int] = {}
    for name, amount in _plain_scalars(resources):
        amounts[name] = amounts.get(name, 0) + amount  # a sum, so that nothing is shown as it was sent
    return amounts


def _scalars(entries: Iterable[Resource]) -> list[tuple[str, int]]:
    """Return the amounts; what may be taken back is beyond the totals, and has another name, as a master shows it."""
    return [
        (f"{entry.name}_revocable" if entry.revocable else entry.name, entry.value)
        for entry in entries
        if isinstance(entry.value, int)
    ]


def _plain_scalars(entries: Iterable[Resource]) -> list[tuple[str, int]]:
    """Return the amounts that serve guarantees: neither reserved nor revocable."""
    return [
        (entry.name, entry.value)
        for entry in entries
        if isinstance(entry.value, int) and not entry.reservations and not entry.revocable
    ]
