"""The benchmark page as Markdown, written only from measured figures."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Self

from tests.benchmarks.reporting.report import Budget, Cell, Report, shown

Environment = Mapping[str, str]
_NONE_FAILED: Mapping[str, str] = MappingProxyType({})


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


def page(
    parts: Sequence[Measured],
    missing: Sequence[str] = (),
    folder: str = "measured",
    failed: Mapping[str, str] = _NONE_FAILED,
) -> str:
    """The page.

    `folder` has its charts, relative to the page; `missing` names the parts without figures; `failed` says how each
    part ended that has no figures of the last run.
    """
    return "\n".join(_lines(parts, missing, folder, failed)) + "\n"


def _lines(parts: Sequence[Measured], missing: Sequence[str], folder: str, failed: Mapping[str, str]) -> Iterator[str]:
    yield "# Benchmarks"
    yield ""
    yield "`python -m tests.benchmarks.page` writes this page. Each part is also a separate command. Both sides of a"
    yield "ratio were measured in the same run. `ours` is this project, and `real` is the Mesos master."
    yield from _budgets(parts, failed)
    if missing:
        yield ""
        yield f"Not measured: {', '.join(missing)}."
    different: list[Environment] = []
    for part in parts:
        if part.environment not in different:
            different.append(part.environment)
    for environment in different:
        together = [part for part in parts if part.environment == environment]
        names = ", ".join(part.report.title for part in together)
        title = "Machine and versions" + (f": {names}" if len(different) > 1 else "")
        yield from ("", f"## {title}", "", *(f"- {name}: {value}" for name, value in environment.items()))
        for part in together:
            yield from _part(part, folder, failed.get(part.part))


def _budgets(parts: Sequence[Measured], failed: Mapping[str, str]) -> Iterator[str]:
    """One table of all budgets, with a row for each part that failed instead of its budgets."""
    rows: list[Sequence[Cell]] = [
        _budget(one) for part in parts if part.part not in failed for one in part.report.budgets
    ]
    rows += [(f"all of `tests.benchmarks.{part}`", f"failed: {how}", "no") for part, how in failed.items()]
    if rows:
        yield from ("", "## Budgets", "", *_table(("budget", "measured", "met"), rows))


def _budget(of: Budget) -> Sequence[Cell]:
    unit = f" {of.unit}" if of.unit else ""
    bound = f"{of.name}: at {'least' if of.is_least else 'most'} {of.bound:g}{unit}"
    return bound, f"{shown(of.measured)}{unit}", "yes" if of.is_met else "no"


def _part(part: Measured, folder: str, failed: str | None) -> Iterator[str]:
    report = part.report
    yield from ("", f"## {report.title}", "")
    if failed is not None:
        yield from (f"The last run has no figures, because it {failed}. These are from an earlier one.", "")
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
