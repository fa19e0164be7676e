"""`mesosctl reservations`, and the verbs of `mesosctl volumes`, which hold reserved disk."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from mesosctl.cli.arguments import (
    Agent,
    Every,
    LabelWords,
    OnlyAgent,
    OptionalOwnerRole,
    PayloadFile,
    Reserver,
    RoleAndBelow,
    TrustMaster,
    Under,
    agent_beside_file,
    names_argument,
    nothing_found,
    owner,
    pairs,
    parse_amounts,
    read_payload,
    send_options,
)
from mesosctl.cli.command import ChangeCommand, Command, Group, examples
from mesosctl.cli.environment import named
from mesosctl.cli.list_options import Count, OnAgentsWith, Watch, show, sort_option
from mesosctl.cli.session import Session
from mesosctl.model.errors import UsageError
from mesosctl.model.reservations.holdings import RESERVATION_KEYS, VOLUME_KEYS, without_owners
from mesosctl.model.resource import Disk
from mesosctl.model.resources import Resources
from mesosctl.model.suggestion import command
from mesosctl.operations.list_selection import Selection
from mesosctl.output.formats.report import Report
from mesosctl.output.reservations import agent_changes, reservation_list, reservation_tree, volume_list

if TYPE_CHECKING:
    from mesosctl.client.leading_master import Master
    from mesosctl.operations.reservations.send import SendOptions

app = typer.Typer(cls=Group, rich_markup_mode=None)
volumes_app = typer.Typer(cls=Group, rich_markup_mode=None)
app.add_typer(volumes_app, name="volumes")


Tree = Annotated[bool, typer.Option("--tree", help="Show a tree of roles.", show_default=False)]
SortReservations = Annotated[str | None, sort_option(RESERVATION_KEYS)]
SortVolumes = Annotated[str | None, sort_option(VOLUME_KEYS)]
VolumeNames = Annotated[list[str] | None, names_argument("VOLUME", None, "Show only these: ids of volumes.")]


@app.command(
    "reservations",
    cls=Command,
    epilog=examples(
        ("reservations", "every reservation of every agent"),
        ("reservations --role ads --tree", "the branch of a role"),
        ("reservations --agent agent-1 -o json", "those of one agent, as JSON"),
    ),
)
def reservations(  # noqa: PLR0913  # one parameter an option
    ctx: typer.Context,
    *,
    role: RoleAndBelow = None,
    agent: OnlyAgent = None,
    attribute: OnAgentsWith = None,
    tree: Tree = False,
    sort: SortReservations = None,
    watch: Watch = False,
    every: Every = 2.0,
    count: Count = None,
) -> None:
    """Show what is reserved on which agent, by whom, and how much of it is in use.

    Static reservations are part of an agent's configuration. Dynamic reservations can be undone.
    """
    from mesosctl.operations.reservations.listing import list_reservations

    session: Session = ctx.obj
    if tree and sort is not None:
        raise UsageError("a tree has its own order", field="--sort", hint="leave out --tree or --sort")
    wanted = Selection((), role, dict(pairs(attribute, "--attribute")), sort)

    def read(master: "Master") -> Report:
        found = list_reservations(master, wanted, agent, session.progress)
        empty = _nothing_found("nothing is reserved", wanted, agent, attribute, found.roles)
        if tree:
            return reservation_tree(found.parts, empty=empty)
        return reservation_list(found.parts, empty=empty, sort=sort)

    show(session, read, watch=watch, every=every, count=count)


def _nothing_found(
    sentence: str, wanted: Selection, agent: str | None, attribute: list[str] | None, roles: Iterable[str]
) -> str:
    said = {"--role": wanted.role, "--agent": agent, "--attribute": ",".join(attribute or ()) or None}
    return nothing_found(sentence, said, roles)


@volumes_app.command(
    "list",
    cls=Command,
    epilog=examples(
        ("volumes list", "every volume"),
        ("volumes list --role db -o json", "the volumes of a role, as JSON"),
    ),
)
def list_volumes(  # noqa: PLR0913  # one parameter an option
    ctx: typer.Context,
    names: VolumeNames = None,
    *,
    role: RoleAndBelow = None,
    agent: OnlyAgent = None,
    attribute: OnAgentsWith = None,
    sort: SortVolumes = None,
    watch: Watch = False,
    every: Every = 2.0,
    count: Count = None,
) -> None:
    """Show persistent volumes and whether tasks use them."""
    from mesosctl.operations.reservations.listing import list_volumes

    session: Session = ctx.obj
    wanted = Selection(names or (), role, dict(pairs(attribute, "--attribute")), sort)

    def read(master: "Master") -> Report:
        found = list_volumes(master, wanted, agent, session.progress)
        empty = _nothing_found("there are no volumes", wanted, agent, attribute, found.roles)
        return volume_list(found.parts, empty=empty, sort=sort)

    show(session, read, watch=watch, every=every, count=count)


Size = Annotated[
    str | None,
    typer.Argument(
        metavar="[SIZE]", help="The amount of reserved disk: disk:10GiB. GB means GiB, as in Mesos.", show_default=False
    ),
]
_ID_HELP = "The volume's id, unique within the role on the agent."
Id = Annotated[str, typer.Argument(metavar="ID", help=_ID_HELP, show_default=False)]
OptionalId = Annotated[str | None, typer.Argument(metavar="[ID]", help=_ID_HELP, show_default=False)]
Path = Annotated[
    str | None,
    typer.Option(
        "--path", metavar="PATH", help="The path of the volume in containers. The default is data.", show_default=False
    ),
]


@volumes_app.command(
    "create",
    cls=ChangeCommand,
    epilog=examples(
        ("volumes create agent-1 v1 disk:10GiB --role db", "from disk that is reserved for db"),
        ("volumes create agent-1 -f volumes.json", "from the JSON of POST /create-volumes"),
    ),
)
def create(  # noqa: PLR0913  # one parameter an option
    ctx: typer.Context,
    agent: Agent,
    volume: OptionalId = None,
    size: Size = None,
    *,
    role: OptionalOwnerRole = None,
    under: Under = None,
    label: LabelWords = None,
    reserver: Reserver = None,
    path: Path = None,
    file: PayloadFile = None,
    trust_master: TrustMaster = False,
) -> None:
    """Create a persistent volume from reserved disk.

    The command waits until the master and the agent both show the volume. If several disks of the agent match, the JSON
    of -f names the disk.
    """
    from mesosctl.operations.reservations import targets as meant
    from mesosctl.operations.reservations.reserve_unreserve import create_volume

    session: Session = ctx.obj
    how = send_options(session, trust_master=trust_master)
    if file is not None:
        _from_file(session, agent_beside_file(agent, volume, size, role, under, label, reserver, path), file, how)
        return
    if volume is None or size is None or role is None:
        raise UsageError(
            "give ID, SIZE and --role", hint=command("volumes create", "agent-1", "v1", "disk:10GiB", role="db")
        )
    if ":" not in size:
        raise UsageError(f"'{size}' does not name the resource", field="SIZE", hint=f"write disk:{size}")
    entries = parse_amounts([size])
    if len(entries) != 1 or entries[0].name != "disk" or entries[0].reservations:
        raise UsageError(
            f"'{size}' is not an amount of disk",
            field="SIZE",
            hint="for example, disk:10GiB; --role names the owner",
        )
    made = Disk(persistence_id=volume, container_path=path or "data", mode="RW")
    with session.open_master() as master:
        on = meant.find_agent(meant.read_agents(master), agent)
        session.emit(
            agent_changes(create_volume(master, on, entries[0], made, owner(role, under, label, reserver), how))
        )


def _from_file(session: Session, agent: str, file: str, how: "SendOptions") -> None:
    """Create the volumes of the JSON on one agent."""
    from mesosctl.api.agent_operations import read_create
    from mesosctl.operations.reservations.reserve_unreserve import plan_create, requester
    from mesosctl.operations.reservations.send import operate
    from mesosctl.operations.reservations.targets import find_agent, read_agents

    written = read_payload(session, file)
    with session.open_master() as master:
        with written.refusals():
            payload = read_create(written.text, named(file), requester(master).principal)
        found = find_agent(read_agents(master), agent)
        payload.check_agent(found)
        with written.refusals():
            plan = plan_create(master, found, payload.resources)
        session.emit(agent_changes(operate(master, [plan], how)))


@volumes_app.command(
    "destroy",
    cls=ChangeCommand,
    epilog=examples(
        ("volumes destroy agent-1 v1", "after you have confirmed"),
        ("volumes destroy agent-1 v1 --role db --yes", "the volume of db, without being asked"),
    ),
)
def destroy(
    ctx: typer.Context, agent: Agent, volume: Id, *, role: OptionalOwnerRole = None, trust_master: TrustMaster = False
) -> None:
    """Destroy a persistent volume and everything in it.

    Its disk stays reserved. A volume that a task uses cannot be destroyed.
    """
    from mesosctl.operations.reservations import targets as meant
    from mesosctl.operations.reservations.reserve_unreserve import plan_destroy
    from mesosctl.operations.reservations.send import operate

    session: Session = ctx.obj
    with session.open_master() as master:
        on = meant.find_agent(meant.read_agents(master), agent)
        plan = plan_destroy(on, volume, role)
        (found,) = plan.resources
        about = f"of '{found.role}' on {on.name}, {without_owners(Resources([found])).in_words}"
        session.confirm_destructive(f"Destroy volume '{volume}' {about}, and everything in it?")
        session.emit(agent_changes(operate(master, [plan], send_options(session, trust_master=trust_master))))
