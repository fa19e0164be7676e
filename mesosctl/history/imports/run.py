"""`history import`: one file, in one transaction."""

import gzip
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from io import BufferedReader, TextIOWrapper
from pathlib import Path
from typing import Any, TextIO, cast

from mesosctl.file_reading import open_file, unreadable_hint, why_unreadable
from mesosctl.history.imports.columns import Columns
from mesosctl.history.imports.formats import ROLE_BY, FormatName
from mesosctl.history.imports.openb import Openb
from mesosctl.history.imports.rows import FrameworkOfTask, LogFormat, Span, Unusable
from mesosctl.history.imports.swf import ROLE_FIELDS, Swf
from mesosctl.history.interface import RecordingWriter
from mesosctl.history.records import (
    Import,
    Micros,
    RecordedCluster,
    RecordedFramework,
    RecordedTask,
    SkippedRows,
)
from mesosctl.model.errors import BadInput, UsageError
from mesosctl.model.notation import parse_resources
from mesosctl.model.resources import Resources

_PROCESSOR = "cpus:1"
_GZIP = b"\x1f\x8b"
_ROWS_BETWEEN = 5_000
"""Rows after which progress is told."""


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """The options of `history import`; None if one is not given."""

    file: Path
    format: FormatName
    role_by: str | None = None
    agents: Path | None = None
    cluster_id: str | None = None
    processor: str | None = None
    replace: bool = False


@dataclass(slots=True)
class _Seen:
    """The facts that are known once all rows are read."""

    start: Micros | None = None
    end: Micros | None = None
    rows: int = 0
    used: int = 0
    skipped: dict[str, SkippedRows] = field(default_factory=dict)
    frameworks: dict[str, tuple[FrameworkOfTask, set[str], Micros, Micros]] = field(default_factory=dict)

    def skip(self, error: Unusable, line: int) -> None:
        """Count a row that is not used; the first of its cause is the one that is shown."""
        known = self.skipped.get(error.cause)
        first = known or SkippedRows(error.cause, 0, line, error.column)
        self.skipped[error.cause] = SkippedRows(error.cause, first.rows + 1, first.line, first.column)

    def use(self, task: RecordedTask, of: FrameworkOfTask) -> None:
        """Count a row that is used."""
        self.used += 1
        begin = task.asked if task.asked is not None else task.start
        assert begin is not None, "a task is asked for, or begins"
        end = max(begin + (task.lasts or 0), task.end or begin, task.start or begin)
        self.start = begin if self.start is None else min(self.start, begin)
        self.end = end if self.end is None else max(self.end, end)
        known = self.frameworks.get(task.framework_id)
        if known is None:
            self.frameworks[task.framework_id] = (of, {task.role}, begin, end)
        elif begin < known[2] or end > known[3] or task.role not in known[1]:
            self.frameworks[task.framework_id] = (
                known[0], known[1] | {task.role}, min(begin, known[2]), max(end, known[3]),
            )  # fmt: skip


def import_log(
    recording: RecordingWriter,
    options: ImportOptions,
    progress: Callable[[str, float | None], None],
    tell: Callable[[str], None] = lambda _: None,
) -> Import:
    """Import a file: all of its rows that can be used, or nothing; `tell` takes a sentence about what was not used.

    Raises BadInput for a file of another form, and for one of which no row can be used; UsageError for options that do
    not fit the format; Conflict for rows that are there already.
    """
    log_format = _format(options)
    cluster_id = options.cluster_id or _stem(options.file)
    with recording.transaction(), _opened(options.file, "FILE") as (file, part):
        before = {one.cluster_id: one for one in recording.clusters()}.get(cluster_id)
        cluster = before or RecordedCluster(cluster_id, options.file.name, clean_end=True)
        recording.put_cluster(cluster)
        recording.begin_import(cluster_id, options.file.name, options.format)
        seen = _Seen()
        for line, row in log_format.rows(file):
            seen.rows += 1
            try:
                task, of = log_format.usable_task(line, row)
            except Unusable as error:
                seen.skip(error, line)
            else:
                recording.add_task(cluster_id, task)
                seen.use(task, of)
            if seen.rows % _ROWS_BETWEEN == 0:
                progress(f"reading {options.file.name}: {seen.rows:,} rows", part())
        if seen.start is None or seen.end is None:
            raise _nothing_usable(options.file, seen)
        if log_format.unused is not None:
            tell(log_format.unused)
        recording.replace_earlier(allowed=options.replace)
        _add_around(recording, cluster, log_format, options, seen)
        done = Import(cluster_id, options.file.name, options.format, seen.rows, seen.used, tuple(seen.skipped.values()))
        recording.end_import(done)
    return done


