"""The one frame of all reports: the verdict first, who was asked what and when, and each figure as a table too."""

import re
from contextlib import chdir
from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

from mesosctl import __version__
from mesosctl.mesos.amounts.notation import utc_moment
from mesosctl.show.html_page import MOST_ROWS, html_report, sentences, text_table
from mesosctl.show.time_chart import TimeChart
from tests.helpers.needs import needs
from tests.mesosctl.show.reports import COMMANDS, written_reports

FIGURES_OF = {"tuning": "Candidates", "usage": "Who got what", "cost": "The figures"}
"""The section with the figures of a drawing that has none beside it."""


@dataclass
class Section:
    """A part of a report: its title, the number of its drawings, and its tables."""

    title: str = ""
    drawings: int = 0
    tables: list[list[list[str]]] = field(default_factory=list)

    @property
    def rows(self) -> list[list[str]]:
        """The rows of its table; one that was folded is put together again by its first column."""
        if not self.tables:
            return []
        whole = self.tables[0]
        for part in self.tables[1:]:
            assert [row[0] for row in part] == [row[0] for row in whole], self.title
            whole = [[*row, *more[1:]] for row, more in zip(whole, part, strict=True)]
        return whole


class Parsed(HTMLParser):
    """A report: its facts, and its parts in their order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.order: list[str] = []
        self.verdict = ""
        self.tone: str | None = None
        self.facts: dict[str, str] = {}
        self.sections: list[Section] = []
        self._names: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("meta", "br"):
            return
        self._open.append(tag)
        if tag in ("h1", "dl", "section"):
            self.order.append(tag)
        if tag == "header":
            self.tone = dict(attrs)["class"]
        elif tag == "section":
            self.sections.append(Section())
        elif tag == "svg":
            self.sections[-1].drawings += 1
        elif tag == "table":
            self.sections[-1].tables.append([])
        elif tag == "tr":
            self.sections[-1].tables[-1].append([])
        elif tag in ("td", "th"):
            self.sections[-1].tables[-1][-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        inside = self._open[-1] if self._open else ""
        if inside == "h1":
            self.verdict += data
        elif inside == "dt":
            self._names.append(data)
        elif inside == "dd":
            self.facts[self._names[-1]] = data
        elif inside == "h2":
            self.sections[-1].title += data
        elif {"td", "th"} & set(self._open) and "svg" not in self._open:
            self.sections[-1].tables[-1][-1][-1] += data


@pytest.fixture(scope="module")
@needs("process")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A report of each kind."""
    folder = tmp_path_factory.mktemp("reports")
    with chdir(folder):
        return written_reports(folder)


@pytest.fixture
def reports(files: dict[str, Path]) -> dict[str, Parsed]:
    """The same, parsed."""
    return {kind: Parsed(file.read_text(encoding="utf-8")) for kind, file in files.items()}


def test_every_report_begins_with_its_verdict_and_says_who_was_asked_what_and_when(reports: dict[str, Parsed]) -> None:
    for kind, words in COMMANDS.items():
        report = reports[kind]
        assert report.order[:3] == ["h1", "dl", "section"], kind
        assert report.verdict, kind
        assert report.facts["Command"].startswith("mesosctl "), kind
        assert all(word.strip("'") in report.facts["Command"] for word in words), kind
        assert report.facts["Made by"] == f"mesosctl {__version__}", kind
        assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", report.facts["Made at"]), kind
        asked = {"Master": "fake:c.toml", "Principal": "op"} if kind == "whatif" else {"Read from": "h.sqlite"}
        assert asked.items() <= report.facts.items(), kind


def test_each_figure_is_a_table_too(reports: dict[str, Parsed]) -> None:
    drawn = {kind: [part for part in report.sections if part.drawings] for kind, report in reports.items()}
    assert {kind for kind, parts in drawn.items() if parts} == {*COMMANDS, "forecast"} - {"wait"}
    for kind, parts in drawn.items():
        for part in parts:
            rows = part.rows or next(other.rows for other in reports[kind].sections if other.title == FIGURES_OF[kind])
            assert len(rows) > 1, (kind, part.title)
            assert all(len(row) == len(rows[0]) for row in rows), (kind, part.title)


def test_bars_say_their_amounts_beside_them(reports: dict[str, Parsed]) -> None:
    (roles,) = (part for part in reports["whatif"].sections if part.title.startswith("Roles"))
    cells = {row[0]: row[1] for row in roles.rows}
    assert cells["ads"] == "cpus: used 0, offered 16 → 8"


