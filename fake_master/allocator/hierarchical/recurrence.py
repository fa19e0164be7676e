"""Time in which an allocator does the same again and again, because everybody declines what it offers.

A filter ends, the resources are offered, they are declined, and a new filter begins: as long as nothing else happens,
this comes back to where it was, a little later. Two moments that are alike, with nothing but declined offers between
them, prove it. `Recurrence.repeat` then brings the allocator to where it would be after many more such periods.

Only the counts of offers grow meanwhile. Where shares are equal, they decide (docs/explanation/allocator.md, "Sorter"):
there, no more periods are left out than keep each count on its side of the others.
"""

import math
from collections.abc import Hashable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from fake_master.allocator.hierarchical.allocator import HierarchicalAllocator
from fake_master.allocator.hierarchical.packed_filters import RefusedResources
from fake_master.allocator.hierarchical.sorters.drf_sorter import DrfSorter
from fake_master.allocator.hierarchical.sorters.sorter import Kind, Node


class _Siblings(NamedTuple):
    """The nodes below one of a sorter that compete, with their counts."""

    sorter: DrfSorter
    ties: int
    """See `DrfSorter.ties`."""
    counts: list[tuple[Node, int]]


class Moment(NamedTuple):
    """Everything that decides what an allocator does from now on, but for what frameworks and agents hold."""

    at: float
    """Seconds since the epoch."""
    likeness: Hashable
    """Equal at two moments that are alike: times are relative to the moment."""
    groups: list[_Siblings]
    kept: list[RefusedResources]
    """So that the ids in `likeness` stay those of their resources."""


class Recurrence:
    """Compares moments of one allocator, and leaves out what lies between more of them."""

    def __init__(self, allocator: HierarchicalAllocator) -> None:
        self._allocator = allocator

    def moment(self, now: float) -> Moment | None:
        """Return the present moment; None if more than filters and the clock decides what comes next."""
        allocator = self._allocator
        state, runs = allocator.state, allocator.allocation_runs
        timers = list(runs.timers.pending())
        refusals = list(state.refusals.values())
        if not runs.depends_on_state_alone or runs.queue.is_pending or len(timers) != len(refusals):
            return None
        due, number = runs.batches.due
        # By object, as `offer_filters` knows refused resources, which have no hash.
        filters = tuple(
            tuple(sorted((agent, refusal.until - now, id(refusal.refused)) for agent, refusal in client.filters))
            for framework in state.frameworks.values()
            for client in framework.clients.values()
        )
        ends = tuple(sorted((deadline - now, created < number) for deadline, created in timers))
        return Moment(now, (due - now, state.has_changed, ends, filters), list(self._groups()), refusals)

    def repeat(self, first: Moment, second: Moment, before: float) -> float:
        """Leave out as many periods between two moments as end before this time; return the seconds left out.

        The second is the present moment.
        """
        period = second.at - first.at
        if period <= 0 or first.likeness != second.likeness:
            return 0.0
        runs = self._allocator.allocation_runs
        longest = max((deadline for deadline, _ in runs.timers.pending()), default=second.at) - second.at
        # Larger numbers would be rounded differently.
        same_rounding = math.ldexp(1.0, math.frexp(first.at)[1]) - period - longest
        fitting = math.ceil((min(before, same_rounding) - second.at) / period) - 1
        times = int(min(fitting, _most_periods(first.groups, second.groups)))
        if times < 1:
            return 0.0
        seconds = times * period
        for earlier, siblings in zip(first.groups, second.groups, strict=True):
            for (_, count_then), (node, count) in zip(earlier.counts, siblings.counts, strict=True):
                if count != count_then:
                    node.count += (count - count_then) * times
                    siblings.sorter.touch(node)
        runs.postpone(seconds)
        self._allocator.filters.postpone(seconds)
        return seconds

    def _groups(self) -> Iterator[_Siblings]:
        state = self._allocator.state
        guarantees = None if state.guarantees is None else state.guarantees.sorter
        for sorter in (state.role_sorter, guarantees, *(role.sorter for role in state.roles)):
            if sorter is None:
                continue
            assert isinstance(sorter, DrfSorter), "another order does not depend on state alone"
            sorter.refresh()  # so that the ties of nodes that have just been offered something are counted
            inner = [sorter.root]
            while inner:
                children = list(inner.pop().children.values())
                counts = [(node, node.count) for node in children if node.kind is not Kind.INACTIVE]
                yield _Siblings(sorter, sorter.ties, counts)
                inner += (node for node in children if node.kind is Kind.INTERNAL)


def _most_periods(first: list[_Siblings], second: list[_Siblings]) -> float:
    """Return for how many more periods each count stays on its side of those with which it competes."""
    most = math.inf
    for earlier, siblings in zip(first, second, strict=True):
        if earlier.ties != siblings.ties:  # else shares alone have decided
            counts = [(then, count) for (_, then), (_, count) in zip(earlier.counts, siblings.counts, strict=True)]
            most = min(most, periods_with_the_same_order(counts))
    return most


def periods_with_the_same_order(counts: Sequence[tuple[int, int]]) -> float:
    """Return for how many more periods each count stays on its side of the others.

    Each is given as it was before a period, and after it.
    """
    most = math.inf
    grown = [(count, count - then) for then, count in counts]
    if len({growth for _, growth in grown}) < 2:
        return most
    for (siblings, growth), (other, others_growth) in combinations(grown, 2):
        apart, parting = siblings - other, growth - others_growth
        if not parting:
            continue
        # Between the ends of a period, they may be nearer to each other by as much as both grow.
        least = growth + others_growth
        if min(abs(apart), abs(apart - parting)) <= least or apart * (apart - parting) < 0:
            return 0
        if apart * parting < 0:
            most = min(most, (abs(apart) - least - 1) // abs(parting))
    return most
