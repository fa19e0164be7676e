"""`mesosctl volumes destroy`."""

from mesosctl.cli.reservation.words import Agent, OptionalRole, TrustMaster, manner
from mesosctl.cli.session import Session
from mesosctl.cli.verb import verb
from mesosctl.cli.volumes.create import Id
from mesosctl.render.reservations import agent_changes

EXAMPLES = (
    ("volumes destroy agent-1 v1", "after being asked"),
    ("volumes destroy agent-1 v1 --role db --yes", "the one of db, without being asked"),
)


@verb(EXAMPLES, changes=True)
def command(
    session: Session, agent: Agent, volume: Id, *, role: OptionalRole = None, trust_master: TrustMaster = False
) -> None:
    """Destroy a persistent volume and everything in it; its disk stays reserved."""
    from mesosctl.ops.reservation import agents as meant
    from mesosctl.ops.reservation.undoing import destroy_volume

    with session.open_master() as master:
        on = meant.find_agent(meant.read_agents(master), agent)
        session.confirm_destructive(f"Destroy volume '{volume}' on {on.hostname} and everything in it?")
        how = manner(session, trust_master=trust_master)
        session.emit(agent_changes(destroy_volume(master, on, volume, role, how)))
