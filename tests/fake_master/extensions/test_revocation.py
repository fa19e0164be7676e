"""Revocation on a master: what schedulers are told, and what becomes of executors.

Source: docs/explanation/documents.md, "Playing Traffic Cop".
"""

from typing import Any

import pytest

from fake_master.sources.cluster_file import ClusterSpec
from fake_master.state.flags import MasterFlags
from fake_master.state.tasks import TaskOutcome
from mesosctl.mesos.errors import BadInput
from tests.helpers.lab import Lab, Scheduler, scalar

FLAGS = {
    "allocator": "strict-priority",
    "priorities": "prod=100,batch=1",
    "preemption": "true",
    "revocation_grace_period": "3secs",
}
ANSWERED = 2.5
"""Seconds after which a request has been unmet for a whole interval, and something was asked back."""


class Stage:
    """A master with one agent of 4 cpus and 1024 MB, which one framework of batch fills with tasks."""

    def __init__(
        self, stop_seconds: float = 0.0, flags: dict[str, str] = FLAGS, capabilities: tuple[str, ...] = ()
    ) -> None:
        self.cluster = Lab("cpus:4;mem:1024", flags=flags)
        self.master = self.cluster.application.master
        self.master.state.task_outcome = TaskOutcome(stop_seconds=stop_seconds)
        self.now = 0.0
        self.batch = self.framework("batch", *capabilities)

    def framework(self, role: str, *capabilities: str) -> Scheduler:
        named = [{"type": name} for name in ("MULTI_ROLE", *capabilities)]
        made = Scheduler(self.cluster, name=role, roles=[role], capabilities=named)
        self.wait(0.1)
        return made

    def wait(self, seconds: float) -> None:
        self.now += seconds
        self.cluster.at(self.now)

    def launch(self, tasks: int, executor: str | None = None) -> None:
        (offer,) = self.batch.heard("OFFERS")[0]["offers"]
        share = [scalar("cpus", 4.0 / tasks), scalar("mem", 1024.0 / tasks)]
        own: dict[str, Any] = {"command": {"value": "sleep"}}
        if executor is not None:
            own = {"executor": {"executor_id": {"value": executor}, "command": {"value": "run"}}}
        infos = [
            {"name": f"t{n}", "task_id": {"value": f"t{n}"}, "agent_id": offer["agent_id"], "resources": share, **own}
            for n in range(tasks)
        ]
        launch = {"type": "LAUNCH", "launch": {"task_infos": infos}}
        assert self.batch.call("ACCEPT", offer_ids=[offer["id"]], operations=[launch]).status == 202
        self.wait(0.1)
        for n in range(tasks):
            for state in ("TASK_STARTING", "TASK_RUNNING"):
                self.acknowledge(f"t{n}", state)
        self.told()

    def acknowledge(self, task: str, state: str) -> None:
        for status in self._statuses():
            if (status["task_id"]["value"], status["state"]) == (task, state):
                body = {name: status[name] for name in ("agent_id", "task_id", "uuid")}
                self.batch.call("ACKNOWLEDGE", **body)
        self.wait(0.0)

    def _statuses(self) -> list[dict[str, Any]]:
        return [event["update"]["status"] for event in self.batch.events if event["type"] == "UPDATE"]

    def told(self) -> list[tuple[str, str, str | None, str]]:
        """(task, state, reason, source) of what batch was told since the last look."""
        found = [(s["task_id"]["value"], s["state"], s.get("reason"), s["source"]) for s in self._statuses()]
        self.batch.events.clear()
        return found


def ask(framework: Scheduler, cpus: float, times: int = 1) -> None:
    assert framework.call("REQUEST", requests=[{"resources": [scalar("cpus", cpus)]}] * times).status == 202


def offered(framework: Scheduler) -> list[float]:
    """Cpus of each offer that it was ever made."""
    return [
        sum(entry["scalar"]["value"] for entry in offer["resources"] if entry["name"] == "cpus")
        for event in framework.events
        if event["type"] == "OFFERS"
        for offer in event["offers"]["offers"]
    ]


