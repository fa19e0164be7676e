"""The small form of tests/endurance/jobs/drivers.py."""

from tests.endurance.jobs.drivers import LIMITS, measure


def test_drivers_are_answered_no_faster_than_their_limits_allow() -> None:
    """That they are not slower either is for a quiet machine: the job itself."""
    figures = measure(20, 100.0, 5.0)
    assert figures.processed.keys() == LIMITS.keys()
    assert all(figures.processed[name] > 0 for name in LIMITS)
    assert all(figures.processed[name] <= qps * 1.1 for name, qps in LIMITS.items() if qps is not None)
