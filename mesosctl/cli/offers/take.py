"""`mesosctl offers take`."""

from typing import TYPE_CHECKING, Annotated

import typer

from mesosctl.cli.offers.words import Agent, Labels, parse_labels, parse_wanted
from mesosctl.cli.session import Session
from mesosctl.cli.verb import verb
from mesosctl.core.agent_names import names_agent
from mesosctl.core.errors import Conflict, Denied, UsageError
from mesosctl.render.offers import offer_taken

if TYPE_CHECKING:
    from mesosctl.client.master import Master
    from mesosctl.core.offers import Offer, OfferOperation

TakenRole = Annotated[
    str, typer.Option("--role", metavar="ROLE", help="The role to subscribe with.", show_default=False)
]
Reserve = Annotated[
    list[str] | None, typer.Option("--reserve", metavar="RESOURCES", help="Reserve this for the role. Repeat.")
]
Unreserve = Annotated[
    list[str] | None, typer.Option("--unreserve", metavar="RESOURCES", help="Give this reservation back. Repeat.")
]
EXAMPLES = (
    ("offers take --role ads --reserve cpus:2 --reserve mem:1GiB", "reserve for ads, wherever there is room"),
    ("offers take --role ads --unreserve cpus:2 --timeout 120", "give 2 cpus back, within two minutes"),
)


@verb(EXAMPLES, changes=True)
def command(
    session: Session,
    role: TakenRole,
    reserve: Reserve = None,
    unreserve: Unreserve = None,
    agent: Agent = None,
    label: Labels = None,
) -> None:
    """Reserve or unreserve as a framework does: subscribe, wait for a fitting offer, act, leave.

    What does not fit is declined, and the framework is torn down whatever happens.
    """
    if bool(reserve) == bool(unreserve):
        raise UsageError("either --reserve or --unreserve is needed", field="--reserve", hint="give one of them")
    from mesosctl.core import offers
    from mesosctl.ops.offers.taking import take
    from mesosctl.ops.resource_names import check_entries

    wanted = parse_wanted(reserve or unreserve or ())
    principal = session.options.principal or session.environment.variables.get("MESOSCTL_PRINCIPAL")
    owner = offers.Owner(principal, parse_labels(label))

    def attempt(offer: "Offer") -> "OfferOperation":
        if agent is not None and not names_agent(agent, offer.agent_id, offer.hostname):
            raise Conflict(f"{offer.hostname} is not {agent}")
        return offers.reserve(wanted, offer, owner) if reserve else offers.unreserve(wanted, offer)

    with session.open_master() as master:
        if agent is not None:
            _check_agent(master, agent)
        check_entries(master, wanted)
        with session.waiting() as tell:
            taken = take(master, role, principal, attempt, tell)
        session.emit(offer_taken(taken))


def _check_agent(master: "Master", word: str) -> None:
    """Whether any agent can be meant, as far as this principal may see them.  Raises NotFound.

    Otherwise every offer would be declined until the deadline, and nobody would know why.
    """
    from mesosctl.ops.reservation.agents import find_agent, read_agents

    try:
        agents = read_agents(master)
    except Denied:
        return
    if not any(names_agent(word, one.id, one.hostname) for one in agents):
        find_agent(agents, word)
