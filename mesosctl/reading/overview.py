"""`top`: readings of a cluster, one after the other, and the events that say when something has changed.

A reading requests totals and lists that are short whatever the number of agents. A master has no events for offers, so
it is polled every few seconds, and at once after an event.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any, Literal, NamedTuple, Self

from mesosctl.client.leading_master import LeadingMaster
from mesosctl.mesos.amounts.holding import regular_part
from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.mesos.cluster.account import Overview, WaitingOffers, idle_of, offered_to
from mesosctl.mesos.cluster.message_rates import CounterReading, MessageCounts, PrincipalRates, rates
from mesosctl.mesos.cluster.role_status import RoleStatus
from mesosctl.mesos.errors import Denied, MasterFailed, MesosctlError, NoMaster, NotConfirmed
from mesosctl.mesos.messages import rate_limits as ratelimit_api
from mesosctl.mesos.messages import responses
from mesosctl.mesos.messages.frameworks import completed_frameworks, listed_frameworks
from mesosctl.mesos.names import agent_names, framework_names
from mesosctl.mesos.rules.offers.frameworks import ListedFramework
from mesosctl.mesos.rules.rate_limits import RateLimits
from mesosctl.mesos.rules.version_profile import described
from mesosctl.reading.lists import as_typed
from mesosctl.reading.offers_after_failover import recovery_if_shown
from mesosctl.reading.quotas import account_of_roles

_MEASURED = ("cpus", "mem", "disk", "gpus")
"""The resources that metrics have sums of."""
_STATES = ("active", "inactive", "disconnected", "unreachable")
_SHORTEST_PAUSE = 0.5
"""Seconds between two readings, however many events come."""
_EVENTS_KEPT = 5


class OverviewReader:
    """Reads a cluster repeatedly; it remembers the age of each offer, and the last counters."""

    def __init__(
        self, master: LeadingMaster, clock: Callable[[], float] = time.monotonic, now: Callable[[], float] = time.time
    ) -> None:
        self._master, self._clock, self._now = master, clock, now
        self._version: str | None = None
        self._limits: RateLimits | None = None
        self._seen: dict[str, float] = {}
        """When each outstanding offer was seen first, by id."""
        self._began: float | None = None
        self._counters: CounterReading | None = None
        self._unknown: dict[str, None] = {}

    def read(self) -> Overview:
        """One reading. Raises the errors of `LeadingMaster`, except Denied."""
        at = self._clock()
        self._unknown = {}
        if self._version is None:
            profile = self._master.profile
            self._version = described(self._master.version(), profile)
            flags = self._allowed("rate limits", lambda: ratelimit_api.rate_limits(self._master.get("/flags")))
            self._limits = flags
        metrics = self._allowed("metrics", lambda: self._master.get("/metrics/snapshot")) or {}
        quotas = self._allowed("quotas", lambda: responses.quotas(self._master.get("/quota"))) or {}
        usages = self._allowed("roles", lambda: responses.roles(self._master.get("/roles"))) or {}
        answer = self._allowed("frameworks", lambda: self._master.ask("GET_FRAMEWORKS"))
        frameworks = [] if answer is None else _named(answer)
        roles = list(
            account_of_roles(
                self._master,
                usages,
                quotas,
                None if answer is None else frameworks,
                metrics,
                lambda roles: _free(metrics, frameworks, roles),
            ).values()
        )
        # Only a master that offers nothing may be recovering, and then its agents, which are many, are read.
        recovering = (
            ""
            if answer is None or any(framework.offers for framework in frameworks)
            else recovery_if_shown(self._master)
        )
        return Overview(
            taken_at=self._now(),
            version=self._version,
            total=_amounts(metrics, "total"),
            used=_amounts(metrics, "used"),
            revocable=_amounts(metrics, "revocable_used"),
            offered=offered_to(frameworks),
            idle=idle_of(roles),
            agents=_agents(metrics),
            frameworks=len(frameworks),
            listed=frameworks,
            roles=roles,
            offers=self._waiting(frameworks, at),
            throttled=self._throttled(metrics, at),
            unknown=tuple(self._unknown),
            recovery=recovering,
        )

    def messages(self) -> dict[str, tuple[MessageCounts, int | None]]:
        """By principal: its messages at the last reading, and the capacity of its queue; None if that has none."""
        if self._counters is None:
            return {}
        limits = self._limits or RateLimits()
        return {who: (counts, limits.queue_of(who)[1].capacity) for who, counts in self._counters.counts.items()}

    def _allowed(self, what: str, read: Callable[[], Any]) -> Any:
        try:
            return read()
        except Denied:
            self._unknown[what] = None
            return None

    def _waiting(self, frameworks: list[ListedFramework], at: float) -> list[WaitingOffers]:
        self._began = at if self._began is None else self._began
        self._seen = {offer: self._seen.get(offer, at) for framework in frameworks for offer in framework.offer_ids}
        found = []
        for framework in frameworks:
            if framework.offer_ids:
                oldest = min(self._seen[offer] for offer in framework.offer_ids)
                found.append(
                    WaitingOffers(
                        framework.title,
                        framework.id,
                        framework.roles,
                        framework.offers,
                        framework.offered,
                        at - oldest,
                        was_there=oldest <= self._began,
                    )
                )
        return sorted(found, key=lambda waiting: (-waiting.oldest, waiting.framework, waiting.framework_id))

    def _throttled(self, metrics: Any, at: float) -> list[PrincipalRates]:
        now = CounterReading(at, ratelimit_api.uptime(metrics), ratelimit_api.message_counts(metrics))
        before, self._counters = self._counters, now
        if self._limits is None:
            return []
        found = rates(before, now, self._limits)
        return [
            principal_rates
            for principal_rates in found
            if principal_rates.backlog and self._limits.queue_of(principal_rates.principal)[1].throttles
        ]


def _named(answer: Any) -> list[ListedFramework]:
    """The frameworks of GET_FRAMEWORKS, with the kinds of names that could mean another one."""
    present = listed_frameworks(answer)
    return as_typed(present, [*present, *completed_frameworks(answer)])


def _amounts(metrics: dict[str, Any], what: str) -> Quantities:
    """The amounts of `master/cpus_total` and its like."""
    found = {name: metrics.get(f"master/{name}_{what}", 0) for name in _MEASURED}
    return Quantities({name: round(value * 1000) for name, value in found.items() if value})


def _free(
    metrics: dict[str, Any], frameworks: Iterable[ListedFramework], roles: Iterable[RoleStatus]
) -> Quantities | None:
    """The free resources, calculated from sums; None if that needs the agents.

    That is so if some are out of service, if a guarantee names what the metrics do not have, and before Mesos 1.9,
    which does not show what is reserved and idle.
    """
    known = list(roles)
    named = {name for status in known for name in status.quota.guarantees}
    is_old = any(status.usage is not None and status.usage.consumed is None for status in known)
    if is_old or not named.issubset(_MEASURED) or _agents(metrics).keys() != {"active"}:
        return None
    held = _amounts(metrics, "used") + regular_part(offered_to(frameworks)) + idle_of(known)
    return _amounts(metrics, "total") - held


def _agents(metrics: dict[str, Any]) -> dict[str, int]:
    found = {state: int(metrics.get(f"master/slaves_{state}", 0)) for state in _STATES}
    return {state: count for state, count in found.items() if count or state == "active"}


class Feed:
    """Readings in a separate thread, so that a screen answers keys while a large answer is on its way.

    `events` says whether to follow the master's event stream too, which a master in this process does not have.
    """

    def __init__(self, open_master: Callable[[], LeadingMaster], every: float, *, events: bool) -> None:
        self._open_master, self._every, self._hears = open_master, every, events
        self._wake, self._over = threading.Event(), threading.Event()
        self._threads: list[threading.Thread] = []
        self.overview: Overview | None = None
        """The last reading."""
        self.trouble: str | None = None
        """Why there has been no reading since then, or None."""
        self.failed: BaseException | None = None
        """The error that ends it: the first reading failed, or there is a bug."""
        self.happenings = Happenings()
        self.is_live = False
        """Whether the event stream is open."""
        self._side: tuple[object, Callable[[LeadingMaster], Any], bool] | None = None
        self.aside: tuple[object, Any] | None = None
        """The thing that `look` was given, and the answer: a value, or a sentence that says why there is none."""

    def __enter__(self) -> Self:
        self._start(self._read)
        if self._hears:
            self._start(self._hear)
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._wake.set()
        for thread in self._threads:
            thread.join(timeout=0.2)  # a silent stream or a slow answer is abandoned, because it only reads

    def _start(self, run: Callable[[], None]) -> None:
        thread = threading.Thread(target=run, daemon=True)
        self._threads.append(thread)
        thread.start()

    def refresh(self) -> None:
        """Read again now."""
        self.aside = None if self._side is not None and not self._side[2] else self.aside
        self._wake.set()

    def look(self, what: object, read: Callable[[LeadingMaster], Any] | None, *, again: bool = False) -> None:
        """Read something beside the cluster from now on: once, or `again` with each reading.  None: nothing."""
        if what != (None if self._side is None else self._side[0]):
            self._side, self.aside = (None if read is None else (what, read, again)), None
            self._wake.set()

    def _read(self) -> None:
        try:
            with self._open_master() as master:
                reader = OverviewReader(master)
                while not self._over.is_set():
                    self._read_once(master, reader)
                    self._over.wait(_SHORTEST_PAUSE)
                    self._wake.wait(max(0.0, self._every - _SHORTEST_PAUSE))
                    self._wake.clear()
        except BaseException as error:  # noqa: BLE001  # the thread that draws says what it was
            self.failed = error

    def _read_once(self, master: LeadingMaster, reader: OverviewReader) -> None:
        master.deadline.extend_to(master.settings.timeout)
        try:
            self.overview = reader.read()
            self.trouble = None
            self._read_aside(master)
        except (NoMaster, MasterFailed, NotConfirmed) as error:
            if self.overview is None:
                raise
            self.trouble = error.message

    def _read_aside(self, master: LeadingMaster) -> None:
        side = self._side
        if side is None or (self.aside is not None and self.aside[0] == side[0] and not side[2]):
            return
        what, read, _ = side
        try:
            self.aside = what, read(master)
        except MesosctlError as error:
            if isinstance(error, NoMaster | MasterFailed | NotConfirmed):
                raise
            self.aside = what, error.message

    def _hear(self) -> None:
        """Follow the events of the leading master while the screen is open."""
        while not self._over.is_set():
            with suppress(MesosctlError), self._open_master() as master:
                for _ in follow(master, self.happenings):
                    self.is_live = True
                    self._wake.set()
                    if self._over.is_set():
                        return
            self.is_live = False
            self._over.wait(self._every)


class _Happening(NamedTuple):
    """An agent or a framework that came or went."""

    noun: Literal["agent", "framework"]
    id: str
    name: str
    did: str


class Happenings:
    """The agents and frameworks that came and went, by the events of a master.

    The sentences are made when they are read: how a name has to be typed depends on all the others, of which there may
    be many, and events may come by the thousand.
    """

    def __init__(self) -> None:
        self._names: dict[str, dict[str, str]] = {"agent": {}, "framework": {}}
        """The host names of agents and the names of frameworks that are there, by id."""
        self._last: deque[_Happening] = deque(maxlen=_EVENTS_KEPT)
        self._said: tuple[tuple[_Happening, ...], tuple[str, ...]] = ((), ())

    def sentences(self) -> tuple[str, ...]:
        """The last ones, in order, with names as they have to be typed."""
        last = tuple(self._last)
        if last != self._said[0]:
            agents, frameworks = (
                self._names[noun] | {happening.id: happening.name for happening in last if happening.noun == noun}
                for noun in ("agent", "framework")
            )
            of_agent, of_framework = agent_names(agents), framework_names(frameworks)

            def word(happening: _Happening) -> str:
                if happening.noun == "agent":
                    return of_agent.word(happening.id)
                return of_framework.spell("name", happening.name) if happening.name else of_framework.word(happening.id)

            self._said = last, tuple(f"{happening.noun} {word(happening)} {happening.did}" for happening in last)
        return self._said[1]

    def hear(self, event: dict[str, Any]) -> None:
        """Take note of an event.  One with another shape than expected says nothing."""
        with suppress(KeyError, TypeError, AttributeError):
            self._hear(event["type"], event)

    def _hear(self, kind: str, event: dict[str, Any]) -> None:
        agents, frameworks = self._names["agent"], self._names["framework"]
        if kind == "SUBSCRIBED":
            state = event["subscribed"]["get_state"]
            for agent in state["get_agents"].get("agents", ()):
                agents[agent["agent_info"]["id"]["value"]] = agent["agent_info"]["hostname"]
            for framework in state["get_frameworks"].get("frameworks", ()):
                frameworks[framework["framework_info"]["id"]["value"]] = framework["framework_info"]["name"]
        elif kind == "AGENT_ADDED":
            info = event["agent_added"]["agent"]["agent_info"]
            self._came("agent", info["id"]["value"], info["hostname"], "registered")
        elif kind == "AGENT_REMOVED":
            gone = event["agent_removed"]["agent_id"]["value"]
            self._last.append(_Happening("agent", gone, agents.pop(gone, ""), "left"))
        elif kind == "FRAMEWORK_ADDED":
            info = event["framework_added"]["framework"]["framework_info"]
            self._came("framework", info["id"]["value"], info["name"], "subscribed")
        elif kind == "FRAMEWORK_REMOVED":
            info = event["framework_removed"]["framework_info"]
            frameworks.pop(info["id"]["value"], None)
            self._last.append(_Happening("framework", info["id"]["value"], info["name"], "left"))

    def _came(self, noun: Literal["agent", "framework"], thing_id: str, name: str, did: str) -> None:
        self._last.append(_Happening(noun, thing_id, name, did))
        self._names[noun][thing_id] = name


def follow(master: LeadingMaster, happenings: Happenings) -> Iterator[None]:
    """Hear the events of the cluster; yield after each, because a reading may show what it has changed.

    Raises what `LeadingMaster.subscribe_operator` raises.
    """
    with master.subscribe_operator() as stream:
        for event in stream:
            if event["type"] != "HEARTBEAT":
                happenings.hear(event)
                yield
