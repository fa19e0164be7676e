"""The page about backtesting shows the figures that were kept, and the commands that made them."""

import csv
from collections import Counter
from pathlib import Path

import pytest

from tests.benchmarks import replay
from tests.helpers.traces import trace


@pytest.fixture(scope="module")
def page() -> str:
    return replay.PAGE.read_text(encoding="utf-8")


def test_the_tables_of_the_page_are_the_figures_that_were_kept(page: str) -> None:
    """`python -m tests.benchmarks.replay --write-page` writes them."""
    assert replay.written_page(page, replay.page_tables(replay.kept_figures())) == page


@pytest.mark.parametrize("change", [change for _, change in replay.QUOTAS if change is not None])
def test_the_commands_of_the_page_are_those_that_were_measured(page: str, change: str) -> None:
    assert f"mesosctl replay gpu.sqlite '{change}'\n" in page


def test_the_pods_of_the_page_are_those_of_the_trace(page: str, tmp_path: Path) -> None:
    for name in ("openb-pods.csv", "openb-nodes.csv"):
        trace(name)
    replay.select_gpu_trace(tmp_path)
    with (tmp_path / "pods.csv").open(encoding="utf-8", newline="") as file:
        pods = Counter(row["qos"] for row in csv.DictReader(file))
    assert f"{pods.total():,} pods in 40 days" in page
    for guarantee in {row[0] for row in replay.kept_figures().report.tables[0].rows}:
        for role, number in pods.items():
            assert f"| {guarantee} | {role} | {number:,} |" in page
