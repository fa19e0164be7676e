"""`mesosctl offers list`."""

from mesosctl.cli.offers.words import Agent, Framework, OfRole
from mesosctl.cli.reservation.words import nothing_found
from mesosctl.cli.session import Session
from mesosctl.cli.verb import verb
from mesosctl.ops.offers.listing import Wanted, list_offers
from mesosctl.render.offers import offer_list

EXAMPLES = (
    ("offers list", "every outstanding offer"),
    ("offers list --role ads -o wide", "those in one role, with ids"),
)


@verb(EXAMPLES)
def command(session: Session, framework: Framework = None, role: OfRole = None, agent: Agent = None) -> None:
    """Show who holds which offers."""
    with session.open_master() as master:
        found = list_offers(master, Wanted(framework, role, agent))
    said = {"--framework": framework, "--role": role, "--agent": agent}
    session.emit(offer_list(found, empty=nothing_found("nothing is offered", said, ())))
