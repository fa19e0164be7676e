"""A framework for tests: it subscribes, calls, and waits for what it is told."""

import json
from collections.abc import Mapping
from typing import Any, Self

from tests.conformance.callers.subscribers import Event, Subscription
from tests.conformance.masters.cluster import Answer, Cluster, basic
from tests.helpers.waiting import PATIENCE

PATH = "/api/v1/scheduler"
HEADERS = {"Content-Type": "application/json", "Accept": "application/json"}
FROM_AGENTS = frozenset({"UPDATE", "UPDATE_OPERATION_STATUS"})
"""Kinds that come when an agent has done its part: in no order with the others, nor with each other."""


class Framework:
    """One framework on one master.  `info` replaces or adds fields of FrameworkInfo; None removes one.

    It authenticates as `by`, or not at all.
    """

    def __init__(
        self,
        cluster: Cluster,
        *roles: str,
        capabilities: tuple[str, ...] = ("MULTI_ROLE", "RESERVATION_REFINEMENT"),
        by: str | None = None,
        **info: Any,
    ) -> None:
        self.cluster = cluster
        self.headers = HEADERS | ({} if by is None else basic(by))
        listed = [{"type": name} for name in capabilities]
        whole = {"user": "u", "name": "f", "roles": list(roles), "capabilities": listed, **info}
        self.info = {name: value for name, value in whole.items() if value is not None}
        self.id: str | None = None
        self.subscription: Subscription | None = None
        self.answered: set[str] = set()
        """The ids of the offers that it has accepted or declined."""
        self._forget()

    def _forget(self) -> None:
        self._seen = 0
        self._seen_from_agents = dict.fromkeys(FROM_AGENTS, 0)

    @property
    def stream(self) -> Subscription:
        assert self.subscription is not None, "not subscribed"
        return self.subscription

    def open(self, **more: Any) -> Subscription:
        """SUBSCRIBE, whatever comes of it."""
        known = {} if self.id is None else {"framework_id": {"value": self.id}}
        info = self.info if self.id is None else {**self.info, "id": {"value": self.id}}
        body = {"type": "SUBSCRIBE", **known, "subscribe": {"framework_info": info, **more}}
        self._has_failed_over = self.subscription is not None
        self.subscription = self.cluster.subscribers.open(PATH, json.dumps(body), self.headers)
        self._forget()
        return self.subscription

    def subscribe(self, **more: Any) -> Self:
        """SUBSCRIBE, and have the id."""
        assert self.open(**more).status == 200
        event = self.next("SUBSCRIBED")
        self.id = event["subscribed"]["framework_id"]["value"]
        return self

    def call(self, kind: str, *, stream_id: str | None = "", **body: Any) -> Answer:
        """A call on this stream; `stream_id` replaces its id, None leaves the header out."""
        stream_id = self.stream.headers["Mesos-Stream-Id"] if stream_id == "" else stream_id
        headers = self.headers | ({} if stream_id is None else {"Mesos-Stream-Id": stream_id})
        content = json.dumps({"type": kind, "framework_id": {"value": self.id}, **body})
        return self.cluster.request("POST", PATH, content=content, headers=headers)

    def ask(self, kind: str, *, gives: int = 202, **body: Any) -> None:
        """A call that is taken."""
        answer = self.call(kind, **body)
        assert answer.status == gives, answer

    def accept(self, offers: list[Event], *operations: Event, refuse: float | None = 0.0) -> None:
        """ACCEPT."""
        self.answered |= {offer["id"]["value"] for offer in offers}
        filters = {} if refuse is None else {"filters": {"refuse_seconds": refuse}}
        self.ask("ACCEPT", accept={"offer_ids": [o["id"] for o in offers], "operations": list(operations), **filters})

    def decline(self, offers: list[Event], refuse: float | None = None) -> None:
        """DECLINE."""
        self.answered |= {offer["id"]["value"] for offer in offers}
        filters = {} if refuse is None else {"filters": {"refuse_seconds": refuse}}
        self.ask("DECLINE", decline={"offer_ids": [o["id"] for o in offers], **filters})

    def _unseen(self, kind: str) -> int | None:
        events = self.stream.events
        start = self._seen_from_agents.get(kind, self._seen)
        return next((n for n in range(start, len(events)) if events[n]["type"] == kind), None)

    def next(self, kind: str, seconds: float = PATIENCE) -> Event:
        """The next event of a kind; everything before it from the same source counts as seen."""
        arrived = self.cluster.subscribers.wait(lambda: self._unseen(kind) is not None, seconds)
        assert arrived, f"no {kind} within {seconds} s, but {self.stream.events[self._seen :]}"
        found = self._unseen(kind)
        assert found is not None
        if kind in FROM_AGENTS:
            self._seen_from_agents[kind] = found + 1
        else:
            self._seen = found + 1
        return self.stream.events[found]

    def kinds(self, wanted: set[str], seconds: float = PATIENCE) -> list[str]:
        """The types of all events so far, in order, once each wanted one is among them."""

        def now() -> list[str]:
            return [event["type"] for event in self.stream.events]

        assert self.cluster.subscribers.wait(lambda: wanted <= set(now()), seconds), now()
        return now()

    def none_of(self, kind: str, seconds: float | None = None) -> None:
        """No such event arrives for so long, or from any allocation that is due; those not looked at yet count."""
        if seconds is None:
            self.settle()
        else:
            self.cluster.subscribers.wait(lambda: self._unseen(kind) is not None, seconds)
        assert self._unseen(kind) is None, self.stream.events[self._seen :]

    def settle(self) -> None:
        """Until every allocation that is due has been made, and what came of it has arrived."""
        self.cluster.await_allocations()
        self.catch_up()

    def catch_up(self) -> None:
        """Until every event has arrived that the master says it has sent."""
        assert self.cluster.subscribers.wait(self._has_all), self.stream.events

    def _has_all(self) -> bool:
        figures: dict[str, float] = self.cluster.read("/metrics/snapshot")
        sent = [value for name, value in figures.items() if name.endswith(f"/{self.id}/events")]
        # What was on its way to a former connection is lost.
        return not sent or self._has_failed_over or len(self.stream.events) >= sent[0]

    def offers(self, seconds: float = PATIENCE, *, agents: int = 1) -> list[Event]:
        """What is offered next, until so many agents are."""
        found: list[Event] = []
        while len(found) < agents:
            found += self.next("OFFERS", seconds)["offers"]["offers"]
        return found

    def closed(self, seconds: float = PATIENCE) -> bool:
        """Whether the master ends the stream."""
        return self.cluster.subscribers.wait(lambda: self.stream.closed, seconds)

    def leave(self) -> None:
        """TEARDOWN."""
        self.ask("TEARDOWN")


def amounts(resources: list[Event]) -> Mapping[str, float]:
    """Scalars by name and owner: {"cpus": 11.0, "cpus(ads)": 1.0}."""
    found: dict[str, float] = {}
    for entry in resources:
        if entry["type"] != "SCALAR":
            continue
        stack = entry.get("reservations", [])
        owner = stack[-1]["role"] if stack else entry.get("role", "*")
        name = entry["name"] if owner == "*" else f"{entry['name']}({owner})"
        found[name] = round(found.get(name, 0.0) + entry["scalar"]["value"], 3)
    return found
