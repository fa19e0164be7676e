"""The benchmark page as Markdown, written only from measured figures."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from tests.benchmarks.reporting.report import Cell, Report, shown

Environment = Mapping[str, str]


@dataclass(frozen=True)
class Measured:
    """One part of the page."""

    part: str
    """The name of its module and of its file of figures."""
    environment: Environment
    taken_at: str
    """`2026-01-31 12:00 UTC`."""
    load: float
    """The load of the machine at the start."""
    report: Report

    @classmethod
    def from_json(cls, written: dict[str, Any]) -> Self:
        """Read a file of figures."""
        return cls(**{**written, "report": Report.from_json(written["report"])})


def page(parts: Sequence[Measured], missing: Sequence[str] = (), folder: str = "measured") -> str:
    """The page; `folder` has its charts, relative to the page, and `missing` names the parts without figures."""
    return "\n".join(_lines(parts, missing, folder)) + "\n"


def _lines(parts: Sequence[Measured], missing: Sequence[str], folder: str) -> Iterator[str]:
    yield "# Benchmarks"
    yield ""
    yield "`python -m tests.benchmarks.page` writes this page. Each part is also a separate command. Both sides of a"
    yield "ratio were measured in the same run. `ours` is this project, and `real` is the Mesos master."
    yield from _environments(parts)
    for part in parts:
        yield from _part(part, folder)
    if missing:
        yield ""
        yield f"Not measured: {', '.join(missing)}."


def _environments(parts: Sequence[Measured]) -> Iterator[str]:
    """One list for each machine, with the names of its parts if there are several machines."""
    different: list[Environment] = []
    for part in parts:
        if part.environment not in different:
            different.append(part.environment)
    for environment in different:
        names = [part.report.title for part in parts if part.environment == environment]
        title = "Machine and versions" + (f": {', '.join(names)}" if len(different) > 1 else "")
        yield from ("", f"## {title}", "", *(f"- {name}: {value}" for name, value in environment.items()))


def _part(part: Measured, folder: str) -> Iterator[str]:
    report = part.report
    yield from ("", f"## {report.title}", "")
    took = _span(report.took_seconds)
    yield f"`python -m tests.benchmarks.{part.part}` on {part.taken_at}, at a load of {part.load:.1f}, took {took}."
    for sentence in report.about:
        yield from ("", _escaped(sentence))
    for table in report.tables:
        yield from ("", f"### {_escaped(table.title)}", "", *_table(table.columns, table.rows))
    for chart in report.charts:
        yield from ("", f"![{_escaped(chart.title)}]({folder}/{chart.name}.svg)")


def _span(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def _table(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> Iterator[str]:
    yield _row(columns)
    yield "| --- |" + " ---: |" * (len(columns) - 1)
    for row in rows:
        yield _row([shown(cell) for cell in row])


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(map(_escaped, cells)) + " |"


def _escaped(text: str) -> str:
    """Text in which nothing ends a table cell early."""
    return text.replace("|", "\\|").replace("\n", " ")
