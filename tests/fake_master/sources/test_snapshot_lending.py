"""Masters made of snapshots of what may be taken back: lent reservations, slack of use, priorities."""

from dataclasses import replace
from typing import Any

import pytest

from fake_master.master import Master
from fake_master.sources.snapshot import RestoredCluster
from fake_master.state.clock import VirtualClock
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.agents import ClusterAgent
from mesosctl.mesos.cluster.snapshot import (
    ClusterSnapshot,
    Debt,
    FrameworkUsage,
    Lending,
    Refusal,
    SnapshotFramework,
    SnapshotTask,
)
from mesosctl.mesos.errors import BadInput
from mesosctl.mesos.rules.offers.offers import OutstandingOffer

ABLE = frozenset({"MULTI_ROLE", "RESERVATION_REFINEMENT", "REVOCABLE_RESOURCES"})
AGENT = ClusterAgent("m-S0", "a", "slave(1)@h:5051", parse_resources("cpus:4;mem:400;cpus(lender):6;mem(lender):600"))
TENANT = SnapshotFramework("m-T", "T", ("tenant",), capabilities=ABLE, suppressed=frozenset({"tenant"}))
OWNER = SnapshotFramework("m-L", "L", ("lender",), capabilities=ABLE, suppressed=frozenset({"lender"}))
FLAGS = {"oversubscribe_reservations": "true"}


def lent(cpus: int, mem: int) -> Resources:
    return Resources([Resource("cpus", cpus * 1000, revocable=True), Resource("mem", mem * 1000, revocable=True)])


def task(name: str, resources: Resources, framework: SnapshotFramework = TENANT, **more: Any) -> SnapshotTask:
    return SnapshotTask(name, framework.id, AGENT.id, framework.roles[0], resources, **more)


def snapshot(*tasks: SnapshotTask, **more: Any) -> ClusterSnapshot:
    """Every task is part of what its framework uses."""
    used: dict[str, Resources] = {}
    for one in tasks:
        used[one.framework_id] = used.get(one.framework_id, Resources()) + one.resources + one.executor_resources
    roles = {TENANT.id: "tenant", OWNER.id: "lender"}
    counts = {of: sum(one.framework_id == of for one in tasks) for of in used}
    usages = tuple(FrameworkUsage(of, AGENT.id, roles[of], held, counts[of]) for of, held in used.items())
    lending = Lending(tasks, stop_seconds=2.0)
    return replace(
        ClusterSnapshot("1.11.0", 1000.0, (AGENT,), (TENANT, OWNER), usages, flags=FLAGS, lending=lending), **more
    )


def started(snapshot: ClusterSnapshot, **more: Any) -> tuple[Master, VirtualClock]:
    clock = VirtualClock(1000.0)
    master = RestoredCluster(snapshot, **more).start(clock=clock)
    master.advance()
    return master, clock


def states(master: Master) -> dict[str, str]:
    return {
        name: one.state for framework in master.state.frameworks.values() for name, one in framework.all_tasks().items()
    }


OWNED = parse_resources("cpus(lender):6;mem(lender):600")
REST = parse_resources("cpus:4;mem:400")


def test_what_is_ending_ends_and_what_waits_for_it_starts() -> None:
    master, clock = started(
        snapshot(
            task("t0", REST),
            task("t1", lent(6, 600), phase="ending"),
            task("big", OWNED, OWNER, phase="waiting"),
        )
    )
    assert states(master) == {"t0": "TASK_RUNNING", "t1": "TASK_RUNNING", "big": "TASK_STAGING"}
    clock.sleep(2.0)
    master.advance()
    assert (states(master)["t1"], states(master)["big"]) == ("TASK_KILLED", "TASK_RUNNING")


def test_what_is_under_way_arrives_and_drives_tenants_out() -> None:
    master, clock = started(
        snapshot(task("t0", REST), task("t1", lent(6, 600)), task("big", OWNED, OWNER, phase="arriving"))
    )
    assert states(master)["big"] == "TASK_STAGING"
    clock.sleep(2.0)
    master.advance()
    assert (states(master)["t1"], states(master)["big"]) == ("TASK_LOST", "TASK_RUNNING")


def test_an_executor_goes_with_its_tasks() -> None:
    executor: dict[str, Any] = {"executor_id": "e", "executor_resources": lent(1, 100)}
    master, clock = started(
        snapshot(
            task("t0", REST),
            task("t1", lent(1, 100), **executor),
            task("t2", lent(4, 400), executor_id="e"),
            task("big", parse_resources("cpus(lender):1"), OWNER, phase="arriving"),
        )
    )
    clock.sleep(2.0)
    master.advance()
    assert states(master) == {"t0": "TASK_RUNNING", "t1": "TASK_LOST", "t2": "TASK_LOST", "big": "TASK_RUNNING"}
    assert not master.state.frameworks["m-T"].executors
    assert not master.state.agents[AGENT.id].used.revocable()


