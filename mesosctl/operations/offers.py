"""`offers list` and `offers watch`: what is offered now, and what changes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from io import BufferedIOBase
from threading import Timer
from typing import Any, Literal

from mesosctl.api import frameworks as wire
from mesosctl.api.elements.listed_agents import agents
from mesosctl.api.frameworks import listed_frameworks
from mesosctl.api.offers import AcceptCall, DeclineCall, FrameworkId, SubscribeCall, TeardownCall
from mesosctl.api.snapshots.outstanding_offers import outstanding
from mesosctl.client.leading_master import Master
from mesosctl.client.response_body import EventStream
from mesosctl.model.errors import Conflict, DeadlinePassed, MesosctlError, NotConfirmed, Rejected, Unreachable
from mesosctl.model.notation import natural
from mesosctl.model.offers.offers import Offer, OfferOperation, TakenOffer
from mesosctl.model.reservations.operations import apply_all
from mesosctl.model.resources import Resources
from mesosctl.model.roles import display_names, matches_agent
from mesosctl.model.suggestion import command
from mesosctl.operations.back_off import BackOff
from mesosctl.operations.cluster import readings
from mesosctl.operations.confirm import confirm
from mesosctl.operations.list_selection import SortKey, entries_named, is_in_branch, role_key, sort_entries
from mesosctl.operations.reservations.targets import on_agents, read_agents
from mesosctl.planning.dominant_shares import Sharing

OFFER_KEYS = ("framework", "role", "agent", "offer")
"""The keys that a list of offers can be sorted by, in addition to the names of resources."""


@dataclass(frozen=True, slots=True)
class OfferSelection:
    """The selected offers, and their order; None means any. Frameworks and agents are given by id or name."""

    framework: str | None = None
    role: str | None = None
    """The role, or one above it."""
    agent: str | None = None
    names: Sequence[str] = ()
    """Ids of offers; the default is all."""
    attributes: Mapping[str, str] = field(default_factory=dict)
    """Of the agent that is offered."""
    sort: str | None = None
    """One of `OFFER_KEYS`, or as in `selection.Selection`."""

    def matches(self, offer: Offer) -> bool:
        """Whether an offer is selected."""
        return (
            self.framework in (None, offer.framework_id, offer.framework)
            and is_in_branch(offer.role, self.role)
            and (self.agent is None or matches_agent(self.agent, offer.agent_id, offer.hostname))
        )


def list_offers(master: Master, target: OfferSelection) -> list[Offer]:
    """The selected outstanding offers that this principal may see, by default by framework, role and agent.

    Raises NotFound for an offer that is not outstanding, and UsageError for an unknown key.
    """
    offers: list[Offer] = master.stream_call("GET_FRAMEWORKS", outstanding)
    named = entries_named(
        offers,
        target.names,
        lambda one: (one.id,),
        noun="offer",
        field="offer",
        otherwise=f"offers come and go; {command('offers list', o='name')} shows those of now",
    )
    found = [offer for offer in named if target.matches(offer)]
    if target.attributes:
        having = on_agents(read_agents(master), target.attributes)
        found = [offer for offer in found if offer.agent_id in having]
    found.sort(key=lambda offer: (offer.framework, offer.framework_id, offer.role, offer.hostname, offer.id))
    keys: dict[str, SortKey[Offer]] = {
        "framework": lambda one: (natural(one.framework), one.framework_id),
        "role": lambda one: role_key(one.role),
        "agent": lambda one: (natural(one.hostname), one.agent_id),
        "offer": lambda one: natural(one.id),
    }
    amounts = (one.resources.quantities() for one in offers)
    return sort_entries(found, target.sort, keys, lambda one: one.resources.quantities(), amounts, own="offer")


def subscribed_roles(master: Master) -> set[str]:
    """Return the roles in which frameworks are subscribed, and so may hold offers."""
    return {role for one in listed_frameworks(master.ask("GET_FRAMEWORKS")) for role in one.roles}


@dataclass(frozen=True, slots=True)
class Change:
    """An offer that came, or went."""

    what: Literal["offered", "gone"]
    offer: Offer
    agent: str
    """The name of the agent in sentences: its host name, with a short id if another agent with offers shares it."""


def watch_offers(
    master: Master, target: OfferSelection, every: float, report: Callable[[str], None]
) -> Iterator[Change]:
    """Yield the outstanding offers, and then each change.

    A master has no events for offers, so it is polled, and an offer that comes and goes between two readings is missed.
    If the master goes away, for example during a failover, wait for it; `report` is called with a sentence. Raises
    Unreachable if it is not back before the deadline, which starts again with every answer.
    """
    known: dict[str, Offer] = {}
    for offers in readings(master, lambda: list_offers(master, target), every, report):
        present = {offer.id: offer for offer in offers}
        names = display_names({offer.agent_id: offer.hostname for offer in (*known.values(), *present.values())})
        gone = [offer for offer_id, offer in known.items() if offer_id not in present]
        came = [offer for offer_id, offer in present.items() if offer_id not in known]
        yield from (Change("gone", offer, names[offer.agent_id]) for offer in gone)
        yield from (Change("offered", offer, names[offer.agent_id]) for offer in came)
        known = present


SCHEDULER = "/api/v1/scheduler"
NAME = "mesosctl offers take"
REFUSE_SECONDS = 60.0
"""The filter on offers that do not fit: long enough, and gone with the framework."""
_SHORT_PAUSE = 0.05
"""Seconds by which a timer may be early."""

OfferHandler = Callable[[Offer], OfferOperation]
"""Chooses an operation on an offer.  Raises Conflict if the offer has too little."""
Progress = Callable[[str], None]


def take(
    master: Master, role: str, principal: str | None, handle_offer: OfferHandler, progress: Progress
) -> TakenOffer:
    """Subscribe, wait for an offer that fits, operate on it, decline the rest, tear down.

    Raises DeadlinePassed if no offer fits in time, Rejected if the master refuses the
    framework, NotConfirmed if the operation is not shown afterwards, RuleViolation from `handle_offer`.
    """
    call = SubscribeCall.of(NAME, role, principal).body()
    progress(f"subscribing with role {role}")
    with master.subscribe(SCHEDULER, call, master.deadline.remaining()) as stream:
        session = _SchedulerSession(master, stream, role, handle_offer, progress)
        try:
            return session.run()
        finally:
            session.tear_down()


class _SchedulerSession:
    """One subscription, from its first event to its teardown."""

    def __init__(
        self, master: Master, stream: EventStream, role: str, handle_offer: OfferHandler, progress: Progress
    ) -> None:
        self._master = master
        self._stream = stream
        self._role = role
        self._attempt = handle_offer
        self._progress = progress
        self._framework_id: str | None = None
        self._declined = 0

    def run(self) -> TakenOffer:
        """Run until an offer was taken. Raises DeadlinePassed."""
        for event in self._events():
            taken = self._receive(event)
            if taken is not None:
                return taken
        raise Unreachable(
            "the master ended the subscription", may_have_happened=True, hint="it may have lost its leadership"
        )

    def _events(self) -> Iterator[dict[str, Any]]:
        """Yield events until the deadline, which is noticed at the next event or without one.

        Raises DeadlinePassed.
        """
        events = iter(self._stream)
        # Heartbeats keep a silent stream alive, so the deadline is checked here.
        watch = Timer(self._master.deadline.remaining(), self._stream.cut)
        watch.daemon = True
        watch.start()
        try:
            while self._master.deadline.remaining() > 0:
                try:
                    event = next(events)
                except StopIteration:
                    return
                except DeadlinePassed:
                    break
                except Unreachable:
                    if self._master.deadline.remaining() > _SHORT_PAUSE:
                        raise
                    break
                yield event
        finally:
            watch.cancel()
        raise DeadlinePassed(
            f"no offer fit within {self._master.deadline.seconds:g} s; offers declined: {self._declined}",
            may_have_happened=False,
            hint=f"allow more time with --timeout, or see {command('offers explain', self._role)}",
        )

    def _receive(self, event: dict[str, Any]) -> TakenOffer | None:
        if event["type"] == "ERROR":
            raise Rejected(f"the master refuses the framework: {event.get('error', {}).get('message', '')}")
        if event["type"] == "SUBSCRIBED":
            self._framework_id = wire.subscribed_as(event)
            self._progress("waiting for an offer that fits")
        return self._choose(wire.offered(event)) if event["type"] == "OFFERS" else None

    def _choose(self, offers: list[Offer]) -> TakenOffer | None:
        """Operate on the first offer that fits, and decline the others."""
        chosen: tuple[Offer, OfferOperation] | None = None
        others: list[Offer] = []
        for offer in offers:
            operation = None
            if chosen is None:
                with suppress(Conflict):
                    operation = self._attempt(offer)
            if operation is None:
                others.append(offer)
            else:
                chosen = (offer, operation)
        if others:
            self._call(DeclineCall.of(others, REFUSE_SECONDS).body())
            self._declined += len(others)
            self._progress(f"offers declined so far: {self._declined}")
        if chosen is None:
            return None
        offer, operation = chosen
        target = apply_all(self._agent_total(offer), operation.conversions)
        self._progress(f"{operation.action} on {offer.hostname}")
        accept = AcceptCall.of([offer], operation, 0.0).body()
        confirm(
            self._master,
            lambda: self._call(accept, repeatable=False),
            lambda: self._agent_total(offer) == target,
            what=f"{operation.action} on {offer.hostname}",
            wait=False,
            shown_by=command("reservations", agent=offer.agent_id),
        )
        self._confirm(offer, operation, target)
        return TakenOffer(offer, operation, self._declined, confirmed=True)

    def _confirm(self, offer: Offer, operation: OfferOperation, target: Resources) -> None:
        """Wait until the agent shows the operation. Raises NotConfirmed."""
        pauses = BackOff(self._master)
        while not self._shows(offer, operation, target):
            if self._master.deadline.remaining() <= 0:
                raise NotConfirmed(
                    f"{operation.action} was sent, but {offer.hostname} does not show it",
                    hint="a master silently drops what its rules or ACLs forbid",
                )
            pauses.sleep()

    def _shows(self, offer: Offer, operation: OfferOperation, target: Resources) -> bool:
        try:
            return self._agent_total(offer) == target
        except MesosctlError as error:
            raise NotConfirmed(
                f"{operation.action} was sent, but {offer.hostname} could not be read back: {error.message}",
                hint=f"check with {command('reservations', agent=offer.agent_id)}",
            ) from error

    def _agent_total(self, offer: Offer) -> Resources:
        found = agents(self._master.get(f"/slaves?slave_id={offer.agent_id}"))
        return found[0].total if found else Resources()

    def _call(self, call: bytes, *, repeatable: bool = True) -> None:
        self._master.tell(SCHEDULER, call, self._stream.id, repeatable=repeatable)

    def tear_down(self) -> None:
        """Tear the framework down; if that fails, the end of the connection ends it too."""
        if self._framework_id is None:
            return
        self._master.deadline.extend_to(1.0)
        call = TeardownCall(framework_id=FrameworkId(value=self._framework_id))
        with suppress(MesosctlError):
            self._call(call.body())


def simulate(cluster: BufferedIOBase, where: str, most_steps: int) -> Sharing:
    """Play a cluster file, which `where` names, offer by offer.  Raises BadInput, and OSError."""
    # Imported late: nothing else in mesosctl needs an allocator.
    import fake_master

    return fake_master.simulate(cluster, where, most_steps)
