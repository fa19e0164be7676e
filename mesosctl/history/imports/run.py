"""`history import`: one file, in one transaction."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import tzinfo
from pathlib import Path
from typing import Any

from mesosctl.files.reading import LARGEST_TEXT
from mesosctl.history.imports.columns import Columns
from mesosctl.history.imports.formats import ROLE_BY, LogFormatName
from mesosctl.history.imports.log_file import opened
from mesosctl.history.imports.openb import Openb
from mesosctl.history.imports.rows import FrameworkOfTask, LogFormat, LogSpan, OfOtherForm, Unusable
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
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.errors import BadInput, UsageError

_PROCESSOR = "cpus:1"
_ROWS_BETWEEN = 5_000
"""Rows after which progress is told."""
MOST_FRAMEWORKS = 250_000
"""The most frameworks of a log, each counted once for every role of it; they are in memory until it has been read."""
MOST_OF_NAMES = 32 << 20
"""The most characters of all their names."""


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """The options of `history import`; None if one is not given."""

    file: Path
    format: LogFormatName
    role_by: str | None = None
    agents: Path | None = None
    cluster_id: str | None = None
    processor: str | None = None
    replace: bool = False
    zone: tzinfo | None = None
    """Of times that name none."""


@dataclass(slots=True)
class _SeenFramework:
    """A framework, from its first task to its last one."""

    of: FrameworkOfTask
    start: Micros
    end: Micros
    roles: set[str]


@dataclass(slots=True)
class _Seen:
    """The facts that are known once all rows are read."""

    start: Micros | None = None
    end: Micros | None = None
    rows: int = 0
    used: int = 0
    skipped: dict[str, SkippedRows] = field(default_factory=dict)
    frameworks: dict[str, _SeenFramework] = field(default_factory=dict)
    roles_of_frameworks: int = 0
    names: int = 0
    """The characters of their names."""
    has_form: bool = False
    """Whether a row has the form of the format, so that the format is right."""

    def skip(self, error: Unusable, line: int) -> None:
        """Count a row that is not used; the first of its cause is the one that is shown."""
        self.has_form |= not isinstance(error, OfOtherForm)
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
            known = self.frameworks[task.framework_id] = _SeenFramework(of, begin, end, set())
            self.names += 2 * len(task.framework_id)  # which its name and principal make
        known.start, known.end = min(begin, known.start), max(end, known.end)
        if task.role not in known.roles:
            known.roles.add(task.role)
            self.roles_of_frameworks += 1
            self.names += len(task.role)


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
    with recording.transaction(), opened(options.file, "FILE") as file:
        before = {recorded.cluster_id: recorded for recorded in recording.clusters()}.get(cluster_id)
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
                if seen.roles_of_frameworks > MOST_FRAMEWORKS or seen.names > MOST_OF_NAMES:
                    raise BadInput(
                        f"{options.file}, line {line}: more than {MOST_FRAMEWORKS:,} frameworks are named up to here, "
                        f"or their names have more than {MOST_OF_NAMES:,} characters",
                        field="FILE",
                        hint="import parts of it into several recordings",
                    )
            if seen.rows % _ROWS_BETWEEN == 0:
                progress(f"reading {options.file.name}: {seen.rows:,} rows", file.part())
        if seen.start is None or seen.end is None:
            raise _nothing_usable(options.file, seen)
        for remark in log_format.remarks():
            tell(remark)
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
    span = LogSpan(seen.start, seen.end)
    with nullcontext() if options.agents is None else opened(options.agents, "--agents", LARGEST_TEXT) as file:
        for agent in log_format.agents(span, file):
            recording.add_agent(cluster.cluster_id, agent)
    for framework_id, framework in seen.frameworks.items():
        roles, of = tuple(sorted(framework.roles)), framework.of
        recording.add_framework(
            cluster.cluster_id,
            RecordedFramework(
                framework_id, of.name, roles, framework.start, framework.end, of.principal, of.capabilities
            ),
        )
    first, last = cluster.first_seen, cluster.last_seen
    recording.put_cluster(
        RecordedCluster(
            cluster.cluster_id, cluster.address, cluster.version,
            span.start if first is None else min(first, span.start),
            span.end if last is None else max(last, span.end),
            cluster.clean_end, cluster.principal, cluster.clock_steps, cluster.mesos_profile,
        )
    )  # fmt: skip


def _format(options: ImportOptions) -> LogFormat[Any]:
    role_by = options.role_by or ROLE_BY[options.format]
    if options.format != "swf":
        if options.processor is not None:
            raise UsageError("--processor is for --format swf", field="--processor", hint="leave it out")
        kind = Openb if options.format == "openb" else Columns
        return kind(role_by, str(options.file), options.zone)
    if options.zone is not None:
        raise UsageError("--timezone is not for --format swf", field="--timezone", hint="leave it out")
    if role_by not in ROLE_FIELDS:
        raise UsageError(
            f"swf has no field for --role-by {role_by}", field="--role-by", hint=f"use {', '.join(ROLE_FIELDS)}"
        )
    processor = parse_resources(options.processor or _PROCESSOR)
    if not processor:
        raise UsageError("a processor has no resources", field="--processor", hint="for example, 'cpus:1;mem:4GiB'")
    return Swf(role_by, Resources(processor), str(options.file), on_one_agent=options.agents is None)


def _stem(file: Path) -> str:
    """The id of a cluster that is not named: the file without its endings."""
    return file.name.split(".", 1)[0] or file.name


def _nothing_usable(file: Path, seen: _Seen) -> BadInput:
    first = next(iter(seen.skipped.values()), None)
    if first is None:
        return BadInput(f"{file} has no rows; nothing was imported", field="FILE")
    where = f"Line {first.line}, column {first.column}" if first.column else f"Line {first.line}"
    return BadInput(
        f"no row of {file} can be used; nothing was imported. {where}: {first.cause}",
        field="FILE",
        hint="correct that row, and others like it" if seen.has_form else "choose the format of the file with --format",
    )
