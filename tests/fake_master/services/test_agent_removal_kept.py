"""Agents that left, after a restart of the master and in another process on the same registry."""

from functools import partial
from pathlib import Path

from fake_master.registry.interface import Registry
from fake_master.registry.sqlite import SqliteRegistry
from fake_master.sources.agent_tables import AgentSpec
from fake_master.state.agents import Absence
from tests.helpers.lab import AGENT, PINGS, Lab, Scheduler


def registry(folder: Path) -> Registry:
    return SqliteRegistry(folder / "registry.sqlite")


def test_a_restarted_master_remembers_who_is_away_drained_or_out_of_service(tmp_path: Path) -> None:
    agents = [AGENT] * 5
    lab = Lab(*agents, registry=partial(registry, tmp_path))
    ids = {agent["hostname"]: agent["id"] for agent in lab.agents}
    machine = lab.take_down("agent-1")
    lab.about("MARK_AGENT_GONE", ids["agent-2"])
    lab.about("DRAIN_AGENT", ids["agent-3"])
    lab.about("DEACTIVATE_AGENT", ids["agent-4"])
    again = Lab(*agents, registry=partial(registry, tmp_path), now=2000.0)
    assert [lab.read(path) for path in ("/maintenance/schedule", "/maintenance/status")] == [
        again.read(path) for path in ("/maintenance/schedule", "/maintenance/status")
    ]
    shown = {agent["hostname"]: (agent["id"], agent["active"]) for agent in again.agents}
    assert shown == {f"agent-{n}": (ids[f"agent-{n}"], n == 5) for n in (3, 4, 5)}
    assert [agent["drain_info"]["state"] for agent in again.agents if "drain_info" in agent] == ["DRAINED"]
    again.post("/machine/up", [machine])
    assert "S5" in again.ids()
    assert ids["agent-2"] not in {agent["id"] for agent in again.agents}


def test_another_process_on_the_same_registry_is_followed(tmp_path: Path) -> None:
    here, there = (Lab(AGENT, AGENT, AGENT, registry=partial(registry, tmp_path)) for _ in range(2))
    ids = {agent["hostname"]: agent["id"] for agent in here.agents}
    framework = Scheduler(here, name="r")
    here.wait(1.5)
    assert len(framework.heard("OFFERS")[0]["offers"]) == 3
    machine = there.take_down()
    there.about("MARK_AGENT_GONE", ids["agent-2"])
    there.about("DEACTIVATE_AGENT", ids["agent-3"])
    assert here.ids() == ["S2"]
    assert {event["agent_id"]["value"] for event in framework.heard("FAILURE")} == {ids["agent-1"], ids["agent-2"]}
    assert here.agents[0]["deactivated"]
    there.post("/machine/up", [machine])
    assert sorted(here.ids()) == ["S2", "S3"]
    assert here.post("/machine/down", [machine]) == 400


def test_an_agent_that_was_lost_stays_so_over_a_restart(tmp_path: Path) -> None:
    spec = AgentSpec(AGENT, absence=Absence(30, 500))
    lab = Lab(spec, registry=partial(registry, tmp_path))
    lab.wait(0)
    lab.wait(30)
    lab.wait(PINGS)
    assert lab.ids() == []
    away = Lab(spec, registry=partial(registry, tmp_path), now=1200.0)
    away.wait(1)
    assert (away.ids(), away.read("/state")["unreachable_slaves"]) == ([], 1.0)
    back = Lab(spec, registry=partial(registry, tmp_path), now=2000.0)
    back.wait(1)
    assert (back.ids(), back.read("/state")["unreachable_slaves"]) == (["S0"], 0.0)
