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


class _Look(NamedTuple):
    """The amounts of one agent.  Most agents share theirs with others, whatever ports and labels they have."""

    total: _Pairs
    unreserved: _Pairs
    idle: _Pairs
    """The part of `unreserved` that no task uses."""
    free: _Pairs
    """The part of `idle` that is not offered."""
    reserved: tuple[tuple[str, _Pairs], ...]
    """By owner."""

    def like_agents(self) -> LikeAgents:
        return LikeAgents(
            unreserved=Quantities(dict(self.unreserved)),
            idle=Quantities(dict(self.idle)),
            reserved=tuple((owner, Quantities(dict(owned))) for owner, owned in self.reserved),
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


class Summaries:
    """The sums of a cluster, each time that they are asked for; agents that have not changed are looked at once."""

    def __init__(self) -> None:
        self._looks: dict[tuple[int, ...], tuple[_Look, tuple[Resources, ...]]] = {}
        """By the ids of an agent's resources, which are kept with it so that no other object gets their ids."""
        self._known: dict[_Look, _Look] = {}
        """Each look once."""

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
        totals: dict[str, int] = {}
        free: dict[str, int] = {}
        like_agents: dict[LikeAgents, int] = {}
        for look, agents in self._looks_of(state).items():
            # A single amount is shown as it was sent; a product has forgotten that.
            add_up(totals, look.total if agents == 1 else [(name, amount * agents) for name, amount in look.total])
            add_up(free, [(name, amount * agents) for name, amount in look.free])
            like = look.like_agents()
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
            counted={role: rolled_up.get(role, _NOTHING) for role in quotas},
            asking=_asking(state),
            like_agents=like_agents,
        )

    def _looks_of(self, state: MasterState) -> dict[_Look, int]:
        """Return the looks of the agents in service, and how many agents have each."""
        counts: dict[_Look, int] = {}
        for agent in state.agents.values():
            if agent.active:
                offers = [offer.resources for offer in state.offers.on_agent(agent.id)]
                key = (id(agent.total), id(agent.used), *map(id, offers))
                known = self._looks.get(key)
                if known is None:
                    look = _look(agent.total, agent.used, offers)
                    look = self._known.setdefault(look, look)
                    known = self._looks[key] = (look, (agent.total, agent.used, *offers))
                counts[known[0]] = counts.get(known[0], 0) + 1
        return counts


def _look(total: Resources, used: Resources, offers: Iterable[Resources]) -> _Look:
    amounts: dict[str, int] = {}
    add_up(amounts, [(entry.name, entry.value) for entry in total if isinstance(entry.value, int)])
    unreserved = _plain_amounts(total)
    idle = _without(unreserved, used)
    owned = sorted(total.by_owner().items())
    return _Look(
        total=tuple(amounts.items()),
        unreserved=tuple(unreserved.items()),
        idle=tuple(idle.items()),
        free=tuple(_without(idle, *offers).items()),
        reserved=tuple((owner, tuple(resources.scalar_quantities().items())) for owner, resources in owned),
    )


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
