"""Random histories: the allocator decides as the reference does, and keeps its promises while at it."""

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mesosctl.mesos.rules.version_profile import DOCUMENTS, MESOS_1_4, MESOS_1_8, Profile
from tests.fake_master.allocator.reference.allocator import Reference
from tests.fake_master.allocator.reference.events import (
    EVENTS,
    LIMIT_AND_CHILD,
    NEST_AND_RETURN,
    QUIET,
    START,
    check_books,
)
from tests.fake_master.allocator.reference.history import History
from tests.helpers.profiles import examples


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
@example(LIMIT_AND_CHILD)
@given(st.one_of(EVENTS, QUIET))
def test_decides_as_the_reference_with_whole_agents(events: list[tuple[Any, ...]]) -> None:
    """As the documents' master shares out."""
    history = History(reference=Reference(DOCUMENTS))
    for word, *numbers in [*START, ("framework", 4, 0), ("agent", 3), *events]:
        history.play(word, *numbers)
        check_books(history)


@pytest.mark.parametrize("profile", [MESOS_1_4, MESOS_1_8], ids=str)
@settings(max_examples=examples(200), deadline=None)
@given(events=st.one_of(EVENTS, QUIET))
def test_decides_as_the_reference_where_a_guarantee_is_a_limit(events: list[tuple[Any, ...]], profile: Profile) -> None:
    """As masters of 1.4 to 1.8 share out."""
    history = History(reference=Reference(profile))
    for word, *numbers in [*START, ("framework", 4, 0), ("agent", 3), ("quota", 0, 0), *events]:
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
