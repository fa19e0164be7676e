"""`mesosctl history`: its verbs."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace as with_fields
from pathlib import Path
from typing import Annotated

import typer

from mesosctl.cli.arguments import (
    ONLY_BY_NAME,
    ClusterId,
    HistoryFile,
    TimeZoneOfFile,
    WrittenFile,
    named_file,
    refuse_options,
    refuse_to_overwrite,
)
from mesosctl.cli.command import Group, SingleCommand, examples
from mesosctl.cli.configuration.credentials import read_secret_file
from mesosctl.cli.meanings import Meaning
from mesosctl.cli.session import Session
from mesosctl.client.http_client import HttpClient
from mesosctl.files.writing import write_pieces
from mesosctl.history.asked_queue import AskedQueue, header_of, marathon, parse_queue
from mesosctl.history.contents import chosen_cluster, contents
from mesosctl.history.export import lines
from mesosctl.history.imports.formats import FormatName
from mesosctl.history.imports.join import import_demand
from mesosctl.history.imports.run import ImportOptions, import_log
from mesosctl.history.recorder import Recorder, RecordOptions, Surroundings
from mesosctl.history.records import DemandFormatName
from mesosctl.history.report import demand_import, history_import, history_list
from mesosctl.history.sqlite import open_recording, open_writer
from mesosctl.history.windows import time_zone
from mesosctl.mesos.amounts.notation import parse_seconds, parse_span
from mesosctl.mesos.errors import HungUp, Interruption, MesosctlError, UsageError

app = typer.Typer(cls=Group, rich_markup_mode=None)


@app.callback()
def history() -> None:
    """Record what happens on a cluster, and see what a recording holds.

    A recording is one SQLite file. mesosctl usage says who got what, and mesosctl replay plays it with other
    quotas.
    """


def _refuse_dry_run(session: Session, hint: str) -> None:
    """Raise UsageError with --dry-run: it forecasts what a cluster does, and these commands write a file."""
    if session.options.dry_run:
        raise UsageError("--dry-run is for commands that change a cluster", field="--dry-run", hint=hint)


def _every(text: str | float) -> float:

    return parse_seconds(str(text), "--every", 1)


def _every_agents(text: str | float) -> float:

    return parse_seconds(str(text), "--every-agents", 1)


Every = Annotated[
    float,
    typer.Option(
        "--every", metavar="SPAN", parser=_every, help="The time between readings of quotas, weights and suppression."
    ),
]
EveryAgents = Annotated[
    float,
    typer.Option(
        "--every-agents",
        metavar="SPAN",
        parser=_every_agents,
        help="The time between readings of agents, reservations and executors.",
    ),
]
Duration = Annotated[
    str | None,
    typer.Option("--duration", metavar="SPAN", help="End after this time, such as 1h. The default is never."),
]


def _every_queue(text: str | float) -> float:
    return parse_seconds(str(text), "--every-queue", 1)


Queue = Annotated[
    str | None,
    typer.Option(
        "--queue",
        metavar="FRAMEWORK=URL",
        help="Also ask the launch queue of a Marathon when tasks were asked for, as in "
        "marathon=https://marathon.example.com:8080. FRAMEWORK is the name or id by which the master knows it.",
    ),
]
QueueSecret = Annotated[
    Path | None,
    typer.Option(
        "--queue-secret-file",
        metavar="FILE",
        parser=named_file("--queue-secret-file", ONLY_BY_NAME),
        help="The credentials for --queue: principal:secret, or a token.",
    ),
]
EveryQueue = Annotated[
    float,
    typer.Option(
        "--every-queue", metavar="SPAN", parser=_every_queue, help="The time between two answers of the queue."
    ),
]
Keep = Annotated[
    str | None,
    typer.Option(
        "--keep", metavar="SPAN", help="Remove what ended longer ago, such as 90d. The default is to keep all."
    ),
]


@app.command(
    "record",
    cls=SingleCommand,
    epilog=examples(
        ("history record --history h.sqlite", "until it is stopped"),
        ("history record --history h.sqlite --keep 90d", "the last 90 days"),
        (
            "history record --history h.sqlite --queue marathon=https://marathon.example.com:8080",
            "with the times at which Marathon's tasks were asked for",
        ),
        ("--master fake:cluster.toml history record --history h.sqlite --duration 10m", "ten minutes of virtual time"),
    ),
)
def record(  # noqa: PLR0913  # one parameter an option
    ctx: typer.Context,
    *,
    history: HistoryFile,
    every: Every = 60,
    every_agents: EveryAgents = 600,
    duration: Duration = None,
    keep: Keep = None,
    cluster_id: ClusterId = None,
    queue: Queue = None,
    queue_secret_file: QueueSecret = None,
    every_queue: EveryQueue = 5,
) -> None:
    """Record what happens on a cluster, until it is stopped.

    It follows the events of the leading master: agents, frameworks and tasks that come and go. Quotas, weights and
    suppressed roles are read at an interval, because a master has no events for them. A master that is away or fails
    over is waited for; the recording marks that time as a gap. Ctrl-C and SIGTERM end the recording cleanly, with exit
    status 0. After any other end, at most the last second is lost, and the next start continues with a gap.

    The clock of the master counts. The cluster is named after the master's --cluster, or else its address, unless
    --cluster-id names it. The time of a fake: master is virtual here: with --duration, it passes at once.

    A master does not tell when tasks were asked for. --queue asks a Marathon; what its queue said is joined with the
    tasks every hour and at the end.
    """
    session: Session = ctx.obj
    _refuse_dry_run(session, "leave it out: recording only reads from the master")
    environment = session.environment
    place = None if queue is None else parse_queue(queue)
    if place is None:
        refuse_options({"--queue-secret-file": queue_secret_file}, "is for --queue", "leave it out, or give --queue")
    wall: Callable[[], float] = time.time
    options = RecordOptions(
        every,
        every_agents,
        None if duration is None else parse_span(duration, "--duration"),
        None if keep is None else parse_span(keep, "--keep"),
        cluster_id,
        environment.secrets.redact(session.options.master or ""),
        session.options.principal,
    )
    with session.open_master() as master:  # a wrong address or setting is refused before a file is made
        is_virtual = master.is_fake
    if is_virtual and environment.transport is None:
        if options.duration is None:
            raise UsageError(
                "a fake: master has virtual time, which passes at once", field="--duration", hint="give --duration 10m"
            )
        if place is not None:
            raise UsageError(
                "the time of a fake: master is virtual, and that of a queue is not",
                field="--queue",
                hint="serve the cluster file with mesos-fake-master, and record its address",
            )
        import fake_master

        clock = fake_master.virtual_clock()
        environment.transport = fake_master.open_transport(session.options.master or "", clock=clock)
        environment.clock, environment.sleep, wall = clock, clock.sleep, clock

    def tell(sentence: str) -> None:
        session.note(sentence)
        environment.tell_notes()

    in_process = environment.transport is not None
    if place is not None:
        secret = None
        if queue_secret_file is not None:
            secret = read_secret_file(str(queue_secret_file), "--queue-secret-file", session.warn)
            environment.secrets.add(secret.partition(":")[2] or secret)
        header = None if secret is None else header_of(secret)
        settings = session.client_settings()
        client = HttpClient(tls=settings.tls, transport=environment.transport, proxies=settings.proxies)
        ask = marathon(place, client, settings, header)
        options = with_fields(options, queue=AskedQueue(place.framework, ask, every_queue, tell))
    around = Surroundings(wall, environment.clock, environment.sleep, tell, in_process)
    with open_writer(history) as recording:
        try:
            Recorder(recording, session.open_master, options, around).run()
        except KeyboardInterrupt as stopped:
            if isinstance(stopped, Interruption) and stopped.kind is HungUp:
                raise
            environment.obeyed()

    with open_recording(history) as written:
        session.emit(history_list(contents(written)))


Log = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        parser=named_file("FILE"),
        help="The log; it may be compressed by gzip.",
        show_default=False,
    ),
]
Format = Annotated[
    FormatName,
    typer.Option(
        "--format",
        help="swf is the Standard Workload Format, openb the public GPU trace, csv a table with named columns. For "
        "--into, demand is a table of who asked for tasks, and when, and marathon-queue the answers of Marathon's "
        "/v2/queue.",
        show_default=False,
    ),
]
RoleBy = Annotated[
    str | None,
    typer.Option(
        "--role-by",
        metavar="COLUMN",
        help="What becomes the role: user, group or queue of swf, or a column. The default is group of swf, qos of "
        "openb and role of csv.",
    ),
]
AgentsFile = Annotated[
    Path | None,
    typer.Option(
        "--agents",
        metavar="FILE",
        parser=named_file("--agents"),
        help="The agents: the nodes of openb, or a csv file with the columns agent and resources.",
    ),
]
Processor = Annotated[
    str | None,
    typer.Option(
        "--processor",
        metavar="RESOURCES",
        help="What one processor of swf stands for, such as 'cpus:1;mem:4GiB'. The default is cpus:1.",
    ),
    Meaning.AMOUNTS,
]
Replace = Annotated[
    bool,
    typer.Option(
        "--replace",
        help="Replace rows of an earlier import that are in FILE too; with --into, the asked times that it gave.",
        show_default=False,
    ),
]
MadeRecording = Annotated[
    Path | None,
    typer.Option(
        "--history",
        metavar="FILE",
        parser=named_file("--history", ONLY_BY_NAME),
        help="The recording, a SQLite file. It is made if there is none.",
        show_default=False,
    ),
]
QueueOf = Annotated[
    str | None,
    typer.Option(
        "--framework",
        metavar="FRAMEWORK",
        help="The name or id of the framework whose marathon-queue it is. The default is marathon.",
    ),
]
Into = Annotated[
    Path | None,
    typer.Option(
        "--into",
        metavar="RECORDING",
        parser=named_file("--into", ONLY_BY_NAME),
        help="A recording that is there, with whose tasks the demand in FILE is joined.",
        show_default=False,
    ),
]


@app.command(
    "import",
    cls=SingleCommand,
    epilog=examples(
        ("history import jobs.swf.gz --format swf --role-by group --history h.sqlite", "jobs of a batch system"),
        ("history import pods.csv --format openb --agents nodes.csv --history h.sqlite", "the public GPU trace"),
        ("history import log.csv --format csv --role-by team --history h.sqlite", "any other log"),
        ("history import --into h.sqlite --format demand asked.csv", "when the tasks of a recording were asked for"),
        ("history import --into h.sqlite --format marathon-queue queue.jsonl", "the same from Marathon's launch queue"),
    ),
)
def import_(  # noqa: PLR0913  # one parameter an option
    ctx: typer.Context,
    log: Log,
    *,
    format_name: Format,
    history: MadeRecording = None,
    into: Into = None,
    role_by: RoleBy = None,
    agents: AgentsFile = None,
    processor: Processor = None,
    cluster_id: ClusterId = None,
    replace: Replace = False,
    timezone: TimeZoneOfFile = None,
    framework: QueueOf = None,
) -> None:
    """Import a log of another scheduler, or demand that a recording lacks.

    The recording is made if there is none. The log is imported as a whole or not at all. A row that cannot be used is
    skipped and counted by cause, with the line and the column of the first one; mesosctl history list shows the counts
    later too. The cluster is named after the file, unless --cluster-id names it.

    The first line of csv names its columns, and tells whether a comma, ';', '|' or a tab separates cells. A table
    needs to, the column of --role-by, one of from and asked, and resources or some of cpus, mem, disk and gpus. It may
    have task, framework, principal, agent, lasts and state. A note names columns that nothing uses.

    demand says when the tasks of a recording were asked for, which a master does not tell. It needs asked, and task or
    all of framework (an id or a name), role and resources; it may have lasts. A row with a task's id is joined with
    that task. Of rows without one that are alike, the first that was asked for is the first that started. What never
    started is kept as a task that waits. Rows that fit nothing are listed. One wrong row leaves the recording as it
    was, and the same file twice changes nothing.

    marathon-queue is what GET /v2/queue of Marathon answers, or such an answer a line, each with the time at which it
    came as at. An instance that left the queue without a task like it that started was withdrawn, and is listed.
    """
    session: Session = ctx.obj
    _refuse_dry_run(session, "leave it out, and try the import on another file: --history trial.sqlite")
    zone = None if timezone is None else time_zone(timezone)

    def join(of_format: DemandFormatName) -> None:
        given = {"--role-by": role_by, "--agents": agents, "--processor": processor, "--history": history}
        refuse_options(given, "is for logs", "leave it out; --into names the recording")
        if into is None:
            raise UsageError("no recording is named", field="--into", hint="give --into RECORDING")
        with _into(), open_writer(into, is_made=False) as recording, session.waiting() as progress:
            joined = import_demand(
                recording, log, of_format, cluster_id, progress, session.note,
                replace=replace, zone=zone, framework=framework,
            )  # fmt: skip
        session.emit(demand_import(joined, str(into)))

    if format_name == "marathon-queue":
        refuse_options({"--timezone": timezone}, "is for csv", "leave it out: Marathon's times name their zone")
        join(format_name)
        return
    refuse_options({"--framework": framework}, "is for marathon-queue", "name the frameworks in the file")
    if format_name == "demand":
        join(format_name)
        return
    refuse_options({"--into": into}, "is for --format demand", "name the recording with --history")
    if history is None:
        raise UsageError("no recording is named", field="--history", hint="give --history FILE")
    options = ImportOptions(log, format_name, role_by, agents, cluster_id, processor, replace, zone)
    with open_writer(history) as recording, session.waiting() as progress:
        done = import_log(recording, options, progress, session.note)
    session.emit(history_import(done, str(history)))


@contextmanager
def _into() -> Iterator[None]:
    """Name the option in errors about a recording, for which other commands have another one."""
    try:
        yield
    except MesosctlError as error:
        if error.field == "--history":
            error.field = "--into"
        raise


@app.command(
    "list",
    cls=SingleCommand,
    epilog=examples(
        ("history list --history h.sqlite", "clusters, spans, gaps and imports"),
        ("history list --history h.sqlite -o json", "the same as JSON"),
    ),
)
def list_(ctx: typer.Context, history: HistoryFile) -> None:
    """List what a recording holds.

    It shows the clusters, the time in which each was seen, gaps, and imported files.
    """
    session: Session = ctx.obj
    with open_recording(history) as recording:
        session.emit(history_list(contents(recording)))


Anonymise = Annotated[
    bool,
    typer.Option(
        "--anonymize",
        "--anonymise",
        help="Keep amounts and structure, but replace the names, and count times from the first moment.",
        show_default=False,
    ),
]
KeepTimes = Annotated[bool, typer.Option("--keep-times", help="Keep the times with --anonymize.", show_default=False)]


@app.command(
    "export",
    cls=SingleCommand,
    epilog=examples(
        ("history export --history h.sqlite -f rows.jsonl", "every row"),
        ("history export --history h.sqlite --anonymize -f shape.jsonl", "rows to pass on"),
    ),
)
def export(
    ctx: typer.Context,
    *,
    history: HistoryFile,
    file: WrittenFile = None,
    cluster_id: ClusterId = None,
    anonymise: Anonymise = False,
    keep_times: KeepTimes = False,
) -> None:
    """Write the rows of a recording as JSON lines.

    Each line has the key table and the columns of that table; times are seconds since 1970. --anonymize replaces the
    names of roles, agents, frameworks, principals and tasks, so that you can share the file.
    """
    session: Session = ctx.obj
    if keep_times and not anonymise:
        raise UsageError("--keep-times is for --anonymize", field="--keep-times", hint="times are kept anyway")
    if session.said.output is not None and session.form != "jsonl":
        raise UsageError(f"history export writes JSON lines, not {session.form}", field="--output", hint="leave out -o")
    refuse_to_overwrite(history, file, "--file")
    with open_recording(history) as recording:
        clusters = recording.clusters() if cluster_id is None else [chosen_cluster(recording, cluster_id)]
        rows = lines(recording, clusters, anonymise=anonymise, keep_times=keep_times or not anonymise)
        if file is None or str(file) == "-":
            session.emit_pieces(session.kept(rows, "the rows"))
            return
        write_pieces(file, session.kept(rows, str(file)), field="--file")
    session.note(f"written to {file}")
