"""Recorded tasks are those that were given, in order, in little room."""

import tracemalloc
from itertools import repeat

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.door.replayed_tasks import ReplayedTask, ReplayedTasks, Times

SIZES = [parse_resources(text) for text in ("cpus:1", "cpus:1", "mem:100")]
"""Two are equal, and not the same: each task has its own again."""
SECONDS = st.sampled_from([0.0, 0.1, 1e9, 1.7e9 + 0.3]) | st.floats(0, 1e10)
TASKS = st.lists(
    st.builds(
        ReplayedTask,
        st.sampled_from(["F", "G"]),
        st.sampled_from(["a", "a/x"]),
        st.sampled_from(SIZES),
        SECONDS,
        lasts=st.none() | SECONDS,
        host=st.none() | st.sampled_from(["h1", "h2"]),
        started=st.none() | SECONDS,
        start_is_known=st.booleans(),
        ran_from_the_beginning=st.booleans(),
        is_executor=st.booleans(),
        age=SECONDS,
    )
)


@given(TASKS)
@example([ReplayedTask("F", "a", size, 0.0) for size in SIZES])
def test_tasks_are_those_that_were_given_in_the_order_in_which_they_are_asked_for(given_tasks):
    running = [task for task in given_tasks if task.ran_from_the_beginning]
    others = [task for task in given_tasks if not task.ran_from_the_beginning]
    tasks, expected = ReplayedTasks(iter(given_tasks)), running + sorted(others, key=lambda task: task.asked)
    assert list(tasks) == expected
    assert [tasks[place] for place in range(len(tasks))] == expected
    assert [id(task.resources) for task in tasks] == [id(task.resources) for task in expected]
    assert tasks[1:] == expected[1:]
    assert tasks[-2:] == expected[-2:]


@given(st.lists(st.none() | SECONDS), st.none() | SECONDS)
def test_times_are_those_that_were_given(given_times, other):
    times = Times(given_times)
    assert times == given_times
    assert times == Times(given_times)
    assert times != [*given_times, None]
    assert times[1:] == given_times[1:]
    assert [times[place] for place in range(len(times))] == given_times
    assert str(given_times) in repr(times)
    for place in range(len(given_times)):
        changed = Times(given_times)
        changed[place] = other
        assert changed == [*given_times[:place], other, *given_times[place + 1 :]]


def _room(make) -> int:
    """The bytes of what is made."""
    tracemalloc.start()
    try:
        made = make()
        room, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(made) == 10_000
    return room


@pytest.mark.parametrize(
    ("make", "most"),
    [
        (lambda: ReplayedTasks(ReplayedTask("F", "a", SIZES[0], at / 7, at / 3) for at in range(10_000)), 45),
        (lambda: Times(repeat(None, 10_000)), 10),
    ],
)
def test_a_task_takes_little_room(make, most):
    assert _room(make) < most * 10_000
