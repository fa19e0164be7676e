"""`mesosctl offers reserve`."""

from mesosctl.cli.files import named, read_text
from mesosctl.cli.offers.words import Labels, OfferFile, OfferId, Owner, Wanted, parse_labels, parse_wanted
from mesosctl.cli.session import Session
from mesosctl.cli.verb import verb
from mesosctl.render.offers import offer_call

EXAMPLES = (
    ("offers reserve --offer offer.json cpus:2 mem:1GiB --principal web", "a call that reserves of this offer"),
    ("offers reserve --offer offer.json 'cpus(ads):2' --for ads/web", "one that refines a reservation"),
)


@verb(EXAMPLES)
def command(
    session: Session,
    resources: Wanted,
    offer: OfferFile,
    offer_id: OfferId = None,
    owner: Owner = None,
    label: Labels = None,
) -> None:
    """Build and check the ACCEPT call that reserves resources of an offer; nothing is sent.

    It has the format of the offer: role and reservation, or for a framework with
    RESERVATION_REFINEMENT the stack with a reservation pushed onto it.
    """
    from mesosctl.core import offers
    from mesosctl.wire.offer_files import read_offer
    from mesosctl.wire.scheduler_calls import AcceptCall

    wanted = parse_wanted(resources)
    received = read_offer(read_text(offer, "--offer", session.environment.stdin), named(offer), offer_id)
    principal = session.options.principal or session.environment.variables.get("MESOSCTL_PRINCIPAL")
    who = offers.Owner(principal, parse_labels(label))
    operation = offers.reserve(wanted, received, who, role=owner)
    session.emit(offer_call(AcceptCall.of([received], operation).content()))