def test_an_executor_is_asked_to_kill_a_given_task() -> None:
    stage = Stage()
    stage.launch(4)
    prod = stage.framework("prod")
    ask(prod, 1.0)
    stage.wait(ANSWERED)
    assert stage.told() == [("t3", "TASK_KILLED", "REASON_CONTAINER_PREEMPTED", "SOURCE_EXECUTOR")]
    stage.wait(1.0)
    assert offered(prod) == [1.0]


@pytest.mark.parametrize(
    ("capabilities", "between", "state"),
    [
        ((), [], "TASK_LOST"),
        (
            ("TASK_KILLING_STATE", "PARTITION_AWARE"),
            [("t3", "TASK_KILLING", "REASON_CONTAINER_PREEMPTED", "SOURCE_EXECUTOR")],
            "TASK_GONE",
        ),
    ],
)
def test_if_it_does_not_respond_it_is_killed_and_all_its_tasks(
    capabilities: tuple[str, ...], between: list[tuple[str, str, str, str]], state: str
) -> None:
    stage = Stage(1000.0, capabilities=capabilities)
    stage.launch(4, executor="e")
    prod = stage.framework("prod")
    ask(prod, 1.0)
    stage.wait(ANSWERED)
    assert stage.told() == between
    stage.wait(2.0)
    assert stage.told() == []
    stage.wait(2.0)
    ended = {task.id: task.state for task in stage.master.state.frameworks[stage.batch.id].all_tasks().values()}
    assert ended == dict.fromkeys(("t0", "t1", "t2", "t3"), state)
    last = stage.master.state.frameworks[stage.batch.id].all_tasks()["t0"].statuses[-1]
    assert (last.more["reason"], last.source) == ("REASON_CONTAINER_PREEMPTED", "SOURCE_AGENT")
    stage.wait(1.0)
    assert offered(prod) == [4.0]


def test_the_last_task_of_an_executor_frees_the_executor_too() -> None:
    """So that is counted among what it frees, and the task alone is enough."""
    stage = Stage()
    (offer,) = stage.batch.heard("OFFERS")[0]["offers"]
    infos = []
    for n, mem in ((0, 256.0), (1, 256.0)):
        executor: dict[str, Any] = {"executor_id": {"value": f"e{n}"}, "command": {"value": "run"}}
        executor["resources"] = [scalar("cpus", 1.0), scalar("mem", mem)]
        infos.append(
            {
                "name": f"t{n}",
                "task_id": {"value": f"t{n}"},
                "agent_id": offer["agent_id"],
                "resources": [scalar("cpus", 1.0), scalar("mem", 256.0)],
                "executor": executor,
            }
        )
    launch = {"type": "LAUNCH", "launch": {"task_infos": infos}}
    stage.batch.call("ACCEPT", offer_ids=[offer["id"]], operations=[launch])
    prod = stage.framework("prod")
    ask(prod, 2.0)
    stage.wait(ANSWERED)
    tasks = stage.master.state.frameworks[stage.batch.id].all_tasks().values()
    assert [task.id for task in tasks if task.is_terminal] == ["t1"]
    stage.wait(1.0)
    assert offered(prod) == [2.0]


def test_the_grace_period_is_for_clean_up() -> None:
    stage = Stage(2.0)
    stage.launch(1)
    prod = stage.framework("prod")
    ask(prod, 4.0)
    stage.wait(ANSWERED)
    assert stage.told() == []
    assert offered(prod) == []
    stage.wait(2.0)
    assert [told[:2] for told in stage.told()] == [("t0", "TASK_KILLED")]


def test_one_that_was_spared_may_be_killed_later() -> None:
    """Asked in vain, because the request was withdrawn; then somebody needs it after all."""
    stage = Stage(1000.0)
    stage.launch(1)
    prod = stage.framework("prod")
    ask(prod, 4.0)
    stage.wait(ANSWERED)
    prod.call("REQUEST", requests=[])
    stage.wait(10.0)
    assert stage.told() == []
    ask(prod, 4.0)
    stage.wait(ANSWERED + 1.0)
    assert stage.told() == []
    stage.wait(2.0)
    assert [told[:2] for told in stage.told()] == [("t0", "TASK_LOST")]


