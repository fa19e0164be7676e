"""Time in which an allocator does the same again and again, because everybody declines what it offers.

A filter ends, the resources are offered, they are declined, and a new filter begins: as long as nothing else happens,
this comes back to where it was, a little later. Two moments that are alike, with nothing but declined offers between
them, prove it. `Recurrence.repeat` then brings the allocator to where it would be after many more such periods.

Only the counts of offers grow meanwhile. Where shares are equal, they decide (docs/explanation/allocator.md, "Sorter"):
there, no more periods are left out than keep each count on its side of the others.

Without quotas, no second moment is needed where no two clients are to be offered an agent in the same run: what each is
offered, and when, follows from its filters alone. `Recurrence.decline_on` calculates the filters that this ends with.
"""

import math
from collections.abc import Hashable, Iterator, Sequence
from itertools import combinations
from operator import itemgetter
from typing import NamedTuple

from fake_master.allocator.hierarchical.allocator import HierarchicalAllocator
from fake_master.allocator.hierarchical.offer_filters import filter_seconds
from fake_master.allocator.hierarchical.packed_filters import Refusal
from fake_master.allocator.hierarchical.records import Agent, Client
from fake_master.allocator.hierarchical.sorters.drf_sorter import DrfSorter
from fake_master.allocator.hierarchical.sorters.sorter import Kind, Node
from fake_master.allocator.hierarchical.stages.two_stages import offerable_agents
from mesosctl.model.resources import Resources


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
    kept: list[Refusal]
    """So that the ids in `likeness` stay those of their resources."""


class _Declined(NamedTuple):
    """Resources of an agent that a client is offered and declines."""

    client: Client
    agent: Agent
    refused: Resources
    """Without allocation roles."""
    until: float
    """When the present filter ends."""


class _BatchTimes(NamedTuple):
    """The batches until a moment, by number, of which 0 is the next one; their times are exact sums."""

    due: float
    interval: float
    last: int

    @classmethod
    def between(cls, due: float, interval: float, before: float) -> "_BatchTimes | None":
        """Return those from `due` to the last before a moment; None if they are few."""
        if interval <= 0 or before <= due + 2 * interval:
            return None
        return cls(due, interval, math.ceil((before - due) / interval) - 1)

    def fit(self, seconds: float) -> bool:
        """Whether filters of this length end with a batch, later than the next one, and no sum is rounded."""
        end = self.time(self.last) + seconds
        return (
            seconds >= 2 * self.interval
            and seconds % self.interval == 0
            and math.frexp(self.due)[1] == math.frexp(end)[1]
            and (self.due + self.interval) - self.due == self.interval
            and end - self.time(self.last) == seconds
        )

    def time(self, number: int) -> float:
        """Return when a batch is due."""
        return self.due + number * self.interval

    def first_from(self, moment: float) -> int:
        """Return the first batch that is due then or later: of the same moment, a filter ends before."""
        number = max(0, math.ceil((moment - self.due) / self.interval))
        return number if self.time(number) >= moment else number + 1


class Recurrence:
    """Compares moments of one allocator, and leaves out what lies between more of them."""

    def __init__(self, allocator: HierarchicalAllocator) -> None:
        self._allocator = allocator

    def moment(self, now: float) -> Moment | None:
        """Return the present moment; None if more than filters and the clock decides what comes next."""
        allocator = self._allocator
        state, runs = allocator.state, allocator.allocation_runs
        timers = list(runs.timers.pending())
        refusals = list(state.refusals)
        if not runs.depends_on_state_alone or runs.queue.is_pending or len(timers) != len(refusals):
            return None
        due, number = runs.batches.due
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

    def decline_on(self, refuse_seconds: float, before: float) -> bool:
        """Bring the allocator to the last batch before this time, if everything until then is declined.

        A client declines for `refuse_seconds` whatever it has declined before, and smaller parts of that.  Return
        False, and change nothing, if more than filters decides what comes next, or little time is left.
        """
        allocator = self._allocator
        state, runs = allocator.state, allocator.allocation_runs
        seconds = filter_seconds(refuse_seconds, runs.batches.interval)
        if seconds is None or not self._filters_decide():
            return False
        batches = _BatchTimes.between(runs.batches.due[0], runs.batches.interval, before)
        if batches is None or not batches.fit(seconds):
            return False
        period = round(seconds / batches.interval)
        offers: dict[Client, int] = {}
        last: dict[int, list[_Declined]] = {}
        """By the number of the batch in which they are declined for the last time."""
        turns: set[tuple[Agent, int]] = set()
        for one in self._declined():
            if one is None:
                return False
            first = batches.first_from(one.until)
            if first > batches.last:
                continue
            turn = one.agent, first % period
            if turn in turns:
                return False  # the order of the clients decides who is offered the agent
            turns.add(turn)
            again = (batches.last - first) // period
            offers[one.client] = offers.get(one.client, 0) + again + 1
            last.setdefault(first + again * period, []).append(one)
        while runs.timers.fire_next(batches.time(batches.last)):
            pass
        for number, declined in sorted(last.items(), key=itemgetter(0)):
            runs.timers.now = batches.time(number)
            for one in declined:
                allocator.filters.restore(one.client, one.agent, one.refused, seconds)
        runs.timers.now = batches.time(batches.last)
        runs.batches.go_on()
        for client, times in offers.items():
            assert client.role.leaf is not None, "its role has a client"
            assert client.role.sorter is not None, "its role has a client"
            for sorter, leaf in ((state.role_sorter, client.role.leaf), (client.role.sorter, client.leaf)):
                assert isinstance(sorter, DrfSorter), "another order does not depend on state alone"
                sorter.count_again(leaf, times)
        state.has_changed = True
        return True

    def _filters_decide(self) -> bool:
        """Whether filters are all that decides when somebody is offered what is free, and nothing else is due."""
        state, runs = self._allocator.state, self._allocator.allocation_runs
        return (
            bool(state.active_clients)
            and runs.depends_on_state_alone
            and not runs.queue.is_pending
            and len(runs.timers) == len(state.refusals)
            and next(state.roles.with_quota(), None) is None
        )

    def _declined(self) -> Iterator["_Declined | None"]:
        """Yield what each client declines of each agent; None if it would be offered something else."""
        state = self._allocator.state
        agents = offerable_agents(state, state.agents.keys())
        for framework in state.frameworks.values():
            for client in framework.clients.values():
                if client not in state.active_clients:
                    continue
                filters: dict[int, list[Refusal]] = {}
                for sequence, refusal in client.filters:
                    filters.setdefault(sequence, []).append(refusal)
                for agent in agents:
                    offerable = agent.free_resources.offerable(client.eligibility)
                    if offerable is None or (client.excludes is not None and client.excludes(agent.info)):
                        continue
                    offered = offerable.full.allocation.without_role
                    ends = [one.until for one in filters.get(agent.sequence, ()) if one.covers(offered)]
                    yield _Declined(client, agent, offered, max(ends)) if ends else None

    def _groups(self) -> Iterator[_Siblings]:
        state = self._allocator.state
        for sorter in (state.role_sorter, *(role.sorter for role in state.roles)):
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
    for (one, growth), (other, others_growth) in combinations(grown, 2):
        apart, parting = one - other, growth - others_growth
        if not parting:
            continue
        # Between the ends of a period, they may be nearer to each other by as much as both grow.
        least = growth + others_growth
        if min(abs(apart), abs(apart - parting)) <= least or apart * (apart - parting) < 0:
            return 0
        if apart * parting < 0:
            most = min(most, (abs(apart) - least - 1) // abs(parting))
    return most
