"""Mesos's document "Quota": what quota is for, and what it does not do."""

from collections import Counter
from pathlib import Path

import pytest

from fake_master.registry.sqlite import SqliteRegistry
from fake_master.sources.cluster_file import read_cluster
from fake_master.sources.simulation import simulate
from mesosctl.mesos.cluster.dominant_shares import AcceptedOffer
from tests.helpers.lab import Lab, Scheduler
from tests.seeds.test_drf import FRAMEWORK

ONE = '[[agents]]\nresources = "cpus:100;mem:100GiB"\n'
HUNDRED = '[[agents]]\nresources = "cpus:10;mem:10GiB"\ncount = 10\n'
TASK = "cpus:1;mem:100"


def greedy(name: str, role: str, more: str = "") -> str:
    """A framework that runs as many tasks of one cpu as it can."""
    return f'[[frameworks]]\nname = "{name}"\nrole = "{role}"\ntask = "{TASK}"\n{more}\n'


def quota(role: str, guarantee: str, limit: str | None = None) -> str:
    table = f'[quotas."{role}"]\nguarantee = "{guarantee}"\n'
    return table if limit is None else f'{table}limit = "{limit}"\n'


def lab_of(*parts: str) -> Lab:
    made = Lab()
    made.start(read_cluster("".join(parts), "cluster.toml"), takes_over=False)
    return made


def running(lab: Lab) -> dict[str, int]:
    """Tasks by framework."""
    return {
        framework.name: sum(not task.is_terminal for task in framework.all_tasks().values())
        for framework in lab.master.state.frameworks.values()
    }


def test_without_quota_the_greedy_one_has_what_the_other_declines():
    idle = '[[frameworks]]\nname = "idle"\nrole = "rA"\nanswer = "decline"\n'
    lab = lab_of(HUNDRED, idle, greedy("fB", "rB"))
    lab.wait(20)
    assert running(lab) == {"idle": 0, "fB": 100}


def test_a_guarantee_is_of_no_particular_agent():
    lab = lab_of(quota("q", "cpus:4"), '[[agents]]\nresources = "cpus:4;mem:4GiB"\ncount = 2\n', greedy("f", "n"))
    lab.wait(10)
    # An agent's worth is laid away, of two: whichever is lost, the other one serves.
    assert running(lab) == {"f": 4}
    (framework,) = lab.master.state.frameworks.values()
    (used,) = {task.agent_id for task in framework.all_tasks().values()}
    lab.about("MARK_AGENT_GONE", used)
    lab.wait(20)
    assert running(lab) == {"f": 0}
    late = Scheduler(lab, name="q")
    assert late.offered() == 4


LATER = "after = 20"


@pytest.mark.parametrize(("parts", "later"), [((), 0), ((quota("rA", "cpus:50"),), 40)])
def test_scenario_1_the_greedy_framework(parts: tuple[str, ...], later: int):
    """A role that uses ten cpus wants more, twenty seconds later."""
    lab = lab_of(
        *parts,
        HUNDRED,
        greedy("fA", "rA", "tasks = 10"),
        greedy("fB", "rB"),
        greedy("more", "rA", f"tasks = 40\n{LATER}"),
    )
    lab.wait(15)
    assert running(lab) == {"fA": 10, "fB": 90 - later}
    lab.wait(30)
    assert running(lab) == {"fA": 10, "fB": 90 - later, "more": later}


def test_scenario_2_a_new_framework_waits_for_tasks_to_end():
    lab = lab_of(
        HUNDRED, greedy("fB", "rB"), greedy("fA", "rA", LATER), '[tasks]\noutcome = "finished"\nseconds = 40\n'
    )
    lab.wait(35)
    assert running(lab) == {"fB": 100, "fA": 0}
    lab.wait(20)
    assert running(lab)["fA"] > 0


def test_scenario_2_quota_set_afterwards_does_not_help():
    lab = lab_of(HUNDRED, greedy("fB", "rB"), greedy("fA", "rA", LATER))
    lab.wait(10)
    guarantee = [{"name": "cpus", "type": "SCALAR", "scalar": {"value": 50}}]
    assert lab.post("/quota", {"role": "rA", "guarantee": guarantee}) == 200
    lab.wait(60)
    assert running(lab) == {"fB": 100, "fA": 0}


def test_scenario_2_a_pool_that_nobody_is_offered_helps():
    lab = lab_of(quota("rA", "cpus:50"), HUNDRED, greedy("fB", "rB"), greedy("fA", "rA", LATER))
    lab.wait(15)
    assert running(lab) == {"fB": 50}
    lab.wait(30)
    assert running(lab) == {"fB": 50, "fA": 50}


def test_a_forced_guarantee_beyond_the_cluster_leaves_nobody_an_offer():
    """The document's `prosuction`, on its own master; without it everybody is offered something."""
    lab = lab_of(HUNDRED)
    scheduler = Scheduler(lab, name="production")
    assert scheduler.offered() == 100
    lab = lab_of(quota("prosuction", "cpus:1000"), HUNDRED)
    scheduler = Scheduler(lab, name="production")
    lab.wait(60)
    assert scheduler.offers() == []


