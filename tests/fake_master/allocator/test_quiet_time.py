"""Runs that are proved to offer nothing are not made, and nobody can tell."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fake_master.allocator.hierarchical.allocator import HierarchicalAllocator
from fake_master.allocator.hierarchical.stages.two_stages import TwoStages
from fake_master.allocator.interface import AgentInfo, Callbacks, FrameworkInfo, Unavailability
from fake_master.allocator.options import Options
from fake_master.master import Master
from fake_master.sources.agent_tables import AgentSpec
from fake_master.sources.cluster_file import ClusterSpec
from fake_master.sources.simulated_frameworks import SimulatedFrameworkSpec
from fake_master.state.agents import Absence
from fake_master.state.clock import VirtualClock
from fake_master.state.tasks import TaskOutcome
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.rules.reservations.operations import reserve
from tests.helpers.profiles import examples
from tests.helpers.shown import shown

SMALL = parse_resources("cpus:4;mem:4096")


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of agents in each run that is made."""
    made: list[int] = []
    whole = TwoStages.run

    def run(stages: TwoStages, candidates: Any) -> Any:
        made.append(len(candidates))
        return whole(stages, candidates)

    monkeypatch.setattr(TwoStages, "run", run)
    return made


def test_a_million_quiet_seconds_cost_a_few_runs(runs: list[int]) -> None:
    clock = VirtualClock(1000.0)
    frameworks = (
        SimulatedFrameworkSpec("f", ("f",), parse_resources("cpus:4;mem:4096"), tasks=2),
        SimulatedFrameworkSpec("g", ("g",), answer="decline", refuse_seconds=3e5),
        SimulatedFrameworkSpec("h", ("h",), answer="hold", suppressed=("h",)),
    )
    master = ClusterSpec(("cpus:4;mem:4096",) * 3, "1.11", frameworks=frameworks).start(clock=clock)
    master.advance()
    (satisfied,) = (known for known in master.state.frameworks.values() if known.name == "f")
    assert satisfied.alive == 2
    master.subscriptions.suppress(satisfied, ())
    clock.sleep(10.0)
    master.advance()
    runs.clear()
    clock.sleep(1e6)
    master.advance()
    assert 0 < len(runs) <= 12  # `g` is asked again when its filter ends
    assert master.allocator.metrics()["allocator/mesos/allocation_runs"] == pytest.approx(1e6, rel=1e-3)


def made() -> tuple[HierarchicalAllocator, list[str]]:
    """An allocator in which a run over everything has offered nothing; the offers from now on."""
    offers: list[str] = []
    allocator = HierarchicalAllocator(Options(), Callbacks(lambda framework, _: offers.append(framework)), 0.0)
    for name in ("S1", "S2"):
        allocator.add_agent(AgentInfo(name, hostname=name), SMALL)
    allocator.deactivate_agent("S2")
    allocator.add_framework(FrameworkInfo("F", frozenset({"f"})))
    allocator.add_framework(FrameworkInfo("G", frozenset({"g"})), suppressed=("g",))
    allocator.advance_to(0.0)
    allocator.transition_offered_to_allocated("S1", SMALL.allocated_to("f"))
    allocator.advance_to(2.5)
    assert offers == ["F"]
    assert allocator.next_deadline() is None
    return allocator, offers


EVENTS: dict[str, Any] = {
    "add_agent": lambda a: a.add_agent(AgentInfo("S3"), SMALL),
    "update_agent": lambda a: a.update_agent(AgentInfo("S1", hostname="S1"), SMALL + SMALL),
    "add_resource_provider": lambda a: a.add_resource_provider("S1", SMALL, {}),
    "remove_agent": lambda a: a.remove_agent("S2"),
    "activate_agent": lambda a: a.activate_agent("S2"),
    "deactivate_agent": lambda a: a.deactivate_agent("S1"),
    "update_unavailability": lambda a: a.update_unavailability("S1", Unavailability(100.0)),
    "update_whitelist": lambda a: a.update_whitelist({"S1"}),
    "add_framework": lambda a: a.add_framework(FrameworkInfo("H", frozenset({"h"}))),
    "update_framework": lambda a: a.update_framework(FrameworkInfo("F", frozenset({"f", "i"}))),
    "remove_framework": lambda a: a.remove_framework("F"),
    "activate_framework": lambda a: a.activate_framework("F"),
    "deactivate_framework": lambda a: a.deactivate_framework("F"),
    "suppress": lambda a: a.suppress("F"),
    "revive": lambda a: a.revive("G"),
    "recover_resources": lambda a: a.recover_resources("F", "S1", SMALL.allocated_to("f"), is_allocated=True),
    "restore_offered": lambda a: a.restore_offered("F", "S2", SMALL.allocated_to("f")),
    "update_allocation": lambda a: a.update_allocation("F", "S1", SMALL.allocated_to("f"), converted()),
    "update_available": lambda a: a.update_available("S2", reserve(reserved())),
    "update_quota": lambda a: a.update_quota("f", Quota(Quantities({"cpus": 1000}), Limits())),
}
UNABLE = {"transition_offered_to_allocated", "request_resources", "update_weights", "update_inverse_offer"}
"""Events that give no run anything to offer: they free nothing, and change no bound."""
OTHERS = {"advance_to", "next_deadline", "metrics", "pause", "resume", "recover"}


