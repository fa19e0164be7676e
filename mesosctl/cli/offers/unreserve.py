"""`mesosctl offers unreserve`."""

from mesosctl.cli.files import named, read_text
from mesosctl.cli.offers.words import OfferFile, OfferId, Owner, Wanted, parse_wanted
from mesosctl.cli.session import Session
from mesosctl.cli.verb import verb
from mesosctl.render.offers import offer_call

EXAMPLES = (("offers unreserve --offer offer.json cpus:2", "a call that gives 2 reserved cpus back"),)


@verb(EXAMPLES)
def command(
    session: Session, resources: Wanted, offer: OfferFile, offer_id: OfferId = None, owner: Owner = None
) -> None:
    """Build and check the ACCEPT call that unreserves resources of an offer; nothing is sent.

    It names what the offer has reserved, entry by entry, in the offer's own format.
    """
    from mesosctl.core import offers
    from mesosctl.wire.offer_files import read_offer
    from mesosctl.wire.scheduler_calls import AcceptCall

    wanted = parse_wanted(resources)
    received = read_offer(read_text(offer, "--offer", session.environment.stdin), named(offer), offer_id)
    session.emit(offer_call(AcceptCall.of([received], offers.unreserve(wanted, received, role=owner)).content()))
