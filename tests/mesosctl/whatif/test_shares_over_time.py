"""The shares that the page of a replay draws are what roles hold, of what the agents have, at each moment."""

from hypothesis import given, settings
from hypothesis import strategies as st

from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.cluster.agents import ClusterAgent
from mesosctl.mesos.door.replay import Played, RecordedDemand, ReplayedAgent, beyond_fair_shares, shares_over_time
from mesosctl.mesos.door.replayed_tasks import ReplayedTask
from tests.helpers.profiles import examples

SINCE, POINTS, STEP = 1000.0, 6, 10.0
UNTIL = SINCE + POINTS * STEP
SIZES = [parse_resources(text) for text in ("cpus:1;mem:1024", "cpus:2;mem:512")]
AGENT = ClusterAgent("S", "h", "slave(1)@10.0.0.2:5051", parse_resources("cpus:4;mem:4096"))
TOTAL = AGENT.total.scalar_quantities()
_moments = st.one_of(st.none(), st.integers(-5, 70).map(lambda seconds: SINCE + seconds))
_spans = st.tuples(_moments, _moments)


def _is_within(at: float, span: tuple[float | None, float | None]) -> bool:
    start, end = span
    return start is not None and start <= at and (end is None or at < end)


@settings(max_examples=examples(300))
@given(st.lists(_spans, max_size=3), st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(SIZES), _spans)))
def test_shares_are_those_of_each_moment(agents, tasks):
    there = [ReplayedAgent(AGENT, SINCE if start is None else start, end) for start, end in agents]
    asked = [ReplayedTask("F", role, size, SINCE) for role, size, _ in tasks]
    demand = RecordedDemand("c", "1.11.0", SINCE, UNTIL, there, {}, asked)
    spans = [span for _, _, span in tasks]
    played = Played([start for start, _ in spans], [end for _, end in spans], (), ())
    found = shares_over_time(demand, played, POINTS)
    for role in "ab":
        spans_of_role = [span for its, _, span in tasks if its == role]
        moments = [SINCE + point * STEP for point in range(POINTS)]
        assert (role in found) is any(_is_within(at, span) for at in moments for span in spans_of_role)
        for point in range(POINTS):
            at = SINCE + point * STEP
            had = sum(_is_within(at, (one.start, one.end)) for one in there)
            held = [size.scalar_quantities() for its, size, span in tasks if its == role and _is_within(at, span)]
            parts = [sum(one[name] for one in held) / TOTAL[name] for name in ("cpus", "mem")]
            share = max(parts) / had if had else 0.0
            assert abs(found.get(role, [0.0] * POINTS)[point] - share) < 1e-9


def _beyond(tasks, weights=()):
    """By how much each role is beyond its share, of tasks of a quarter of all: (role, whether it runs)."""
    asked = [ReplayedTask("F", role, parse_resources("cpus:1"), SINCE) for role, _ in tasks]
    demand = RecordedDemand("c", "1.11.0", SINCE, UNTIL, [ReplayedAgent(AGENT, SINCE, None)], {}, asked)
    starts = [SINCE if runs else None for _, runs in tasks]
    found = beyond_fair_shares(demand, Played(starts, [None] * len(tasks), (), (), weights=weights), POINTS)
    return {role: [round(value, 3) for value in values] for role, values in found.items()}


def test_all_that_is_held_is_divided_by_weights_among_those_that_want_it():
    three_and_none = [("a", True), ("a", True), ("a", True), ("b", False)]
    assert _beyond(three_and_none) == {"a": [0.375] * POINTS, "b": [-0.375] * POINTS}
    assert _beyond(three_and_none, [(0.0, {"a": 2.0})]) == {"a": [0.25] * POINTS, "b": [-0.25] * POINTS}
    later = [(0.0, {}), (SINCE + 3 * STEP, {"a": 2.0})]
    assert _beyond(three_and_none, later)["a"] == [0.375] * 3 + [0.25] * 3


def test_who_has_what_it_wants_is_not_below_and_leaves_the_rest_to_others():
    assert _beyond([("a", True), ("a", True), ("a", True), ("b", True)]) == {"a": [0.0] * POINTS, "b": [0.0] * POINTS}
    found = _beyond([("a", True), ("a/x", True), ("b/y", True), ("b", False), ("c", True)])
    assert {role: values[0] for role, values in found.items()} == {"a": 0.125, "b": -0.125, "c": 0.0}


@settings(max_examples=examples(300))
@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=8), st.sampled_from([0.5, 1.0, 3.0]))
def test_what_some_are_beyond_others_are_below_and_only_those_that_wait(tasks, weight):
    found = _beyond(tasks, [(0.0, {"a": weight})])
    assert abs(sum(values[0] for values in found.values())) < 0.01
    for role, values in found.items():
        assert values[0] >= 0 or (role, False) in tasks
