"""`mesosctl agents`, `frameworks` and `roles`: lists of what a master knows."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from mesosctl.cli.command import Command, Group, examples
from mesosctl.cli.commands.reservations import Attributes, nothing_found, pairs
from mesosctl.cli.completion import callbacks as completing
from mesosctl.cli.session import Session
from mesosctl.model.errors import UsageError
from mesosctl.operations import cluster
from mesosctl.operations.cluster import Selection
from mesosctl.output.cluster import agent_list, framework_list, role_list
from mesosctl.output.formats.report import Report

if TYPE_CHECKING:
    from mesosctl.client.master import Master

app = typer.Typer(cls=Group, rich_markup_mode=None)

AgentNames = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="AGENT...",
        autocompletion=completing.agents,
        help="Show only these: ids, the beginning or end of ids, or host names.",
        show_default=False,
    ),
]
FrameworkNames = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="FRAMEWORK...",
        autocompletion=completing.frameworks,
        help="Show only these: ids or names.",
        show_default=False,
    ),
]
RoleNames = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="ROLE...", autocompletion=completing.roles, help="Show only these roles.", show_default=False
    ),
]
OfRole = Annotated[
    str | None,
    typer.Option(
        "--role",
        metavar="ROLE",
        autocompletion=completing.roles,
        help="Show only what belongs to this role or to a role below it.",
    ),
]
Branch = Annotated[
    str | None,
    typer.Option(
        "--role", metavar="ROLE", autocompletion=completing.roles, help="Show only this role and the roles below it."
    ),
]


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


def _every(text: str | float) -> float:
    """Seconds of --every.  Raises UsageError."""
    from mesosctl.model.text import parse_seconds

    return parse_seconds(str(text), "--every", 0.05)


Every = Annotated[
    float,
    typer.Option(
        "--every", metavar="SPAN", parser=_every, help="The time between readings, such as 2 (seconds), 500ms or 1m."
    ),
]
Count = Annotated[int | None, typer.Option("--count", metavar="NUMBER", min=1, help="Stop after this many readings.")]


def show(session: Session, read: "Callable[[Master], Report]", *, watch: bool, every: float, count: int | None) -> None:
    """Emit the report that `read` makes, once or again and again.  Raises UsageError for a form that has no end."""
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
        ("agents --role ads -o wide", "the agents where ads has something, with ids"),
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
        return agent_list(found, empty=nothing_found("no agents are registered", said, known))

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
        return framework_list(found, empty=nothing_found("no frameworks are registered", {"--role": role}, known))

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
    role: Branch = None,
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
        return role_list(found, empty=nothing_found("the master knows no roles", {"--role": role}, known))

    show(session, read, watch=watch, every=every, count=count)
