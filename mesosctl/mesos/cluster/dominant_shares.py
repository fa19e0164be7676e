"""How a cluster is shared out, step by step: the table of the paper on dominant resource fairness.

Values that a dry run yields and that are drawn; the allocator page of the documentation explains it.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from mesosctl.mesos.amounts.quantities import Quantities, to_double
from mesosctl.mesos.amounts.resource import Revocability


@dataclass(frozen=True, slots=True)
class FrameworkShare:
    """The resources of one framework at one moment."""

    framework: str
    amounts: Quantities
    dominant: str | None
    """The resource of which it holds the largest part; None while it holds nothing."""
    share: float
    """That part of the cluster, from 0 to 1; weights are not in it."""
    weight: float = 1.0
    """The weight of its role; 1 if it has several."""

    @classmethod
    def of(cls, framework: str, amounts: Quantities, totals: Quantities, weight: float = 1.0) -> "FrameworkShare":
        """The holding of `amounts` in a cluster of `totals`; of equal parts the first name is dominant."""
        return cls(framework, amounts, *_dominant(amounts, totals), weight)

    @property
    def weighted_share(self) -> float:
        """The share that decides who is next: divided by the weight."""
        return self.share / self.weight


@dataclass(frozen=True, slots=True)
class RoleShare:
    """The resources of one role, those below it included, at one moment."""

    role: str
    amounts: Quantities
    dominant: str | None
    share: float
    weight: float = 1.0
    guarantee: Quantities | None = None
    """None without quota."""

    @classmethod
    def of(
        cls, role: str, amounts: Quantities, totals: Quantities, weight: float, guarantee: Quantities | None
    ) -> "RoleShare":
        """The holding of `amounts` in a cluster of `totals`."""
        return cls(role, amounts, *_dominant(amounts, totals), weight, guarantee)

    @property
    def weighted_share(self) -> float:
        """The share that decides who is next among the roles beside it: divided by the weight."""
        return self.share / self.weight


def _dominant(amounts: Quantities, totals: Quantities) -> tuple[str | None, float]:
    parts = {name: to_double(milli) / to_double(totals[name]) for name, milli in amounts.items() if name in totals}
    dominant = max(parts, key=lambda name: parts[name], default=None)
    return dominant, parts[dominant] if dominant is not None else 0.0


AllocationStage = Literal["guarantee", "fair share"]
"""Offers for a role below its guarantee come first; the rest is shared by dominant shares."""


RevocationKind = Literal["rescinded", "asked", "killed"]
"""An offer was rescinded; an executor was asked to kill a task; it was killed, and the task with it."""


@dataclass(frozen=True, slots=True)
class Revocation:
    """A task or offer that was revoked for a framework of higher priority."""

    seconds: float
    """Since the first allocation."""
    action: RevocationKind
    framework: str
    agent: str
    id: str
    """Of the task or the offer."""
    amounts: Quantities
    wanted_by: str
    """The framework for which it was taken."""

    @staticmethod
    def summed_up(revoked: "Iterable[Revocation]") -> str:
        """Return the number of revocations by framework: `batch: 2 asked, 1 killed`."""
        counts = Counter((entry.framework, entry.action) for entry in revoked)
        by_framework: dict[str, list[str]] = {}
        for (framework, action), count in counts.items():
            by_framework.setdefault(framework, []).append(f"{count} {action}")
        return "; ".join(f"{framework}: {', '.join(actions)}" for framework, actions in by_framework.items())


@dataclass(frozen=True, slots=True)
class AcceptedOffer:
    """One accepted offer: its framework and agent, and the resources of all frameworks afterwards."""

    number: int
    seconds: float
    """Since the first allocation."""
    framework: str
    role: str
    agent: str
    tasks: int
    """The number of tasks that were launched from this offer."""
    holdings: tuple[FrameworkShare, ...]
    allocated: Quantities
    revoked: tuple[Revocation, ...] = ()
    """Since the step before."""
    revocability: Revocability | Literal["mixed"] = "regular"
    """Whether what was offered may be taken back."""
    evicted: tuple[str, ...] = ()
    """Tasks that were evicted for it, as "framework/task"."""
    stage: AllocationStage = "fair share"
    roles: tuple[RoleShare, ...] = ()
    """Afterwards: parents, and if any role has a weight or a guarantee, every role."""


@dataclass(frozen=True, slots=True)
class Sharing:
    """A whole dry run."""

    totals: Quantities
    """Scalars of all agents."""
    frameworks: tuple[str, ...]
    steps: tuple[AcceptedOffer, ...]
    tasks: dict[str, int]
    """The number of running tasks of each framework at the end."""
    ended: bool
    """Whether no framework took another offer; otherwise the limit of steps was reached."""
    holdings_at_end: tuple[FrameworkShare, ...]
    """The resources of all frameworks at the end, which may be less than after the last step: tasks end."""
    revoked_at_end: tuple[Revocation, ...] = ()
    """Since the last step."""
    roles_at_end: tuple[RoleShare, ...] = ()
    assumed: tuple[str, ...] = ()
    """Sentences about what the file does not say and the simulation assumes."""

    @property
    def has_weights(self) -> bool:
        """Whether any role has a different weight from another."""
        weights = [holding.weight for holding in self.holdings_at_end] + [role.weight for role in self.roles_at_end]
        return any(weight != 1 for weight in weights)

    @property
    def has_guarantees(self) -> bool:
        """Whether any role has quota."""
        return any(role.guarantee is not None for role in self.roles_at_end)

    @property
    def allocated_at_end(self) -> Quantities:
        """The sum of all resources in use at the end."""
        return Quantities.total(holding.amounts for holding in self.holdings_at_end)

    @property
    def moves_on(self) -> bool:
        """Whether something ended after the last step."""
        return bool(self.steps) and self.holdings_at_end != self.steps[-1].holdings

    @property
    def revoked(self) -> tuple[Revocation, ...]:
        """All that was revoked."""
        return tuple(entry for step in self.steps for entry in step.revoked) + self.revoked_at_end
