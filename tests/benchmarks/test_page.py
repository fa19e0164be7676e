"""The page is made of figures: what stands in them stands there, and what was not measured says so."""

import json
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from tests.benchmarks import lending
from tests.benchmarks import page as command
from tests.benchmarks.reporting.charts import picture
from tests.benchmarks.reporting.page_text import Measured, page
from tests.benchmarks.reporting.parts import Ended
from tests.benchmarks.reporting.report import ABOVE_LIMIT, Budget, Chart, Report, Reporter, Table, shown

CHART = Chart("grown", "How it grows", "agents", "ms", {"here": [(10, 1.0), (100, 9.5)], "Mesos": [(10, 3.0)]})
BARS = Chart("asked", "How fast", "question", "a second", {"here": [("/quota", 100.0), ("/state", 20.0)]})
REPORT = Report(
    "Sharing out",
    ["All of it is made up."],
    [Table("One run", ("case", "ours", "real", "ratio"), [("ten | twenty", 1.5, 3.0, 0.5), ("alone", 12, None, None)])],
    [CHART, BARS],
    took_seconds=61.0,
)
MEASURED = Measured("allocation", {"CPU": "an abacus", "cores": "10"}, "2026-01-31 12:00 UTC", 0.25, REPORT)


@pytest.mark.parametrize("part", command.PARTS)
def test_every_part_is_a_command(part: str) -> None:
    """Nobody runs the large ones every day, so a name that has moved would go unnoticed."""
    assert callable(import_module(f"tests.benchmarks.{part}").main)


def test_a_figure_above_its_limit_ends_a_benchmark_that_has_written_everything(tmp_path: Path, capsys) -> None:
    reporter = Reporter("Made up")
    reporter.limit("small", 1.2, 1.2)
    reporter.limit("large", 1.25, 1.2)
    with pytest.raises(SystemExit) as ended:
        reporter.finish(tmp_path / "figures.json")
    assert ended.value.code == ABOVE_LIMIT != 0
    assert "large: 1.250, but at most 1.2" in capsys.readouterr().err
    assert Report.from_json(json.loads((tmp_path / "figures.json").read_text())).title == "Made up"


def test_figures_within_their_limits_end_nothing(tmp_path: Path) -> None:
    reporter = Reporter("Made up")
    reporter.limit("small", 1.2, 1.2)
    reporter.finish(None)


@pytest.mark.parametrize(("ratios", "ends"), [((1.0, 1.9), False), ((1.0, 2.1), True)])
def test_lending_has_a_limit(monkeypatch: pytest.MonkeyPatch, ratios: tuple[float, ...], ends: bool) -> None:
    """The figures are made up here; the command itself measures them."""
    found = iter(ratios)
    monkeypatch.setattr(lending, "LARGE", [lending.Case(1, 1), lending.Case(2, 1)])
    monkeypatch.setattr(lending, "measure", lambda *_: (10.0, 10.0, next(found)))
    monkeypatch.setattr("sys.argv", ["lending"])
    if ends:
        with pytest.raises(SystemExit, match=str(ABOVE_LIMIT)):
            lending.main()
    else:
        lending.main()


def rows(text: str) -> list[list[str]]:
    """The cells of every table row."""
    lines = [line.replace("\\|", "¦") for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_figures_stand_in_tables() -> None:
    found = rows(page([MEASURED]))
    assert ["case", "ours", "real", "ratio"] in found
    assert ["ten ¦ twenty", "1.500", "3.000", "0.500"] in found
    assert ["alone", "12", "-", "-"] in found
    assert {len(row) for row in found} == {4}


def test_where_when_and_how_long() -> None:
    text = page([MEASURED])
    assert "- CPU: an abacus" in text
    (measured,) = (line for line in text.splitlines() if "`python -m tests.benchmarks.allocation`" in line)
    assert all(fact in measured for fact in ("2026-01-31 12:00 UTC", "load of 0.2", "61 s")), measured
    assert "All of it is made up." in text
    assert "![How it grows](measured/grown.svg)" in text


def test_machines_are_told_apart_where_there_are_several() -> None:
    other = replace(MEASURED, environment={"CPU": "a slide rule"}, report=replace(REPORT, title="Serving"))
    assert "## Machine and versions\n" in page([MEASURED, MEASURED])
    both = page([MEASURED, other])
    assert "## Machine and versions: Sharing out\n" in both
    assert "## Machine and versions: Serving\n\n- CPU: a slide rule\n" in both


def test_parts_without_figures_are_named() -> None:
    assert "Not measured: startup, memory." in page([MEASURED], ["startup", "memory"])
    assert "Not measured" not in page([MEASURED])


BUDGETS = [Budget("lag", 0.5, 1, "s"), Budget("memory", 600, 500, "MiB"), Budget("rate", 0.9, 1, is_least=True)]


def test_every_budget_stands_in_one_table() -> None:
    parts = [
        replace(MEASURED, report=replace(REPORT, budgets=BUDGETS[:1])),
        replace(MEASURED, part="memory", report=replace(REPORT, budgets=BUDGETS[1:])),
    ]
    found = rows(page(parts))
    assert found[found.index(["budget", "measured", "met"]) + 2 :][:3] == [
        ["lag: at most 1 s", "0.500 s", "yes"],
        ["memory: at most 500 MiB", "600 MiB", "no"],
        ["rate: at least 1", "0.900", "no"],
    ]


def test_the_budgets_of_a_part_that_failed_are_not_those_of_an_earlier_run() -> None:
    part = replace(MEASURED, report=replace(REPORT, budgets=BUDGETS))
    text = page([part], failed={"allocation": "took longer than 5 s"})
    assert ["all of `tests.benchmarks.allocation`", "failed: took longer than 5 s", "no"] in rows(text)
    assert "lag: at most" not in text
    assert "no figures" in text


def test_a_report_is_read_back_from_its_file() -> None:
    report = replace(REPORT, budgets=BUDGETS)
    assert Report.from_json(json.loads(report.to_json())).budgets == BUDGETS
    assert Report.from_json(json.loads(REPORT.to_json())).to_json() == REPORT.to_json()


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (None, "-"),
        ("word", "word"),
        (7, "7"),
        (12345, "12,345"),
        (1234.5, "1,234"),
        (12.345, "12.35"),
        (0.0123, "0.0123"),
    ],
)
def test_numbers_keep_the_digits_that_count(cell: Any, text: str) -> None:
    assert shown(cell) == text


