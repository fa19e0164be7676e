"""`mesosctl volumes`: its verbs."""

from typing import Annotated

import typer

from mesosctl.cli.arguments import (
    Agent,
    LabelWords,
    OnlyAgent,
    OptionalOwnerRole,
    OwnerRole,
    Reserver,
    RoleAndBelow,
    TrustMaster,
    Under,
    nothing_found,
    owner,
    parse_amounts,
    send_options,
)
from mesosctl.cli.command import ChangeCommand, Command, Group, examples
from mesosctl.cli.session import Session
from mesosctl.model.errors import UsageError
from mesosctl.model.reservations.holdings import agent_reservations, plain_text
from mesosctl.model.resource import Disk
from mesosctl.model.resources import Resources
from mesosctl.output.reservations import agent_changes, volume_list

app = typer.Typer(cls=Group, rich_markup_mode=None)


@app.command(
    "list",
    cls=Command,
    epilog=examples(
        ("volumes list", "every volume"),
        ("volumes list --role db -o json", "the volumes of a role, as JSON"),
    ),
)
def list_(ctx: typer.Context, *, role: RoleAndBelow = None, agent: OnlyAgent = None) -> None:
    """Show persistent volumes and whether tasks use them."""
    from mesosctl.operations.reservations.targets import find_agent, read_agents

    session: Session = ctx.obj
    with session.open_master() as master:
        found = read_agents(master, session.progress)
        session.end_progress()
    shown = [find_agent(found, agent)] if agent is not None else found
    volumes = [
        held for one in shown for held in agent_reservations(one, role) if held.disk and held.disk.persistence_id
    ]
    owners = (
        {held.owner.role for one in found for held in agent_reservations(one) if held.disk}
        if not volumes and role
        else ()
    )
    empty = nothing_found("there are no volumes", {"--role": role, "--agent": agent}, owners)
    session.emit(volume_list(volumes, empty=empty))


Size = Annotated[
    str,
    typer.Argument(
        metavar="SIZE", help="The amount of reserved disk: disk:10GiB. GB means GiB, as in Mesos.", show_default=False
    ),
]
Id = Annotated[
    str, typer.Argument(metavar="ID", help="The volume's id, unique within the role on the agent.", show_default=False)
]
Path = Annotated[
    str,
    typer.Option(
        "--path", metavar="PATH", help="The path of the volume in containers. The default is data.", show_default=False
    ),
]


@app.command(
    "create",
    cls=ChangeCommand,
    epilog=examples(
        ("volumes create agent-1 v1 disk:10GiB --role db", "from disk that is reserved for db"),
    ),
)
def create(  # noqa: PLR0913  # one parameter an option
    ctx: typer.Context,
    agent: Agent,
    volume: Id,
    size: Size,
    *,
    role: OwnerRole,
    under: Under = None,
    label: LabelWords = None,
    reserver: Reserver = None,
    path: Path = "data",
    trust_master: TrustMaster = False,
) -> None:
    """Create a persistent volume from reserved disk.

    The command waits until the master and the agent both show the volume.
    """
    from mesosctl.operations.reservations import targets as meant
    from mesosctl.operations.reservations.change import create_volume

    session: Session = ctx.obj
    if ":" not in size:
        raise UsageError(f"'{size}' does not name the resource", field="SIZE", hint=f"write disk:{size}")
    entries = parse_amounts([size])
    if len(entries) != 1 or entries[0].name != "disk" or entries[0].reservations:
        raise UsageError(
            f"'{size}' is not an amount of disk",
            field="SIZE",
            hint="for example, disk:10GiB; --role names the owner",
        )
    made = Disk(persistence_id=volume, container_path=path, mode="RW")
    with session.open_master() as master:
        on = meant.find_agent(meant.read_agents(master), agent)
        how = send_options(session, trust_master=trust_master)
        session.emit(
            agent_changes(create_volume(master, on, entries[0], made, owner(role, under, label, reserver), how))
        )


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

    Its disk stays reserved. A volume that a task uses cannot be destroyed.
    """
    from mesosctl.operations.reservations import targets as meant
    from mesosctl.operations.reservations.change import plan_destroy
    from mesosctl.operations.reservations.send import operate

    session: Session = ctx.obj
    with session.open_master() as master:
        on = meant.find_agent(meant.read_agents(master), agent)
        plan = plan_destroy(on, volume, role)
        (found,) = plan.resources
        about = f"of '{found.role}' on {on.name}, {plain_text(Resources([found]))}"
        session.confirm_destructive(f"Destroy volume '{volume}' {about}, and everything in it?")
        session.emit(agent_changes(operate(master, [plan], send_options(session, trust_master=trust_master))))
