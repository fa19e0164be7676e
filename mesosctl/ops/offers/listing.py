"""`offers list` and `offers watch`: what is offered now, and what changes."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from mesosctl.client.master import Master
from mesosctl.core.agent_names import names_agent, told_apart
from mesosctl.core.errors import Unreachable
from mesosctl.core.offers import Offer
from mesosctl.wire import offers as wire


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which offers; None is any.  A framework or an agent goes by its id or its name."""

    framework: str | None = None
    role: str | None = None
    agent: str | None = None

    def matches(self, offer: Offer) -> bool:
        """Whether it is one of these."""
        return (
            self.framework in (None, offer.framework_id, offer.framework)
            and self.role in (None, offer.role)
            and (self.agent is None or names_agent(self.agent, offer.agent_id, offer.hostname))
        )


def list_offers(master: Master, wanted: Wanted) -> list[Offer]:
    """Every outstanding offer that this principal may see, by framework, role and agent."""
    found = [offer for offer in wire.outstanding(master.ask("GET_FRAMEWORKS")) if wanted.matches(offer)]
    return sorted(found, key=lambda offer: (offer.framework, offer.framework_id, offer.role, offer.hostname, offer.id))


@dataclass(frozen=True, slots=True)
class Change:
    """An offer that came, or went."""

    what: Literal["offered", "gone"]
    offer: Offer
    agent: str
    """What a sentence calls the agent: its host name, with a short id where another agent with offers has that too."""


def watch_offers(master: Master, wanted: Wanted, every: float, tell: Callable[[str], None]) -> Iterator[Change]:
    """What is offered now, and from then on each change, for as long as it is iterated.

    No event of a master tells of offers, so it is asked every so many seconds: an offer that comes
    and goes between two questions is not seen.  A master that goes away is waited for, as one is that
    fails over; `tell` hears of it.  Raises Unreachable where none is back before the deadline, which
    runs anew from every answer.
    """
    known: dict[str, Offer] = {}
    seen = is_away = False
    while True:
        if not is_away:
            master.deadline.extend_to(master.deadline.seconds)
        try:
            present = {offer.id: offer for offer in list_offers(master, wanted)}
        except Unreachable as error:
            if not seen or master.deadline.remaining() <= every:
                raise
            if not is_away:
                tell(f"{error.message}; asking again until it is back")
            is_away = True
            master.settings.sleep(every)
            continue
        if is_away:
            tell("the master is back")
        seen, is_away = True, False
        names = told_apart({offer.agent_id: offer.hostname for offer in (*known.values(), *present.values())})
        gone = [offer for offer_id, offer in known.items() if offer_id not in present]
        came = [offer for offer_id, offer in present.items() if offer_id not in known]
        yield from (Change("gone", offer, names[offer.agent_id]) for offer in gone)
        yield from (Change("offered", offer, names[offer.agent_id]) for offer in came)
        known = present
        master.settings.sleep(every)
