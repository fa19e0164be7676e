"""Recordings as reports: what they hold, and what was imported."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mesosctl.history.contents import ClusterContents, Contents
from mesosctl.history.records import Import, Micros, to_seconds
from mesosctl.model.notation import format_span, utc_text
from mesosctl.output.formats.report import NOTHING, Column, Report

if TYPE_CHECKING:
    from pydantic import BaseModel

    from mesosctl.output.json_documents import history as documents


def _time(at: Micros | None) -> str:
    """A time for people, to the second."""
    return NOTHING if at is None else utc_text(to_seconds(at))[: len("2026-01-01T00:00:00")].replace("T", " ")


def _span(micros: Micros) -> str:
    return format_span(to_seconds(micros))


def history_list(held: Contents) -> Report:
    """The clusters and imports of a recording."""

    def items() -> "list[documents.HistoryCluster]":
        from mesosctl.output.json_documents import history as documents

        return [documents.HistoryCluster.of(one) for one in held.clusters]

    def document() -> "documents.HistoryList":
        from mesosctl.output.json_documents import history as documents

        imports = [documents.ImportedFile.of(one) for one in held.imports]
        return documents.HistoryList(clusters=items(), imports=imports)

    return Report(
        [
            Column("CLUSTER", rank=-1),
            Column("SOURCE"),
            Column("MESOS", wide=True),
            Column("FROM (UTC)", key="from"),
            Column("TO (UTC)", key="to"),
            Column("AGENTS", kind="number"),
            Column("FRAMEWORKS", kind="number"),
            Column("TASKS", kind="number"),
            Column("GAPS", kind="number"),
            Column("UNSEEN", kind="number"),
            Column("END"),
        ],
        [_cluster_row(one) for one in held.clusters],
        [one.cluster.cluster_id for one in held.clusters],
        document,
        items,
        empty="the recording is empty",
        remark=["", "imported:", _imports(held.imports, document, items)] if held.imports else (),
    )


def _cluster_row(one: ClusterContents) -> list[str]:
    cluster, counts = one.cluster, one.counts
    return [
        cluster.cluster_id,
        cluster.address,
        cluster.version or NOTHING,
        _time(cluster.first_seen),
        _time(cluster.last_seen),
        str(counts.agents),
        str(counts.frameworks),
        str(counts.tasks),
        str(counts.gaps),
        _span(one.unseen) if one.unseen else NOTHING,
        "clean" if cluster.clean_end else "open",
    ]


def _imports(imports: Sequence[Import], document: "object", items: "object") -> Report:
    return Report(
        _IMPORT_COLUMNS,
        [row for one in imports for row in _import_rows(one)],
        [one.file for one in imports],
        document,  # type: ignore[arg-type]  # a table below another one has no document of its own
        items,  # type: ignore[arg-type]
    )


_IMPORT_COLUMNS = [
    Column("FILE", rank=-1),
    Column("FORMAT"),
    Column("CLUSTER"),
    Column("ROWS", kind="number"),
    Column("WHAT", kind="sentence"),
    Column("FIRST", kind="sentence"),
]


def _import_rows(one: Import) -> list[list[str]]:
    """The rows that were used, and those that were skipped by cause."""
    begin = [one.file, one.format, one.cluster_id]
    return [
        [*begin, str(one.used), "used", NOTHING],
        *(
            [*begin, str(skipped.rows), f"skipped: {skipped.cause}", _place(skipped.line, skipped.column)]
            for skipped in one.skipped
        ),
    ]


def _place(line: int, column: str) -> str:
    if not line:
        return NOTHING
    return f"line {line}, {column}" if column else f"line {line}"


def history_import(done: Import, history: str) -> Report:
    """The fate of the rows of a file."""

    def document() -> "documents.HistoryImport":
        from mesosctl.output.json_documents import history as documents

        return documents.HistoryImport(history=history, imported=documents.ImportedFile.of(done))

    def items() -> "list[BaseModel]":
        return [document()]

    return Report(
        _IMPORT_COLUMNS,
        _import_rows(done),
        [done.cluster_id],
        document,
        items,
        done=f"imported into {history}",
    )
