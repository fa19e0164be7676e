"""Periods that a recurrence leaves out: nobody can tell, and each count of offers stays on its side of the others."""

import math
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fake_master.allocator.hierarchical.allocator import HierarchicalAllocator
from fake_master.allocator.hierarchical.recurrence import Moment, Recurrence, periods_with_the_same_order
from fake_master.allocator.interface import AgentInfo, Callbacks, FrameworkInfo, OffersByRole, Unavailability
from fake_master.allocator.options import Options
from mesosctl.mesos.amounts.resources import Resources
from tests.fake_master.allocator.words import expand
from tests.helpers.profiles import examples

_FAR = 150
"""Periods; the counts of these examples meet before that, or never."""


@settings(max_examples=examples(900))
@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 4)), max_size=3))
def test_no_count_comes_so_near_to_another_that_it_might_pass_it_within_a_period(counts):
    grown = [(then, then + growth) for then, growth in counts]

    def is_apart(one: tuple[int, int], other: tuple[int, int], period: int) -> bool:
        """Whether one is on its present side, further away than both grow in a period; 0 is the present one."""
        growth, others_growth = one[1] - one[0], other[1] - other[0]
        side = math.copysign(1, one[1] - other[1])
        distance = (one[1] - other[1] + period * (growth - others_growth)) * side
        return distance > growth + others_growth

    pairs = [(one, other) for one, other in combinations(grown, 2) if one[1] - one[0] != other[1] - other[0]]
    left_out = next(
        (period for period in range(_FAR) if not all(is_apart(*pair, period + 1) for pair in pairs)), math.inf
    )
    if not all(is_apart(*pair, period) for pair in pairs for period in (-1, 0)):
        left_out = 0
    assert periods_with_the_same_order(grown) == left_out


class Decliners:
    """An allocator and its frameworks F0, F1, … in a role each, which decline every offer for some seconds."""

    def __init__(self, wanted: Sequence[tuple[str, float]], *agents: str, began: float = 1.7e9) -> None:
        self.offers: list[tuple[float, str, str]] = []
        self.now = began
        self.allocator = HierarchicalAllocator(Options(), Callbacks(self._on_offers), began)
        self.recurrence = Recurrence(self.allocator)
        self._refuse = {f"F{number}": refuse for number, (_, refuse) in enumerate(wanted)}
        self._open: list[tuple[str, str, Resources]] = []
        for number, total in enumerate(agents):
            self.allocator.add_agent(AgentInfo(f"A{number}"), expand(total))
        for number, (role, _) in enumerate(wanted):
            self.allocator.add_framework(FrameworkInfo(f"F{number}", frozenset({role})))

    def _on_offers(self, framework: str, by_role: OffersByRole) -> None:
        for by_agent in by_role.values():
            for agent, offered in by_agent.items():
                self.offers.append((self.now, framework, agent))
                self._open.append((framework, agent, offered))

    def step(self, until: float = math.inf) -> bool:
        """Decline what is offered when anything happens next; return False if that is later."""
        due = self.allocator.next_deadline()
        assert due is not None
        if due > until:
            return False
        self.now = due
        self.allocator.advance_to(due)
        for framework, agent, offered in self._open:
            self.allocator.recover_resources(framework, agent, offered, self._refuse[framework])
        self._open.clear()
        return True

    def step_until_alike(self, steps: int, find: Callable[[Moment, Moment], Any]) -> list[Any]:
        """Step until two moments are alike and something is found of them; return it, or nothing if it never is."""
        seen: dict[Any, Moment] = {}
        for _ in range(steps):
            self.step()
            moment = self.recurrence.moment(self.now)
            assert moment is not None
            earlier = seen.get(moment.likeness)
            found = None if earlier is None else find(earlier, moment)
            if found:
                return [found]
            seen[moment.likeness] = moment
        return []

    def shown(self, since: float) -> Any:
        """Everything that the time since then has changed, and the rest of each filter."""
        state = self.allocator.state
        sorters = [state.role_sorter, *(role.sorter for role in state.roles)]
        return (
            [offer for offer in self.offers if offer[0] > since],
            [sorted((leaf.path, leaf.count) for leaf in sorter.walk()) for sorter in sorters if sorter is not None],
            [[(agent, seconds) for agent, _, _, seconds in self.allocator.refusals(name)] for name in self._refuse],
            self.allocator.next_deadline(),
        )


