"""The answers of one command on several contexts, as one report."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from mesosctl.show import by_context_documents as documents
from mesosctl.show.by_context_documents import InContext
from mesosctl.show.document import Error
from mesosctl.show.report import NOTHING, Column, Minor, Report, as_table


class ContextResult(NamedTuple):
    """The answer of a command on one context; no report if it failed before."""

    context: str
    report: Report | None
    status: int | None = 0
    """None if the command was not begun."""
    error: Mapping[str, str | int | None] | None = None
    """The fields of its error."""


def by_context(answers: Sequence[ContextResult]) -> Report:
    """One table of every answer, with the context in its first column; -o name writes it before each name."""
    reports = [(result.context, result.report) for result in answers if result.report is not None]

    def document() -> documents.ByContext:
        return documents.ByContext(
            contexts=[
                documents.ContextAnswer(
                    context=result.context,
                    exit_status=result.status,
                    answer=None if result.report is None else result.report.whole_document().model_dump(),
                    error=None if result.error is None else Error.model_validate(result.error),
                )
                for result in answers
            ]
        )

    def items() -> Iterator[documents.InContext]:
        for context, report in reports:
            for item in report.lines():
                yield InContext(context=context, **item.model_dump())

    table = _table(reports)
    names = [f"{context} {name}" for context, report in reports for name in report.names]
    if any(report.table for _, report in reports):
        table = table._replace(
            table=lambda: _table([(context, as_table(of_context)) for context, of_context in reports])
        )
    if any(report.terminal for _, report in reports):
        table = table._replace(
            terminal=lambda: _table(
                [
                    (context, of_context.terminal() if of_context.terminal else of_context)
                    for context, of_context in reports
                ]
            )
        )
    return table._replace(names=names, document=document, items=items)


def _table(reports: Sequence[tuple[str, Report]]) -> Report:
    """The rows of every report, in the columns of all of them."""
    columns = {_name(column): column for _, report in reports for column in report.columns}
    rows = [
        [context, *(cells.get(name, NOTHING) for name in columns)]
        for context, report in reports
        for cells in (dict(zip(map(_name, report.columns), row, strict=True)) for row in report.rows)
    ]
    has_rows = any(report.rows for _, report in reports)
    empty = [f"{context}: {report.empty}" for context, report in reports if report.empty and not report.rows]
    return Report(
        (Column("CONTEXT", rank=-1), *columns.values()),
        rows,
        empty="; ".join(empty),
        remark=[*(empty if has_rows else ()), *_remark(reports, lambda report: report.remark)],
        detail=list(_remark(reports, lambda report: report.detail)),
        done="; ".join(f"{context}: {report.done}" for context, report in reports if report.done),
        verdicts=[
            verdict._replace(sentence=f"{context}: {verdict.sentence}")
            for context, report in reports
            for verdict in report.verdicts
        ],
        minor=_minor(reports),
        verbatim=any(report.verbatim for _, report in reports),
    )


def _name(column: Column) -> str:
    return column.key or column.title


def _names(report: Report) -> list[str]:
    return list(map(_name, report.columns))


def _remark(
    reports: Sequence[tuple[str, Report]], part: Callable[[Report], Sequence[str | Report]]
) -> Iterator[str | Report]:
    """The lines under the table of each context, below its name; once if it is the same for all."""
    first = part(reports[0][1]) if reports else ()
    if all(part(report) == first for _, report in reports):
        yield from first
        return
    for context, report in reports:
        lines = part(report)
        if lines:
            yield from ("", f"{context}:")
            yield from lines[1:] if lines[0] == "" else lines


def _minor(reports: Sequence[tuple[str, Report]]) -> Minor | None:
    """The rows that a reader rarely needs, if all reports have the same columns."""
    first = next((report for _, report in reports), None)
    if first is None or first.minor is None or any(_names(report) != _names(first) for _, report in reports):
        return None
    holds = first.minor.holds
    return first.minor._replace(holds=lambda row: holds(row[1:]))
