"""The documents' master shares out whole agents, and keeps what guarantees lack from a remainder of the cluster.

Sources: Mesos documentation, "Quota", "Capacity Heuristic Check" and "Enforcement by wDRF Allocator"; allocator
specification, "The documents' master: coarse shares".
"""

import pytest

from fake_master.allocator.options import Options
from mesosctl.mesos.rules.version_profile import PROFILES
from tests.fake_master.allocator.player import Player
from tests.helpers.lab import Lab, Scheduler, scalar


def play(*steps: str) -> Player:
    made = Player(Options(quota_takes_whole_agents=True, reservations_consume_quota=False))
    for step in steps:
        # A quota of those versions has no limits.
        unlimited = step.startswith("quota") and "limit" not in step
        made.play(f"{step} limit=" if unlimited else step)
    return made


def forced(version: str, *agents: str) -> Lab:
    """A cluster whose operator has set quota for a role that nobody has."""
    lab = Lab(*agents, version=version)
    guarantee = [{"name": "cpus", "type": "SCALAR", "scalar": {"value": 1000}}]
    assert lab.post("/quota", {"role": "prosuction", "guarantee": guarantee, "force": True}) == 200
    return lab


def offered(lab: Lab, role: str) -> dict[str, float]:
    """The scalars that a framework of the role is offered within two intervals."""
    sums: dict[str, float] = {}
    for offer in Scheduler(lab, name=role).offers():
        for part in offer["resources"]:
            if "scalar" in part:
                sums[part["name"]] = sums.get(part["name"], 0.0) + part["scalar"]["value"]
    return sums


def test_a_guarantee_that_cannot_be_met_leaves_no_offers_for_anybody() -> None:
    lab = forced("documents", *["cpus:25;mem:4096;disk:100;ports:[1-9]"] * 4)
    assert offered(lab, "production") == {}
    assert offered(lab, "batch") == {}


def test_on_the_last_release_memory_is_offered_all_the_same() -> None:
    lab = forced("1.11", *["cpus:25;mem:4096"] * 4)
    assert offered(lab, "production") == {"mem": 4 * 4096}


def test_an_agent_without_the_name_that_lacks_is_offered() -> None:
    lab = forced("documents", "cpus:100;mem:4096", "mem:2048")
    assert offered(lab, "production") == {"mem": 2048}


def test_idle_reservations_of_others_are_no_room_for_a_guarantee() -> None:
    lab = Lab("cpus(z):1;mem(z):100", "cpus:1;mem:100", version="documents")
    assert lab.post("/quota", {"role": "q", "guarantee": [scalar("cpus", 1)]}) == 200
    laying_away = Scheduler(lab, name="q")
    offers = laying_away.offers()
    assert [offer["agent_id"] for offer in offers]
    laying_away.ask("DECLINE", offer_ids=[offer["id"] for offer in offers], filters={"refuse_seconds": 3600})
    assert "cpus" not in offered(lab, "batch")


def test_offers_come_when_the_quota_is_gone() -> None:
    lab = forced("documents", "cpus:25;mem:4096")
    framework = Scheduler(lab, name="production")
    assert framework.offered() == 0
    assert lab.request("DELETE", "/quota/prosuction").status == 200
    assert framework.offered() == 25


def test_the_profile_chooses() -> None:
    assert [name for name, profile in PROFILES.items() if profile.quota_takes_whole_agents] == ["documents"]


def test_a_guarantee_is_met_by_whole_agents_and_may_be_passed() -> None:
    play("quota a 2/1024", "queued framework F1 a", "agent A1 8/8192 -> F1:A1=8/8192")


def test_one_name_that_is_reached_is_enough() -> None:
    play(
        "quota a 2/9000",
        "queued framework F1 a",
        "queued framework F2 b",
        "agent A1 2/1024 -> F1:A1",
        "recover F1 A1 refuse=1000 1/512",
        "agent A2 1/8192 -> F1:A2",
    )


def test_reservations_of_the_role_go_along_and_revocable_resources_do_not() -> None:
    play(
        "quota a 2/1024",
        "queued framework F1 a caps=REVOCABLE_RESOURCES",
        "agent A1 1/512;cpus(a):3;cpus{REV}:2 -> F1:A1=1/512;cpus(a):3",
    )


def test_an_agent_that_the_remainder_does_not_hold_is_passed_over() -> None:
    """What the guarantee lacks, 3 of 8 cpus, is kept back; the second agent fits, the first does not."""
    play(
        "quota a 3/100",
        "queued framework F2 b",
        "queued agent A1 6/6000",
        "agent A2 2/2000 -> F2:A2",
    )


def test_what_is_declined_is_laid_away() -> None:
    play(
        "quota a 4/4096",
        "queued framework F1 a",
        "agent A1 4/4096 -> F1:A1",
        "recover F1 A1 refuse=1000",
        "framework F2 b -> -",
        "agent A2 4/4096 -> F1:A2",
        "agent A3 2/1024 -> F2:A3",
    )


def test_a_role_with_quota_takes_part_in_fair_sharing_once_all_are_met() -> None:
    play(
        "quota a 2/1024",
        "queued framework F1 a",
        "queued framework F2 b",
        "agent A1 2/1024 -> F1:A1",
        "agent A2 1/512 -> F2:A2",
        "agent A3 4/2048 -> F2:A3",
        "agent A4 4/2048 -> F1:A4",
    )


@pytest.mark.parametrize("limit", ["cpus:3"])
def test_limits_of_a_newer_call_are_kept(limit: str) -> None:
    play(f"quota a 2/1024 limit={limit}", "queued framework F1 a", "agent A1 8/8192 -> F1:A1=cpus:3;mem:8192")