def test_the_verdict_of_a_usage_names_who_used_most(reports: dict[str, Parsed]) -> None:
    assert reports["usage"].verdict.startswith("role web used most: ")
    assert reports["usage"].verdict.endswith("of the cluster on average")
    assert reports["usage"].tone == "plain"


def test_charts_of_one_report_have_one_axis_of_times(files: dict[str, Path]) -> None:
    text = files["replay"].read_text(encoding="utf-8")
    charts = re.findall(r'<svg class="chart".*?</svg>', text, re.DOTALL)
    axes = [re.findall(r'<text class="tick" x="([0-9.]+)"[^>]*>([^<]*)<', chart) for chart in charts]
    assert len(axes) == 2
    assert axes[0] == axes[1]
    assert len(axes[0]) >= 3


@pytest.mark.parametrize(
    ("since", "until", "ticks"),
    [
        (1_800_000_090, 1_800_000_390, ["08:02", "08:03", "08:04", "08:05", "08:06"]),
        (1_800_000_000, 1_800_345_600, ["01-16", "01-17", "01-18", "01-19"]),
        (1_800_000_001, 1_800_000_004, ["08:00:01", "08:00:02", "08:00:03", "08:00:04"]),
    ],
)
def test_ticks_are_at_round_times_of_utc(since: float, until: float, ticks: list[str]) -> None:
    drawing = TimeChart("t", since, until, 1.0, str)
    assert re.findall(r'<text class="tick" [^>]*>([^<]*)<', drawing.svg()) == ticks
    assert (drawing.x(since), drawing.y(0.0)) == (0.0, 240.0)


@pytest.mark.parametrize("days", [20, 40, 90, 200, 400, 1_000, 2_000, 4_000, 10_000])
def test_ticks_of_years_have_room_and_name_the_year(days: int) -> None:
    since = 1_800_000_000 - 15 * 86_400  # the last of December
    svg = TimeChart("t", since, since + days * 86_400, 1.0, str).svg()
    ticks = re.findall(r'<text class="tick" x="([0-9.]+)"[^>]*>([^<]*)<', svg)
    places = [float(x) for x, _ in ticks]
    assert 2 <= len(ticks) <= 11
    assert all(right - left >= 66 for left, right in pairwise(places))
    assert all(text.startswith("20") for _, text in ticks)
    assert len({text for _, text in ticks}) == len(ticks)


def test_moments_less_than_a_minute_apart_have_seconds() -> None:
    assert utc_moment(1_800_000_007, 30) == "2027-01-15 08:00:07"
    assert utc_moment(1_800_000_007, 60) == "2027-01-15 08:00"


@pytest.mark.parametrize("kind", ["replay", "tuning"])
def test_what_is_assumed_is_a_section_of_its_own(reports: dict[str, Parsed], kind: str) -> None:
    assert "Assumed" in [part.title for part in reports[kind].sections]


def test_a_chart_of_one_moment_has_an_axis() -> None:
    assert "2027-01-15 08:00" in TimeChart("t", 1_800_000_000, 1_800_000_000, 0.0, str).svg()


def test_long_tables_and_lists_are_cut_and_say_so() -> None:
    rows = [[str(number), "x"] for number in range(MOST_ROWS + 7)]
    cut = text_table(["A", "B"], rows)
    assert cut.count("<tr>") == MOST_ROWS + 1
    assert "… and 7 more" in cut
    assert "… and 7 more" in sentences("Title", [row[0] for row in rows])
    assert text_table(["A"], []) == sentences("Title", ["", " "]) == ""


def test_on_paper_only_words_that_fit_on_no_line_break_anywhere() -> None:
    long = "4f51e5c1-86d4-4bcb-8a2c-1f9b5dd3e210-0001"
    page = html_report("kind", "verdict", "plain", [], [text_table(["A", "B"], [[long, "of several words " * 5]])])
    assert f'<th scope="row" class="long">{long}</th><td data-title="B">of several' in page
    paper = page.partition("@media print")[2].partition("</style>")[0]
    assert re.search(r"th, td, thead th {[^}]*overflow-wrap: normal", paper)
    assert re.search(r"th\.long {[^}]*overflow-wrap: anywhere", paper)


def test_names_stay_text() -> None:
    hostile = "<script>"
    whole = html_report(hostile, hostile, "no", [(hostile, hostile)], [text_table([hostile], [[hostile]])])
    assert hostile not in whole
