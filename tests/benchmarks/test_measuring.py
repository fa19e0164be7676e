"""The measurements of benchmarks, and the figures that they compute from them."""

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_master.sources.snapshot import RestoredCluster
from mesosctl.mesos.messages.snapshots import snapshot
from tests.benchmarks.allocation import exponent
from tests.benchmarks.allocation_runs import Ours
from tests.benchmarks.cases import Case
from tests.benchmarks.load import Answers, ask
from tests.benchmarks.memory import _columns, _row, snapshot_of
from tests.benchmarks.serving import FakeMaster
from tests.benchmarks.whatif import Figure


@given(st.floats(0.1, 3.0), st.floats(0.01, 100.0))
def test_the_exponent_of_a_power(wanted: float, factor: float) -> None:
    assert exponent([(size, factor * size**wanted) for size in (10, 20, 50, 100)]) == pytest.approx(wanted)


def test_percentiles() -> None:
    answers = Answers(0.0, [number / 1000 for number in range(1, 101)], 1.0, 1)
    assert (answers.percentile(50), answers.percentile(99)) == (51.0, 100.0)
    assert Answers(0.0, [0.002], 1.0, 1).percentile(99) == 2.0


def test_passed_offers_come_again_and_declined_ones_do_not() -> None:
    handed_out = []
    for shape in ("pass", "decline"):
        ours = Ours(Case("", 6, 2, shape))
        assert len(ours.measure(3)) == 3
        handed_out.append(len(ours._outstanding))
    assert handed_out == [6, 0]


@pytest.mark.parametrize("at_once", [1, 3])
@pytest.mark.process
@pytest.mark.socket
def test_answers_are_read_whole(at_once: int) -> None:
    with FakeMaster(Case("", 2, 1), "1secs") as master:
        length = len(httpx.get(f"http://127.0.0.1:{master.port}/slaves", trust_env=False).content)
        answers = ask(master.port, "/slaves", at_once=at_once, seconds=0.1)
    assert answers.size == length
    assert len(answers.seconds) >= at_once
    assert answers.seconds == sorted(answers.seconds)


@pytest.mark.process
@pytest.mark.socket
def test_a_question_is_asked_twice_at_least_however_long_its_first_answer_takes() -> None:
    with FakeMaster(Case("", 2, 1), "1secs") as master:
        answers = ask(master.port, "/slaves", at_once=2, seconds=0.0)
    assert len(answers.seconds) == 2
    assert answers.first > 0.0


@pytest.mark.process
@pytest.mark.socket
def test_a_question_that_is_not_answered_with_200_ends_the_measurement() -> None:
    with FakeMaster(Case("", 2, 1), "1secs") as master, pytest.raises(AssertionError, match="404"):
        ask(master.port, "/nothing", at_once=2, seconds=0.0)


def test_a_cluster_is_one_that_a_master_can_be() -> None:
    small = snapshot_of(12)
    assert snapshot.load(snapshot.dump(small)) == small
    master = RestoredCluster(small).start(clock=lambda: small.taken_at)
    assert (len(master.state.agents), len(list(master.state.offers))) == (12, 6)
    assert {len(agent.total.reserved()) for agent in master.state.agents.values()} == {0, 2}


def test_growth_stands_beside_the_figures() -> None:
    figures = [Figure("a command", 5, 1.0, 0.5, 40.0), Figure("a command", 50, 9.0, None, 60.0)]
    row = list(_row(figures))
    assert row == ["a command", 1.0, 9.0, 9.0, 0.5, None, None, 40.0, 60.0, 1.5]
    assert len(list(_columns((5, 50)))) == len(row)
