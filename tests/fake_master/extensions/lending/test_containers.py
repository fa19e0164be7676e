"""Tenants with executors: an agent ends containers, and an executor lives on while it has tasks."""

import json
from typing import Any

import pytest

from fake_master.extensions.lending.eviction import AgentOccupancy
from fake_master.extensions.lending.revocable_tasks import RevocableTasks
from fake_master.master import Master
from fake_master.sources.cluster_file import ClusterSpec
from fake_master.state.clock import VirtualClock
from fake_master.state.frameworks import KnownFramework
from fake_master.state.streams import EventStream
from fake_master.state.subscription import Subscription
from fake_master.state.tasks import TaskOutcome
from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.mesos.messages.protobuf_json import recordio

STOP_SECONDS = 2.0


def lent(cpus: float) -> list[dict[str, Any]]:
    return [{"name": "cpus", "type": "SCALAR", "scalar": {"value": cpus}, "revocable": {}}]


def q(cpus: int) -> Quantities:
    return Quantities({"cpus": cpus * 1000})


class Stage:
    """One agent of 4 cpus and 6 that are reserved for an owner who is not there; a tenant with an executor of 1."""

    def __init__(self) -> None:
        self.clock = VirtualClock(1000.0)
        flags = {"oversubscribe_reservations": "true"}
        fate = TaskOutcome(stop_seconds=STOP_SECONDS)
        spec = ClusterSpec(("cpus:4;cpus(lender):6",), "1.11", flags, task_outcome=fate)
        self.master: Master = spec.start(clock=self.clock)
        (self.agent,) = self.master.state.agents.values()
        self.task = self.join("tenant", "REVOCABLE_RESOURCES")

    def join(self, role: str, *capabilities: str) -> KnownFramework:
        able = ("MULTI_ROLE", "RESERVATION_REFINEMENT", *capabilities)
        info = {"user": "u", "name": role, "roles": [role], "capabilities": [{"type": name} for name in able]}
        stream = EventStream()
        self.master.subscriptions.subscribe(Subscription(info), stream)
        self.wait(0.0)
        return next(known for known in self.master.state.frameworks.values() if known.stream is stream)

    def wait(self, seconds: float) -> None:
        self.clock.sleep(seconds)
        self.master.advance()

    def launch(self, framework: KnownFramework, *names: str, resources: Any, executor: Any = None) -> None:
        kind = "non-throttleable" if "revocable" in resources[0] else "regular"
        offer = next(offer for offer in framework.offers.values() if offer.kind == kind)
        infos = [
            {
                "name": name,
                "task_id": {"value": name},
                "agent_id": {"value": self.agent.id},
                "resources": resources,
                **({"command": {"value": "true"}} if executor is None else {"executor": executor}),
            }
            for name in names
        ]
        operation = {"type": "LAUNCH", "launch": {"task_infos": infos}}
        self.master.offer_answers.accept(framework, [offer.id], [operation], 0.0)
        self.wait(0.0)

    @property
    def room(self) -> AgentOccupancy:
        assert isinstance(self.master.runtime, RevocableTasks)
        return self.master.runtime.occupancy(self.agent)


@pytest.fixture
def stage() -> Stage:
    made = Stage()
    executor = {"executor_id": {"value": "e"}, "command": {"value": "true"}, "resources": lent(1)}
    made.launch(made.task, "t1", "t2", resources=lent(2), executor=executor)
    return made


def test_an_executor_counts_once_and_outlives_the_task_that_brought_it(stage: Stage) -> None:
    assert stage.room.occupied_rev == q(5)
    stage.master.task_runner.kill(stage.task, stage.task.all_tasks()["t1"])
    assert (stage.room.occupied_rev, stage.room.evicting) == (q(3), q(2)), "the executor stays with the other task"
    stage.wait(STOP_SECONDS)
    assert (stage.room.occupied_rev, stage.room.evicting) == (q(3), Quantities())
    stage.master.task_runner.kill(stage.task, stage.task.all_tasks()["t2"])
    stage.wait(STOP_SECONDS)
    assert stage.room.occupied_rev == Quantities()
    assert stage.agent.used.scalar_quantities() == Quantities()


def test_an_executor_is_held_until_the_last_of_its_tasks_has_ended(stage: Stage) -> None:
    for name in ("t1", "t2"):
        stage.master.task_runner.kill(stage.task, stage.task.all_tasks()[name])
        stage.wait(1.0)
    assert stage.task.all_tasks()["t1"].state == "TASK_KILLED"
    assert (stage.room.occupied_rev, stage.room.evicting) == (Quantities(), q(3))
    assert stage.agent.used.scalar_quantities() == q(3)


def test_a_task_that_waits_is_known(stage: Stage) -> None:
    owner = stage.join("lender")
    stack = [{"type": "STATIC", "role": "lender"}]
    own = [{"name": "cpus", "type": "SCALAR", "scalar": {"value": 6.0}, "reservations": stack}]
    four = [{"name": "cpus", "type": "SCALAR", "scalar": {"value": 4.0}}]
    stage.launch(stage.task, "t3", resources=four)
    stage.launch(owner, "l", resources=own)
    assert owner.stream is not None
    owner.stream.take()
    stage.master.task_updates.reconcile(owner, "l", None)
    (event,) = (json.loads(record) for record in recordio.decode(owner.stream.take()))
    status = event["update"]["status"]
    assert (status["state"], status["reason"]) == ("TASK_STAGING", "REASON_RECONCILIATION")
    assert "uuid" not in status


def test_a_container_is_evicted_as_a_whole(stage: Stage) -> None:
    other = stage.join("other")
    stage.wait(1.0)
    stage.master.offer_answers.decline(stage.task, list(stage.task.offers), 3600.0)
    stage.wait(1.0)
    stage.launch(other, "o", resources=[{"name": "cpus", "type": "SCALAR", "scalar": {"value": 4.0}}])
    owner = stage.join("lender")
    stack = [{"type": "STATIC", "role": "lender"}]
    own = [{"name": "cpus", "type": "SCALAR", "scalar": {"value": 2.0}, "reservations": stack}]
    stage.launch(owner, "l", resources=own)
    # Two cpus are needed, and five become free: less than a container cannot go.
    assert (stage.room.occupied, stage.room.evicting) == (q(6), q(5))
    stage.wait(STOP_SECONDS)
    assert {task.state for task in stage.task.all_tasks().values()} == {"TASK_LOST"}
    assert owner.all_tasks()["l"].state == "TASK_RUNNING"
    assert isinstance(stage.master.runtime, RevocableTasks)
    assert stage.master.runtime.evictions == 2
