"""`whatif --lose-each`: losses from one reading, the worst first."""

import pytest

from fake_master.sources.agent_tables import AgentSpec
from fake_master.sources.simulated_frameworks import SimulatedFrameworkSpec
from mesosctl.mesos.amounts.notation import parse_entries
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.whatif import loss_runs
from tests.helpers.lab import CommandLine, Lab

pytestmark = pytest.mark.process
SHOP = SimulatedFrameworkSpec("shop", ("web",), task=Resources(parse_entries("cpus:2;mem:1024")), tasks=3)
RACKS = {"large": "r1", "small-1": "r2", "small-2": "r2", "small-3": "r3"}


@pytest.fixture
def live():
    """Shop has its three tasks on the large agent, and the three small ones are alike; nine of 12 cpus are promised."""
    agents = [
        AgentSpec(f"cpus:{6 if name == 'large' else 2};mem:4096", hostname=name, attributes={"rack": rack})
        for name, rack in RACKS.items()
    ]
    lab = Lab(*agents, version="1.11", frameworks=(SHOP,))
    lab.wait(3.0)
    live = CommandLine(lab)
    assert live.run("quota", "set", "web", "cpus:9").status == 0
    return live


def test_every_loss_is_what_it_would_be_alone_and_the_worst_is_first(live):
    asked = len(live.changes)
    ran = live.run("whatif", "--lose-each", "rack", "-o", "json")
    assert (ran.status, ran.json["answer"], ran.json["by"], ran.json["not_tried"]) == (1, "no", ["rack"], 0)
    found = ran.json["losses"]
    assert [(one["lost"], one["agents"], one["harmless"]) for one in found] == [
        ("rack=r1", 1, False),
        ("rack=r2", 2, False),
        ("rack=r3", 1, True),
    ]
    assert [one["starved"][0]["short"] for one in found[:2]] == [{"cpus": 3.0}, {"cpus": 1.0}]
    for one in found:
        alone = live.run("whatif", "--lose-agent", one["lost"], "-o", "json").json
        assert one["starved"] == [starving for starving in alone["starving"] if starving["caused"]]
        assert (one["harmless"], one["tasks"]) == (alone["harmless"], alone["tasks_lost"])
    assert len(live.changes) == asked


def test_alike_agents_are_tried_once(live):
    ran = live.run("whatif", "--lose-each", "agent", "-o", "json")
    assert [(one["lost"], one["alike"]) for one in ran.json["losses"]] == [
        ("large", []),
        ("small-1", ["small-2", "small-3"]),
    ]
    # A task on one of them makes it another kind.
    assert live.run("reserve", "small-2", "--role", "web", "cpus:1").status == 0
    ran = live.run("whatif", "--lose-each", "agent", "-o", "json")
    assert sorted((one["lost"], one["alike"]) for one in ran.json["losses"]) == [
        ("large", []),
        ("small-1", ["small-3"]),
        ("small-2", []),
    ]


def test_agents_and_racks_are_ranked_together(live):
    found = live.run("whatif", "--lose-each", "rack", "--lose-each", "agent", "-o", "json").json
    assert found["by"] == ["rack", "agent"]
    assert [one["lost"] for one in found["losses"] if not one["harmless"]] == ["large", "rack=r1", "rack=r2"]
    single = live.run("whatif", "--lose-each", "agent", "-o", "json").json["losses"]
    assert [one for one in found["losses"] if "=" not in one["lost"]] == single


def test_people_read_which_loss_hurts_most(live):
    said = live.run("whatif", "--lose-each", "rack").out.splitlines()
    assert "the loss of rack=r1 would hurt most: role web " in said[0]
    assert "(1 other loss " in said[0]
    assert live.run("whatif", "--lose-each", "agent", "-o", "name").out == "large\nsmall-1\n"
    assert live.run("whatif", "remove-quota:web", "--lose-each", "agent").status == 0


def test_losses_come_after_the_other_changes(live):
    ran = live.run("whatif", "--lose-agent", "small-3", "--lose-each", "agent", "-o", "json")
    assert [(one["lost"], one["harmless"]) for one in ran.json["losses"]] == [("large", False), ("small-1", False)]


def test_of_too_many_losses_those_that_take_most_are_tried(live, monkeypatch):
    """A search that leaves some out cannot say that none of them would starve anybody."""
    monkeypatch.setattr(loss_runs, "_MOST", 1)
    assert live.run("quota", "remove", "web").status == 0
    monkeypatch.setattr(loss_runs, "_FEWEST", 1)
    ran = live.run("whatif", "--lose-each", "agent", "-o", "json")
    assert (ran.status, ran.json["answer"], ran.json["not_tried"]) == (1, "unknown", 1)
    assert [one["lost"] for one in ran.json["losses"]] == ["large"]


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--lose-each", "rakc"), "did you mean rack?"),
        (("--lose-each", "rack", "--each", "quota:web=cpus:{1,2}"), "--each cannot be used with --lose-each"),
        (("--lose-each", "rack", "--find-largest", "quota:web=cpus:?"), "cannot be used with --lose-each"),
        (("--lose-each", "rack", "--add-framework", "role=db;task=cpus:1"), "--lose-each cannot be used with"),
        (("--lose-each", "rack", "--report", "page.html"), "--report cannot be used with --lose-each"),
    ],
)
def test_what_cannot_be_ranked_is_refused(live, more, says):
    ran = live.run("whatif", *more)
    assert (ran.status, says in ran.err) == (2, True), ran.err