def alone(began: float = 1.7e9) -> tuple[Decliners, Moment, Moment]:
    """One that declines for five seconds, and two moments that are alike, as far from each other."""
    made = Decliners([("a", 5.0)], "4/2048", began=began)
    ((first, second),) = made.step_until_alike(10, lambda *both: both)
    assert second.at - first.at == 5.0
    return made, first, second


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["a", "b", "a/c"]), st.sampled_from([2.0, 3.0, 5.0, 7.5])), min_size=1, max_size=3
    ),
    st.lists(st.sampled_from(["4/2048", "2/2048", "2/1024"]), min_size=1, max_size=2),
    st.sampled_from([300, 301, 1000, 1234.5]),
)
def test_nobody_can_tell_which_periods_were_left_out(wanted, agents, seconds):
    skipping, stepping = (Decliners(wanted, *agents) for _ in range(2))

    def leave_out(first: Moment, second: Moment) -> float | None:
        """Return when the time that is left out ends."""
        found = skipping.recurrence.repeat(first, second, second.at + seconds)
        assert found < seconds
        assert found % (second.at - first.at) == 0
        return second.at + found if found else None

    ends = skipping.step_until_alike(300, leave_out)
    assume(ends)
    for until in (ends[0], ends[0] + 60.0):
        for one in (skipping, stepping):
            while one.step(until):
                pass
        assert skipping.shown(ends[0]) == stepping.shown(ends[0])


@pytest.mark.parametrize(("seconds", "periods"), [(4.0, 0), (5.0, 0), (5.5, 1), (10.0, 1), (10.5, 2), (100.0, 19)])
def test_as_many_periods_are_left_out_as_end_before_the_time(seconds: float, periods: int) -> None:
    made, first, second = alone()
    assert made.recurrence.repeat(first, second, second.at + seconds) == 5.0 * periods


def test_nothing_is_left_out_of_a_time_in_which_numbers_are_rounded_differently() -> None:
    """Filters and periods end before the next power of two."""
    made, first, second = alone(1000.0)
    assert second.at == 1005.0
    assert made.recurrence.repeat(first, second, 2000.0) == 5.0
    made, first, second = alone(1010.0)
    assert made.recurrence.repeat(first, second, 2000.0) == 0.0


def test_what_is_not_alike_is_not_repeated() -> None:
    made, _, second = alone()
    assert made.recurrence.repeat(second, second, second.at + 100.0) == 0.0
    made.step()
    third = made.recurrence.moment(made.now)
    assert third is not None
    assert made.recurrence.repeat(second, third, third.at + 100.0) == 0.0


def plan_maintenance(allocator: HierarchicalAllocator) -> None:
    allocator.update_unavailability("A0", Unavailability(2e9))
    allocator.advance_to(0.0)  # makes the run that is due


EVENTS: dict[str, Callable[[HierarchicalAllocator], None]] = {
    "a run is due": lambda allocator: allocator.allocate(),
    "runs are held back": lambda allocator: allocator.pause(),
    "maintenance": plan_maintenance,
    "a timer of another kind": lambda allocator: allocator.update_inverse_offer("F0", "A0", 50.0),
}


@pytest.mark.parametrize("event", EVENTS)
def test_more_than_filters_decides(event: str) -> None:
    made, _, second = alone()
    assert made.recurrence.moment(second.at) is not None
    EVENTS[event](made.allocator)
    assert made.recurrence.moment(second.at) is None
