"""The sums of a cluster at one moment, from the state of its master: a dry run compares two of them."""

from collections.abc import Iterable, Mapping
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


class _Total(NamedTuple):
    """The amounts that an agent has."""

    amounts: _Pairs
    unreserved: _Pairs
    reserved: tuple[tuple[str, _Pairs], ...]
    """By owner."""


class _AgentAmounts:
    """The amounts of agents that differ in ports and labels at most; equal only to itself."""

    __slots__ = ("free", "idle", "total")

    def __init__(self, total: _Total, used: _Pairs, offers: Iterable[_Pairs]) -> None:
        self.total = total
        self.idle = _without(dict(total.unreserved), used)
        """The part of what is unreserved that no task uses."""
        self.free = _without(self.idle, *offers)
        """The part of it that is not offered."""

    def like_agents(self) -> LikeAgents:
        return LikeAgents(
            unreserved=Quantities(dict(self.total.unreserved)),
            idle=Quantities(self.idle),
            reserved=tuple((owner, Quantities(dict(owned))) for owner, owned in self.total.reserved),
        )


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


class _KnownScalars:
    """The scalars of resources.  An object that many agents or offers share is read once.

    It is kept with its scalars, so that no other object gets its id.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[Resources, _Pairs, _Pairs]] = {}
        self._pairs: dict[_Pairs, _Pairs] = {}
        """Each once: most amounts repeat, whatever the ports and labels beside them."""

    def of(self, resources: Resources) -> tuple[Resources, _Pairs, _Pairs]:
        """Return the resources, all their scalars, and the plain ones."""
        found = self._known.get(id(resources))
        if found is None:
            scalars, plain = tuple(_scalars(resources)), tuple(_plain_scalars(resources))
            found = resources, self._pairs.setdefault(scalars, scalars), self._pairs.setdefault(plain, plain)
            self._known[id(resources)] = found
        return found


class Summaries:
    """The sums of a cluster, each time that they are asked for; agents of equal resources are added up once."""

    def __init__(self) -> None:
        self._scalars = _KnownScalars()
        self._totals: dict[int, _Total] = {}
        """By the id of the resources, which `_scalars` keeps."""
        self._known_totals: dict[_Total, _Total] = {}
        """Each once, so that it is found by its id."""
        self._by_amounts: dict[tuple[int, ...], _AgentAmounts] = {}
        """By the id of the total, and those of what is used and offered of it."""
        self._by_identity: dict[tuple[int, ...], _AgentAmounts] = {}
        """The same by the ids of all these resources."""

    def of(self, state: MasterState) -> ClusterSummary:
        """Return the sums of this moment."""
        used, offered, used_by, offered_to, consumed, only_offered = (_Sums() for _ in range(6))
        for framework in state.frameworks.values():
            for entry in framework.used():
                role = entry.allocation_role or roles.DEFAULT_ROLE
                used.add(role, _scalars([entry]))
                used_by.add(framework.id, _scalars([entry]))
                consumed.add(role, _plain_scalars([entry]))
        for (framework_id, role), (scalars, plain) in self._offered(state).items():
            offered.add(role, scalars.items())
            offered_to.add(framework_id, scalars.items())
            only_offered.add(role, plain.items())
        if state.profile.reservations_consume_quota:
            for agent in state.agents.values():
                for owner, owned in agent.total.by_owner().items():
                    consumed.add(owner, _scalars(owned))
        quotas = {role: quota for role, quota in state.quota_meanings().items() if not quota.is_default}
        held, more = consumed.rolled_up(), only_offered.rolled_up()
        totals: dict[str, int] = {}
        free: dict[str, int] = {}
        like_agents: dict[LikeAgents, int] = {}
        for one, agents in self._agents_by_amounts(state).items():
            # A single amount is shown as it was sent; a product has forgotten that.
            amounts = one.total.amounts
            add_up(totals, amounts if agents == 1 else [(name, amount * agents) for name, amount in amounts])
            add_up(free, [(name, amount * agents) for name, amount in one.free.items()])
            like = one.like_agents()
            like_agents[like] = like_agents.get(like, 0) + agents
        return ClusterSummary(
            totals=Quantities(totals),
            capacity=state.capacity(),
            free=Quantities(free),
            roles=_held(used.rolled_up(), offered.rolled_up()),
            frameworks={one: HeldResources() for one in state.frameworks}
            | _held(used_by.quantities(), offered_to.quantities()),
            names={framework.id: framework.name for framework in state.frameworks.values()},
            quotas=quotas,
            counted={role: held.get(role, _NOTHING) + more.get(role, _NOTHING) for role in quotas},
            consumed={role: held.get(role, _NOTHING) for role in quotas},
            asking=_asking(state),
            like_agents=like_agents,
        )

    def _offered(self, state: MasterState) -> dict[tuple[str, str], tuple[dict[str, int], dict[str, int]]]:
        """Return the sums of all offers by framework id and role: all scalars, and the plain ones."""
        sums: dict[tuple[str, str], tuple[dict[str, int], dict[str, int]]] = {}
        for offer in state.offers:
            _, scalars, plain = self._scalars.of(offer.resources)
            all_scalars, all_plain = sums.setdefault((offer.framework_id, offer.role), ({}, {}))
            add_up(all_scalars, scalars)
            add_up(all_plain, plain)
        return sums

    def _agents_by_amounts(self, state: MasterState) -> dict[_AgentAmounts, int]:
        """Return the amounts of the agents in service, and how many agents have each."""
        counts: dict[_AgentAmounts, int] = {}
        for agent in state.agents.values():
            if agent.active:
                offers = [offer.resources for offer in state.offers.on_agent(agent.id)]
                key = (id(agent.total), id(agent.used), *map(id, offers))
                found = self._by_identity.get(key)
                if found is None:
                    found = self._by_identity[key] = self._amounts_of(agent.total, (agent.used, *offers))
                counts[found] = counts.get(found, 0) + 1
        return counts

    def _amounts_of(self, resources: Resources, held: Iterable[Resources]) -> _AgentAmounts:
        total = self._totals.get(id(resources))
        if total is None:
            made = self._total(resources)
            total = self._totals[id(resources)] = self._known_totals.setdefault(made, made)
        used, *offers = amounts = list(map(self._plain, held))
        key = (id(total), *map(id, amounts))
        found = self._by_amounts.get(key)
        if found is None:
            found = self._by_amounts[key] = _AgentAmounts(total, used, offers)
        return found

    def _total(self, resources: Resources) -> _Total:
        amounts: dict[str, int] = {}
        add_up(amounts, [(entry.name, entry.value) for entry in resources if isinstance(entry.value, int)])
        unreserved: dict[str, int] = {}
        for name, amount in self._plain(resources):
            unreserved[name] = unreserved.get(name, 0) + amount  # a sum, so that nothing is shown as it was sent
        owned = sorted(resources.by_owner().items())
        reserved = tuple((owner, tuple(part.scalar_quantities().items())) for owner, part in owned)
        return _Total(tuple(amounts.items()), tuple(unreserved.items()), reserved)

    def _plain(self, resources: Resources) -> _Pairs:
        return self._scalars.of(resources)[2]


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


def _without(amounts: Mapping[str, int], *others: _Pairs) -> dict[str, int]:
    """Subtract; as in `Quantities`, no amount falls below zero."""
    left = dict(amounts)
    for other in others:
        for name, amount in other:
            if name in left:
                left[name] = max(0, left[name] - amount)
    return left


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
