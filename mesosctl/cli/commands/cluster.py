"""`mesosctl agents`, `frameworks`, `roles` and `top`: what a master knows, as lists and on one screen."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from mesosctl.cli.arguments import Attributes, Every, RoleAndBelow, names_argument, nothing_found, pairs, role_option
from mesosctl.cli.command import Command, Group, examples
from mesosctl.cli.completion import callbacks as completing
from mesosctl.cli.session import Session
from mesosctl.model.errors import UsageError
from mesosctl.operations import cluster
from mesosctl.operations.cluster import Selection
from mesosctl.output.cluster import agent_list, framework_list, role_list
from mesosctl.output.formats.output_formats import TABLES
from mesosctl.output.formats.report import Report

if TYPE_CHECKING:
    from mesosctl.client.leading_master import Master

app = typer.Typer(cls=Group, rich_markup_mode=None)

AgentNames = Annotated[
    list[str] | None,
    names_argument("AGENT", completing.agents, "Show only these: ids, the beginning or end of ids, or host names."),
]
FrameworkNames = Annotated[
    list[str] | None, names_argument("FRAMEWORK", completing.frameworks, "Show only these: ids or names.")
]
RoleNames = Annotated[list[str] | None, names_argument("ROLE", completing.roles, "Show only these roles.")]
OfRole = Annotated[str | None, role_option("Show only what belongs to this role or to a role below it.")]


def _sort(keys: tuple[str, ...]) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(
        "--sort",
        metavar="KEY",
        autocompletion=lambda: [*keys, "cpus", "mem", "disk", "gpus"],
        help=f"Sort by {', '.join(keys)}, or a resource such as cpus (largest first). -KEY reverses the order.",
    )
    return option


SortAgents = Annotated[str | None, _sort(cluster.AGENT_KEYS)]
SortFrameworks = Annotated[str | None, _sort(cluster.FRAMEWORK_KEYS)]
SortRoles = Annotated[str | None, _sort(cluster.ROLE_KEYS)]
Watch = Annotated[
    bool,
    typer.Option(
        "--watch",
        help="Refresh the list until Ctrl-C. Without a terminal, it is written again whenever it changes; -o jsonl "
        "writes one document per line.",
        show_default=False,
    ),
]


Count = Annotated[int | None, typer.Option("--count", metavar="NUMBER", min=1, help="Stop after this many readings.")]


def show(session: Session, read: "Callable[[Master], Report]", *, watch: bool, every: float, count: int | None) -> None:
    """Emit the report that `read` makes, once or repeatedly.

    Raises UsageError for a format that is written only once.
    """
    if not watch:
        if count is not None:
            raise UsageError("--count needs --watch", field="--count", hint="give both")
        with session.open_master() as master:
            report = read(master)
        session.end_progress()
        session.emit(report)
        return
    session.check_watchable()
    with session.open_master() as master:
        for report in cluster.readings(master, lambda: read(master), every, session.note, count):
            session.end_progress()
            session.follow(report)


@app.command(
    "agents",
    cls=Command,
    epilog=examples(
        ("agents", "every agent and how much of it is in use"),
        ("agents --attribute rack=r1 --sort use", "the agents of a rack, the fullest first"),
        ("agents --role ads -o wide", "the agents with resources for ads, and their ids"),
        ("agents --watch", "refreshed every two seconds"),
    ),
)
def agents(  # noqa: PLR0913  # one parameter an option
    ctx: typer.Context,
    names: AgentNames = None,
    *,
    role: OfRole = None,
    attribute: Attributes = None,
    sort: SortAgents = None,
    watch: Watch = False,
    every: Every = 2.0,
    count: Count = None,
) -> None:
    """List agents and how much of each is in use.

    With --role, list the agents with resources that are reserved for the role or allocated to it.
    """
    session: Session = ctx.obj
    wanted = Selection(names or (), role, dict(pairs(attribute, "--attribute")), sort)
    said = {"--role": role, "--attribute": ",".join(attribute) if attribute else None}

    def read(master: "Master") -> Report:
        found = cluster.list_agents(master, wanted, session.progress)
        known = () if found or role is None else cluster.roles_of_agents(cluster.list_agents(master, Selection()))
        return agent_list(found, empty=nothing_found("no agents are registered", said, known), sort=sort)

    show(session, read, watch=watch, every=every, count=count)


@app.command(
    "frameworks",
    cls=Command,
    epilog=examples(
        ("frameworks", "every framework and what it holds"),
        ("frameworks --role ads --sort cpus", "the frameworks of a role, the one with the most cpus first"),
        ("frameworks marathon -o json", "one of them, for a program"),
    ),
)
def frameworks(  # one parameter an option
    ctx: typer.Context,
    names: FrameworkNames = None,
    *,
    role: OfRole = None,
    sort: SortFrameworks = None,
    watch: Watch = False,
    every: Every = 2.0,
    count: Count = None,
) -> None:
    """List frameworks and what they hold.

    With --role, list the frameworks that subscribe with the role.
    """
    session: Session = ctx.obj
    wanted = Selection(names or (), role, {}, sort)

    def read(master: "Master") -> Report:
        found = cluster.list_frameworks(master, wanted)
        others = [] if found or role is None else cluster.list_frameworks(master, Selection())
        known = {name for one in others for name in one.roles}
        empty = nothing_found("no frameworks are registered", {"--role": role}, known)
        return framework_list(found, empty=empty, sort=sort)

    show(session, read, watch=watch, every=every, count=count)


@app.command(
    "roles",
    cls=Command,
    epilog=examples(
        ("roles", "every role, with its use, guarantee and limit"),
        ("roles --sort share", "the roles furthest below their guarantee first"),
        ("roles --role ads", "a role and those below it"),
    ),
)
def roles(  # one parameter an option
    ctx: typer.Context,
    names: RoleNames = None,
    *,
    role: RoleAndBelow = None,
    sort: SortRoles = None,
    watch: Watch = False,
    every: Every = 2.0,
    count: Count = None,
) -> None:
    """List roles with their resources, guarantees and weights.

    The master knows a role if a framework subscribes with it, or if it has a quota, a weight or a reservation.
    """
    session: Session = ctx.obj
    wanted = Selection(names or (), role, {}, sort)

    def read(master: "Master") -> Report:
        found = cluster.list_roles(master, wanted)
        known = [] if found or role is None else [one.role for one in cluster.list_roles(master, Selection())]
        empty = nothing_found("the master knows no roles", {"--role": role}, known)
        return role_list(found, empty=empty, sort=sort)

    show(session, read, watch=watch, every=every, count=count)


Once = Annotated[
    bool,
    typer.Option(
        "--once", help="Write one reading and exit. This is the default without a terminal.", show_default=False
    ),
]
_FRAME = 0.25
"""Seconds until the screen is drawn again if no key is pressed."""


@app.command(
    "top",
    cls=Command,
    epilog=examples(
        ("top", "the cluster on one screen, refreshed every two seconds"),
        ("top --every 500ms", "four times as often"),
        ("top --once -o json", "one reading for a program"),
    ),
)
def top(ctx: typer.Context, *, once: Once = False, every: Every = 2.0) -> None:
    """Watch the whole cluster on one screen.

    It shows the share of each role as a bar with its guarantee and limit, the agents, the outstanding offers with their
    age, and the throttled principals. A full bar is the whole cluster.

    If the master has an event stream, changes to agents and frameworks show at once. There are no events for offers, so
    mesosctl also polls the master every few seconds. If the master stops answering, mesosctl tries again until it is
    back. "or more" after an age means that the offer is older than the first reading.

    Keys: q quits, p pauses, s sorts by share, name or status, r reverses, arrows scroll, space updates.
    """
    session: Session = ctx.obj
    environment = session.environment
    if once or session.form not in TABLES or not environment.overwrites(environment.stdout):
        from mesosctl.operations.top import OverviewReader
        from mesosctl.output.top import overview_report

        with session.open_master() as master:
            session.emit(overview_report(OverviewReader(master, environment.clock).read()))
        return
    _watch_screen(session, every)


def _watch_screen(session: Session, every: float) -> None:
    """Draw readings until a key says to leave.  Raises what the first reading raises."""
    from mesosctl.client.address import parse_address
    from mesosctl.operations.top import Feed
    from mesosctl.output.formats.live import FullScreen
    from mesosctl.output.top import ScreenStatus, TopState, top_screen

    environment = session.environment
    session.open_master().close()  # a mistake in the arguments is reported before the screen is cleared
    address = parse_address(session.options.master or "")
    keys = environment.stdin if environment.stdin.isatty() else None
    name = environment.secrets.redact(session.settings.context_of_master or session.options.master or "")
    state, shown = TopState(), None
    with session.held_notes(), Feed(session.open_master, every, events=address.fake is None) as feed:
        while feed.overview is None:
            if feed.failed is not None:
                raise feed.failed
            session.progress("reading the cluster …")
            environment.sleep(0.05)
        session.end_progress()
        with FullScreen(environment.stdout, keys, colours=environment.colours) as screen:
            while True:
                if feed.failed is not None:
                    raise feed.failed
                if shown is None or not state.paused:
                    shown = feed.overview
                width, height = environment.width(environment.stdout), environment.height(environment.stdout)
                around = ScreenStatus(name, every, feed.is_live, feed.trouble, tuple(feed.events))
                screen.show(top_screen(shown, state, around, width, height), width, height)
                key = screen.key(_FRAME)
                if key == "q":
                    return
                if key == " ":
                    feed.refresh()
                state.press(key, len(shown.roles))
