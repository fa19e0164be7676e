"""A cluster at one moment as `top` shows it: what is in use, how roles stand, which offers wait, who is throttled."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mesosctl.model.quantities import Quantities
from mesosctl.model.quota.status import RoleStatus
from mesosctl.planning.message_rates import Rates


@dataclass(frozen=True, slots=True)
class WaitingOffers:
    """The offers that one framework has not answered."""

    framework: str
    framework_id: str
    roles: tuple[str, ...]
    offers: int
    resources: Quantities
    oldest: float
    """Seconds for which its oldest offer has been seen."""
    was_there: bool = False
    """Whether that offer was there before the first reading, and so is older: no master says since when it is out."""


@dataclass(frozen=True, slots=True)
class Share:
    """The resource of which a role uses, or is guaranteed, the largest part of the cluster; parts of the whole."""

    resource: str
    used: float
    guarantee: float
    limit: float | None


@dataclass(frozen=True, slots=True)
class Overview:
    """A cluster at one moment."""

    taken_at: float
    """In seconds since 1970."""
    version: str
    total: Quantities
    """Of the agents in service."""
    used: Quantities
    """By tasks and executors."""
    offered: Quantities
    agents: Mapping[str, int] = field(default_factory=dict)
    """How many there are in each state."""
    frameworks: int = 0
    roles: Sequence[RoleStatus] = ()
    offers: Sequence[WaitingOffers] = ()
    """The longest waiting first."""
    throttled: Sequence[Rates] = ()
    """Principals of which messages wait because of a rate limit."""
    unknown: Sequence[str] = ()
    """What this principal may not see."""

    def share(self, role: RoleStatus) -> Share | None:
        """Return the share of a role; None where it has nothing, and is promised nothing."""
        used = Quantities() if role.usage is None else role.usage.used
        names = [name for name in dict.fromkeys([*used, *role.quota.guarantees]) if self.total.get(name)]

        def part(amounts: Mapping[str, int], name: str) -> float:
            return amounts.get(name, 0) / self.total[name]

        if not names:
            return None
        name = max(names, key=lambda one: (part(used, one), part(role.quota.guarantees, one)))
        limit = role.quota.limits.get(name)
        return Share(
            name,
            part(used, name),
            part(role.quota.guarantees, name),
            None if limit is None else limit / self.total[name],
        )
