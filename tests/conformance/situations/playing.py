"""A situation: a cluster that somebody holds whole while others come, and what happens once it is free.

`play` does the same on any master, and returns what each framework is offered in the end.
"""

import json
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

from tests.conformance.callers.frameworks import Framework
from tests.conformance.callers.joining import Join, joining
from tests.conformance.callers.subscribers import Event
from tests.conformance.masters.cluster import Cluster, Setup
from tests.conformance.masters.simulated import agents_of
from tests.conformance.scenarios.scenario import scalars

INTERVAL = 0.05
"""Seconds between allocations."""
SIMPLE = ("MULTI_ROLE", "RESERVATION_REFINEMENT")
WITH_GPUS = (*SIMPLE, "GPU_RESOURCES")
HERE = json.dumps({"fault_domain": {"region": {"name": "here"}, "zone": {"name": "z"}}})
"""The domain of a master, if any agents are elsewhere."""
Step = tuple[Any, ...]
"""The name of a method of `_Played`, and what it is given."""
Amounts = dict[str, float]
"""By name and owner: {"cpus": 11.0, "cpus(ads)": 1.0, "ports": 4.0}."""
Shares = list[Amounts]
"""The holdings of each framework, in the order in which they came."""


@dataclass(frozen=True)
class Client:
    """A framework."""

    roles: tuple[str, ...]
    capabilities: tuple[str, ...] = SIMPLE
    suppressed: tuple[str, ...] = ()
    """The roles that it suppresses when it subscribes."""
    info: tuple[tuple[str, Any], ...] = ()
    """Further fields of its description."""


def client(*roles: str, capabilities: tuple[str, ...] = SIMPLE, suppressed: Iterable[str] = (), **info: Any) -> Client:
    return Client(roles, capabilities, tuple(suppressed), tuple(info.items()))


@dataclass(frozen=True)
class Situation:
    """The cluster when the first framework leaves, and the events after that, an interval apart."""

    agents: tuple[str, ...]
    clients: tuple[Client, ...]
    quotas: dict[str, dict[str, float]] = field(default_factory=dict)
    """Guarantees, set by POST /quota."""
    limits: dict[str, tuple[dict[str, float], dict[str, float]]] = field(default_factory=dict)
    """Guarantees and limits, set by UPDATE_QUOTA."""
    weights: dict[str, float] = field(default_factory=dict)
    flags: dict[str, str] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()
    early_weights: dict[str, float] = field(default_factory=dict)
    """Weights that are set before anybody comes."""

    elsewhere: tuple[str, ...] = ()
    """Agents in another region than the master's; of scalars."""

    order: tuple[int, ...] = ()
    """The order in which a fake master lists all agents, those elsewhere behind the others; as they stand, if empty."""

    at_once: bool = False
    """Whether the first leaves as soon as quotas are set, and not an interval later."""

    def setup(self) -> Setup:
        flags = {"allocation_interval": f"{INTERVAL * 1000:.0f}ms", **self.flags}
        if self.elsewhere:
            flags |= {"domain": HERE, "agent_ping_timeout": "15mins"}
        return Setup(self.agents, flags=flags, elsewhere=self.elsewhere, order=self.order)


