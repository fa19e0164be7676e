"""How a cluster is shared out, step by step: the table of the paper on dominant resource fairness.

Values that a dry run yields and that are drawn; see the documentation of `mesosctl offers simulate`.
"""

from dataclasses import dataclass

from mesosctl.core.quantities import Quantities
from mesosctl.core.scalars import to_double


@dataclass(frozen=True, slots=True)
class Holding:
    """What one framework holds at one moment."""

    framework: str
    amounts: Quantities
    dominant: str | None
    """The resource of which it holds the largest part; None while it holds nothing."""
    share: float
    """That part of the cluster, from 0 to 1; weights are not in it."""

    @classmethod
    def of(cls, framework: str, amounts: Quantities, totals: Quantities) -> "Holding":
        """The holding of `amounts` in a cluster of `totals`; of equal parts the first name is dominant."""
        parts = {name: to_double(milli) / to_double(totals[name]) for name, milli in amounts.items() if name in totals}
        dominant = max(parts, key=lambda name: parts[name], default=None)
        return cls(framework, amounts, dominant, parts[dominant] if dominant is not None else 0.0)


@dataclass(frozen=True, slots=True)
class SharingStep:
    """One offer that was taken: by whom, where, and what everybody holds afterwards."""

    number: int
    seconds: float
    """Since the first allocation."""
    framework: str
    role: str
    agent: str
    tasks: int
    """How many were launched of this offer."""
    holdings: tuple[Holding, ...]
    allocated: Quantities


@dataclass(frozen=True, slots=True)
class Sharing:
    """A whole dry run."""

    totals: Quantities
    """Scalars of all agents."""
    frameworks: tuple[str, ...]
    steps: tuple[SharingStep, ...]
    tasks: dict[str, int]
    """How many each framework has running at the end."""
    ended: bool
    """Whether nobody took anything any more; otherwise the number of steps ran out."""
