"""The figures of a benchmark: tables and charts, the same on a terminal, in a JSON file and on the page.

    {"title": "Serving", "about": ["sentence", …],
     "tables": [{"title": "…", "columns": ["case", "ours ms", …], "rows": [["/quota", 1.25, …], …]}],
     "charts": [{"name": "allocation-agents", "title": "…", "across": "agents", "up": "ms",
                 "lines": {"here": [[100, 0.7], …]}}],
     "budgets": [{"name": "what-if --from FILE", "measured": 8.2, "bound": 10, "unit": "s", "is_least": false}],
     "took_seconds": 12.3}

A cell is a text, a number, or null for what was not measured.
"""

# ruff: noqa: T201  # what is found is printed

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

Cell = str | float | None
NOT_MEASURED = "-"
ABOVE_LIMIT = 2
"""The exit status of a benchmark that measured everything and found something above its limit."""


@dataclass(frozen=True)
class Table:
    """Rows of cells below their columns; the first column names the row."""

    title: str
    columns: Sequence[str]
    rows: list[Sequence[Cell]] = field(default_factory=list)


@dataclass(frozen=True)
class Chart:
    """Lines of points, or bars above words; amounts are logarithmic, so a power of something is a straight line."""

    name: str
    """Of the file of the picture, without its ending."""
    title: str
    across: str
    up: str
    lines: dict[str, list[tuple[float | str, float]]]


@dataclass(frozen=True)
class Budget:
    """A bound that the project holds itself to, and the figure beside it."""

    name: str
    measured: float
    bound: float
    unit: str = ""
    is_least: bool = False
    """Whether the figure has to be at least the bound, not at most."""

    @property
    def is_met(self) -> bool:
        """Whether the figure is within the bound."""
        return self.measured >= self.bound if self.is_least else self.measured <= self.bound


@dataclass
class Report:
    """All that one benchmark has to say."""

    title: str
    about: list[str] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    charts: list[Chart] = field(default_factory=list)
    budgets: list[Budget] = field(default_factory=list)
    took_seconds: float = 0.0

    @classmethod
    def from_json(cls, written: dict[str, Any]) -> Self:
        """Read back what `to_json` wrote."""
        return cls(
            title=written["title"],
            about=list(written["about"]),
            tables=[Table(**table) for table in written["tables"]],
            charts=[Chart(**chart) for chart in written["charts"]],
            budgets=[Budget(**budget) for budget in written.get("budgets", ())],
            took_seconds=written["took_seconds"],
        )

    def to_json(self) -> str:
        """One JSON object, for people and for the page."""
        return json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n"


class Reporter:
    """Prints rows as they are found, and keeps them for the file of `--json`."""

    def __init__(self, title: str, *about: str) -> None:
        self.report = Report(title, list(about))
        self._above: list[str] = []
        self._started = time.monotonic()
        print(f"{title}, load {os.getloadavg()[0]:.1f}", flush=True)

    def table(self, title: str, *columns: str) -> None:
        """What the next rows belong to."""
        self.report.tables.append(Table(title, columns))
        print(f"\n{title}\n{_line(columns, columns)}", flush=True)

    def row(self, *cells: Cell) -> None:
        """One more row of the last table."""
        table = self.report.tables[-1]
        table.rows.append(cells)
        print(_line(cells, table.columns), flush=True)

    def limit(self, label: str, found: float, at_most: float) -> None:
        """Hold a figure beside its limit; `finish` ends the process if one is above it."""
        if found > at_most:
            self._above.append(f"{label}: {shown(found)}, but at most {at_most:g}")

    def budget(self, name: str, measured: float, bound: float, unit: str = "", *, is_least: bool = False) -> None:
        """One more row of the page's table of budgets; a budget that is missed fails nothing, unlike `limit`."""
        self.report.budgets.append(Budget(name, measured, bound, unit, is_least))

    def chart(self, chart: Chart) -> None:
        """A picture for the page."""
        self.report.charts.append(chart)

    def say(self, sentence: str) -> None:
        """A remark that belongs to the figures."""
        self.report.about.append(sentence)
        print(sentence, flush=True)

    def finish(self, file: Path | None) -> None:
        """Write everything, where a file was asked for.  Raises SystemExit if a figure is above its limit."""
        self.report.took_seconds = round(time.monotonic() - self._started, 1)
        if file is not None:
            file.write_text(self.report.to_json(), encoding="utf-8")
        if self._above:
            print("above the limit:", *self._above, sep="\n  ", file=sys.stderr)
            raise SystemExit(ABOVE_LIMIT)


def shown(cell: Cell) -> str:
    """A cell for people: numbers with three digits that count."""
    if cell is None:
        return NOT_MEASURED
    if isinstance(cell, str):
        return cell
    if isinstance(cell, int) or abs(cell) >= 100:
        return f"{cell:,.0f}"
    return f"{cell:.{2 if abs(cell) >= 10 else 3 if abs(cell) >= 0.1 else 4}f}"


def ratio(ours: float, real: float | None) -> float | None:
    """Ours by the real one's; nothing where there is no real one."""
    return None if real is None else ours / real


def arguments(about: str | None) -> argparse.ArgumentParser:
    """The options that every benchmark has."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true", help="small clusters, for a quick look and for CI")
    parser.add_argument("--only", default="", metavar="WORDS", help="cases whose name contains this")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as well")
    return parser


def _line(cells: Sequence[Cell], columns: Sequence[str]) -> str:
    first, *others = map(shown, cells)
    aligned = (f"{cell:>{max(11, len(column))}}" for cell, column in zip(others, columns[1:], strict=True))
    return f"{first:46} " + " ".join(aligned)
