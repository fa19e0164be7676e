"""A maintenance schedule says for each machine when it is unavailable; changes leave the other machines alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesosctl.mesos.errors import RuleViolation
from mesosctl.mesos.rules.maintenance import (
    Machine,
    MaintenanceWindow,
    Span,
    address_of,
    check_schedule,
    merged,
    spans,
    without,
)

MACHINES = [Machine(f"h{number}", f"10.0.0.{number}") for number in range(5)]
SPANS = [Span(1), Span(1, 60), Span(2, 60)]
SCHEDULES = st.permutations(MACHINES).flatmap(
    lambda machines: st.lists(st.tuples(st.integers(1, 2), st.sampled_from(SPANS)), max_size=3).map(
        lambda cuts: tuple(
            MaintenanceWindow(tuple(machines[at * 2 : at * 2 + size]), span)
            for at, (size, span) in enumerate(cuts)
            if machines[at * 2 : at * 2 + size]
        )
    )
)
CHOSEN = st.lists(st.sampled_from(MACHINES), unique=True, min_size=1)


def upper(machine):
    """The same machine: host names are compared without case."""
    return Machine(machine.hostname.upper(), machine.ip)


@given(SCHEDULES, CHOSEN)
def test_without_machines_the_others_keep_their_windows(schedule, chosen):
    left = without(schedule, map(upper, chosen))
    keys = {machine.key for machine in chosen}
    assert [(one, window.span) for window in left for one in window.machines] == [
        (one, window.span) for window in schedule for one in window.machines if one.key not in keys
    ]
    assert all(window.machines for window in left)


@given(SCHEDULES, CHOSEN, st.sampled_from(SPANS))
def test_merged_machines_have_the_span_in_one_window_with_those_that_had_it(schedule, chosen, span):
    after = merged(schedule, [upper(machine) for machine in chosen], span)
    assert spans(after) == {**spans(without(schedule, chosen)), **{machine.key: span for machine in chosen}}
    rest = without(schedule, chosen)
    assert len(after) == len(rest) + all(window.span != span for window in rest)
    check_schedule(after, {})


@pytest.mark.parametrize(
    ("pid", "address"),
    [
        ("slave(1)@10.0.0.1:5051", "10.0.0.1"),
        ("slave(1)@[fe80::1]:5051", "fe80::1"),
        ("a@b@10.0.0.1:5051", "10.0.0.1"),
        ("", ""),
    ],
)
def test_the_address_of_an_agent_is_that_of_its_pid(pid, address):
    assert address_of(pid) == address


LONG = Span(5, 0)


@pytest.mark.parametrize(
    ("schedule", "modes", "rule", "field"),
    [
        ([], {}, None, None),
        ([MaintenanceWindow((Machine("a"), Machine(ip="10.0.0.1")), LONG)], {("a", ""): "down"}, None, None),
        (
            [MaintenanceWindow((Machine("a"),), LONG), MaintenanceWindow((Machine("a", "10.0.0.1"),), LONG)],
            {},
            None,
            None,
        ),
        ([], {("a", ""): "draining"}, None, None),
        (
            [MaintenanceWindow((Machine("a"),), LONG), MaintenanceWindow((), LONG)],
            {},
            "maintenance.window",
            "windows[1].machine_ids",
        ),
        (
            [MaintenanceWindow((Machine("a"),), Span(5, -1))],
            {},
            "maintenance.duration",
            "windows[0].unavailability.duration",
        ),
        ([MaintenanceWindow((Machine(),), LONG)], {}, "maintenance.machine", "windows[0].machine_ids"),
        ([MaintenanceWindow((Machine("a"), Machine("A")), LONG)], {}, "maintenance.once", "windows[0].machine_ids"),
        (
            [MaintenanceWindow((Machine("a"),), LONG), MaintenanceWindow((Machine("b"), Machine("a")), Span(9))],
            {},
            "maintenance.once",
            "windows[1].machine_ids",
        ),
        (
            [MaintenanceWindow((Machine("b"),), LONG)],
            {("b", ""): "draining", ("a", ""): "down"},
            "maintenance.down",
            None,
        ),
        ([], {("", "10.0.0.1"): "down"}, "maintenance.down", None),
    ],
)
def test_a_schedule_that_a_master_would_refuse_is_refused_with_its_place(schedule, modes, rule, field):
    if rule is None:
        check_schedule(schedule, modes)
        return
    with pytest.raises(RuleViolation) as refused:
        check_schedule(schedule, modes)
    assert (refused.value.rule, refused.value.field) == (rule, field)
    if rule == "maintenance.down":
        (key,) = [key for key, mode in modes.items() if mode == "down"]
        assert f"'{key[0] or key[1]}'" in str(refused.value)
        assert refused.value.advice == (rule, {"machine": key[0] or key[1]})
    words = {"maintenance.window": "no machine", "maintenance.duration": "negative", "maintenance.machine": "host name"}
    assert words.get(rule, "") in str(refused.value)
    if rule == "maintenance.once":
        assert "'A'" in str(refused.value) or "'a'" in str(refused.value)
