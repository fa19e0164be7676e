"""How many frameworks and tasks that are gone a master remembers: --max_completed_… of Mesos."""

import pytest

from fake_master.master import Master
from fake_master.sources.cluster_file import ClusterSpec
from fake_master.sources.simulated_frameworks import SimulatedFramework, SimulatedFrameworkSpec
from fake_master.state.clock import VirtualClock
from fake_master.state.tasks import TaskOutcome
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.errors import BadInput


def started(**flags: str) -> tuple[Master, VirtualClock]:
    clock = VirtualClock(0.0)
    spec = ClusterSpec(("cpus:4;mem:1024",), "1.11", flags=flags, task_outcome=TaskOutcome("TASK_FINISHED", 1.0))
    return spec.start(clock=clock), clock


def test_the_oldest_framework_is_forgotten_first() -> None:
    master, _ = started(max_completed_frameworks="2")
    for name in "abc":
        SimulatedFramework(master, SimulatedFrameworkSpec(name, ("r",), answer="decline")).subscribe()
        (framework,) = master.state.frameworks.values()
        master.subscriptions.remove(framework)
    assert [framework.name for framework in master.state.completed_frameworks.values()] == ["b", "c"]


def test_a_framework_keeps_its_last_tasks() -> None:
    master, clock = started(max_completed_tasks_per_framework="3")
    task = parse_resources("cpus:1;mem:64")
    SimulatedFramework(master, SimulatedFrameworkSpec("a", ("r",), task=task, tasks=1)).subscribe()
    (framework,) = master.state.frameworks.values()
    for _ in range(20):
        clock.sleep(1.0)
        master.advance()
    names = [task.name for task in framework.completed_tasks]
    assert len(names) == 3
    assert names == sorted(names, key=lambda name: int(name.rpartition("-")[2]))
    assert int(names[-1].rpartition("-")[2]) > 3


@pytest.mark.parametrize("sorter", ["drf", "random"])
def test_a_framework_in_a_role_of_many_levels_gets_offers(sorter: str) -> None:
    role = "/".join(["a"] * 1000)
    master, _ = started(role_sorter=sorter, framework_sorter=sorter, weights=f"{role}=2")
    SimulatedFramework(master, SimulatedFrameworkSpec("a", (role,), answer="hold")).subscribe()
    master.advance()
    (framework,) = master.state.frameworks.values()
    assert [offer.role for offer in framework.offers.values()] == [role]


def test_a_framework_that_the_allocator_fails_to_add_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    master, _ = started()

    def failing(*_: object, **__: object) -> None:
        raise RuntimeError("the allocator has failed")

    with monkeypatch.context() as patched:
        patched.setattr(master.allocator, "add_framework", failing)
        with pytest.raises(RuntimeError, match="the allocator has failed"):
            SimulatedFramework(master, SimulatedFrameworkSpec("a", ("r",), answer="hold")).subscribe()
    assert not master.state.frameworks
    SimulatedFramework(master, SimulatedFrameworkSpec("b", ("r",), answer="hold")).subscribe()
    master.advance()
    assert [framework.name for framework in master.state.frameworks.values()] == ["b"]


@pytest.mark.parametrize("text", ["-1", "many", ""])
def test_a_count_is_a_number(text: str) -> None:
    with pytest.raises(BadInput, match="--max_completed_frameworks"):
        started(max_completed_frameworks=text)
