"""The table of releases beside their fake masters: its judges exist, and a figure says what was compared."""

import argparse
from pathlib import Path

import pytest

from mesosctl.mesos.rules.version_profile import RELEASES
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


def test_the_page_has_every_judge_and_release() -> None:
    shown = matrix.PAGE.read_text(encoding="utf-8").partition(matrix.BEGIN)[2].partition(matrix.END)[0]
    head, _, *rows = [line.strip("| ").split(" | ") for line in shown.splitlines() if line.startswith("|")]
    assert head[1:] == list(RELEASES)
    assert [row[0] for row in rows] == [judge.name for judge in JUDGES]
    assert {len(row) for row in rows} == {len(head)}


def test_another_table_replaces_the_one_of_the_page_alone() -> None:
    page = f"before\n{matrix.BEGIN}old\n{matrix.END}after\n"
    assert matrix.put(matrix.put(page, "new"), "newer") == page.replace("old", "newer")


def test_what_is_skipped_was_not_compared(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text('<testsuites><testsuite tests="9" skipped="3" failures="1" errors="1"/></testsuites>')
    assert matrix.read(report.read_text()) == Found(6, 2)
