"""The losses that a cluster may suffer, each with what it would do."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from mesosctl.mesos.amounts.holding import dominant_share
from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.mesos.door.forecast import Assumption, Forecast, Starvation
from mesosctl.mesos.exit_status import Answer

EACH_AGENT = "agent"
"""The word of --lose-each for every single agent; any other is the name of an attribute."""


@dataclass(frozen=True, slots=True)
class Loss:
    """One loss, and what it would do."""

    name: str
    agents: int
    alike: tuple[str, ...]
    starved: tuple[Starvation, ...]
    tasks: int
    """Those that end with the agents."""
    lost: Quantities
    """Of the agents."""
    severity: float
    """The sum of what each role lacks because of it, as dominant shares of the cluster."""

    @property
    def is_harmless(self) -> bool:
        """Whether nobody starves for it."""
        return not self.starved

    @classmethod
    def of(cls, forecast: Forecast, name: str, agents: int, alike: tuple[str, ...]) -> Self:
        """The part of a whole forecast that is told."""
        starved = tuple(forecast.starved)
        lost = Quantities.total(change.lost for change in forecast.changes[-1:] if change.lost is not None)
        return cls(
            name=name,
            agents=agents,
            alike=alike,
            starved=starved,
            tasks=forecast.changes[-1].tasks_ended,
            lost=lost,
            severity=_severity(starved, forecast.totals_before),
        )


def _severity(starved: Sequence[Starvation], totals: Quantities) -> float:
    """The sum of the largest part that each role lacks; of frameworks, if they alone starve."""
    parts: dict[str, float] = {}
    kind = "role" if any(one.kind == "role" for one in starved) else "framework"
    for one in starved:
        if one.kind == kind:
            part = dominant_share(one.short - one.before, totals)[1]
            parts[one.name] = max(parts.get(one.name, 0.0), part)
    return sum(parts.values())


@dataclass(frozen=True, slots=True)
class Losses:
    """All losses that were tried, the worst first."""

    by: tuple[str, ...]
    """`agent`, and names of attributes."""
    losses: tuple[Loss, ...]
    assume: Assumption
    not_tried: int = 0
    """Kinds of agents, or values of an attribute, that hold less than those that were tried."""

    @property
    def answer(self) -> Answer:
        """Whether every loss would be harmless."""
        if not all(loss.is_harmless for loss in self.losses):
            return "no"
        return "unknown" if self.not_tried else "yes"
