"""The table of judges on the page of releases: it has every release and every judge, and its judges exist."""

import argparse
from pathlib import Path

import pytest

from mesosctl.mesos.rules.version_profile import RELEASES
from tests import ROOT
from tests.conformance import matrix
from tests.conformance.matrix import JUDGES, Found, Judge

ASKED = argparse.Namespace(steps=300, rounds=3, seed=1)
CASES, STEPS = Judge("some", ()), Judge("some", (), "steps")


def test_the_page_has_each_judge_of_each_release() -> None:
    rows = [
        [part.strip() for part in line.strip("|").split("|")]
        for line in matrix.section_of(matrix.PAGE.read_text(encoding="utf-8")).splitlines()
        if line.startswith("| ")
    ]
    assert rows[0] == ["judge", *RELEASES]
    assert [row[0] for row in rows[2:]] == [judge.name for judge in JUDGES]
    assert {len(row) for row in rows} == {1 + len(RELEASES)}


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
