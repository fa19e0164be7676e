"""`mesosctl metrics`."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from mesosctl.cli.arguments import WrittenFile
from mesosctl.cli.command import Group, SingleCommand, examples
from mesosctl.cli.session import Session
from mesosctl.model.errors import HungUp, Interruption, MasterFailed, NoMaster, NotConfirmed, UsageError

if TYPE_CHECKING:
    from prometheus_client.core import Metric

app = typer.Typer(cls=Group, rich_markup_mode=None)

Listen = Annotated[
    str | None,
    typer.Option(
        "--listen",
        metavar="HOST:PORT",
        help="Serve the metrics at http://HOST:PORT/metrics until Ctrl-C or SIGTERM, and read the cluster for each "
        "request.",
    ),
]


@app.command(
    "metrics",
    cls=SingleCommand,
    epilog=examples(
        ("metrics -f /var/lib/node_exporter/mesos.prom", "once, for the textfile collector of node_exporter"),
        ("metrics --listen 127.0.0.1:9110", "for Prometheus to scrape"),
    ),
)
def metrics(ctx: typer.Context, *, file: WrittenFile = None, listen: Listen = None) -> None:
    """Write the present moment of a cluster as OpenMetrics text, or serve it for Prometheus.

    It shows resources of the cluster and of roles, guarantees that are unmet, limits, shares, reserved and idle or lent
    resources, outstanding offers and their age, messages that wait or were dropped by principal, and agents by state.
    The age of an offer is the time since it was seen first, so only served metrics can show more than zero. A server
    ends with exit status 0 at Ctrl-C or SIGTERM.
    """
    from mesosctl.file_writing import write_atomically
    from mesosctl.operations.top import OverviewReader
    from mesosctl.output import metrics as shown

    session: Session = ctx.obj
    if session.said.output is not None:
        raise UsageError(f"metrics writes OpenMetrics text, not {session.form}", field="--output", hint="leave out -o")
    if listen is not None and file is not None:
        raise UsageError("--listen and --file cannot be used together", field="--listen", hint="give one of them")
    place = None if listen is None else _place(listen)
    with session.open_master() as master:
        reader = OverviewReader(master, session.environment.clock)

        def read() -> "Iterator[Metric]":
            master.deadline.extend_to(master.settings.timeout)
            return shown.families(reader.read(), reader.messages())

        if place is not None:
            _serve(session, place, read)
        elif file is None or str(file) == "-":
            session.emit_text(shown.text(read))
        else:
            write_atomically(
                file, session.environment.secrets.redact_data(shown.text(read)), field="--file", new_mode=0o644
            )
            session.note(f"written to {file}")


def _place(listen: str) -> tuple[str, int]:
    """The host and the port of --listen.  Raises UsageError."""
    host, colon, port = listen.rpartition(":")
    if not colon or not host or not port.isdigit() or int(port) > 65_535:
        raise UsageError(f"'{listen}' is not HOST:PORT", field="--listen", hint="for example, 127.0.0.1:9110")
    return host.removeprefix("[").removesuffix("]"), int(port)


def _serve(session: Session, place: tuple[str, int], read: "Callable[[], Iterator[Metric]]") -> None:
    """Serve until the command is interrupted.  Raises UsageError if the port is in use."""
    from threading import Lock

    from prometheus_client import start_http_server

    from mesosctl.output import metrics as shown

    one_at_a_time = Lock()

    def collect() -> "Iterator[Metric]":
        with one_at_a_time:
            try:
                yield from list(read())
            except (NoMaster, MasterFailed, NotConfirmed) as error:
                session.note(f"no metrics: {error.message}")
                yield from shown.no_master()

    try:
        server, thread = start_http_server(place[1], place[0], shown.registry(collect))
    except OSError as error:
        raise UsageError(
            f"cannot listen at {place[0]}:{place[1]}: {error.strerror or error}",
            field="--listen",
            hint="choose another port",
        ) from None
    session.note(f"serving http://{place[0]}:{server.server_port}/metrics until Ctrl-C or SIGTERM")
    session.environment.tell_notes()
    try:
        thread.join()
    except KeyboardInterrupt as stopped:
        if isinstance(stopped, Interruption) and stopped.kind is HungUp:
            raise
        session.environment.obeyed()
    finally:
        server.shutdown()
        server.server_close()