def _add_around(
    recording: RecordingWriter,
    cluster: RecordedCluster,
    log_format: LogFormat[Any],
    options: ImportOptions,
    seen: _Seen,
) -> None:
    """Add what is known of a log only at its end: its agents, its frameworks and its span."""
    assert seen.start is not None and seen.end is not None  # noqa: PT018
    span = Span(seen.start, seen.end)
    if options.agents is None:
        agents = log_format.agents(span, None)
    else:
        with _opened(options.agents, "--agents") as (file, _):
            agents = log_format.agents(span, file)
    for agent in agents:
        recording.add_agent(cluster.cluster_id, agent)
    for framework_id, (of, roles, start, end) in seen.frameworks.items():
        recording.add_framework(
            cluster.cluster_id,
            RecordedFramework(framework_id, of.name, tuple(sorted(roles)), start, end, of.principal, of.capabilities),
        )
    first, last = cluster.first_seen, cluster.last_seen
    recording.put_cluster(
        RecordedCluster(
            cluster.cluster_id, cluster.address, cluster.version,
            span.start if first is None else min(first, span.start),
            span.end if last is None else max(last, span.end),
            cluster.clean_end, cluster.principal, cluster.clock_steps,
        )
    )  # fmt: skip


def _format(options: ImportOptions) -> LogFormat[Any]:
    role_by = options.role_by or ROLE_BY[options.format]
    if options.format != "swf":
        if options.processor is not None:
            raise UsageError("--processor is for --format swf", field="--processor", hint="leave it out")
        kind = Openb if options.format == "openb" else Columns
        return kind(role_by, str(options.file))
    if role_by not in ROLE_FIELDS:
        raise UsageError(
            f"swf has no field for --role-by {role_by}", field="--role-by", hint=f"use {', '.join(ROLE_FIELDS)}"
        )
    processor = parse_resources(options.processor or _PROCESSOR)
    if not processor:
        raise UsageError("a processor has no resources", field="--processor", hint="for example, 'cpus:1;mem:4GiB'")
    return Swf(role_by, Resources(processor), on_one_agent=options.agents is None)


def _stem(file: Path) -> str:
    """The id of a cluster that is not named: the file without its endings."""
    return file.name.split(".", 1)[0] or file.name


def _nothing_usable(file: Path, seen: _Seen) -> BadInput:
    first = next(iter(seen.skipped.values()), None)
    if first is None:
        return BadInput(f"{file} has no rows; nothing was imported", field="FILE")
    return BadInput(
        f"no row of {file} can be used; nothing was imported. Line {first.line}: {first.cause}",
        field="FILE",
        hint="choose the format of the file with --format",
    )


@contextmanager
def _opened(path: Path, option: str) -> Iterator[tuple[TextIO, Callable[[], float | None]]]:
    """The text of a file, which may be compressed, and the part of it that was read.  Raises BadInput."""
    try:
        with open_file(path) as raw:
            size = path.stat().st_size
            compressed = raw.peek(2)[:2] == _GZIP
            inner = cast("BufferedReader", gzip.GzipFile(fileobj=raw)) if compressed else raw
            # Names may be in any encoding; a byte that is not UTF-8 stays what it is.
            with TextIOWrapper(inner, encoding="utf-8-sig", errors="replace", newline="") as text:
                yield text, lambda: raw.tell() / size if size else None
    except (OSError, EOFError, ValueError, zlib.error) as error:
        if isinstance(error, OSError | ValueError) and not isinstance(error, gzip.BadGzipFile):
            why, hint = why_unreadable(error), None
            with suppress(OSError):
                hint = unreadable_hint(path, error)
        else:
            why, hint = "it is compressed, and it is cut short or damaged", None
        raise BadInput(f"{path} cannot be read: {why}", field=option, hint=hint) from None
