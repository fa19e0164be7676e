"""`mesosctl volumes`: its verbs."""

from typing import Annotated

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
    parse_amounts,
    read_payload,
    selectors_of,
)
from mesosctl.cli.command import ChangeCommand, Command, Group, examples
from mesosctl.cli.environment import named
from mesosctl.cli.meanings import Meaning
from mesosctl.cli.session import Session
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.mesos.amounts.resource import Disk
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.holdings import VOLUME_KEYS, without_owners
from mesosctl.mesos.errors import UsageError
from mesosctl.mesos.messages.agent_operations import read_create
from mesosctl.mesos.names import kind_of, new_name
from mesosctl.reading.list_options import Count, OnAgentsWith, Watch, show_list, sort_option
from mesosctl.reading.selection import Selection
from mesosctl.reading.targets import find_agent, read_agents
from mesosctl.reservations.arguments import owner, send_options
from mesosctl.reservations.command import nothing_found_on
from mesosctl.reservations.lists import list_volumes
from mesosctl.reservations.report import agent_changes, volume_list
from mesosctl.reservations.send import SendOptions, operate
from mesosctl.reservations.work import create_volume, plan_create, plan_destroy, requester
from mesosctl.show.report import Report
from mesosctl.suggestion import command

app = typer.Typer(cls=Group, rich_markup_mode=None)


SortVolumes = Annotated[str | None, sort_option(VOLUME_KEYS)]
VolumeNames = Annotated[list[str] | None, names_argument("VOLUME", None, "Show only these: ids of volumes.")]


@app.command(
    "list",
    cls=Command,
    epilog=examples(
        ("volumes list", "every volume"),
        ("volumes list --role db -o json", "the volumes of a role, as JSON"),
    ),
)
def list_(  # noqa: PLR0913  # one parameter an option
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
    session: Session = ctx.obj
    wanted = Selection(names or (), role, selectors_of(attribute), sort)

    def read(master: LeadingMaster) -> Report:
        found = list_volumes(master, wanted, agent, session.progress)
        empty = nothing_found_on("there are no volumes", wanted, agent, attribute)
        return volume_list(found, empty=empty, sort=sort)

    show_list(session, read, watch=watch, every=every, count=count)


Size = Annotated[
    str | None,
    typer.Argument(
        metavar="[SIZE]", help="The amount of reserved disk: disk:10GiB. GB means GiB, as in Mesos.", show_default=False
    ),
    Meaning.AMOUNTS,
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


@app.command(
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
    made = Disk(persistence_id=new_name(volume, "id", "ID"), container_path=path or "data", mode="RW")
    with session.open_master() as master:
        on = find_agent(read_agents(master), agent)
        session.emit(
            agent_changes(create_volume(master, on, entries[0], made, owner(role, under, label, reserver), how))
        )


def _from_file(session: Session, agent: str, file: str, how: SendOptions) -> None:
    """Create the volumes of the JSON on one agent."""
    written = read_payload(session, file)
    with session.open_master() as master:
        with written.refusals():
            payload = read_create(written.text, named(file), requester(master).principal)
        found = find_agent(read_agents(master), agent)
        payload.check_agent(found)
        with written.refusals():
            plan = plan_create(master, found, payload.resources)
        session.emit(agent_changes(operate(master, [plan], how)))


@app.command(
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

    You are asked first; a script must use --yes. Its disk stays reserved. A volume that a task uses cannot be
    destroyed.
    """
    session: Session = ctx.obj
    with session.open_master() as master:
        on = find_agent(read_agents(master), agent)
        plan = plan_destroy(on, volume, role)
        (found,) = plan.resources
        about = f"of '{found.role}' on {on.name}, {without_owners(Resources([found])).in_words}"
        session.confirm(f"Destroy volume '{kind_of(volume)[1]}' {about}, and everything in it?")
        session.emit(agent_changes(operate(master, [plan], send_options(session, trust_master=trust_master))))
