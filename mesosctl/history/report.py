"""Recordings as reports: what they hold, and what was imported."""

from mesosctl.history import documents
from mesosctl.history.contents import Contents
from mesosctl.history.imports.join import JoinedDemand, UnjoinedRow
from mesosctl.history.records import Import, Micros, to_seconds
from mesosctl.mesos.amounts.notation import format_span, utc_text
from mesosctl.show.lists import list_report
from mesosctl.show.report import MOST_LINES, NOTHING, Column, Report, rest_line


def _time(at: Micros | None) -> str | None:
    """A time for people, to the second."""
    return None if at is None else utc_text(to_seconds(at))[: len("2026-01-01T00:00:00")].replace("T", " ")


def history_list(held: Contents) -> Report:
    """The clusters and imports of a recording."""
    imports = [row for imported in held.imports for row in _import_rows(imported)]
    return list_report(
        documents.HistoryList(clusters=[], imports=[documents.ImportedFile.of(imported) for imported in held.imports]),
        held.clusters,
        (
            Column("CLUSTER", lambda contents: contents.cluster.cluster_id, rank=-1),
            Column("SOURCE", lambda contents: contents.cluster.address),
            Column("MESOS", lambda contents: contents.cluster.version, wide=True),
            Column("FROM (UTC)", lambda contents: _time(contents.cluster.first_seen), key="from"),
            Column("TO (UTC)", lambda contents: _time(contents.cluster.last_seen), key="to"),
            Column("AGENTS", lambda contents: contents.counts.agents, kind="number"),
            Column("FRAMEWORKS", lambda contents: contents.counts.frameworks, kind="number"),
            Column("TASKS", lambda contents: contents.counts.tasks, kind="number"),
            Column("GAPS", lambda contents: contents.counts.gaps, kind="number"),
            Column(
                "UNSEEN",
                lambda contents: format_span(to_seconds(contents.unseen)) if contents.unseen else None,
                kind="number",
            ),
            Column("END", lambda contents: "clean" if contents.cluster.clean_end else "open"),
        ),
        name=lambda contents: contents.cluster.cluster_id,
        empty="the recording is empty",
        remark=["", "imported:", Report(_IMPORT_COLUMNS, imports)] if imports else (),
    )


_IMPORT_COLUMNS = [
    Column("FILE", rank=-1),
    Column("FORMAT"),
    Column("CLUSTER"),
    Column("ROWS", kind="number"),
    Column("WHAT", kind="sentence"),
    Column("FIRST", kind="sentence"),
]


def _import_rows(imported: Import) -> list[list[str]]:
    """The rows that were used, and those that were skipped by cause."""
    begin = [imported.file, imported.format, imported.cluster_id]
    return [
        [*begin, str(imported.used), "used", NOTHING],
        *(
            [*begin, str(skipped.rows), f"skipped: {skipped.cause}", _place(skipped.line, skipped.column)]
            for skipped in imported.skipped
        ),
    ]


def _place(line: int, column: str) -> str:
    if not line:
        return NOTHING
    return f"line {line}, {column}" if column else f"line {line}"


def history_import(done: Import, history: str) -> Report:
    """The fate of the rows of a file."""
    return Report(
        _IMPORT_COLUMNS,
        _import_rows(done),
        [done.cluster_id],
        lambda: documents.HistoryImport(history=history, imported=documents.ImportedFile.of(done)),
        done=f"imported into {history}",
    )


def demand_import(joined: JoinedDemand, history: str) -> Report:
    """The fate of the rows of a file of demand, and those that fit nothing."""
    done = joined.done
    begin = [done.file, done.format, done.cluster_id]
    fates = (
        (joined.by_id, "joined by task id"),
        (joined.in_order, "joined by framework, role, size and order"),
        (joined.never_started, "kept: never started"),
    )
    rows = [[*begin, str(count), fate, NOTHING] for count, fate in fates if count]
    rows += _import_rows(done)[1:]
    known = f"{joined.still_unknown:,} recorded tasks have no asked time yet"
    listed = ["", "not joined:", Report(_UNJOINED_COLUMNS, [_unjoined(row) for row in joined.unjoined[:MOST_LINES]])]
    if len(joined.unjoined) > MOST_LINES:
        listed.append(rest_line(len(joined.unjoined) - MOST_LINES))
    return Report(
        _IMPORT_COLUMNS,
        rows,
        [done.cluster_id],
        lambda: documents.HistoryImport(
            history=history,
            imported=documents.ImportedFile.of(done),
            joined=documents.JoinedRows.of(
                joined, not_joined=[documents.UnjoinedTask.of(row) for row in joined.unjoined]
            ),
        ),
        remark=[known, *(listed if joined.unjoined else ())],
        done=f"joined with {history}",
    )


_UNJOINED_COLUMNS = [
    Column("LINE", kind="number"),
    Column("TASK"),
    Column("FRAMEWORK"),
    Column("ROLE"),
    Column("ASKED (UTC)", key="asked"),
    Column("WHY", kind="sentence"),
]


def _unjoined(unjoined: UnjoinedRow) -> list[str]:
    row = unjoined.row
    names = (name or NOTHING for name in (row.task, row.framework, row.role))
    return [str(row.line), *names, _time(row.asked) or NOTHING, unjoined.cause]
