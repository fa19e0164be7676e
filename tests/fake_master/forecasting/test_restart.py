"""Forecasts for which a master starts anew: a failover, priorities, lending; each beside what then happens."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fake_master.registry.sqlite import SqliteRegistry
from fake_master.sources.cluster_file import read_cluster
from tests.helpers.lab import Lab
from tests.helpers.lab.command_line import CommandLine

HEAD = 'mesos_version = "1.11"\n'
QUOTA = '[quotas.q]\nguarantee = "cpus:1"\n'
WEB = '[[frameworks]]\nname = "f"\nrole = "web"\nanswer = "hold"\n'

Whatif = Callable[..., dict[str, Any]]


def agents(count: int, more: str = "") -> str:
    return "".join(
        f'[[agents]]\nhostname = "n{number}"\nresources = "cpus:4;mem:2048"\n{more}\n' for number in range(count)
    )


@pytest.fixture
def whatif(tmp_path: Path) -> Whatif:
    def run(cluster: str, *words: str, status: int = 0) -> dict[str, Any]:
        path = tmp_path / "cluster.toml"
        path.write_text(cluster)
        ran = CommandLine(Lab()).run("whatif", "--from", str(path), *words, "-o", "json")
        assert ran.status == status, ran.err
        return json.loads(ran.out) if ran.out else json.loads(ran.err)["error"]

    return run


def failed_over(tmp_path: Path, known: int, back: int, quota: str) -> float:
    """Seconds without an offer when a fake master takes over from one that knew so many agents; 0 for none."""
    path = tmp_path / f"registry-{known}-{back}"
    spec = read_cluster(
        HEAD + '[flags]\nregistry = "sqlite"\n' + quota + agents(back) + away(known - back) + WEB, "cluster.toml"
    )
    lab = Lab(registry=lambda: SqliteRegistry(path))
    lab.master.close()
    path.unlink()
    lab.start(spec, takes_over=True)
    lab.wait(40)
    lab.restart(spec, down=10)
    began = lab.clock()
    while lab.clock() - began < 700:
        lab.wait(1)
        if list(lab.master.state.offers):
            return lab.clock() - began if lab.clock() - began > 2 else 0
    raise AssertionError("no offer at all")


def away(count: int) -> str:
    return "".join(
        f'[[agents]]\nhostname = "away{number}"\nresources = "cpus:4;mem:2048"\nleaves_after = 30\n'
        for number in range(count)
    )


# As on a real master: tests/conformance/restarts/test_failover.py.
@pytest.mark.parametrize(
    ("known", "back", "at_once"),
    [(5, 4, True), (5, 3, False), (2, 1, True), (4, 3, True), (4, 2, False), (10, 8, True), (10, 7, False)],
)
def test_a_failover_is_forecast_as_it_happens(tmp_path: Path, whatif: Whatif, known: int, back: int, at_once: bool):
    forecast = whatif(HEAD + QUOTA + agents(known) + WEB, f"failover:{back / known}")
    assert (forecast["offers_suspended"] == 0) is at_once
    assert forecast["changes"][0].startswith(f"failover: {back} of {known} agents {'is' if back == 1 else 'are'} back")
    happened = failed_over(tmp_path, known, back, QUOTA)
    assert happened == pytest.approx(forecast["offers_suspended"], abs=3)


def test_without_quota_offers_are_made_at_once(tmp_path: Path, whatif: Whatif):
    assert whatif(HEAD + agents(5) + WEB, "failover:20%")["offers_suspended"] == 0
    assert failed_over(tmp_path, 5, 1, "") == 0


def test_a_shorter_timeout_is_the_masters(whatif: Whatif):
    flags = '[flags]\nallocator_recovery_timeout = "30secs"\nallocator_agent_recovery_factor = "0.5"\n'
    assert whatif(HEAD + flags + QUOTA + agents(4) + WEB, "failover:25%")["offers_suspended"] == 30
    assert whatif(HEAD + flags + QUOTA + agents(4) + WEB, "failover:50%")["offers_suspended"] == 0


def test_what_ran_on_agents_that_are_away_is_lost(whatif: Whatif):
    running = '[[frameworks.running]]\nagent = "n0"\nresources = "cpus:4"\n'
    forecast = whatif(HEAD + agents(2) + WEB + running, "failover:50%")
    (framework,) = forecast["frameworks"]
    assert (framework["before"]["used"], framework["after"]["used"]) == ({"cpus": 4.0}, {})


def test_a_quota_that_was_set_before_is_there_afterwards(whatif: Whatif):
    forecast = whatif(HEAD + agents(5) + WEB, "quota:q=cpus:1", "failover:60%")
    assert forecast["offers_suspended"] == 600
    assert whatif(HEAD + agents(5) + WEB, "failover:60%", "quota:q=cpus:1")["offers_suspended"] == 0


GREEDY = '[[frameworks]]\nname = "{0}"\nrole = "{0}"\ntask = "cpus:1;mem:64"\nper_offer = 1\n{1}\n'


def shares(forecast: dict[str, Any], when: str) -> dict[str, float]:
    return {one["name"]: one[when]["used"].get("cpus", 0.0) for one in forecast["frameworks"]}


def played(cluster: str) -> dict[str, float]:
    """The cpus that each framework uses in the end."""
    lab = Lab()
    lab.start(read_cluster(cluster, "cluster.toml"), takes_over=False)
    lab.wait(30)
    return {
        one.name: one.used().scalar_quantities().get_amount("cpus") / 1000
        for one in lab.master.state.frameworks.values()
    }


def test_a_priority_is_forecast_as_it_happens(whatif: Whatif):
    cluster = agents(2) + GREEDY.format("a", "") + GREEDY.format("b", "tasks = 6")
    forecast = whatif(HEAD + cluster, "priority:b=5")
    assert shares(forecast, "before") == {"a": 4.0, "b": 4.0}
    assert shares(forecast, "after") == {"a": 2.0, "b": 6.0}
    flags = '[flags]\nallocator = "strict-priority"\npriorities = "b=5"\n'
    assert played(HEAD + flags + cluster) == shares(forecast, "after")


def test_priorities_add_up_and_the_last_of_a_role_counts(whatif: Whatif):
    cluster = agents(2) + GREEDY.format("a", "tasks = 6") + GREEDY.format("b", "tasks = 6")
    forecast = whatif(HEAD + cluster, "priority:b=5", "priority:a=9", "priority:b=1")
    assert shares(forecast, "after") == {"a": 6.0, "b": 2.0}


def lender(lending: str) -> str:
    flags = f'[flags]\noversubscribe_reservations = "{lending}"\n'
    tenant = 'tasks = 8\ncapabilities = ["MULTI_ROLE", "RESERVATION_REFINEMENT", "REVOCABLE_RESOURCES"]\n'
    reserved = '[[agents]]\nresources = "cpus:2;mem:2048;cpus(own):6;mem(own):2048"\n'
    owner = '[[frameworks]]\nname = "own"\nrole = "own"\nanswer = "decline"\nrefuse_seconds = 1000\n'
    return HEAD + flags + reserved + owner + GREEDY.format("tenant", tenant)


@pytest.mark.parametrize(("now", "then"), [("false", "on"), ("true", "off")])
def test_lending_is_forecast_as_it_happens(whatif: Whatif, now: str, then: str):
    forecast = whatif(lender(now), f"lending:{then}")

    def used(moment: str) -> float:
        (tenant,) = [one for one in forecast["frameworks"] if one["name"] == "tenant"]
        held = tenant[moment]["used"]
        return float(held.get("cpus", 0) + held.get("cpus_revocable", 0))

    assert used("before") == played(lender(now))["tenant"]
    assert used("after") == played(lender("true" if then == "on" else "false"))["tenant"]
    assert {used("before"), used("after")} == {2.0, 8.0}


def test_what_cannot_be_is_said(whatif: Whatif):
    assert "strict-priority" in whatif(HEAD + agents(1), "preemption:on", status=3)["message"]
    assert (
        "a change that restarts the master cannot follow"
        in whatif(HEAD + agents(2), "--lose-agent", "n0", "failover:50%", status=2)["message"]
    )
    assert "not a fraction of the agents" in whatif(HEAD + agents(1), "failover:150%", status=2)["message"]
    assert "neither on nor off" in whatif(HEAD + agents(1), "lending:maybe", status=2)["message"]


def test_a_snapshot_fails_over_too():
    lab = Lab()
    lab.start(read_cluster(HEAD + QUOTA + agents(5) + WEB, "cluster.toml"), takes_over=False)
    line = CommandLine(lab)
    lab.wait(2)
    forecast = json.loads(line.run("whatif", "failover:60%", "-o", "json").out)
    assert forecast["offers_suspended"] == 600
    (framework,) = forecast["frameworks"]
    assert framework["before"]["offered"]["cpus"] == 19
    assert framework["after"]["offered"]["cpus"] == 11


def strict(preemption: str) -> str:
    """Two agents full of a batch framework's tasks, and a framework of a higher priority that wants half of them."""
    flags = f'[flags]\nallocator = "strict-priority"\npriorities = "prod=9"\npreemption = "{preemption}"\n'
    running = "".join(
        f'[[frameworks.running]]\nagent = "n{agent}"\nresources = "cpus:2;mem:512"\n' for agent in (0, 0, 1, 1)
    )
    return HEAD + flags + agents(2) + GREEDY.format("batch", running) + GREEDY.format("prod", "tasks = 4")


def test_preemption_is_forecast_as_it_happens(whatif: Whatif):
    forecast = whatif(strict("false"), "preemption:on")
    assert shares(forecast, "before") == played(strict("false")) == {"batch": 8.0, "prod": 0.0}
    assert shares(forecast, "after") == played(strict("true")) == {"batch": 4.0, "prod": 4.0}
    # Two tasks of two cpus make room for four of one, after the default of --revocation-grace-period.
    evicted = [(task["framework"], task["resources"]["text"], task["grace_seconds"]) for task in forecast["evicted"]]
    assert evicted == [("batch", "cpus:2; mem:512", 5.0)] * 2
    assert all(task["happens"] and task["caused"] for task in forecast["evicted"])


def test_without_preemption_the_higher_priority_starves(whatif: Whatif):
    forecast = whatif(strict("true"), "preemption:off", status=1)
    assert shares(forecast, "before") == played(strict("true"))
    assert shares(forecast, "after") == played(strict("false"))
    assert forecast["evicted"] == []
    assert {one["name"] for one in forecast["starving"]} == {"prod"}
