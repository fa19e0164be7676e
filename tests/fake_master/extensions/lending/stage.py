"""A fake master that lends, in this process or on a socket, and frameworks that remember what they were told."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from fake_master.master import Master
from fake_master.state.clock import VirtualClock
from tests.conformance.callers.frameworks import Framework
from tests.conformance.callers.subscribers import Event
from tests.conformance.masters import fakes
from tests.conformance.masters.cluster import Cluster, Setup
from tests.conformance.masters.processes import Process
from tests.helpers.cluster_files import read_cluster_file
from tests.helpers.waiting import PATIENCE

KINDS = ("regular", "throttleable", "lent")
Amounts = dict[str, float]


@dataclass
class Stage:
    """One master; `master` is its inside, where that can be looked at."""

    cluster: Cluster
    master: Master | None = None
    interval: float = 1.0
    """Seconds between two allocations."""

    def wait_for(self, until: Callable[[], bool], seconds: float = PATIENCE) -> bool:
        return self.cluster.subscribers.wait(until, seconds)


def in_process(cluster_file: Path) -> Stage:
    clock = VirtualClock(1000.0)
    master = read_cluster_file(cluster_file).start(clock=clock)
    return Stage(fakes.in_process(master, clock, Setup()), master)


def on_socket(cluster_file: Path, interval: float) -> Stage:
    process = Process([*fakes.PROGRAM, "--cluster", str(cluster_file)], cluster_file.with_suffix(".log"))
    return Stage(fakes.on_socket(process, Setup()), interval=interval)


def kind_of(offer: Event) -> str:
    """Regular, throttleable or lent; an offer that mixes kinds is neither."""
    found = {
        "regular" if "revocable" not in entry else "throttleable" if "throttle_info" in entry["revocable"] else "lent"
        for entry in offer["resources"]
    }
    return found.pop() if len(found) == 1 else "mixed"


def sums(resources: list[Event]) -> Amounts:
    """Scalars by name, whoever owns them."""
    found: Amounts = {}
    for entry in resources:
        found[entry["name"]] = round(found.get(entry["name"], 0.0) + entry["scalar"]["value"], 3)
    return found


def part_of(resources: list[Event], wanted: Amounts) -> list[Event]:
    """Entries that make up these amounts, reserved ones first."""
    found = []
    for name, amount in wanted.items():
        missing = amount
        entries = [entry for entry in resources if entry["name"] == name]
        for entry in sorted(entries, key=lambda entry: "reservations" not in entry):
            taken = min(missing, entry["scalar"]["value"])
            if taken > 0:
                found.append({**entry, "scalar": {"value": taken}})
                missing -= taken
        assert missing <= 0, f"{resources} have not {wanted}"
    return found


@dataclass
class Player:
    """A framework: what it is offered and has been told, updates acknowledged."""

    framework: Framework
    offers: dict[str, Event] = field(default_factory=dict)
    """Outstanding, as far as it knows."""
    ever: dict[str, Event] = field(default_factory=dict)
    """Every offer there has been."""
    arrived: list[list[Event]] = field(default_factory=list)
    """OFFERS events nobody has looked at yet."""
    rescinded: list[str] = field(default_factory=list)
    """Kinds of rescinded offers nobody has looked at yet."""
    heard: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    """State and reason by task."""
    _seen: int = 0

    def listen(self) -> None:
        events = self.framework.stream.events
        while self._seen < len(events):
            event = events[self._seen]
            self._seen += 1
            if event["type"] == "OFFERS":
                offers = event["offers"]["offers"]
                self.arrived.append(offers)
                self.offers |= {offer["id"]["value"]: offer for offer in offers}
                self.ever |= self.offers
            elif event["type"] == "RESCIND":
                offer_id = event["rescind"]["offer_id"]["value"]
                self.offers.pop(offer_id, None)
                self.rescinded.append(kind_of(self.ever[offer_id]))
            elif event["type"] == "UPDATE":
                self._update(event["update"]["status"])

    def _update(self, status: Event) -> None:
        task_id = status["task_id"]["value"]
        self.heard.setdefault(task_id, []).append((status["state"], status.get("reason", "")))
        if "uuid" in status:
            named = {name: status[name] for name in ("task_id", "agent_id", "uuid")}
            self.framework.ask("ACKNOWLEDGE", acknowledge=named)

    def of_kind(self, kind: str, agent: str | None = None, *, ever: bool = False) -> Event:
        """The latest offer of a kind."""
        pool = self.ever if ever else self.offers
        found = [o for o in pool.values() if kind_of(o) == kind and agent in (None, o["hostname"])]
        assert found, f"no {kind} offer among {[kind_of(offer) for offer in pool.values()]}"
        return found[-1]

    def accept(self, offers: list[Event], tasks: list[Event], refuse: float) -> None:
        launch = {"type": "LAUNCH", "launch": {"task_infos": tasks}}
        for offer in offers:
            self.offers.pop(offer["id"]["value"], None)
        self.framework.accept(offers, launch, refuse=refuse)

    def decline(self, offers: list[Event], refuse: float) -> None:
        for offer in offers:
            del self.offers[offer["id"]["value"]]
        self.framework.decline(offers, refuse)


def task_of(offer: Event, name: str, resources: list[Event]) -> Event:
    return {
        "name": name,
        "task_id": {"value": name},
        "agent_id": offer["agent_id"],
        "command": {"value": "true"},
        "resources": resources,
    }
