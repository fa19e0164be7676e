"""The shares that the page of a replay draws are what roles hold, of what the agents have, at each moment."""

from hypothesis import given, settings
from hypothesis import strategies as st

from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.cluster.agents import ClusterAgent
from mesosctl.mesos.door.replay import Played, RecordedDemand, ReplayedAgent, shares_over_time
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