def test_all_offers_of_an_agent_are_rescinded_if_one_is():
    lab = lab_of(ONE, '[tasks]\noutcome = "finished"\nseconds = 5\n')
    first = Scheduler(lab, name="a")
    first.launch("t")
    second = Scheduler(lab, name="b")
    lab.wait(10)
    first.acknowledge()
    assert len({offer.agent_id for offer in lab.master.state.offers}) == 1
    before = len(list(lab.master.state.offers))
    assert before == 2
    guarantee = [{"name": "cpus", "type": "SCALAR", "scalar": {"value": 1}}]
    assert lab.post("/quota", {"role": "q", "guarantee": guarantee}) == 200
    assert len(first.heard("RESCIND")) + len(second.heard("RESCIND")) == 2


def test_at_least_as_much_is_rescinded_as_is_asked_for():
    """And no more agents than that takes."""
    lab = lab_of(*(f'[[agents]]\nresources = "cpus:{cpus};mem:64"\n' for cpus in (12, 8, 4)))
    framework = Scheduler(lab, name="a")
    cpus = {offer["id"]["value"]: offer["resources"][0]["scalar"]["value"] for offer in framework.offers()}
    assert sorted(cpus.values()) == [4, 8, 12]
    guarantee = [{"name": "cpus", "type": "SCALAR", "scalar": {"value": 15}}]
    assert lab.post("/quota", {"role": "q", "guarantee": guarantee}) == 200
    rescinded = [cpus[event["offer_id"]["value"]] for event in framework.heard("RESCIND")]
    assert sorted(rescinded) == [8, 12]


def test_what_is_reserved_does_not_count_towards_a_guarantee():
    reserving = '[[agents]]\nresources = "cpus(rA):4;mem:64"\n[[agents]]\nresources = "cpus:4;mem:64"\n'
    lab = lab_of(quota("rA", "cpus:4"), reserving)
    other = Scheduler(lab, name="n")
    assert other.offered() == 0, "the unreserved cpus are kept for the guarantee"
    assert Scheduler(lab, name="rA").offered() == 8


def test_a_guarantee_is_no_limit():
    lab = lab_of(HUNDRED)
    guarantee = [{"name": "cpus", "type": "SCALAR", "scalar": {"value": 10}}]
    assert lab.post("/quota", {"role": "rA", "guarantee": guarantee}) == 200
    assert Scheduler(lab, name="rA").offered() == 100


def contest(limit: str | None) -> list[AcceptedOffer]:
    """Two frameworks of a role with six guaranteed cpus, and one of a role without quota, task by task."""
    frameworks = [("a1", "rA", TASK), ("b", "rB", TASK), ("a2", "rA", TASK)]
    text = (
        'mesos_version = "1.11"\n'
        + quota("rA", "cpus:6", limit)
        + HUNDRED
        + "".join(FRAMEWORK.format(*one) for one in frameworks)
    )
    return list(simulate(read_cluster(text, "cluster.toml"), 30).steps)


def test_frameworks_of_a_role_share_its_guarantee():
    # The limit keeps the role at its guarantee; without one the first offer is all of an agent.
    steps = contest(limit="cpus:6")
    served = [step.framework for step in steps if step.stage == "guarantee"]
    assert sorted(served[:2]) == ["a1", "a2"]
    assert sorted(served[:4]) == ["a1", "a1", "a2", "a2"]
    assert steps[0].framework in ("a1", "a2")


def test_a_guarantee_without_a_limit_is_shared_agent_by_agent():
    """Mesos 1.11: an agent that serves a guarantee is offered whole, and dominant shares divide the rest."""
    first = [step for step in contest(limit=None) if step.seconds == 0]
    assert {step.agent for step in first} == {f"agent-{number}" for number in range(1, 11)}
    assert Counter(step.framework for step in first) == {"a1": 3, "a2": 2, "b": 5}


def test_agents_that_end_may_leave_a_guarantee_that_cannot_be_met():
    lab = lab_of(HUNDRED)
    guarantee = [{"name": "cpus", "type": "SCALAR", "scalar": {"value": 50}}]
    assert lab.post("/quota", {"role": "rA", "guarantee": guarantee}) == 200
    for agent in lab.agents[:6]:
        lab.about("MARK_AGENT_GONE", agent["id"])
    assert Scheduler(lab, name="rA").offered() == 40


def test_a_forced_guarantee_is_met_once_agents_are_added():
    added = '[[agents]]\nresources = "cpus:60;mem:10GiB"\nleaves_after = 1\nreturns_after = 30\n'
    lab = lab_of(HUNDRED, added)
    lab.wait(10)
    guarantee = [{"name": "cpus", "type": "SCALAR", "scalar": {"value": 150}}]
    body = {"role": "rA", "guarantee": guarantee}
    assert [lab.post("/quota", body), lab.post("/quota", body | {"force": True})] == [409, 200]
    late = Scheduler(lab, name="rA")
    assert late.offered() == 100
    lab.wait(40)
    assert late.offered() == 60


@pytest.mark.parametrize("removed", [True, False])
def test_a_removal_is_as_reliable_as_a_quota(tmp_path: Path, removed: bool):
    lab = Lab(registry=lambda: SqliteRegistry(tmp_path / "registry"))
    guarantee = [{"name": "cpus", "type": "SCALAR", "scalar": {"value": 1}}]
    assert lab.post("/quota", {"role": "rA", "guarantee": guarantee}) == 200
    if removed:
        assert lab.request("DELETE", "/quota/rA").status == 200
    lab.restart(killed=True)
    assert [entry["role"] for entry in lab.read("/quota").get("infos", [])] == ([] if removed else ["rA"])
