"""Offers that frameworks hold once nothing is under way, and requests of operators meanwhile."""

import json
from typing import Any

from tests.conformance.callers.frameworks import Framework
from tests.conformance.callers.frameworks import amounts as amounts_of
from tests.conformance.callers.subscribers import Event
from tests.conformance.masters.cluster import Cluster


def held(framework: Framework) -> list[Event]:
    """The offers that a framework has and has not answered, after every allocation that is due."""
    framework.settle()
    found: dict[str, Event] = {}
    for event in framework.stream.events:
        if event["type"] == "OFFERS":
            found |= {offer["id"]["value"]: offer for offer in event["offers"]["offers"]}
        elif event["type"] == "RESCIND":
            found.pop(event["rescind"]["offer_id"]["value"], None)
    return [offer for name, offer in found.items() if name not in framework.answered]


def amounts(framework: Framework, *names: str) -> dict[str, float]:
    """The sums of what it holds, by name and owner; with names, of these alone: {"cpus": 2.0, "cpus(a)": 1.0}."""
    entries = [entry for offer in held(framework) for entry in offer["resources"]]
    return {name: value for name, value in amounts_of(entries).items() if not names or name.partition("(")[0] in names}


def cpus(*frameworks: Framework) -> list[float]:
    """The cpus that each holds, reserved or not."""
    return [sum(amounts(framework, "cpus").values()) for framework in frameworks]


def release(*frameworks: Framework, refuse: float = 0.0) -> None:
    """Decline everything that they hold."""
    for framework in frameworks:
        offers = held(framework)
        if offers:
            framework.decline(offers, refuse=refuse)


def limited(
    master: Cluster,
    role: str,
    guarantees: dict[str, float] | None = None,
    limits: dict[str, float] | None = None,
    *,
    force: bool = False,
) -> int:
    """UPDATE_QUOTA of one role; the answer's status."""
    maps = {"guarantees": guarantees or {}, "limits": limits or {}}
    config = {"role": role, **{key: {n: {"value": v} for n, v in amount.items()} for key, amount in maps.items()}}
    return master.call("UPDATE_QUOTA", update_quota={"force": force, "quota_configs": [config]}).status


def weigh(master: Cluster, **weights: float) -> int:
    """PUT /weights; "__" in a name stands for "/"."""
    entries = [{"role": role.replace("__", "/"), "weight": weight} for role, weight in weights.items()]
    return master.request("PUT", "/weights", content=json.dumps(entries)).status


def role_entry(master: Cluster, role: str) -> Any:
    """The entry of a role in /roles; None if there is none."""
    return next((entry for entry in master.read("/roles")["roles"] if entry["name"] == role), None)
