"""`mesosctl metrics`."""

from collections.abc import Callable, Iterator, Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mesosctl.cli.arguments import ONLY_BY_NAME, ClusterId, TimeZone, WrittenFile, named_file, refuse_to_overwrite
from mesosctl.cli.command import Group, SingleCommand, examples
from mesosctl.cli.environment import named, read_text
from mesosctl.cli.session import Session
from mesosctl.files.writing import write_atomically
from mesosctl.mesos.door.forecast import DryRunOptions
from mesosctl.mesos.errors import HungUp, Interruption, MesosctlError, NoMaster, UsageError
from mesosctl.metrics import report as shown
from mesosctl.metrics.server import AgingReading, MetricsServer, SharedReading
from mesosctl.reading.overview import OverviewReader

if TYPE_CHECKING:
    from prometheus_client.core import Metric

    from mesosctl.capacity.losses import Spare
    from mesosctl.usage.cost import Cost

app = typer.Typer(cls=Group, rich_markup_mode=None)

Listen = Annotated[
    str | None,
    typer.Option(
        "--listen",
        metavar="HOST:PORT",
        help="Serve the metrics at http://HOST:PORT/metrics until Ctrl-C or SIGTERM, and read the cluster for each "
        "request; requests that come together share one reading. Anybody who reaches the port can read them.",
    ),
]
History = Annotated[
    Path | None,
    typer.Option(
        "--history",
        metavar="FILE",
        parser=named_file("--history", ONLY_BY_NAME),
        help="The recording that --prices is for, a SQLite file.",
    ),
]
PricesFile = Annotated[
    str | None,
    typer.Option(
        "--prices",
        metavar="FILE",
        help="Also show what each role has cost since the month began, by --history and the prices of a TOML file; "
        "- is standard input.",
    ),
]


SpareOf = Annotated[
    list[str] | None,
    typer.Option(
        "--spare",
        metavar="NAME",
        help="Also show how many losses of one agent (agent), or of the agents with one value of an attribute, such as "
        "rack, would take a role below its guarantee. Repeat for several.",
    ),
]


@app.command(
    "metrics",
    cls=SingleCommand,
    epilog=examples(
        ("metrics -f /var/lib/node_exporter/mesos.prom", "once, for the textfile collector of node_exporter"),
        ("metrics --listen 127.0.0.1:9110", "for Prometheus to scrape"),
        ("metrics --listen 127.0.0.1:9110 --history h.sqlite --prices prices.toml", "with the cost of this month"),
        ("metrics --listen 127.0.0.1:9110 --spare rack", "with the racks that the cluster cannot lose"),
    ),
)
def metrics(  # noqa: PLR0913  # one parameter an option
    ctx: typer.Context,
    *,
    file: WrittenFile = None,
    listen: Listen = None,
    history: History = None,
    prices: PricesFile = None,
    timezone: TimeZone = "UTC",
    cluster_id: ClusterId = None,
    spare: SpareOf = None,
) -> None:
    """Write the present moment of a cluster as OpenMetrics text, or serve it for Prometheus.

    It shows resources of the cluster and of roles, guarantees that are unmet, limits, shares, reserved and idle or lent
    resources, outstanding offers and their age, messages that wait or were dropped by principal, and agents by state.
    The age of an offer is the time since it was seen first, so only served metrics can show more than zero. A server
    ends with exit status 0 at Ctrl-C or SIGTERM.

    With --prices, it also shows what each role has cost in the calendar month in which the recording ends. A server
    adds that up again once a minute, or less often if it takes longer than six seconds. The losses of --spare are those
    of mesosctl capacity spare; a server plays them as often.
    """
    session: Session = ctx.obj
    if session.said.output is not None:
        raise UsageError(f"metrics writes OpenMetrics text, not {session.form}", field="--output", hint="leave out -o")
    if listen is not None and file is not None:
        raise UsageError("--listen and --file cannot be used together", field="--listen", hint="give one of them")
    place = None if listen is None else _place(listen)
    cost = _cost_reading(session, history, prices, timezone, cluster_id)
    losses = _losses_reading(session, spare, serves=place is not None)
    if history is not None:
        refuse_to_overwrite(history, file, "--file")
    with session.open_master() as master:
        reader = OverviewReader(master, session.environment.clock)

        def read() -> "Iterator[Metric]":
            master.deadline.extend_to(master.settings.timeout)
            return shown.families(reader.read(), reader.messages())

        if place is not None:
            _serve(session, place, read, cost, losses)
            return

        def once() -> "Iterator[Metric]":
            yield from read()
            yield from () if cost is None else shown.cost_families(cost())
            yield from () if losses is None else shown.spare_families(losses())

        if file is None or str(file) == "-":
            session.emit_text(shown.text(once))
        else:
            write_atomically(
                file, session.environment.secrets.redact_data(shown.text(once)), field="--file", new_mode=0o644
            )
            session.note(f"written to {file}")


