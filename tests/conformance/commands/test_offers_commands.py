"""`mesosctl offers` on every carrier: what is typed, and what becomes of the master."""

import json
from collections.abc import Callable

import pytest

from tests.conformance.callers.command_line import run_command
from tests.conformance.callers.frameworks import amounts
from tests.conformance.callers.joining import Join, quick
from tests.conformance.masters.carriers import Carrier
from tests.conformance.masters.cluster import Cluster
from tests.helpers.surroundings import Ran

SETUP = quick("cpus:4;mem:2048;disk:100;ports:[31000-31009]", "cpus:2;mem:1024;disk:100;ports:[31000-31009]")
Run = Callable[..., Ran]


@pytest.fixture
def run(master: Cluster) -> Run:
    return lambda *words, stdin="": run_command(master, "offers", *words, stdin=stdin)


def test_list_shows_who_holds_what(run: Run, join: Join) -> None:
    assert run("list").out == ""
    framework = join("ads", name="shop").subscribe()
    offers = framework.offers(agents=2)
    listed = run("list", "-o", "json").json
    assert listed["kind"] == "offers.list"
    assert {entry["id"] for entry in listed["offers"]} == {offer["id"]["value"] for offer in offers}
    assert {entry["framework"] for entry in listed["offers"]} == {"shop"}
    assert sorted(entry["resources"]["amounts"]["cpus"] for entry in listed["offers"]) == [2.0, 4.0]
    assert len(run("list", "--framework", "shop", "-o", "name").out.splitlines()) == 2
    agent = offers[0]["agent_id"]["value"]
    assert run("list", "--agent", agent, "-o", "name").out.strip() == offers[0]["id"]["value"]
    assert run("list", "--role", "web", "-o", "name").out == ""


def test_watch_begins_with_what_there_is(run: Run, join: Join) -> None:
    join("ads", name="shop").subscribe().offers(agents=2)
    lines = [json.loads(line) for line in run("watch", "--changes", "2", "-o", "jsonl").out.splitlines()]
    assert [line["change"] for line in lines] == ["offered", "offered"]


def test_explain_names_what_is_in_the_way(run: Run, join: Join) -> None:
    join("ads", name="shop").subscribe().offers(agents=2)
    (explanation,) = run("explain", "shop", "-o", "json").json["explanations"]
    assert (explanation["offers"], explanation["reason"]) == (2, "own-offer")
    assert run("explain", "nobody").status == 5


def test_explain_a_framework_without_roles(run: Run, join: Join) -> None:
    idle = join().subscribe()
    ran = run("explain", idle.id or "")
    assert (ran.status, "not subscribed to any role" in ran.err) == (5, True), ran


def test_take_reserves_and_gives_back(run: Run, master: Cluster) -> None:
    ran = run("take", "--role", "ads", "--reserve", "cpus:3;mem:512", "-o", "json")
    assert ran.status == 0, ran.err
    assert (ran.json["operation"], ran.json["confirmed"], ran.json["offer"]["resources"]["amounts"]["cpus"]) == (
        "RESERVE",
        True,
        4.0,
    )
    reserved = [
        slave["reserved_resources"].get("ads", {}).get("cpus", 0.0) for slave in master.read("/slaves")["slaves"]
    ]
    assert sorted(reserved) == [0.0, 3.0]
    assert run("take", "--role", "ads", "--unreserve", "cpus:3;mem:512").status == 0
    assert all(not slave["reserved_resources"] for slave in master.read("/slaves")["slaves"])
    left = [entry for entry in master.read("/frameworks")["frameworks"] if entry["name"] == "mesosctl offers take"]
    assert left == []


def test_take_gives_up_at_the_deadline(run: Run, master: Cluster, carrier: Carrier) -> None:
    ran = run("take", "--role", "ads", "--reserve", "cpus:100", "--timeout", "5")
    assert ran.status == 9, ran.err
    assert "no offer fit within 5 s" in ran.err
    assert all(entry["name"] != "mesosctl offers take" for entry in master.read("/frameworks")["frameworks"])


def test_take_says_why_the_master_refuses(run: Run) -> None:
    ran = run("take", "--role", "a b", "--reserve", "cpus:1")
    assert ran.status == 3
    assert run("take", "--role", "ads").status == 2


def test_a_built_call_does_what_it_says(run: Run, join: Join, master: Cluster) -> None:
    """The call that `offers reserve` builds from an offer as received, sent as it is."""
    framework = join("ads", principal="p").subscribe()
    offer = framework.offers(agents=2)[0]
    built = run("reserve", "--offer", "-", "cpus:1", "--principal", "p", "-o", "json", stdin=json.dumps(offer))
    assert built.status == 0, built.err
    call = built.json["call"]
    framework.ask(call.pop("type"), **{key: value for key, value in call.items() if key != "framework_id"})
    again = framework.offers()[0]
    assert amounts(again["resources"])["cpus(ads)"] == 1.0
    built = run("unreserve", "--offer", "-", "cpus:1", "-o", "json", stdin=json.dumps(again))
    framework.ask("ACCEPT", accept=built.json["call"]["accept"])
    assert "cpus(ads)" not in amounts(framework.offers()[0]["resources"])
