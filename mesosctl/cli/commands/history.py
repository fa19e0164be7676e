"""`mesosctl history`: its verbs."""

from pathlib import Path
from typing import Annotated

import typer

from mesosctl.cli.arguments import ClusterId, HistoryFile
from mesosctl.cli.command import Command, Group, examples
from mesosctl.cli.session import Session
from mesosctl.history.imports.formats import FormatName

app = typer.Typer(cls=Group, rich_markup_mode=None)


@app.callback()
def history() -> None:
    """Record what happens on a cluster, and see what a recording holds.

    A recording is one SQLite file. mesosctl usage says who got what, and mesosctl whatif --replay plays it with other
    quotas.
    """


Log = Annotated[Path, typer.Argument(metavar="FILE", help="The log; it may be compressed by gzip.", show_default=False)]
Format = Annotated[
    FormatName,
    typer.Option(
        "--format",
        help="swf is the Standard Workload Format, openb the public GPU trace, csv a table with named columns.",
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
]
Replace = Annotated[
    bool,
    typer.Option("--replace", help="Replace rows of an earlier import that are in FILE too.", show_default=False),
]


@app.command(
    "import",
    cls=Command,
    epilog=examples(
        ("history import jobs.swf.gz --format swf --role-by group --history h.sqlite", "jobs of a batch system"),
        ("history import pods.csv --format openb --agents nodes.csv --history h.sqlite", "the public GPU trace"),
        ("history import log.csv --format csv --role-by team --history h.sqlite", "any other log"),
    ),
)
def import_(  # noqa: PLR0913  # one parameter an option
    ctx: typer.Context,
    log: Log,
    *,
    format_name: Format,
    history: HistoryFile,
    role_by: RoleBy = None,
    agents: AgentsFile = None,
    processor: Processor = None,
    cluster_id: ClusterId = None,
    replace: Replace = False,
) -> None:
    """Import a log that another scheduler wrote.

    The recording is made if there is none. The log is imported as a whole or not at all. A row that cannot be used is
    skipped and counted by cause, with the line and the column of the first one; mesosctl history list shows the counts
    later too. The cluster is named after the file, unless --cluster-id names it.
    """
    from mesosctl.history.imports.run import ImportOptions, import_log
    from mesosctl.history.sqlite import open_writer
    from mesosctl.output.history import history_import

    session: Session = ctx.obj
    options = ImportOptions(log, format_name, role_by, agents, cluster_id, processor, replace)
    with open_writer(history) as recording, session.waiting() as progress:
        done = import_log(recording, options, progress)
    session.emit(history_import(done, str(history)))


@app.command(
    "list",
    cls=Command,
    epilog=examples(
        ("history list --history h.sqlite", "clusters, spans, gaps and imports"),
        ("history list --history h.sqlite -o json", "the same as JSON"),
    ),
)
def list_(ctx: typer.Context, history: HistoryFile) -> None:
    """List what a recording holds.

    It shows the clusters, the time in which each was seen, gaps, and imported files.
    """
    from mesosctl.history.contents import contents
    from mesosctl.history.sqlite import open_recording
    from mesosctl.output.history import history_list

    session: Session = ctx.obj
    with open_recording(history) as recording:
        session.emit(history_list(contents(recording)))