def _cost_reading(
    session: Session, history: Path | None, prices: str | None, timezone: str, cluster_id: str | None
) -> "Callable[[], Cost] | None":
    """The function that adds up the cost of this month; None if that is not asked for."""
    if history is None or prices is None:
        for field, is_given in (
            ("--history", history is not None),
            ("--prices", prices is not None),
            ("--timezone", timezone != "UTC"),
            ("--cluster-id", cluster_id is not None),
        ):
            if is_given:
                raise UsageError(
                    f"{field} is for the cost of a month", field=field, hint="give --history FILE and --prices FILE"
                )
        return None
    from mesosctl.history.contents import chosen_cluster
    from mesosctl.history.sqlite import open_recording
    from mesosctl.history.windows import asked_window, time_zone
    from mesosctl.usage.cost import cost, of_last_month
    from mesosctl.usage.prices import load

    table = load(read_text(prices, "--prices", session.environment.stdin), named(prices), time_zone(timezone))

    def add_up() -> "Cost":
        with open_recording(history) as recording:
            cluster = chosen_cluster(recording, cluster_id)
            whole = asked_window(cluster, None, None)
            return cost(recording, cluster, of_last_month(whole.since, whole.until, table))

    return add_up


def _losses_reading(
    session: Session, names: Sequence[str] | None, *, serves: bool
) -> "Callable[[], list[Spare]] | None":
    """The function that plays each loss; None if that is not asked for.  A server goes on without a master."""
    if not names:
        return None
    from mesosctl.capacity.reading import play_losses
    from mesosctl.capacity.work import SpareTerms
    from mesosctl.whatif.work import start_dry_run_of_master

    asked = [SpareTerms(name, option="--spare") for name in dict.fromkeys(names)]

    def play() -> "list[Spare]":
        try:
            with session.open_master() as master:
                dry_run = start_dry_run_of_master(master, DryRunOptions(), lambda *_: None)
        except NoMaster as error:
            if not serves:
                raise
            session.note(f"no losses: {error.message}")
            return []
        return play_losses(session, dry_run, asked, lambda _: None)

    return play


def _place(listen: str) -> tuple[str, int]:
    """The host and the port of --listen.  Raises UsageError."""
    host, colon, port = listen.rpartition(":")
    if not colon or not host or not port.isdigit() or int(port) > 65_535:
        raise UsageError(f"'{listen}' is not HOST:PORT", field="--listen", hint="for example, 127.0.0.1:9110")
    return host.removeprefix("[").removesuffix("]"), int(port)


def is_reachable(address: str) -> bool:
    """Whether other machines may reach a socket at this address."""
    return not ip_address(address.partition("%")[0]).is_loopback


def _serve(
    session: Session,
    place: tuple[str, int],
    read: "Callable[[], Iterator[Metric]]",
    add_up: "Callable[[], Cost] | None",
    play: "Callable[[], list[Spare]] | None",
) -> None:
    """Serve until the command is interrupted.  Raises UsageError if the port is in use."""

    def collect() -> "list[Metric]":
        try:
            found = list(read())
        except MesosctlError as error:
            session.note(f"no metrics: {error.message}")
            found = list(shown.no_master())
        found += () if cost is None else shown.cost_families(cost())
        found += () if losses is None else shown.spare_families(losses())
        return found

    losses = None if play is None else AgingReading(play, lambda error: session.note(f"no losses: {error}"))
    cost = None if add_up is None else AgingReading(add_up, lambda error: session.note(f"no new cost: {error}"))
    shared = SharedReading(collect)
    try:
        server = MetricsServer(place, shown.application(shown.registry(lambda: iter(shared()))))
    except OSError as error:
        raise UsageError(
            f"cannot listen at {place[0]}:{place[1]}: {error.strerror or error}",
            field="--listen",
            hint="choose another port",
        ) from None
    if is_reachable(str(server.server_address[0])):  # a host name may be any address: the socket has the one it is
        session.warn(
            f"--listen {place[0]}: anybody who can reach this machine can read, without credentials, what this "
            "principal sees of the cluster; listen at 127.0.0.1, or let only Prometheus reach the port"
        )
    session.note(f"serving http://{place[0]}:{server.server_port}/metrics until Ctrl-C or SIGTERM")
    session.environment.tell_notes()
    try:
        server.serve_forever()
    except KeyboardInterrupt as stopped:
        if isinstance(stopped, Interruption) and stopped.kind is HungUp:
            raise
        session.environment.obeyed()
    finally:
        server.server_close()
