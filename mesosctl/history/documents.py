"""The JSON about recordings."""

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator

from mesosctl.history.records import Import, Micros, to_seconds
from mesosctl.mesos.amounts.notation import utc_text
from mesosctl.show.document import Document, Mirrored, Strict, named


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
            skipped={rows.cause: rows.rows for rows in done.skipped},
            examples=[
                SkippedExample(cause=rows.cause, file=done.file, line=rows.line, column=rows.column)
                for rows in done.skipped
                if rows.line
            ],
        )


def _seconds(span: object) -> object:
    return to_seconds(span) if isinstance(span, int) else span


def _in_utc(at: object) -> object:
    return time_text(at) if isinstance(at, int) else at


_Time = Annotated[str | None, BeforeValidator(_in_utc)]


class HistoryCluster(Mirrored):
    """A cluster of a recording; times are in UTC, null before anything was seen."""

    cluster_id: Annotated[str, named("cluster.cluster_id")]
    address: Annotated[str, named("cluster.address")]
    mesos_version: Annotated[str | None, named("cluster.version")]
    mesos_profile: Annotated[str | None, named("cluster.mesos_profile")]
    first_seen: Annotated[_Time, named("cluster.first_seen")]
    last_seen: Annotated[_Time, named("cluster.last_seen")]
    clean_end: Annotated[bool, named("cluster.clean_end")]
    principal: Annotated[str | None, named("cluster.principal")]
    clock_steps: Annotated[int, named("cluster.clock_steps")]
    agents: Annotated[int, named("counts.agents")]
    frameworks: Annotated[int, named("counts.frameworks")]
    tasks: Annotated[int, named("counts.tasks")]
    executors: Annotated[int, named("counts.executors")]
    settings: Annotated[int, named("counts.settings")]
    runs: Annotated[int, named("counts.runs")]
    gaps: Annotated[int, named("counts.gaps")]
    gap_seconds: Annotated[float, named("unseen"), BeforeValidator(_seconds)]


class HistoryList(Document):
    """`history list`."""

    kind: Literal["history.list"] = "history.list"
    clusters: list[HistoryCluster]
    imports: list[ImportedFile]


class UnjoinedTask(Mirrored):
    """A row of a file of demand that fits no recorded task and is not kept; null where the row does not say it."""

    line: Annotated[int, named("row.line")]
    task: Annotated[str | None, named("row.task")]
    framework: Annotated[str | None, named("row.framework")]
    role: Annotated[str | None, named("row.role")]
    asked: Annotated[_Time, named("row.asked")]
    cause: str


class JoinedRows(Mirrored):
    """The fate of each row of a file of demand: rows = by_id + in_order + never_started + those that are not joined."""

    by_id: int
    """Joined with the task of its id."""
    in_order: int
    """Joined by framework, role, size and order."""
    never_started: int
    """Kept as tasks that never started."""
    still_unknown: int
    """Recorded tasks that have no asked time yet."""
    not_joined: list[UnjoinedTask]


class HistoryImport(Document):
    """`history import`."""

    kind: Literal["history.import"] = "history.import"
    history: str
    imported: ImportedFile
    joined: JoinedRows | None = None
    """Of a file of demand; null for a log."""
