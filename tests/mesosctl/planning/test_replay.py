"""The figures of each role in the course of a replay."""

from mesosctl.model.notation import parse_resources
from mesosctl.planning.replay import Played, RecordedDemand, ReplayedTask, outcomes


def test_a_task_that_starts_when_it_asks_waits_for_zero_seconds_not_for_minus_zero():
    asked = 1e9 + 0.3
    task = ReplayedTask("one", "web", parse_resources("cpus:1"), asked, 60.0)
    demand = RecordedDemand("c", "1.11.0", 1e9, 1e9 + 100, [], {}, [task])
    started = asked - 1e-7  # times since 1970 are no more exact than this
    of_web = outcomes(demand, Played([started], [started + 60], (), []), 3600.0)["web"]
    assert [str(of_web.median_wait), str(of_web.longest_wait)] == ["0.0", "0.0"]
