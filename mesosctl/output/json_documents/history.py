"""The JSON about recordings."""

from typing import Literal, Self

from mesosctl.history.contents import ClusterContents
from mesosctl.history.records import Import, Micros, to_seconds
from mesosctl.model.notation import utc_text
from mesosctl.output.json_documents.document import Document, Strict


def time_text(at: Micros | None) -> str | None:
    """A time in UTC as ISO 8601 writes it; None for none."""
    return None if at is None else utc_text(to_seconds(at))


class SkippedExample(Strict):
    """The first of the rows that were skipped for a cause; `column` is empty if it is the row as a whole."""

    cause: str
    file: str
    line: int
    column: str


class ImportedFile(Strict):
    """The fate of each row of a file: `rows` is `used` plus all in `skipped`, which are counted by cause."""

    cluster_id: str
    file: str
    format: str
    rows: int
    used: int
    skipped: dict[str, int]
    examples: list[SkippedExample]

    @classmethod
    def of(cls, done: Import) -> Self:
        """Make it from the value."""
        return cls(
            cluster_id=done.cluster_id,
            file=done.file,
            format=done.format,
            rows=done.rows,
            used=done.used,
            skipped={one.cause: one.rows for one in done.skipped},
            examples=[
                SkippedExample(cause=one.cause, file=done.file, line=one.line, column=one.column)
                for one in done.skipped
                if one.line
            ],
        )


class HistoryCluster(Strict):
    """A cluster of a recording; times are in UTC, null before anything was seen."""

    cluster_id: str
    address: str
    mesos_version: str | None
    first_seen: str | None
    last_seen: str | None
    clean_end: bool
    principal: str | None
    clock_steps: int
    agents: int
    frameworks: int
    tasks: int
    executors: int
    settings: int
    runs: int
    gaps: int
    gap_seconds: float

    @classmethod
    def of(cls, held: ClusterContents) -> Self:
        """Make it from the value."""
        cluster, counts = held.cluster, held.counts
        return cls(
            cluster_id=cluster.cluster_id,
            address=cluster.address,
            mesos_version=cluster.version,
            first_seen=time_text(cluster.first_seen),
            last_seen=time_text(cluster.last_seen),
            clean_end=cluster.clean_end,
            principal=cluster.principal,
            clock_steps=cluster.clock_steps,
            agents=counts.agents,
            frameworks=counts.frameworks,
            tasks=counts.tasks,
            executors=counts.executors,
            settings=counts.settings,
            runs=counts.runs,
            gaps=counts.gaps,
            gap_seconds=to_seconds(held.unseen),
        )


class HistoryList(Document):
    """`history list`."""

    kind: Literal["history.list"] = "history.list"
    clusters: list[HistoryCluster]
    imports: list[ImportedFile]


class HistoryImport(Document):
    """`history import`."""

    kind: Literal["history.import"] = "history.import"
    history: str
    imported: ImportedFile
