"""Frameworks that went: disconnected ones, and those that have completed."""

import pytest

from tests.helpers.lab import CommandLine, Lab
from tests.helpers.lab.scheduler import Scheduler


@pytest.fixture
def lab() -> Lab:
    """A master with one framework that is there, two that are disconnected and two that were torn down."""
    lab = Lab()
    Scheduler(lab, name="shop")
    for name, seconds in (("short", 100.0), ("long", 7200.0)):
        framework = Scheduler(lab, name=name, failover_timeout=seconds)
        with lab.master.transaction():
            lab.master.subscriptions.disconnect(lab.master.state.frameworks[framework.id])
    for name in ("old", "older"):
        torn = Scheduler(lab, name=name)
        lab.wait(10.0)
        torn.ask("TEARDOWN")
    return lab


def statuses(lab: Lab, *words: str) -> dict[str, str]:
    shown = CommandLine(lab).run("frameworks", *words, "-o", "json").json["frameworks"]
    return {framework["name"]: framework["status"] for framework in shown}


PRESENT = {"shop": "active", "short": "disconnected", "long": "disconnected"}


def test_completed_frameworks_are_listed_if_all_are_wanted(lab: Lab) -> None:
    assert statuses(lab) == PRESENT
    assert statuses(lab, "--all") == PRESENT | {"old": "completed", "older": "completed"}
    assert "ENDED" not in CommandLine(lab).run("frameworks").out


def test_a_completed_framework_is_found_by_its_name_and_id(lab: Lab) -> None:
    completed = {framework["name"]: framework["id"] for framework in lab.read("/frameworks")["completed_frameworks"]}
    for word in ("older", completed["older"]):
        assert statuses(lab, word) == {"older": "completed"}
    assert statuses(lab, "older", "shop") == {"older": "completed", "shop": "active"}
    assert CommandLine(lab).run("frameworks", "oldest").status == 5


def test_a_present_framework_hides_a_completed_one_of_its_name(lab: Lab) -> None:
    Scheduler(lab, name="old")
    assert statuses(lab, "old") == {"old": "active"}


def test_programs_are_told_times_and_timeouts(lab: Lab) -> None:
    found = CommandLine(lab).run("frameworks", "--all", "-o", "json").json["frameworks"]
    shown = {one["name"]: (one["failover_timeout"], one["registered"], one["ended"]) for one in found}
    assert shown["short"] == (100.0, 1000.0, None)
    assert shown["old"][1:] == (1000.0, 1010.0)
    assert shown["older"][1:] == (1010.0, 1020.0)


def test_a_disconnected_framework_is_said_to_go(lab: Lab) -> None:
    for words in (("frameworks",), ("frameworks", "--all")):
        said = CommandLine(lab).run(*words).out
        assert "short is disconnected" in said
        assert "within 1m40s from now" in said
        assert "within 2h00m from now" in said
        assert "shop is disconnected" not in said


def test_a_completed_framework_is_not_explained_but_said_to_have_completed(lab: Lab) -> None:
    ran = CommandLine(lab).run("offers", "explain", "older")
    assert ran.status == 5
    assert "'older' has completed at 1970-01-01T00:17:00.000Z" in ran.err
    assert "has completed" not in CommandLine(lab).run("offers", "explain", "oldest").err


def test_a_completed_framework_is_not_torn_down_again(lab: Lab) -> None:
    assert CommandLine(lab).run("frameworks", "teardown", "older", "--yes").status == 5


def test_a_disconnected_framework_is_explained_with_its_failover_timeout(lab: Lab) -> None:
    said = CommandLine(lab).run("offers", "explain", "long").out
    assert "its failover timeout is 2h00m" in said
    assert "when its failover timeout is over" in said
    (explained,) = CommandLine(lab).run("offers", "explain", "long", "-o", "json").json["explanations"]
    assert (explained["reason"], explained["failover_timeout"]) == ("disconnected", 7200.0)
    (explained,) = CommandLine(lab).run("offers", "explain", "shop", "-o", "json").json["explanations"]
    assert explained["failover_timeout"] is None


@pytest.mark.parametrize("dry", [(), ("--dry-run",)])
def test_what_a_completed_framework_left_can_be_cleaned_up_and_rehearsed(lab: Lab, dry: tuple[str, ...]) -> None:
    assert CommandLine(lab).run("reserve", "agent-1", "cpus:1", "--role", "older").status == 0
    ran = CommandLine(lab).run("cleanup", "--framework", "older", "--yes", *dry, "-o", "json")
    assert ran.status == 0, ran.err
    (plan,) = ran.json["would"] if dry else (ran.json,)
    assert [step["of"] for step in plan["steps"]] == ["older on agent-1"]
