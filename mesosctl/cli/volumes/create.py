"""`mesosctl volumes create`."""

from typing import Annotated

import typer

from mesosctl.cli.reservation.words import (
    Agent,
    LabelWords,
    Reserver,
    Role,
    TrustMaster,
    Under,
    manner,
    owner,
    parse_amounts,
)
from mesosctl.cli.session import Session
from mesosctl.cli.verb import verb
from mesosctl.core.errors import UsageError
from mesosctl.core.resource import Disk
from mesosctl.render.reservations import agent_changes

Size = Annotated[
    str,
    typer.Argument(
        metavar="SIZE", help="How much reserved disk: disk:10GiB. GB means GiB, as in Mesos.", show_default=False
    ),
]
Id = Annotated[
    str, typer.Argument(metavar="ID", help="Its name, unique for the role on the agent.", show_default=False)
]
Path = Annotated[
    str, typer.Option("--path", metavar="PATH", help="Where containers find it; data unless given.", show_default=False)
]

EXAMPLES = (("volumes create agent-1 v1 disk:10GiB --role db", "from disk that is reserved for db"),)


@verb(EXAMPLES, changes=True)
def command(  # noqa: PLR0913  # one parameter an option
    session: Session,
    agent: Agent,
    volume: Id,
    size: Size,
    *,
    role: Role,
    under: Under = None,
    label: LabelWords = None,
    reserver: Reserver = None,
    path: Path = "data",
    trust_master: TrustMaster = False,
) -> None:
    """Make a persistent volume of reserved disk, and wait until master and agent both show it."""
    from mesosctl.ops.reservation import agents as meant
    from mesosctl.ops.reservation.making import create_volume

    if ":" not in size:
        raise UsageError(f"'{size}' does not say of what", field="SIZE", hint=f"write disk:{size}")
    entries = parse_amounts([size])
    if len(entries) != 1 or entries[0].name != "disk" or entries[0].reservations:
        raise UsageError(
            f"'{size}' is not an amount of disk, which is what volumes are made of",
            field="SIZE",
            hint="write for example disk:10GiB; --role says who owns it",
        )
    made = Disk(persistence_id=volume, container_path=path, mode="RW")
    with session.open_master() as master:
        on = meant.find_agent(meant.read_agents(master), agent)
        how = manner(session, trust_master=trust_master)
        session.emit(
            agent_changes(create_volume(master, on, entries[0], made, owner(role, under, label, reserver), how))
        )
