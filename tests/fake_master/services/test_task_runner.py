"""Tasks that are told to end: by KILL, which may take a while, and against their framework's will."""

import pytest

from fake_master.master import Master
from fake_master.sources.cluster_file import ClusterSpec
from fake_master.sources.simulated_frameworks import SimulatedFrameworkSpec
from fake_master.state.clock import VirtualClock
from fake_master.state.frameworks import KnownFramework
from fake_master.state.tasks import TaskOutcome
from mesosctl.mesos.amounts.notation import parse_resources


class Stage:
    """Two tasks of one resident on one agent."""

    def __init__(self, *capabilities: str, stop_seconds: float = 0.0) -> None:
        self.clock = VirtualClock(1000.0)
        able = ("MULTI_ROLE", "RESERVATION_REFINEMENT", *capabilities)
        spec = SimulatedFrameworkSpec("f", ("f",), parse_resources("cpus:1;mem:512"), tasks=2, capabilities=able)
        agents = ("cpus:4;mem:4096",)
        cluster = ClusterSpec(agents, "1.11", frameworks=(spec,), task_outcome=TaskOutcome(stop_seconds=stop_seconds))
        self.master: Master = cluster.start(clock=self.clock)
        self.master.advance()
        (self.framework,) = self.master.state.frameworks.values()
        self.first, self.second = self.framework.all_tasks().values()

    def wait(self, seconds: float) -> None:
        self.clock.sleep(seconds)
        self.master.advance()

    @property
    def held(self) -> int:
        return self.framework.used().scalar_quantities().get_amount("cpus")


@pytest.mark.parametrize(("capabilities", "state"), [((), "TASK_LOST"), (("PARTITION_AWARE",), "TASK_GONE")])
def test_evicted_after_its_grace(capabilities: tuple[str, ...], state: str) -> None:
    stage = Stage(*capabilities)
    told = stage.master.task_runner.evict(stage.framework, stage.first, grace_seconds=2.0, message="room is needed")
    assert told == [stage.first]
    stage.wait(0.9)
    assert (stage.first.state, stage.first.ending, stage.held) == ("TASK_RUNNING", True, 2000)
    stage.wait(0.9)
    assert stage.first.state == "TASK_RUNNING"
    stage.wait(0.2)
    last = stage.first.statuses[-1]
    assert (stage.first.state, last.more["reason"], last.source, last.more["message"]) == (
        state,
        "REASON_CONTAINER_PREEMPTED",
        "SOURCE_AGENT",
        "room is needed",
    )
    assert stage.second.state == "TASK_RUNNING"


def test_evicting_twice_changes_nothing() -> None:
    stage = Stage()
    stage.master.task_runner.evict(stage.framework, stage.first, grace_seconds=2.0, message="")
    stage.wait(1.0)
    assert stage.master.task_runner.evict(stage.framework, stage.first, grace_seconds=2.0, message="") == []
    stage.wait(1.0)
    assert stage.first.state == "TASK_LOST"


def test_a_container_ends_as_a_whole() -> None:
    stage = Stage()
    stage.first.executor_id = stage.second.executor_id = "e"
    told = stage.master.task_runner.evict(stage.framework, stage.first, grace_seconds=0.0, message="")
    assert told == [stage.first, stage.second]
    stage.wait(0.0)
    assert {stage.first.state, stage.second.state} == {"TASK_LOST"}


@pytest.mark.parametrize(("capabilities", "between"), [((), "TASK_RUNNING"), (("TASK_KILLING_STATE",), "TASK_KILLING")])
def test_a_kill_takes_as_long_as_tasks_take_to_end(capabilities: tuple[str, ...], between: str) -> None:
    stage = Stage(*capabilities, stop_seconds=2.0)
    stage.master.task_runner.kill(stage.framework, stage.first)
    stage.wait(1.0)
    assert (stage.first.state, stage.held) == (between, 2000)
    stage.wait(1.0)
    assert stage.first.state == "TASK_KILLED"


def test_what_the_framework_kills_is_not_evicted_again() -> None:
    stage = Stage(stop_seconds=2.0)
    task, framework = stage.first, stage.framework
    stage.master.task_runner.kill(framework, task)
    assert stage.master.task_runner.evict(framework, task, grace_seconds=9.0, message="") == []
    stage.wait(2.0)
    assert task.state == "TASK_KILLED"


def _alive(framework: KnownFramework) -> int:
    return sum(not task.is_terminal for task in framework.all_tasks().values())


def test_a_kill_without_that_ends_at_once() -> None:
    stage = Stage()
    stage.master.task_runner.kill(stage.framework, stage.first)
    assert stage.first.state == "TASK_KILLED"
    assert _alive(stage.framework) == 1
