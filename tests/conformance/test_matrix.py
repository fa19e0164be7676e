"""The table of releases beside their fake masters: its judges exist, and a figure says what was compared."""

import argparse
from pathlib import Path

import pytest

from tests import ROOT
from tests.conformance import matrix
from tests.conformance.matrix import JUDGES, Found, Judge

ASKED = argparse.Namespace(steps=300, rounds=3, seed=1)
CASES, STEPS = Judge("some", ()), Judge("some", (), "steps")


@pytest.mark.parametrize("judge", JUDGES, ids=lambda judge: judge.name)
def test_the_tests_of_a_judge_are_there(judge: Judge) -> None:
    assert [name for name in judge.files if not (ROOT / matrix.FOLDER / name).exists()] == []


@pytest.mark.parametrize(
    ("judge", "found", "figure"),
    [
        (CASES, Found(61, 0), "61"),
        (STEPS, Found(1, 0), "300"),
        (CASES, Found(61, 2), "2 of 61 differ"),
        (STEPS, Found(0, 0), "none"),
    ],
)
def test_a_figure_says_what_was_compared(judge: Judge, found: Found, figure: str) -> None:
    assert matrix.cell(judge, found, ASKED) == figure


def test_what_is_skipped_was_not_compared(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text('<testsuites><testsuite tests="9" skipped="3" failures="1" errors="1"/></testsuites>')
    assert matrix.read(report.read_text()) == Found(6, 2)