def reserved() -> Resources:
    return parse_resources("cpus(f):1")


def converted() -> Any:
    return [
        type(step)(step.consumed.allocated_to("f"), step.converted.allocated_to("f")) for step in reserve(reserved())
    ]


@pytest.mark.parametrize("event", EVENTS)
def test_an_event_ends_the_quiet(event: str, runs: list[int]) -> None:
    allocator, _ = made()
    EVENTS[event](allocator)
    due = allocator.next_deadline()
    assert due is not None
    assert due <= 3.0
    runs.clear()
    allocator.advance_to(3.0)
    assert bool(runs) is bool(allocator.state.tokens())  # with nobody to offer anything to, there is nothing to do


def test_every_event_is_looked_at() -> None:
    abstract: frozenset[str] = HierarchicalAllocator.__mro__[1].__abstractmethods__  # type: ignore[attr-defined]
    assert abstract == EVENTS.keys() | UNABLE | OTHERS


@pytest.mark.parametrize("seconds", [0.4, 1.0, 3.0, 1000.0, 12345.6])
def test_what_becomes_free_after_a_quiet_time_is_offered_at_the_next_moment(seconds: float) -> None:
    allocator, offers = made()
    allocator.advance_to(2.5 + seconds)
    allocator.recover_resources("F", "S1", SMALL.allocated_to("f"), 5.0, is_allocated=True)
    filtered_until = 2.5 + seconds + 5.0
    allocator.advance_to(filtered_until - 0.01)
    assert offers == ["F"]
    allocator.advance_to(filtered_until + 1.0)
    assert offers == ["F", "F"]


seconds = st.sampled_from([0.0, 0.3, 1.0, 2.0, 5.0, 6.0, 17.5, 100.0])
frameworks = st.builds(
    lambda role, cpus, tasks, answer, refuse, after: (role, cpus, tasks, answer, refuse, after),
    st.sampled_from(["a", "b", "a/c"]),
    st.sampled_from([0.5, 1, 3]),
    st.one_of(st.none(), st.integers(1, 5)),
    st.sampled_from(["accept", "accept", "decline", "hold"]),
    st.sampled_from([0.0, 1.0, 3.0, 4.5, 50.0]),
    st.sampled_from([0.0, 0.0, 2.0, 40.0]),
)
agents = st.sampled_from(
    [
        AgentSpec("cpus:4;mem:4096"),
        AgentSpec("cpus:2;mem:1024;cpus(a):3;mem(a):1024", absence=Absence(20.0, 60.0)),
        AgentSpec("cpus:8;mem:8192", launch_delay=2.0),
    ]
)


def stepwise(spec: ClusterSpec, *, skips: bool) -> tuple[Master, VirtualClock]:
    clock = VirtualClock(1000.0)
    master = spec.start(clock=clock)
    assert isinstance(master.allocator, HierarchicalAllocator)
    if not skips:
        master.allocator.allocation_runs._may_skip = False
    return master, clock


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(agents, min_size=1, max_size=3),
    st.lists(frameworks, min_size=1, max_size=3),
    st.sampled_from([TaskOutcome(), TaskOutcome("TASK_FINISHED", 7.0), TaskOutcome("TASK_FAILED", 30.0)]),
    st.lists(seconds, min_size=1, max_size=5),
    st.sampled_from(["documents", "1.11"]),
    st.sampled_from(["1secs", "700ms", "5secs"]),
)
def test_nobody_can_tell_which_runs_were_made(
    hosts: list[AgentSpec],
    wanted: list[tuple[str, float, int | None, Any, float, float]],
    outcome: TaskOutcome,
    pauses: list[float],
    version: str,
    interval: str,
) -> None:
    playing = tuple(
        SimulatedFrameworkSpec(
            f"f{number}",
            (role,),
            parse_resources(f"cpus:{cpus};mem:128"),
            tasks=tasks,
            answer=answer,
            refuse_seconds=refuse,
            after=after,
        )
        for number, (role, cpus, tasks, answer, refuse, after) in enumerate(wanted)
    )
    spec = ClusterSpec(tuple(hosts), version, {"allocation_interval": interval}, playing, outcome)
    both = [stepwise(spec, skips=True), stepwise(spec, skips=False)]
    for pause in pauses:
        for master, clock in both:
            clock.sleep(pause)
            master.advance()
        assert shown(both[0][0]) == shown(both[1][0])
