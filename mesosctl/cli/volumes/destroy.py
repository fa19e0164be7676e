"""`mesosctl volumes destroy`."""

from mesosctl.cli.reservation.words import Agent, OptionalRole, TrustMaster, manner
from mesosctl.cli.session import Session
from mesosctl.cli.verb import verb
from mesosctl.cli.volumes.create import Id
from mesosctl.core.holdings import plain_text
from mesosctl.core.resources import Resources
from mesosctl.render.reservations import agent_changes

EXAMPLES = (
    ("volumes destroy agent-1 v1", "after being asked"),
    ("volumes destroy agent-1 v1 --role db --yes", "the one of db, without being asked"),
)


@verb(EXAMPLES, changes=True)
def command(
    session: Session, agent: Agent, volume: Id, *, role: OptionalRole = None, trust_master: TrustMaster = False
) -> None:
    """Destroy a persistent volume and everything in it; its disk stays reserved.

    The volume is looked for first; a volume that a task uses cannot be destroyed.
    """
    from mesosctl.ops.reservation import agents as meant
    from mesosctl.ops.reservation.operating import operate
    from mesosctl.ops.reservation.undoing import plan_destroy

    with session.open_master() as master:
        on = meant.find_agent(meant.read_agents(master), agent)
        plan = plan_destroy(on, volume, role)
        (found,) = plan.resources
        about = f"of '{found.role}' on {on.name}, {plain_text(Resources([found]))}"
        session.confirm_destructive(f"Destroy volume '{volume}' {about}, and everything in it?")
        session.emit(agent_changes(operate(master, [plan], manner(session, trust_master=trust_master))))
