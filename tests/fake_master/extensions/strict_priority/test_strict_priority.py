"""The strict priority module: whatever is shared, is shared by priority first.

Source: docs/explanation/documents.md, "Playing Traffic Cop".
The laws that both allocators have in common are proved of it as of the other: the same random
histories against the same reference, whose roles alone are in another order.
"""

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fake_master.allocator.interface import Callbacks, OfferCallback, ResourceRequest
from fake_master.allocator.options import Options
from fake_master.extensions.strict_priority.allocator import StrictPriorityAllocator
from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.mesos.errors import RuleViolation
from mesosctl.mesos.roles import Priorities
from tests.fake_master.allocator.player import Player
from tests.fake_master.allocator.reference.allocator import PlainSorter, Reference
from tests.fake_master.allocator.reference.events import EVENTS, NEST_AND_RETURN, QUIET, START, check_books
from tests.fake_master.allocator.reference.history import ROLES, History
from tests.helpers.profiles import examples

PRIORITIES = st.dictionaries(st.sampled_from(ROLES), st.integers(-2, 2)).map(Priorities)


class PlainStrictSorter:
    """By the seed: the roles of one priority after those of the one above, fair among themselves."""

    def __init__(self, reference: Reference, priorities: Priorities) -> None:
        self._reference = reference
        self._priorities = priorities
        self._levels: dict[int, PlainSorter] = {}

    def _level(self, role: str) -> PlainSorter:
        plain = PlainSorter(self._reference.total, self._reference.weights)
        return self._levels.setdefault(self._priorities.of(role), plain)

    def __getattr__(self, name: str) -> Any:
        return lambda role, *more, **named: getattr(self._level(role), name)(role, *more, **named)

    def sort(self) -> list[str]:
        return [role for level in sorted(self._levels, reverse=True) for role in self._levels[level].sort()]


class StrictHistory(History):
    def __init__(self, priorities: Priorities) -> None:
        def make(options: Options, on_offers: OfferCallback) -> StrictPriorityAllocator:
            return StrictPriorityAllocator(options, Callbacks(on_offers), 0.0, priorities=priorities)

        reference = Reference()
        reference.roles = PlainStrictSorter(reference, priorities)  # type: ignore[assignment]  # answers for it by __getattr__
        super().__init__(make, reference)


@settings(max_examples=examples(100), deadline=None)
@example(  # one framework holds something of two roles on an agent that goes
    Priorities({}),
    [
        ("decline_all", 2),
        ("quota", 62, 45),
        ("resubscribe", 1, 200, 1),
        ("tick", 0),
        ("recover", 158, 0, 0),
        ("remove_agent", 1),
    ],
)
@example(Priorities({}), NEST_AND_RETURN)
@given(PRIORITIES, EVENTS)
def test_decides_as_the_reference(priorities: Priorities, events: list[tuple[Any, ...]]) -> None:
    history = StrictHistory(priorities)
    for word, *numbers in [*START, *events]:
        history.play(word, *numbers)
        check_books(history)


@settings(max_examples=examples(60), deadline=None)
@given(PRIORITIES, QUIET)
def test_decides_as_the_reference_where_little_changes(priorities: Priorities, events: list[tuple[Any, ...]]) -> None:
    history = StrictHistory(priorities)
    for word, *numbers in [*START, ("framework", 4, 0), ("agent", 3), *events]:
        history.play(word, *numbers)
        check_books(history)


def play(priorities: str, *steps: str) -> Player:
    made = Player(Options(), Priorities.parse(priorities))
    for step in steps:
        made.play(step)
    return made


# --- The seed's words -----------------------------------------------------------------------------


def test_a_framework_with_priority_always_receives_offers() -> None:
    """However much it holds already, and whatever its share would say."""
    play(
        "prod=1",
        "queued framework F1 prod",
        "queued framework F2 batch",
        "agent A1 8/8192 -> F1:A1",
        "agent A2 1/1024 -> F1:A2",
        "agent A3 1/1024 -> F1:A3",
    )


def test_it_potentially_starves_other_frameworks() -> None:
    play(
        "prod=1",
        "queued agent A1 8/8192",
        "queued framework F2 batch",
        "framework F1 prod -> F1:A1",
        "recover F1 A1 refuse=0",
        "tick -> F1:A1",
        "recover F1 A1 refuse=0",
        "tick -> F1:A1",
    )


def test_others_have_what_it_does_not_take() -> None:
    play(
        "prod=1",
        "queued agent A1 8/8192",
        "queued framework F2 batch",
        "framework F1 prod -> F1:A1",
        "recover F1 A1 4/4096 refuse=100",
        "tick -> F2:A1=4/4096",
        "recover F2 A1 refuse=0",
        "suppress F1",
        "tick -> F2:A1=4/4096",
    )


def test_equals_share_fairly() -> None:
    play(
        "a=1,b=1",
        "queued framework F1 a",
        "queued framework F2 b",
        "queued framework F3 c",
        "agent A1 2/1024 -> F1:A1",
        "agent A2 1/512 -> F2:A2",
        "agent A3 1/512 -> F2:A3",
        "agent A4 2/1024 -> F1:A4",
    )


def test_a_nested_role_has_the_priority_of_its_nearest_ancestor() -> None:
    priorities = Priorities.parse("a=5, a/low=-1")
    assert [priorities.of(role) for role in ("a", "a/b", "a/b/c", "a/low", "a/low/x", "b", "*")] == [
        5,
        5,
        5,
        -1,
        -1,
        0,
        0,
    ]
    play(
        "a=5,a/low=-1",
        "queued framework F1 a/low",
        "queued framework F2 b",
        "queued framework F3 a/high",
        "agent A1 2/1024 -> F3:A1",
        "suppress F3",
        "agent A2 2/1024 -> F2:A2",
        "suppress F2",
        "agent A3 2/1024 -> F1:A3",
    )


def test_a_guarantee_comes_before_priority_and_a_limit_binds_it() -> None:
    play(
        "prod=1",
        "quota batch 2/1024",
        "quota prod limit=cpus:3",
        "queued framework F1 prod",
        "queued framework F2 batch",
        "queued agent A1 2/1024",
        "agent A2 4/4096 -> F2:A1 F1:A2=cpus:3;mem:4096",
    )


def test_guarantees_are_met_by_priority() -> None:
    play(
        "b=1",
        "quota a 2/1024",
        "quota b 2/1024",
        "queued framework F1 a",
        "queued framework F2 b",
        "agent A1 2/1024 -> F2:A1",
    )


def test_who_asks_is_offered_what_it_had_refused() -> None:
    """Offers sufficient to meet its task requirements: a request says what these are."""
    made = play(
        "prod=1",
        "queued agent A1 8/8192",
        "framework F1 prod -> F1:A1",
        "recover F1 A1 refuse=1000",
        "tick -> -",
    )
    made.offers.clear()
    made.allocator.request_resources("F1", [ResourceRequest(Quantities({"cpus": 1000}))])
    made.allocator.advance_to(made.now)
    made.check(["F1:A1"])
    assert made.allocator.metrics()["allocator/strict_priority/requests"] == 0


# --- The flag -------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["prod", "prod=", "prod=high", "=3", "a//b=1", "prod=1,prod=2", "prod=1.5"])
def test_what_is_no_priority_is_refused(text: str) -> None:
    with pytest.raises(RuleViolation):
        Priorities.parse(text)


def test_no_priorities_at_all() -> None:
    assert Priorities.parse(" ").of("anybody") == 0
