"""The figures of usage: those of one key in a span of time, which the tables and the JSON both read."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from mesosctl.history.records import Micros
from mesosctl.history.setting_values import Amounts
from mesosctl.mesos.door.replay import is_unasked
from mesosctl.usage.calculation import MICRO_MILLI_HOURS, KeyUsage, Step, UsageRow, WindowUsage


def hours(integral: int) -> float:
    """Hours of an integral of thousandths times microseconds."""
    return integral / MICRO_MILLI_HOURS


def hours_by_name(integrals: Mapping[str, int]) -> dict[str, float]:
    """The same by resource, without those of which there is nothing."""
    return {name: hours(value) for name, value in sorted(integrals.items()) if value}


class MeasuredIntegrals(NamedTuple):
    """Integrals by resource; all but the first are of roles, and None for other keys."""

    used: Amounts
    reserved_idle: Amounts | None = None
    guaranteed: Amounts | None = None
    limited: Amounts | None = None


class ShareOverTime(NamedTuple):
    """The dominant share over time: its mean, and its 95th percentile."""

    mean: float
    p95: float


class LifetimePercentiles(NamedTuple):
    """The lifetimes of tasks that ended in the time; None if none did."""

    median: Micros | None
    p95: Micros | None


class WaitPercentiles(NamedTuple):
    """How long tasks waited; None if there were none, or if too little is known of when they were asked for."""

    median: Micros | None
    p95: Micros | None
    known: int
    """Tasks of which the wait is known."""
    unasked: int
    """Tasks of which nobody recorded when they were asked for."""


@dataclass(frozen=True)
class KeyFigures:
    """The figures of one key in one step, or in the whole window, each worked out once."""

    use: WindowUsage
    row: UsageRow
    step: Step
    part: KeyUsage

    @classmethod
    def whole(cls, use: WindowUsage, row: UsageRow) -> "KeyFigures":
        """Those of the whole window."""
        return cls(use, row, use.whole, row.whole)

    @classmethod
    def by_step(cls, use: WindowUsage, row: UsageRow) -> "list[KeyFigures]":
        """Those of each step; none if there are no steps."""
        steps = use.steps if row.steps else ()
        return [cls(use, row, step, part) for step, part in zip(steps, row.steps, strict=True)]

    @property
    def is_of_role(self) -> bool:
        """Whether the key is a role."""
        return self.use.options.by == "role"

    @cached_property
    def hours(self) -> MeasuredIntegrals:
        """The resources that it held, and for a role those that it was promised."""
        part = self.part
        if not self.is_of_role:
            return MeasuredIntegrals(part.used)
        return MeasuredIntegrals(part.used, part.reserved_idle, part.guaranteed, part.limited)

    @cached_property
    def shares(self) -> dict[str, float] | None:
        """Its part of the cluster by resource; None if the agents are unknown."""
        totals = {name: total for name, total in sorted(self.step.total.items()) if total}
        return {name: self.part.used.get(name, 0) / total for name, total in totals.items()} if totals else None

    @cached_property
    def dominant_share(self) -> ShareOverTime | None:
        """Its dominant share; None if the agents are unknown."""
        if not any(self.step.total.values()):
            return None
        return ShareOverTime(self.part.mean_share(self.step.seen), self.part.share_at(95, self.step.seen))

    @property
    def below_guarantee(self) -> Micros | None:
        """As in `KeyUsage`; None if it is no role, as is the next."""
        return self.part.below_guarantee if self.is_of_role else None

    @property
    def below_guarantee_unknown(self) -> Micros | None:
        """As in `KeyUsage`."""
        return self.part.below_guarantee_unknown if self.is_of_role else None

    @cached_property
    def lifetime(self) -> LifetimePercentiles:
        """The lifetimes of its tasks."""
        return LifetimePercentiles(self.part.lifetime_at(50), self.part.lifetime_at(95))

    @cached_property
    def wait(self) -> WaitPercentiles:
        """The waits of its tasks."""
        known, unasked = len(self.part.waits), self.part.unasked
        if is_unasked(unasked, known + unasked):
            return WaitPercentiles(None, None, known, unasked)
        return WaitPercentiles(self.part.wait_at(50), self.part.wait_at(95), known, unasked)

    @cached_property
    def decayed_shares(self) -> dict[str, float] | None:
        """Its part of what everybody used, of which older use counts less; None if every use counts the same."""
        if self.use.options.half_life is None:
            return None
        whole = self.use.together.decayed
        return {name: self.part.decayed.get(name, 0.0) / total for name, total in sorted(whole.items()) if total}

    @property
    def covered(self) -> float:
        """The part of the time that was seen."""
        return self.step.seen / (self.step.end - self.step.start)

    @property
    def own(self) -> KeyUsage | None:
        """The use of a role without the roles below it."""
        return None if self.row.subtree is None else self.row.whole

    @property
    def steps(self) -> "list[KeyFigures]":
        """Those of the steps of its window."""
        return self.by_step(self.use, self.row)
