"""A runner of real masters whose agents misread their resources is started again."""

import pytest

from tests.conformance.masters.real import MISREADINGS, RUN_TOGETHER, unless_misread


def test_after_a_misreading_it_is_cleaned_and_started_again() -> None:
    failures = [AssertionError(f"exit status 1: {RUN_TOGETHER} in cpus:2cpus:1")] * 2
    cleaned: list[bool] = []

    def start() -> str:
        if failures:
            raise failures.pop()
        return "started"

    assert unless_misread(start, lambda: cleaned.append(True)) == "started"
    assert len(cleaned) == 2


def test_another_failure_stays_one_and_so_do_too_many_misreadings() -> None:
    starts: list[str] = []

    def fail(sentence: str) -> None:
        starts.append(sentence)
        raise AssertionError(sentence)

    with pytest.raises(AssertionError, match="bind"):
        unless_misread(lambda: fail("cannot bind"))
    assert len(starts) == 1
    with pytest.raises(AssertionError, match="Bad value"):
        unless_misread(lambda: fail(RUN_TOGETHER))
    assert len(starts) == 1 + MISREADINGS + 1
