"""The job in small, and that its books do not balance by themselves."""

import pytest

from fake_master.sources.cluster_file import ClusterSpec
from fake_master.state.clock import VirtualClock
from mesosctl.mesos.amounts.notation import parse_resources
from tests.endurance.jobs.day import check_books, play


def test_an_hour_of_work_loses_nothing() -> None:
    day = play(1, seed=3)
    assert day.launched > 0
    assert day.launched >= day.accepted


def test_books_that_do_not_balance_are_noticed() -> None:
    master = ClusterSpec(("cpus:4;mem:1024",), "1.11").start(clock=VirtualClock(0.0))
    check_books(master)
    (agent,) = master.state.agents.values()
    agent.used += parse_resources("cpus:1")
    with pytest.raises(AssertionError, match="cpus"):
        check_books(master)
