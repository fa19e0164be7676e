"""`mesosctl volumes list`."""

from mesosctl.cli.reservation.words import OnlyAgent, RoleAndBelow, nothing_found
from mesosctl.cli.session import Session
from mesosctl.cli.verb import verb
from mesosctl.core.holdings import holdings
from mesosctl.render.reservations import volume_list

EXAMPLES = (("volumes list", "every volume"), ("volumes list --role db -o json", "those of a role, for a program"))


@verb(EXAMPLES)
def command(session: Session, *, role: RoleAndBelow = None, agent: OnlyAgent = None) -> None:
    """Show persistent volumes and whether tasks use them."""
    from mesosctl.ops.reservation.agents import find_agent, read_agents

    with session.open_master() as master:
        found = read_agents(master, session.progress)
        session.end_progress()
    shown = [find_agent(found, agent)] if agent is not None else found
    volumes = [held for one in shown for held in holdings(one, role) if held.disk and held.disk.persistence_id]
    owners = {held.owner.role for one in found for held in holdings(one) if held.disk} if not volumes and role else ()
    empty = nothing_found("there are no volumes", {"--role": role, "--agent": agent}, owners)
    session.emit(volume_list(volumes, empty=empty))
