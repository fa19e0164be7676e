"""The arithmetic of a deadline, in a time that only the test lets pass."""

import pytest

from mesosctl.client.deadline import CONNECT_TIMEOUT, Deadline, Timeout, Timeouts
from tests.mesosctl.client.one_master import Clock


@pytest.fixture
def clock():
    return Clock()


def test_it_is_never_shortened(clock):
    deadline = Deadline(30.0, clock)
    deadline.extend_to(5.0)
    assert deadline.remaining() == 30.0
    clock.sleep(28.0)
    deadline.extend_to(5.0)
    assert deadline.remaining() == 5.0
    clock.sleep(6.0)
    assert deadline.remaining() == -1.0
    deadline.extend_to(5.0)
    assert deadline.remaining() == 5.0


def test_the_masters_that_are_left_share_what_is_left(clock):
    deadline = Deadline(12.0, clock)
    deadline.begin(others=2, repeatable=True)
    assert (deadline.to_connect(), deadline.to_answer()) == (4.0, 4.0)
    clock.sleep(3.0)
    assert (deadline.to_connect(), deadline.to_answer(), deadline.waited) == (1.0, 1.0, 3.0)
    clock.sleep(1.0)
    deadline.begin(others=1, repeatable=True)
    assert (deadline.to_connect(), deadline.to_answer(), deadline.waited) == (4.0, 4.0, 0.0)
    clock.sleep(4.0)
    deadline.begin()
    assert (deadline.to_connect(), deadline.to_answer()) == (4.0, 4.0)


def test_one_that_cannot_be_asked_elsewhere_may_use_all_of_it(clock):
    deadline = Deadline(60.0, clock)
    deadline.begin(others=1)
    assert (deadline.to_connect(), deadline.to_answer()) == (CONNECT_TIMEOUT, 60.0)
    deadline.begin(others=0, repeatable=True)
    assert (deadline.to_connect(), deadline.to_answer()) == (60.0, 60.0)


def test_another_of_the_same_length_begins_now(clock):
    deadline = Deadline(10.0, clock)
    clock.sleep(9.0)
    again = deadline.again()
    assert (deadline.remaining(), again.remaining(), again.seconds) == (1.0, 10.0, 10.0)
    again.end()
    assert (deadline.remaining(), again.remaining()) == (1.0, 0.0)


def test_after_the_first_byte_an_answer_may_use_the_rest(clock):
    deadline = Deadline(12.0, clock)
    deadline.begin(others=1, repeatable=True)
    read = timeout_to_read(deadline)
    assert read.left() == 6.0
    read.answered()
    assert read.left() == 12.0
    assert timeout_to_read(deadline, listening=True).left() == 12.0


def timeout_to_read(deadline, **how):
    found = Timeouts(deadline, **how).extension()["read"]
    assert isinstance(found, Timeout)
    return found


def test_each_wait_of_an_exchange_has_its_own_share(clock):
    deadline = Deadline(60.0, clock)
    deadline.begin(others=1, repeatable=True)
    waits = Timeouts(deadline).extension()
    assert waits == {"connect": CONNECT_TIMEOUT, "pool": CONNECT_TIMEOUT, "write": 60.0, "read": 30.0}