def test_who_goes_away_asks_for_nothing_any_more() -> None:
    stage = Stage(1000.0)
    stage.launch(1)
    prod = stage.framework("prod")
    ask(prod, 4.0)
    stage.wait(ANSWERED)
    prod.stream.abandon()
    stage.wait(20.0)
    assert stage.told() == []


def test_an_unanswered_offer_is_rescinded_at_once() -> None:
    stage = Stage()
    prod = stage.framework("prod")
    ask(prod, 1.0)
    stage.wait(ANSWERED)
    assert len(stage.batch.heard("RESCIND")) == 1
    stage.wait(1.0)
    assert offered(prod) == [4.0]


def test_a_framework_below_its_guaranteed_allocation_is_never_touched() -> None:
    stage = Stage()
    stage.launch(4)
    guarantee = [scalar("cpus", 4.0)]
    assert stage.cluster.post("/quota", {"role": "batch", "guarantee": guarantee, "force": True}) == 200
    ask(stage.framework("prod"), 1.0)
    stage.wait(20.0)
    assert stage.told() == []


def test_a_multi_role_request_names_its_role() -> None:
    stage = Stage()
    stage.launch(4)
    both = Scheduler(stage.cluster, name="both", roles=["idle", "prod"])
    resources = [scalar("cpus", 1.0) | {"allocation_info": {"role": "idle"}}]
    both.call("REQUEST", requests=[{"resources": resources}])
    stage.wait(10.0)
    assert stage.told() == []
    ask(both, 1.0)
    stage.wait(ANSWERED)
    assert [told[:2] for told in stage.told()] == [("t3", "TASK_KILLED")]


def test_a_request_for_another_agent_is_not_met_here() -> None:
    stage = Stage()
    stage.launch(4)
    prod = stage.framework("prod")
    elsewhere = {"agent_id": {"value": "S-of-somebody-else"}, "resources": [scalar("cpus", 1.0)]}
    prod.call("REQUEST", requests=[elsewhere])
    stage.wait(10.0)
    assert stage.told() == []


@pytest.mark.parametrize("flags", [{}, {name: FLAGS[name] for name in ("allocator", "priorities")}])
def test_off_by_default(flags: dict[str, str]) -> None:
    """Neither the hierarchical allocator nor the strict priority module takes anything, unless told to."""
    stage = Stage(flags=flags)
    stage.launch(4)
    ask(stage.framework("prod"), 1.0)
    stage.wait(20.0)
    assert stage.told() == []


# --- Flags ----------------------------------------------------------------------------------------


def test_flags_tell_of_it_with_that_allocator_alone() -> None:
    def shown(flags: dict[str, str]) -> dict[str, str]:
        return Lab(flags=flags).read("/flags")["flags"]

    assert shown(FLAGS).items() >= FLAGS.items()
    own = {"allocator": "strict-priority"}
    assert shown(own).items() >= {"preemption": "false", "priorities": "", "revocation_grace_period": "5secs"}.items()
    assert not {"preemption", "priorities", "revocation_grace_period"} & shown({}).keys()


@pytest.mark.parametrize(
    ("flags", "field"),
    [
        ({"allocator": "lottery"}, "allocator"),
        ({"priorities": "prod=1"}, "priorities"),
        ({"preemption": "true", "allocator": "HierarchicalDRF"}, "preemption"),
        (FLAGS | {"priorities": "prod=soon"}, "priorities"),
        (FLAGS | {"revocation_grace_period": "soon"}, "revocation_grace_period"),
        (FLAGS | {"preemption": "maybe"}, "preemption"),
    ],
)
def test_mistakes_are_named(flags: dict[str, str], field: str) -> None:
    with pytest.raises(BadInput) as raised:
        MasterFlags.parse(flags)
    assert raised.value.field == field


def test_a_cluster_starts_with_them() -> None:
    master = ClusterSpec(("cpus:1",), flags=FLAGS).start()
    assert master.state.flags.priorities.of("prod/web") == 100
    assert master.state.flags.revocation_grace_seconds == 3.0