class _Played:
    """A situation on one master; its steps are methods."""

    def __init__(self, master: Cluster, join: Join) -> None:
        self.master = master
        self.frameworks: list[Framework] = []
        self._join = join
        self._roles: list[tuple[str, ...]] = []

    def join(self, new: Client) -> None:
        made = self._join(*new.roles, capabilities=new.capabilities, **dict(new.info))
        more = {"suppressed_roles": list(new.suppressed)} if new.suppressed else {}
        self.frameworks.append(made.subscribe(**more))
        self._roles.append(new.roles)

    def leave(self, number: int) -> None:
        framework = self.frameworks[number]
        framework.leave()
        framework.id = None

    def quota(self, role: str, guarantee: dict[str, float]) -> None:
        body = json.dumps({"role": role, "guarantee": scalars(**guarantee), "force": True})
        answer = self.master.request("POST", "/quota", content=body)
        assert answer.status == 200, answer

    def no_quota(self, role: str) -> None:
        assert self.master.request("DELETE", f"/quota/{role}").status == 200

    def limit(self, role: str, guarantees: dict[str, float], limits: dict[str, float]) -> None:
        maps = {"guarantees": guarantees, "limits": limits}
        config = {"role": role, **{key: {n: {"value": v} for n, v in of.items()} for key, of in maps.items()}}
        answer = self.master.call("UPDATE_QUOTA", update_quota={"force": True, "quota_configs": [config]})
        assert answer.status == 200, answer

    def weigh(self, weights: dict[str, float]) -> None:
        body = json.dumps([{"role": role, "weight": weight} for role, weight in weights.items()])
        assert self.master.request("PUT", "/weights", content=body).status == 200

    def decline(self, number: int, refuse: float) -> None:
        offers = self.offers(number)
        if offers:
            self.frameworks[number].decline(offers, refuse=refuse)

    def suppress(self, number: int, *roles: str) -> None:
        self.frameworks[number].ask("SUPPRESS", suppress={"roles": list(roles)})

    def revive(self, number: int, *roles: str) -> None:
        self.frameworks[number].ask("REVIVE", revive={"roles": list(roles)})

    def resubscribe(self, number: int, *suppressed: str) -> None:
        self.frameworks[number].subscribe(**({"suppressed_roles": list(suppressed)} if suppressed else {}))

    def reserve(self, number: int, cpus: float) -> None:
        """Reserve so much of the unreserved cpus of each offer, and return the rest."""
        self._reserve(number, [], cpus)

    def refine(self, number: int, above: str, cpus: float) -> None:
        """The same of cpus that are reserved for a role above its own."""
        self._reserve(number, [{"type": "STATIC", "role": above}], cpus)

    def _reserve(self, number: int, below: list[Event], cpus: float) -> None:
        for offer in self.offers(number):
            role = offer["allocation_info"]["role"]
            wanted = {
                "name": "cpus",
                "type": "SCALAR",
                "scalar": {"value": cpus},
                "allocation_info": {"role": role},
                "reservations": [*below, {"type": "DYNAMIC", "role": role}],
            }
            free = sum(
                entry["scalar"]["value"]
                for entry in offer["resources"]
                if entry["name"] == "cpus" and entry.get("reservations", []) == below
            )
            if free >= cpus:
                operation = {"type": "RESERVE", "reserve": {"resources": [wanted]}}
                self.frameworks[number].accept([offer], operation, refuse=0)

    def offers(self, number: int) -> list[Event]:
        """The offers that a framework has and has not answered."""
        framework, found = self.frameworks[number], {}
        for event in framework.stream.events:
            if event["type"] == "OFFERS":
                found.update({offer["id"]["value"]: offer for offer in event["offers"]["offers"]})
            elif event["type"] == "RESCIND":
                found.pop(event["rescind"]["offer_id"]["value"], None)
        return [offer for name, offer in found.items() if name not in framework.answered]

    def settle(self) -> None:
        """Until the allocations that are due have been made, and all offers have arrived."""
        self.master.await_allocations()
        assert self.master.subscribers.wait(self._has_all), "offers do not arrive"

    def _has_all(self) -> bool:
        made: dict[str, float] = self.master.read("/metrics/snapshot")
        present = (number for number, framework in enumerate(self.frameworks) if framework.id is not None)
        return made["master/outstanding_offers"] == sum(len(self.offers(number)) for number in present)

    def shares(self) -> Shares:
        return [
            {} if framework.id is None else amounts(offer["resources"] for offer in self.offers(number))
            for number, framework in enumerate(self.frameworks)
        ]


def amounts(parts: Iterable[list[Event]]) -> Amounts:
    """The sums of resources by name and owner; of ranges, the number of values."""
    found: dict[str, float] = {}
    for entry in (entry for part in parts for entry in part):
        stack = entry.get("reservations", [])
        owner = stack[-1]["role"] if stack else entry.get("role", "*")
        name = entry["name"] if owner == "*" else f"{entry['name']}({owner})"
        if entry["type"] == "SCALAR":
            amount = entry["scalar"]["value"]
        else:
            amount = sum(one["end"] - one["begin"] + 1 for one in entry["ranges"]["range"])
        found[name] = round(found.get(name, 0.0) + amount, 3)
    return dict(sorted(found.items()))


def play(master: Cluster, situation: Situation) -> Shares:
    """The amounts that each framework is offered in the end."""
    has_all = not situation.elsewhere or master.transport is not None  # a real one has none elsewhere of its own
    elsewhere = nullcontext() if has_all else agents_of(master, situation.elsewhere, region="elsewhere")
    with elsewhere, joining(master) as join:
        if situation.early_weights:
            _Played(master, join).weigh(situation.early_weights)
        first = join("z", capabilities=WITH_GPUS).subscribe()
        master.await_allocations()
        played = _Played(master, join)
        for each in situation.clients:
            played.join(each)
        # Each of these lets go of offers of the first, which others are then offered.
        for role, guarantee in situation.quotas.items():
            played.quota(role, guarantee)
            if not situation.at_once:
                master.await_allocations()
        for role, (guarantees, limits) in situation.limits.items():
            played.limit(role, guarantees, limits)
            master.await_allocations()
        if situation.weights:
            played.weigh(situation.weights)
            master.await_allocations()
        first.leave()
        first.id = None
        played.settle()
        for name, *given in situation.steps:
            getattr(played, name)(*given)
            played.settle()
        return played.shares()
