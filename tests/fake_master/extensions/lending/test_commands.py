"""`mesosctl offers` on a master that lends: kinds of offers, and who would have to go."""

import json
from pathlib import Path
from typing import Any

import pytest

import fake_master
from mesosctl.__main__ import main
from tests import EXAMPLES
from tests.fake_master.extensions.lending.playing import LENT, Play, cluster_file
from tests.fake_master.extensions.lending.stage import Stage, in_process
from tests.helpers.surroundings import InMemory

EXAMPLE = EXAMPLES / "lending.toml"


class Desk:
    """A master, what has happened on it, and mesosctl."""

    def __init__(self, folder: Path, **scenario: Any) -> None:
        self.stage: Stage = in_process(cluster_file(scenario, folder))
        self.play = Play(self.stage)

    def steps(self, text: str) -> None:
        for line in text.strip().splitlines():
            self.play.step(line)

    def run(self, *words: str) -> str:
        environment = InMemory(
            variables={"MESOSCTL_MASTER": self.stage.cluster.address},
            transport=self.stage.cluster.transport,
        )
        assert main(["offers", *words], environment) == 0, environment.err
        return environment.out

    def explained(self, target: str) -> dict[str, Any]:
        (found,) = json.loads(self.run("explain", target, "-o", "json"))["explanations"]
        explanation: dict[str, Any] = found
        return explanation


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_list_tells_kinds_apart(desk: Desk) -> None:
    desk.steps(LENT)
    listed = json.loads(desk.run("list", "-o", "json"))["offers"]
    assert [(offer["revocability"], offer["resources"]["amounts"]) for offer in listed] == [
        ("regular", {"cpus": 4.0, "mem": 400.0}),
        ("non-throttleable", {"cpus_revocable": 6.0, "mem_revocable": 600.0}),
    ]
    lines = desk.run("list").splitlines()
    assert lines[0].split() == ["FRAMEWORK", "ROLE", "AGENT", "RESOURCES", "KIND"]
    assert lines[2].split()[-1] == "non-throttleable"
    assert "6 revocable cpus" in lines[2]


def test_list_shows_throttleable_offers(tmp_path: Path) -> None:
    desk = Desk(tmp_path, oversubscribed="cpus:2")
    desk.steps("join T tenant REVOCABLE_RESOURCES")
    listed = json.loads(desk.run("list", "-o", "json"))["offers"]
    assert [(offer["revocability"], offer["resources"]["text"]) for offer in listed][1] == (
        "throttleable",
        "cpus{REV,THROTTLE}:2",
    )


def test_explain_says_who_would_be_evicted_newest_first(desk: Desk) -> None:
    desk.steps(LENT)
    desk.steps("""
T launches t0 regular 4/400
T launches t1 lent 2/200
T offered lent:4/400
T launches t2 lent 2/200
T offered lent:2/200
T declines for 3600
""")
    evicted = [(task["framework"], task["task_id"], task["agent"]) for task in desk.explained("lender")["evictable"]]
    assert evicted == [("T", "t2", "A"), ("T", "t1", "A")]
    assert "evicted, in this order: T/t2 on A, T/t1 on A" in desk.run("explain", "lender")
    assert desk.explained("tenant")["evictable"] == []


def test_explain_tells_who_cannot_be_lent_anything(desk: Desk) -> None:
    desk.steps("""
join L lender
L offered regular:10/1000
L declines for 3600
join V other
V offered regular:4/400
V launches v1 regular 4/400
V offered nothing
""")
    explanation = desk.explained("other")
    assert explanation["reason"] == "reserved"
    (reserved,) = [line for line in explanation["lines"] if line["cause"] == "reserved"]
    assert (reserved["roles"], reserved["amounts"]["cpus"], reserved["amounts"]["mem"]) == (["lender"], 6.0, 600.0)
    assert any("REVOCABLE_RESOURCES" in sentence for sentence in explanation["helps"])


def test_explain_does_not_speak_of_lending_elsewhere(tmp_path: Path) -> None:
    desk = Desk(tmp_path, lends=False)
    desk.steps("join T tenant REVOCABLE_RESOURCES")
    explanation = desk.explained("tenant")
    assert explanation["evictable"] == []
    assert not any("REVOCABLE" in sentence for sentence in explanation["helps"])


def test_simulate_shows_what_was_lent_and_who_had_to_go() -> None:
    with EXAMPLE.open("rb") as file:
        sharing = fake_master.simulate(file, str(EXAMPLE), 100)
    shown = [(step.framework, step.revocability, step.tasks, step.evicted) for step in sharing.steps[:3]]
    assert shown == [
        ("tenant", "regular", 2, ()),
        ("tenant", "non-throttleable", 3, ()),
        ("owner", "regular", 1, ("tenant/task-5", "tenant/task-4")),
    ]
    assert [len(step.holdings) for step in sharing.steps[:3]] == [2, 2, 2]
    assert sharing.ended


def test_simulate_as_a_table(desk: Desk) -> None:
    lines = desk.run("simulate", str(EXAMPLE)).splitlines()
    assert lines[0].split()[-2:] == ["OFFERED", "EVICTED"]
    assert lines[3].rstrip().endswith("tenant/task-5, tenant/task-4")
    shown = json.loads(desk.run("simulate", str(EXAMPLE), "-o", "json"))
    held = {entry["framework"]: entry["amounts"]["cpus"] for entry in shown["holdings_at_end"]}
    assert held == {"tenant": 2.0 * shown["tasks"]["tenant"], "owner": 3.0 * shown["tasks"]["owner"]}
    assert lines[4].startswith("(at the end)")
    assert [line.split()[-2:] for line in lines[-2:]] == [["60%", "cpus"], ["30%", "cpus"]]
    first = shown["steps"][2]
    assert first["evicted"] == ["tenant/task-5", "tenant/task-4"]


def test_a_picture_on_standard_output_stands_there_alone(desk: Desk) -> None:
    assert desk.run("simulate", str(EXAMPLE), "--svg", "-").startswith("<svg ")


def test_without_lending_the_table_is_as_ever(desk: Desk) -> None:
    header = desk.run("simulate", str(EXAMPLE.with_name("drf.toml"))).splitlines()[0]
    assert "EVICTED" not in header
