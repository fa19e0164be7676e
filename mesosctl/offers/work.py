"""The work of `offers`: it lists and watches what is offered, takes one offer, and simulates sharing."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import BufferedIOBase
from threading import Timer
from typing import Any, Literal, NamedTuple

from mesosctl.changes.back_off import BackOff
from mesosctl.changes.confirm import confirm
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.client.response_body import EventStream
from mesosctl.mesos.amounts.notation import natural
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.dominant_shares import Sharing
from mesosctl.mesos.cluster.holdings import RegisteredAgent
from mesosctl.mesos.cluster.selectors import Selectors
from mesosctl.mesos.errors import Conflict, DeadlinePassed, Denied, MesosctlError, NotConfirmed, Rejected, Unreachable
from mesosctl.mesos.messages import frameworks as wire
from mesosctl.mesos.messages.elements.listed_agents import agents
from mesosctl.mesos.messages.offers import accept_call, decline_call, subscribe_call, teardown_call
from mesosctl.mesos.messages.snapshots.outstanding_offers import outstanding
from mesosctl.mesos.names import Spelling, agent_names, framework_names
from mesosctl.mesos.roles import display_names
from mesosctl.mesos.rules.offers.offers import OfferOperation, OutstandingOffer, TakenOffer
from mesosctl.mesos.rules.reservations.operations import apply_all
from mesosctl.reading.lists import readings
from mesosctl.reading.selection import SortKey, entries_named, is_in_branch, role_key, sort_entries
from mesosctl.reading.targets import find_agent, names_of, on_agents, read_agents
from mesosctl.suggestion import command

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
    attributes: Selectors = ()
    """Of the agent that is offered."""
    sort: str | None = None
    """One of `OFFER_KEYS`, or as in `selection.Selection`."""


class FoundOffers(NamedTuple):
    """The offers that were found, and how the names in their list are typed."""

    offers: list[OutstandingOffer]
    spelling: Spelling


def list_offers(master: LeadingMaster, target: OfferSelection) -> list[OutstandingOffer]:
    """The selected offers, for one reading of many: none, for an agent or framework that may come yet.

    Raises what `select_offers` raises otherwise.
    """
    needed = target.agent is not None or bool(target.attributes)
    return _selected(master, target, _agents_or_none(master, target) if needed else None).offers


def select_offers(master: LeadingMaster, target: OfferSelection) -> FoundOffers:
    """The selected outstanding offers that this principal may see, by default by framework, role and agent.

    Names are judged among all agents and frameworks, whether anything of theirs is offered or not. Raises NotFound for
    an agent, a framework or an offer that does not exist, UsageError for an unknown key, and for a word that is the id
    of an agent or framework and a name of another.
    """
    return _selected(master, target, _agents_or_none(master, target), must_exist=True)


def _selected(
    master: LeadingMaster,
    target: OfferSelection,
    agents: Sequence[RegisteredAgent] | None,
    *,
    must_exist: bool = False,
) -> FoundOffers:
    """The selected offers, with the agents of the cluster, None for those that were not read."""
    offers, frameworks = master.stream_call("GET_FRAMEWORKS", outstanding)
    hostnames = {offer.agent_id: offer.hostname for offer in offers} | {
        agent.id: agent.hostname for agent in agents or ()
    }
    known, of_frameworks = agent_names(hostnames), framework_names(frameworks)
    on = None if target.agent is None else frozenset(known.every(target.agent, "--agent"))
    to = None if target.framework is None else frozenset(of_frameworks.every(target.framework, "--framework"))
    if must_exist and target.agent is not None and not on and agents is not None:
        find_agent(agents, target.agent, "--agent")
    if must_exist and target.framework is not None and not to:
        raise of_frameworks.absent(target.framework, "--framework", f"{command('frameworks')} shows all of them")
    having = on_agents(agents or (), target.attributes) if target.attributes else None
    named = entries_named(
        offers,
        target.names,
        lambda offer: (offer.id,),
        noun="offer",
        field="offer",
        otherwise=f"offers come and go; {command('offers list', o='name')} shows those of now",
    )
    found = [
        offer
        for offer in named
        if is_in_branch(offer.role, target.role)
        and (to is None or offer.framework_id in to)
        and (on is None or offer.agent_id in on)
        and (having is None or offer.agent_id in having)
    ]
    found.sort(key=lambda offer: (offer.framework, offer.framework_id, offer.role, offer.hostname, offer.id))
    keys: dict[str, SortKey[OutstandingOffer]] = {
        "framework": lambda offer: (natural(offer.framework), offer.framework_id),
        "role": lambda offer: role_key(offer.role),
        "agent": lambda offer: (natural(offer.hostname), offer.agent_id),
        "offer": lambda offer: natural(offer.id),
    }
    amounts = (offer.resources.quantities() for offer in offers)
    ordered = sort_entries(found, target.sort, keys, lambda offer: offer.resources.quantities(), amounts, own="offer")
    return FoundOffers(ordered, Spelling(agent=known.speller(), framework=of_frameworks.speller()))


def _agents_or_none(master: LeadingMaster, target: OfferSelection) -> list[RegisteredAgent] | None:
    """All agents; None if this principal may not see them, which those with some attributes do not allow."""
    try:
        return read_agents(master)
    except Denied:
        if target.attributes:
            raise
        return None


def agents_meant(master: LeadingMaster, word: str) -> frozenset[str] | None:
    """The ids of the agents that a word means; None if this principal may not see the agents.

    Raises NotFound for none, and UsageError for a word that is the id of one and the host name of another.
    """
    try:
        agents = read_agents(master)
    except Denied:
        return None
    found = names_of(agents).every(word, "--agent")
    return frozenset(found or [find_agent(agents, word, "--agent").id])


@dataclass(frozen=True, slots=True)
class Change:
    """An offer that came, or went."""

    what: Literal["offered", "gone"]
    offer: OutstandingOffer
    agent: str
    """The name of the agent in sentences: its host name, with a short id if another agent with offers shares it."""


def watch_offers(
    master: LeadingMaster, target: OfferSelection, every: float, report: Callable[[str], None]
) -> Iterator[Change]:
    """Yield the outstanding offers, and then each change.

    A master has no events for offers, so it is polled, and an offer that comes and goes between two readings is missed.
    If the master goes away, for example during a failover, wait for it; `report` is called with a sentence. Raises
    Unreachable if it is not back before the deadline, which starts again with every answer.
    """
    known: dict[str, OutstandingOffer] = {}
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

OfferHandler = Callable[[OutstandingOffer], OfferOperation]
"""Chooses an operation on an offer.  Raises Conflict if the offer has too little."""
Progress = Callable[[str], None]


def take(
    master: LeadingMaster, role: str, principal: str | None, handle_offer: OfferHandler, progress: Progress
) -> TakenOffer:
    """Subscribe, wait for an offer that fits, operate on it, decline the rest, tear down.

    Raises DeadlinePassed if no offer fits in time, Rejected if the master refuses the
    framework, NotConfirmed if the operation is not shown afterwards, RuleViolation from `handle_offer`.
    """
    call = subscribe_call(NAME, role, principal).body()
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
        self, master: LeadingMaster, stream: EventStream, role: str, handle_offer: OfferHandler, progress: Progress
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

    def _choose(self, offers: list[OutstandingOffer]) -> TakenOffer | None:
        """Operate on the first offer that fits, and decline the others."""
        chosen: tuple[OutstandingOffer, OfferOperation] | None = None
        others: list[OutstandingOffer] = []
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
            self._call(decline_call(others, REFUSE_SECONDS).body())
            self._declined += len(others)
            self._progress(f"offers declined so far: {self._declined}")
        if chosen is None:
            return None
        offer, operation = chosen
        target = apply_all(self._agent_total(offer), operation.conversions)
        self._progress(f"{operation.action} on {offer.hostname}")
        accept = accept_call([offer], operation, 0.0).body()
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

    def _confirm(self, offer: OutstandingOffer, operation: OfferOperation, target: Resources) -> None:
        """Wait until the agent shows the operation. Raises NotConfirmed."""
        pauses = BackOff(self._master)
        while not self._shows(offer, operation, target):
            if self._master.deadline.remaining() <= 0:
                raise NotConfirmed(
                    f"{operation.action} was sent, but {offer.hostname} does not show it",
                    hint="a master silently drops what its rules or ACLs forbid",
                )
            pauses.sleep()

    def _shows(self, offer: OutstandingOffer, operation: OfferOperation, target: Resources) -> bool:
        try:
            return self._agent_total(offer) == target
        except MesosctlError as error:
            raise NotConfirmed(
                f"{operation.action} was sent, but {offer.hostname} could not be read back: {error.message}",
                hint=f"check with {command('reservations', agent=offer.agent_id)}",
            ) from error

    def _agent_total(self, offer: OutstandingOffer) -> Resources:
        found = agents(self._master.get(f"/slaves?slave_id={offer.agent_id}"))
        return found[0].total if found else Resources()

    def _call(self, call: bytes, *, repeatable: bool = True) -> None:
        self._master.tell(SCHEDULER, call, self._stream.id, repeatable=repeatable)

    def tear_down(self) -> None:
        """Tear the framework down; if that fails, the end of the connection ends it too."""
        if self._framework_id is None:
            return
        self._master.deadline.extend_to(1.0)
        with suppress(MesosctlError):
            self._call(teardown_call(self._framework_id).body())


def simulate(cluster: BufferedIOBase, where: str, most_steps: int) -> Sharing:
    """Play a cluster file, which `where` names, offer by offer.  Raises BadInput, and OSError."""
    # Imported late: nothing else in mesosctl needs an allocator.
    import fake_master

    return fake_master.simulate(cluster, where, most_steps)