def test_what_nobody_may_see_is_in_the_way_too() -> None:
    hidden = replace(TENANT, id="unseen-tenant", name="(unseen)", active=False, connected=False)
    whole = snapshot(task("t1", lent(6, 600)), task("big", OWNED, OWNER, phase="arriving"))
    master, clock = started(
        replace(
            whole,
            frameworks=(*whole.frameworks, hidden),
            usages=(*whole.usages, FrameworkUsage(hidden.id, AGENT.id, "tenant", REST)),
        )
    )
    clock.sleep(2.0)
    master.advance()
    assert states(master)["t1"] == "TASK_LOST"


def test_refusals_offers_and_debts_are_as_they_were() -> None:
    awake = replace(OWNER, suppressed=frozenset())
    whole = snapshot(
        task("t0", REST),
        task("t1", lent(2, 200)),
        offers=(OutstandingOffer("m-O7", "tenant", "m-T", "T", AGENT.id, "a", lent(3, 300)),),
        frameworks=(TENANT, awake),
    )
    refused = Refusal("m-L", AGENT.id, "lender", AGENT.total, 5.5)
    assert whole.lending is not None
    master, clock = started(replace(whole, lending=replace(whole.lending, refusals=(refused,))))
    assert [(offer.id, offer.kind) for offer in master.state.offers] == [("m-O7", "non-throttleable")]
    clock.sleep(5.0)
    master.advance()
    assert [offer.id for offer in master.state.offers] == ["m-O7"]
    clock.sleep(1.0)
    master.advance()  # the owner refuses no longer, is offered what it owns, and what was lent of it is not
    assert [(offer.framework_id, offer.kind) for offer in master.state.offers] == [("m-L", "regular")]


def test_who_owes_what_is_not_asked_for_more() -> None:
    """Of what a framework has, the part that is lent no longer stays so while nothing changes."""
    owned = parse_resources("cpus(lender):4;mem(lender):400")
    debt = Debt("m-T", AGENT.id, "tenant", lent(2, 200))
    whole = snapshot(
        task("t1", lent(2, 200)),
        task("big", owned, OWNER),
        offers=(OutstandingOffer("m-O7", "tenant", "m-T", "T", AGENT.id, "a", lent(2, 200)),),
    )
    assert whole.lending is not None
    master, _ = started(replace(whole, lending=replace(whole.lending, debts=(debt,))))
    assert [offer.id for offer in master.state.offers] == ["m-O7"]
    without, _ = started(whole)
    assert len(without.state.offers) == 0


def test_a_master_that_does_not_lend_just_runs_what_is_there() -> None:
    whole = snapshot(task("t1", lent(6, 600), phase="ending"), task("big", OWNED, OWNER, phase="waiting"))
    master, clock = started(whole, flags={"oversubscribe_reservations": "false"})
    clock.sleep(10.0)
    master.advance()
    assert set(states(master).values()) == {"TASK_RUNNING"}


@pytest.mark.parametrize("held", ["cpus:5", "gpus:1"])
def test_a_task_holds_no_more_than_its_framework(held: str) -> None:
    whole = snapshot(task("t1", REST))
    assert whole.lending is not None
    tasks = (task("t2", parse_resources(held)),)
    with pytest.raises(BadInput, match="task t2 holds"):
        started(replace(whole, lending=replace(whole.lending, tasks=tasks)))
    with pytest.raises(BadInput, match="task t2 holds"):
        started(replace(whole, usages=(), lending=replace(whole.lending, tasks=tasks)))


def test_what_a_real_agent_oversubscribes_is_offered_and_not_promised() -> None:
    slack = Resources([Resource("cpus", 2000, revocable=True)])
    agent = replace(AGENT, total=AGENT.total + slack)
    awake = replace(TENANT, suppressed=frozenset())
    master, _ = started(ClusterSnapshot("1.11.0", 1000.0, (agent,), (awake,)))
    (offer,) = master.state.offers
    assert offer.resources.allocated_to(None) == REST + slack
    assert master.state.agents[agent.id].oversubscribed == slack
    assert master.state.capacity().get_amount("cpus") == 10_000


def test_priorities_are_kept_and_unknown_allocators_are_not() -> None:
    flags = {"allocator": "strict-priority", "priorities": "tenant=3", "preemption": "true"}
    master, _ = started(ClusterSnapshot("1.11.0", 1000.0, (AGENT,), flags=flags))
    assert master.state.flags.has_strict_priority
    assert master.state.flags.priorities.of("tenant") == 3
    other, _ = started(ClusterSnapshot("1.11.0", 1000.0, (AGENT,), flags={"allocator": "com.example.Own"}))
    assert other.state.flags.shown["allocator"] == "hierarchical"
