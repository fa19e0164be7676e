"""The job tells a fault that is caught from one that is not."""

import pytest

from tests.planted_faults.__main__ import Job, verdict
from tests.planted_faults.register import FURTHER, Fault

TEST = "tests/mesosctl/client/test_deadline_shares.py::test_it_is_never_shortened"
CAUGHT = Fault("caught", "mesosctl.client.deadline", "return self._end - self._clock()", "return 0.0", (TEST,), FURTHER)
RAN = {"ran": 1, "failed": [], "not_collected": [], "output": ""}


@pytest.mark.process
@pytest.mark.slow
def test_faults_are_planted_one_at_a_time():
    """And never in this tree: the second fault alone breaks nothing that its test looks at."""
    missed = CAUGHT._replace(says="missed", text="CONNECT_TIMEOUT = 10.0", becomes="CONNECT_TIMEOUT = 11.0")
    misplaced = CAUGHT._replace(says="misplaced", text="no such line")
    job = Job([CAUGHT, missed, misplaced], workers=1)
    job.run()
    assert job.caught == 1
    assert len(job.problems) == 2
    assert job.problems[0].startswith("missed")
    assert "no named test fails" in job.problems[0]
    assert "find the code that decides it now" in job.problems[1]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (RAN, "no named test fails"),
        ({**RAN, "ran": 0}, "no named test ran"),
        ({**RAN, "not_collected": ["E   boom"]}, "cannot be imported with it: E   boom"),
        ({**RAN, "failed": [{"test": "t", "why": "NameError: name 'x' is not defined"}]}, "it is no program"),
        ({"hung": True}, "did not end"),
    ],
)
def test_a_fault_is_not_caught_unless_a_test_failed_for_it(answer, why):
    told = verdict(answer)
    assert told is not None
    assert why in told


def test_a_fault_is_caught_by_a_test_that_failed():
    assert verdict({**RAN, "failed": [{"test": "t", "why": "AssertionError: assert 1 == 2"}]}) is None
