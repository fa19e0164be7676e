"""Quota as it was sent, and what each role holds that counts towards it."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fake_master.registry.records import QuotaRecord
from fake_master.state.agents import KnownAgent, totals
from fake_master.state.frameworks import KnownFramework
from mesosctl.mesos import roles
from mesosctl.mesos.amounts.quantities import Quantities, Quota, add_up, to_milli
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.amounts.values import value_quantity
from mesosctl.mesos.rules.quota.rules import quota_of_config

_NOTHING = Quantities()


@dataclass(frozen=True)
class SentQuota:
    """A role's quota as it was sent, with its doubles, and its value.

    The real master shows amounts as they were sent, and rounds only when it compares.
    """

    guarantees: Mapping[str, float]
    limits: Mapping[str, float]
    entries: tuple[Mapping[str, Any], ...] | None = None
    """The guarantee as Resource messages, where masters keep these."""
    principal: str | None = None
    """The principal who set it, where masters show that."""

    @cached_property
    def meaning(self) -> Quota:
        """The quota that rules and the allocator work with."""
        return quota_of_config(self.guarantees, self.limits)

    def kept(self) -> "SentQuota":
        """Return it as a master keeps it: guarantees of nothing vanish; limits of nothing forbid, and stay."""
        return SentQuota(
            {name: sent for name, sent in sorted(self.guarantees.items()) if to_milli(sent) > 0},
            dict(sorted(self.limits.items())),
            self.entries,
            self.principal,
        )

    def to_record(self) -> QuotaRecord:
        """Return the record of it for the registry."""
        record: QuotaRecord = {"guarantees": dict(self.guarantees), "limits": dict(self.limits)}
        if self.entries is not None:
            record["entries"] = [dict(entry) for entry in self.entries]
        if self.principal is not None:
            record["principal"] = self.principal
        return record

    @classmethod
    def of_record(cls, record: QuotaRecord) -> "SentQuota":
        """Make it from the record of a registry."""
        entries = record.get("entries")
        kept = None if entries is None else tuple(entries)
        return cls(record["guarantees"], record["limits"], kept, record.get("principal"))


class RoleUsage:
    """The resources that every role holds at one moment, from one walk over the cluster.

    Each sum includes the roles below, as `/roles` has it since Mesos 1.9.
    """

    def __init__(
        self,
        agents: Iterable[KnownAgent],
        frameworks: Collection[KnownFramework],
        *,
        counts_revocable: bool,
        reservations_count: bool,
    ) -> None:
        """Sum up; revocable resources and idle reservations count towards limits if the rules say so."""
        self.allocated = sums(framework.used() for framework in frameworks)
        self.offered = sums(framework.offered() for framework in frameworks)
        self.reserved = _rolled_up(_reserved(agents).items())
        self._counted = self.allocated
        if not counts_revocable:
            self._counted = sums(framework.used().non_revocable() for framework in frameworks)
        # By owner: a reservation of an ancestor is in use there, and idle nowhere.
        self._in_use = _rolled_up(
            (owner, owned.quantities())
            for framework in frameworks
            for owner, owned in framework.used().by_owner().items()
        )
        self._reservations_count = reservations_count

    def consumed(self, role: str) -> Quantities:
        """Return what counts towards the limits of `role`: allocated, and reserved but idle if that counts."""
        allocated = self._counted.get(role, _NOTHING)
        if not self._reservations_count:
            return allocated
        return allocated + (self.reserved.get(role, _NOTHING) - self._in_use.get(role, _NOTHING))


def _reserved(agents: Iterable[KnownAgent]) -> dict[str, Quantities]:
    """Sums by owner over all agents; sets and ranges of each agent by count."""
    sums: dict[str, dict[str, int]] = {}
    for total, count in totals(agents):
        for entry in total:
            if entry.reservations:
                amount = value_quantity(entry.value)
                # A single amount is shown as it was sent; a product has forgotten that.
                add_up(sums.setdefault(entry.role, {}), ((entry.name, amount if count == 1 else amount * count),))
    return {role: Quantities(owned) for role, owned in sums.items()}


def sums(held: Iterable[Iterable[Resource]]) -> dict[str, Quantities]:
    """Sums by allocation role, from what each framework holds: of one, a port that two agents have counts once."""
    return _rolled_up(pair for entries in held for pair in _by_role(entries))


def _by_role(entries: Iterable[Resource]) -> Iterator[tuple[str, Quantities]]:
    by_role: dict[str, list[Resource]] = {}
    for entry in entries:
        by_role.setdefault(entry.allocation_role or roles.DEFAULT_ROLE, []).append(entry)
    for role, held in by_role.items():
        yield role, Resources(held).quantities()


def _rolled_up(held: Iterable[tuple[str, Quantities]]) -> dict[str, Quantities]:
    """Sums by role, each counted for its ancestors too."""
    sums: dict[str, Quantities] = {}
    for role, quantities in held:
        for name in (role, *roles.ancestors(role)):
            sums[name] = sums.get(name, _NOTHING) + quantities
    return sums
