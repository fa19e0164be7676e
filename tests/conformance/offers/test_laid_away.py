"""Resources laid away for a guarantee, and a reservation whose message was lost: the versions differ in both."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.callers.joining import quick
from tests.conformance.callers.owning import owned
from tests.conformance.masters.carriers import EVERY_CARRIER, REAL, Carrier
from tests.conformance.masters.cluster import Setup
from tests.conformance.masters.fakes import start_from_file
from tests.conformance.scenarios.scenario import quota_request

AGENTS = ("cpus(z):1;mem(z):100;disk:10;ports:[1-2]", "cpus:1;mem:100;disk:10;ports:[1-2]")


def cpus(offers: list[Any]) -> float:
    """Unreserved cpus."""
    entries = [entry for offer in offers for entry in offer["resources"] if not entry.get("reservations")]
    return sum(entry["scalar"]["value"] for entry in entries if entry["name"] == "cpus")


def test_idle_reservations_of_others_are_no_room_for_a_guarantee(start: Any, carrier: Carrier) -> None:
    with start(quick(*AGENTS)) as (master, join):
        quota = json.dumps(quota_request("q", cpus=1))
        answer = master.request("POST", "/quota", content=quota)
        if answer.status != 200:  # under 1.11, what is reserved for others is no capacity either
            assert (answer.status, carrier.version) == (409, "1.11")
            return
        guaranteed = join("q").subscribe()
        offers = guaranteed.offers()
        guaranteed.decline(offers, refuse=3600)
        other = join("n").subscribe()
        other.settle()
        others = [event["offers"]["offers"] for event in other.stream.events if event["type"] == "OFFERS"]
        assert cpus([offer for offers in others for offer in offers]) == 0.0


def reserved(agent: dict[str, Any]) -> float:
    """The reserved cpus that a master or an agent shows."""
    return float(agent["reserved_resources"].get("ads", {}).get("cpus", 0.0))


@pytest.mark.parametrize("fake", [one for one in EVERY_CARRIER if one is not REAL], ids=str)
def test_a_reservation_whose_message_was_lost_made_again(fake: Carrier, tmp_path: Path) -> None:
    text = f'mesos_version = "{fake.version}"\n[[agents]]\nresources = "cpus:4;mem:1024"\nloses = 1\n'
    master = start_from_file(text, tmp_path, Setup(), socket="socket" in fake.needs)
    try:
        (agent,) = master.agents()
        body = {"agent_id": {"value": agent["id"]}, "resources": owned("ads", cpus=1)}
        for _ in range(2):
            assert master.call("RESERVE_RESOURCES", reserve_resources=body).status == 202
        of_agent = f"/{agent['pid'].partition('@')[0]}/state"
        applied = 2.0 if fake.profile.sends_whole_checkpoint else 1.0
        assert master.subscribers.wait(lambda: reserved(master.read(of_agent)) == applied)
        assert reserved(master.agents()[0]) == 2.0
    finally:
        master.stop()