@pytest.mark.parametrize("chart", [CHART, BARS], ids=["lines", "bars"])
def test_a_picture_has_its_words_and_no_script(chart: Chart) -> None:
    drawn = picture(chart)
    root = ET.fromstring(drawn)
    words = " ".join(text.strip() for text in root.itertext())
    assert all(word in words for word in (chart.title, chart.across, chart.up, *chart.lines))
    assert "<script" not in drawn


def test_a_page_is_written_again_from_the_figures_that_were_kept(tmp_path: Path) -> None:
    measured = tmp_path / "measured"
    measured.mkdir()
    kept = {
        "part": "allocation",
        "environment": dict(MEASURED.environment),
        "taken_at": MEASURED.taken_at,
        "load": MEASURED.load,
        "report": json.loads(REPORT.to_json()),
    }
    (measured / "allocation.json").write_text(json.dumps(kept), encoding="utf-8")
    (measured / "stale.svg").write_text("<svg/>", encoding="utf-8")
    written = command.write(tmp_path)
    missing = [part for part in command.PARTS if part != "allocation"]
    assert written.read_text(encoding="utf-8") == page([MEASURED], missing)
    assert sorted(file.name for file in measured.glob("*.svg")) == ["asked.svg", "grown.svg"]


def run(monkeypatch: pytest.MonkeyPatch, into: Path, ended: dict[str, Ended]) -> tuple[int, str]:
    """Run the command for the parts of `ended`, each of which ends so; the status, and the page."""

    def run_within(_seconds: float, words: Sequence[str]) -> Ended:
        how = ended[words[2].rpartition(".")[2]]
        if how.failure is None:
            Path(words[4]).write_text(REPORT.to_json(), encoding="utf-8")
        return how

    monkeypatch.setattr(command, "environment", lambda: {"CPU": "an abacus"})
    monkeypatch.setattr(command, "run_within", run_within)
    monkeypatch.setattr("sys.argv", ["page", "--small", "--only", ",".join(ended), "--into", str(into)])
    status = command.main()
    return status, (into / "index.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("ended", "status"),
    [
        ({"lending": Ended(0), "whatif": Ended(0)}, 0),
        ({"lending": Ended(ABOVE_LIMIT), "whatif": Ended(0)}, ABOVE_LIMIT),
        ({"lending": Ended(ABOVE_LIMIT), "whatif": Ended(1, "ended with status 1: KeyError")}, 1),
    ],
)
def test_the_exit_status_of_the_page(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, ended: dict[str, Ended], status: int
) -> None:
    assert run(monkeypatch, tmp_path, ended)[0] == status


def test_a_part_that_fails_is_named_until_it_is_measured_and_others_follow(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _, text = run(monkeypatch, tmp_path, {"lending": Ended(1, "took longer than 5 s"), "whatif": Ended(0)})
    assert ["all of `tests.benchmarks.lending`", "failed: took longer than 5 s", "no"] in rows(text)
    assert "`python -m tests.benchmarks.whatif` on" in text
    _, text = run(monkeypatch, tmp_path, {"serving": Ended(0)})
    assert "failed: took longer than 5 s" in text
    _, text = run(monkeypatch, tmp_path, {"lending": Ended(0)})
    assert "failed" not in text


def test_a_part_without_figures_has_failed_whatever_its_status(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(command, "run_within", lambda *_: Ended(ABOVE_LIMIT))
    ended = command.measure("lending", small=True, on={}, measured=tmp_path)
    assert ended.failure == "wrote no figures"
