"""Random histories: the allocator decides as the reference does, and keeps its promises while at it."""

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mesosctl.model import roles
from mesosctl.model.quantities import Quantities
from mesosctl.model.resources import Resources
from tests.fake_master.allocator.reference.allocator import Reference
from tests.fake_master.allocator.reference.history import History
from tests.helpers.profiles import examples

NUMBER = st.integers(0, 200)


def _padded(event: tuple[str, int, int]) -> tuple[Any, ...]:
    return (*event, 0) if event[0] == "recover" else event


COMMON = st.one_of(
    st.tuples(st.sampled_from(["tick", "decline_all"]), NUMBER),
    st.tuples(st.just("recover"), NUMBER, NUMBER, NUMBER),
    st.tuples(st.just("agent"), NUMBER),
    st.tuples(st.just("framework"), NUMBER, NUMBER),
    st.tuples(st.just("quota"), NUMBER, NUMBER),
)
RARE = st.one_of(
    st.tuples(
        st.sampled_from(
            [
                "remove_agent",
                "switch_agent",
                "attributes",
                "grow",
                "remove_framework",
                "switch_framework",
                "suppress",
                "revive",
                "no_quota",
            ]
        ),
        NUMBER,
    ),
    st.tuples(st.sampled_from(["reserve", "weight"]), NUMBER, NUMBER),
    st.tuples(st.just("resubscribe"), NUMBER, NUMBER, NUMBER),
)
EVENTS = st.lists(st.one_of(COMMON, COMMON, RARE), min_size=5, max_size=40)
START = [("agent", 0), ("agent", 2), ("framework", 3, 2), ("framework", 1, 0)]

# What moves proofs about: everybody refuses for a while, little happens, refusals end.
QUIET = st.lists(
    st.one_of(
        st.tuples(st.just("decline_all"), st.integers(3, 5)),
        st.tuples(st.just("tick"), NUMBER),
        st.tuples(st.just("tick"), NUMBER),
        st.tuples(st.sampled_from(["quota", "recover", "reserve", "framework"]), NUMBER, NUMBER).map(_padded),
        st.tuples(st.sampled_from(["revive", "suppress", "no_quota", "grow", "attributes"]), NUMBER),
    ),
    min_size=8,
    max_size=40,
)

# A framework moves from a role to the one above, which inherits the count of the whole subtree.
NEST_AND_RETURN: list[tuple[Any, ...]] = [
    ("decline_all", 0),
    ("tick", 0),
    ("decline_all", 0),
    ("resubscribe", 1, 0, 0),
    ("framework", 1, 0),
]


@settings(max_examples=examples(150), deadline=None)
@example(NEST_AND_RETURN)
@given(EVENTS)
def test_decides_as_the_reference(events: list[tuple[Any, ...]]) -> None:
    history = History()
    for word, *numbers in [*START, *events]:
        history.play(word, *numbers)
        check_books(history)


@settings(max_examples=examples(150), deadline=None)
@given(QUIET)
def test_decides_as_the_reference_where_little_changes(events: list[tuple[Any, ...]]) -> None:
    history = History()
    for word, *numbers in [*START, ("framework", 4, 0), ("agent", 3), *events]:
        history.play(word, *numbers)
        check_books(history)


@settings(max_examples=examples(150), deadline=None)
@given(st.one_of(EVENTS, QUIET))
def test_decides_as_the_reference_with_whole_agents(events: list[tuple[Any, ...]]) -> None:
    """As the documents' master shares out."""
    history = History(reference=Reference(whole_agents=True))
    for word, *numbers in [*START, ("framework", 4, 0), ("agent", 3), *events]:
        history.play(word, *numbers)
        check_books(history)


@settings(max_examples=examples(40), deadline=None)
@given(EVENTS)
def test_decides_as_the_reference_with_a_bad_memory(events: list[tuple[Any, ...]]) -> None:
    """Interned objects may go at any time: they are a shortcut, never a need."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fake_master.allocator.hierarchical.state._POOL_LEAST", 6)
        patch.setattr("fake_master.allocator.hierarchical.state._POOL_PER_AGENT", 1)
        patch.setattr("fake_master.allocator.hierarchical.state._MOST_UNSETTLED", 1)
        history = History()
        for word, *numbers in [*START, *events]:
            history.play(word, *numbers)
            check_books(history)


def check_books(history: History) -> None:
    """Nothing offered twice, nothing lost: offered + used + free = total on every agent."""
    held: dict[str, list[Resources]] = {}
    for framework, agent, part in history.outstanding:
        held.setdefault(agent, []).append(part)
        assert framework in history.allocator.state.frameworks
        for entry in part:
            owner, role = entry.role, entry.allocation_role
            assert role is not None
            assert not entry.is_reserved or owner == role or roles.is_strict_subrole(role, owner)
    for name, known in history.reference.agents.items():
        used = Resources(entry for part in held.get(name, []) for entry in part.allocated_to(None))
        free = history.allocator.state.agents[name].free_resources.resources
        assert known.total.contains(used)
        assert free + used == known.total
    used_in_all = Quantities.total(part.scalar_quantities() for _, _, part in history.outstanding)
    assert Quantities(history.allocator.state.total_used()) == used_in_all
