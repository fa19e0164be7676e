"""`top`: readings of a cluster, one after the other, and the events that say when something has changed.

A reading requests totals and lists that are short whatever the number of agents. A master has no events for offers, so
it is polled every few seconds, and at once after an event.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Self

from mesosctl.api import rate_limits as ratelimit_api
from mesosctl.api import responses
from mesosctl.api.frameworks import listed_frameworks
from mesosctl.client.leading_master import Master
from mesosctl.model.errors import Denied, MasterFailed, MesosctlError, NoMaster, NotConfirmed
from mesosctl.model.offers.frameworks import ListedFramework
from mesosctl.model.quantities import Quantities
from mesosctl.model.rate_limits import RateLimits
from mesosctl.operations.offers_after_failover import recovery_if_shown
from mesosctl.operations.quota.reading import account_of_roles
from mesosctl.planning.account import Overview, WaitingOffers, idle_of, offered_to
from mesosctl.planning.message_rates import CounterReading, Counts, Rates, rates

_STATES = ("active", "inactive", "disconnected", "unreachable")
_OPERATOR_API = "/api/v1"
_SHORTEST_PAUSE = 0.5
"""Seconds between two readings, however many events come."""
_EVENTS_KEPT = 5
_SILENCE = 60.0
"""Seconds without a heartbeat, which masters send every 15, after which a stream is considered broken."""


class OverviewReader:
    """Reads a cluster repeatedly; it remembers the age of each offer, and the last counters."""

    def __init__(
        self, master: Master, clock: Callable[[], float] = time.monotonic, now: Callable[[], float] = time.time
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
        """One reading. Raises the errors of `Master`, except Denied."""
        at = self._clock()
        self._unknown = {}
        if self._version is None:
            self._version = responses.version(self._master.get("/version"))
            flags = self._allowed("rate limits", lambda: ratelimit_api.rate_limits(self._master.get("/flags")))
            self._limits = flags
        metrics = self._allowed("metrics", lambda: self._master.get("/metrics/snapshot")) or {}
        quotas = self._allowed("quotas", lambda: responses.quotas(self._master.get("/quota"))) or {}
        usages = self._allowed("roles", lambda: responses.roles(self._master.get("/roles"))) or {}
        answer = self._allowed("frameworks", lambda: self._master.ask("GET_FRAMEWORKS"))
        frameworks = [] if answer is None else listed_frameworks(answer)
        roles = list(
            account_of_roles(self._master, usages, quotas, None if answer is None else frameworks, metrics).values()
        )
        # Only a master that offers nothing may be recovering, and then its agents, which are many, are read.
        recovering = "" if answer is None or any(one.offers for one in frameworks) else recovery_if_shown(self._master)
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

    def messages(self) -> dict[str, tuple[Counts, int | None]]:
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
        self._seen = {offer: self._seen.get(offer, at) for one in frameworks for offer in one.offer_ids}
        found = []
        for one in frameworks:
            if one.offer_ids:
                oldest = min(self._seen[offer] for offer in one.offer_ids)
                found.append(
                    WaitingOffers(
                        one.title, one.id, one.roles, one.offers, one.offered, at - oldest,
                        was_there=oldest <= self._began,
                    )
                )  # fmt: skip
        return sorted(found, key=lambda one: (-one.oldest, one.framework, one.framework_id))

    def _throttled(self, metrics: Any, at: float) -> list[Rates]:
        now = CounterReading(at, ratelimit_api.uptime(metrics), ratelimit_api.message_counts(metrics))
        before, self._counters = self._counters, now
        if self._limits is None:
            return []
        found = rates(before, now, self._limits)
        return [one for one in found if one.backlog and self._limits.queue_of(one.principal)[1].throttles]


def _amounts(metrics: dict[str, Any], what: str) -> Quantities:
    """The amounts of `master/cpus_total` and its like."""
    names = ("cpus", "mem", "disk", "gpus")
    found = {name: metrics.get(f"master/{name}_{what}", 0) for name in names}
    return Quantities({name: round(value * 1000) for name, value in found.items() if value})


def _agents(metrics: dict[str, Any]) -> dict[str, int]:
    found = {state: int(metrics.get(f"master/slaves_{state}", 0)) for state in _STATES}
    return {state: count for state, count in found.items() if count or state == "active"}


class Feed:
    """Readings in a separate thread, so that a screen answers keys while a large answer is on its way.

    `events` says whether to follow the master's event stream too, which a master in this process does not have.
    """

    def __init__(self, open_master: Callable[[], Master], every: float, *, events: bool) -> None:
        self._open_master, self._every, self._hears = open_master, every, events
        self._wake, self._over = threading.Event(), threading.Event()
        self._threads: list[threading.Thread] = []
        self.overview: Overview | None = None
        """The last reading."""
        self.trouble: str | None = None
        """Why there has been no reading since then, or None."""
        self.failed: BaseException | None = None
        """The error that ends it: the first reading failed, or there is a bug."""
        self.events: deque[str] = deque(maxlen=_EVENTS_KEPT)
        """Sentences about what came and went, in order."""
        self.is_live = False
        """Whether the event stream is open."""
        self._side: tuple[object, Callable[[Master], Any], bool] | None = None
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

    def look(self, what: object, read: Callable[[Master], Any] | None, *, again: bool = False) -> None:
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

    def _read_once(self, master: Master, reader: OverviewReader) -> None:
        master.deadline.extend_to(master.settings.timeout)
        try:
            self.overview = reader.read()
            self.trouble = None
            self._read_aside(master)
        except (NoMaster, MasterFailed, NotConfirmed) as error:
            if self.overview is None:
                raise
            self.trouble = error.message

    def _read_aside(self, master: Master) -> None:
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
                for sentence in events(master):
                    self.is_live = True
                    if sentence:
                        self.events.append(sentence)
                    self._wake.set()
                    if self._over.is_set():
                        return
            self.is_live = False
            self._over.wait(self._every)


def events(master: Master) -> Iterator[str]:
    """Yield a sentence for each event of the cluster; an empty one if a reading alone shows what has changed.

    Raises what `Master.subscribe` raises.
    """
    names: dict[str, str] = {}
    with master.subscribe(_OPERATOR_API, b'{"type":"SUBSCRIBE"}', _SILENCE) as stream:
        for event in stream:
            if event["type"] != "HEARTBEAT":
                yield _sentence(event["type"], event, names)


def _sentence(kind: str, event: dict[str, Any], names: dict[str, str]) -> str:
    with suppress(KeyError, TypeError, AttributeError):  # an unexpected event also means that something is new
        return _told(kind, event, names)
    return ""


def _told(kind: str, event: dict[str, Any], names: dict[str, str]) -> str:
    if kind == "SUBSCRIBED":
        for agent in event["subscribed"]["get_state"]["get_agents"].get("agents", ()):
            info = agent["agent_info"]
            names[info["id"]["value"]] = info["hostname"]
        return ""
    if kind == "AGENT_ADDED":
        info = event["agent_added"]["agent"]["agent_info"]
        names[info["id"]["value"]] = info["hostname"]
        return f"agent {info['hostname']} registered"
    if kind == "AGENT_REMOVED":
        gone = event["agent_removed"]["agent_id"]["value"]
        return f"agent {names.pop(gone, gone)} left"
    if kind == "FRAMEWORK_ADDED":
        return f"framework {event['framework_added']['framework']['framework_info']['name']} subscribed"
    if kind == "FRAMEWORK_REMOVED":
        return f"framework {event['framework_removed']['framework_info']['name']} left"
    return ""
