"""`reserve --attribute` without --any or --count: on every agent with the attribute, told agent by agent."""

import json

import httpx
import pytest

from fake_master.sources.agent_tables import AgentSpec
from fake_master.sources.simulated_frameworks import SimulatedFrameworkSpec
from mesosctl.mesos.amounts.notation import parse_entries
from mesosctl.mesos.amounts.resources import Resources
from tests.helpers.lab import CommandLine, Lab

TENTH = ("reserve", "cpus:10%", "mem:10%", "--role", "db", "--attribute", "disk=ssd")
SHOP = SimulatedFrameworkSpec("shop", ("web",), task=Resources(parse_entries("cpus:8;mem:8192")), tasks=1)


def make(*frameworks):
    """Two agents with fast disks of different sizes, one with a slow one; a task of shop needs all of the second."""
    agents = [
        AgentSpec(f"cpus:{cpus};mem:{mem};ports:[31000-31009];tags:{{a,b}}", hostname=name, attributes={"disk": disk})
        for name, cpus, mem, disk in (("one", 4, 4096, "ssd"), ("two", 8, 8192, "ssd"), ("three", 4, 4096, "hdd"))
    ]
    lab = Lab(*agents, version="1.11", frameworks=frameworks)
    lab.wait(3.0)
    return CommandLine(lab)


def reserved(live):
    found = live.run("reservations", "--role", "db", "-o", "json").json["reservations"]
    return {one["agent"]["hostname"]: one["resources"]["amounts"] for one in found}


EACH = {"one": {"cpus": 0.4, "mem": 409.0}, "two": {"cpus": 0.8, "mem": 819.0}}


def test_the_share_of_each_agent_with_the_attribute_is_reserved():
    live = make()
    ran = live.run(*TENTH, "-o", "json")
    assert (ran.status, {one["agent"]["hostname"] for one in ran.json["changes"]}) == (0, {"one", "two"})
    assert reserved(live) == EACH
    assert "mem:10% is rounded down on one and two" in ran.err.replace(", ", " and ")
    assert "cpus:10%" not in ran.err
    again = live.run(*TENTH)
    assert (again.status, reserved(live)) == (0, EACH)
    assert len(live.changes) == len(EACH)


def test_all_is_every_agent_or_every_one_that_is_selected():
    live = make()
    assert live.run("reserve", "--all", "cpus:10%", "--role", "db", "--attribute", "disk!=ssd").status == 0
    assert reserved(live) == {"three": {"cpus": 0.4}}
    assert live.run("reserve", "--all", "cpus:10%", "--role", "db").status == 0
    assert {host: amounts["cpus"] for host, amounts in reserved(live).items()} == {"one": 0.4, "two": 0.8, "three": 0.4}


def test_a_dry_run_shows_each_agent_and_changes_nothing():
    live = make()
    ran = live.run(*TENTH, "--dry-run", "-o", "json")
    (would,) = ran.json["would"]
    assert {change["agent"]["hostname"] for change in would["changes"]} == {"one", "two"}
    assert (ran.status, reserved(live), live.changes) == (0, {}, [])


@pytest.mark.parametrize(("answer", "status"), [("y\n", 0), ("n\n", 2)])
def test_a_person_sees_every_agent_and_is_asked_once(answer, status):
    live = make()
    ran = live.run(*TENTH, terminal=True, stdin=answer, NO_COLOR="1")
    assert ran.status == status
    assert ran.err.count("Reserve this on 2 agents?") == 1
    assert {name for name in ("one", "two", "three") if f"\n{name} " in ran.err + ran.out} == {"one", "two"}
    assert reserved(live) == (EACH if answer == "y\n" else {})


def test_agents_without_room_are_told_and_completed_later():
    live = make(SHOP)
    ran = live.run(*TENTH, "-o", "json")
    assert ran.status == 6
    assert list(reserved(live)) == ["one"]
    assert "not reserved on 1 of 2 agents: two" in json.loads(ran.err.splitlines()[-1])["error"]["message"]
    assert any("on two: " in note for note in json.loads(ran.err.splitlines()[-1])["notes"])
    assert live.run("frameworks", "teardown", "shop", "--yes").status == 0
    assert live.run(*TENTH).status == 0
    assert reserved(live) == EACH


def test_what_the_master_refuses_on_one_agent_does_not_keep_it_from_the_others():
    live = make()
    answer, sent = live.handle_request, []

    def refusing(request):
        if request.url.path == "/reserve":
            sent.append(request)
            if len(sent) == 1:
                return httpx.Response(409, text="no")
        return answer(request)

    live.handle_request = refusing
    assert live.run(*TENTH).status == 6
    assert len(reserved(live)) == 1
    assert live.run(*TENTH).status == 0
    assert reserved(live) == EACH


def test_agents_out_of_service_are_left_out_and_told():
    live = make()
    assert live.run("agents", "deactivate", "two").status == 0
    ran = live.run(*TENTH)
    assert (ran.status, "on two: it is deactivated" in ran.err, list(reserved(live))) == (6, True, ["one"])


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        ("one cpus:1 --role db --attribute disk=ssd", 2, "--attribute chooses the agents"),
        ("cpus:1 --role db --attribute disk=ss", 6, "did you mean ssd?"),
        ("gpus:10% --role db --attribute disk=ssd", 3, "gpus"),
        ("cpus:10% --role db --attribute disk=ssd --any", 2, "leave out --any and --count"),
        ("--role db --attribute disk=ssd", 2, "give RESOURCES and --role"),
        ("one cpus:1 --role db --all", 2, "--all chooses the agents"),
        ("cpus:1 --role db --all --any", 2, "--any chooses some agents"),
        ("cpus:1 --role db --all --count 2", 2, "--count chooses some agents"),
        ("ports:10% --role db --all", 3, "'ports:10%' is a part of ports"),
        ("tags:10% --role db --all", 3, "'tags:10%' is a part of tags"),
        ("cpus --role db --all", 3, "'cpus' is not NAME:VALUE"),
    ],
)
def test_what_cannot_be_reserved_on_each_is_refused_before_anything_is_sent(words, status, says):
    live = make()
    ran = live.run("reserve", *words.split())
    assert (ran.status, says in ran.err, live.changes) == (status, True, []), ran.err
