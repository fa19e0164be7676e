"""A scheduler in this process launches tasks by values; the same launches as JSON have the same effect."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from fake_master.master import Master
from fake_master.services.offer_answers import OfferAnswers
from fake_master.sources.agent_tables import AgentSpec
from fake_master.sources.cluster_file import ClusterSpec
from fake_master.sources.simulated_frameworks import SimulatedFrameworkSpec
from fake_master.state.clock import VirtualClock
from fake_master.state.frameworks import KnownFramework
from fake_master.state.tasks import KnownTask, TaskOutcome
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.messages.resources import list_to_json
from tests.helpers.profiles import examples
from tests.helpers.shown import shown


def accept_as_json(
    answers: OfferAnswers, framework: KnownFramework, offer_id: str, tasks: Sequence[KnownTask], _held: Resources
) -> None:
    """Launch the tasks by the call that a scheduler elsewhere would make."""
    infos = [
        {
            "name": task.id,
            "task_id": {"value": task.id},
            "agent_id": {"value": task.agent_id},
            "command": {"value": "true"},
            "resources": list_to_json(task.resources.allocated_to(None), "POST"),
        }
        for task in tasks
    ]
    answers.accept(framework, [offer_id], [{"type": "LAUNCH", "launch": {"task_infos": infos}}], 0.0)


def started(spec: ClusterSpec, *, as_json: bool) -> tuple[Master, VirtualClock]:
    clock = VirtualClock(1000.0)
    master = spec.start(clock=clock)
    if as_json:
        by_json: Any = partial(accept_as_json, master.offer_answers)
        master.offer_answers.launch = by_json  # type: ignore[method-assign]
    return master, clock


amounts = st.sampled_from([1, 2, 0.1, 0.7, 1.5, 3])
sizes = st.builds(lambda cpus, mem: f"cpus:{cpus};mem:{int(mem * 256)}", amounts, amounts)
agents = st.builds(
    lambda resources, delay: AgentSpec(resources, launch_delay=delay),
    st.sampled_from(
        [
            "cpus:4;mem:4096;disk:100;ports:[31000-31010]",
            "cpus:2.3;mem:1000;cpus(a):3;mem(a):2048",
            "cpus:8;mem:8192;cpus(a):0.4;mem(b):100",
        ]
    ),
    st.sampled_from([0.0, 0.0, 1.5]),
)
frameworks = st.builds(
    lambda role, task, tasks, per_offer, able: (role, task, tasks, per_offer, able),
    st.sampled_from(["a", "b", "a/c"]),
    sizes,
    st.one_of(st.none(), st.integers(1, 6)),
    st.one_of(st.none(), st.integers(1, 3)),
    st.sampled_from([(), ("PARTITION_AWARE",)]),
)


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(agents, min_size=1, max_size=3),
    st.lists(frameworks, min_size=1, max_size=3),
    st.sampled_from([TaskOutcome(), TaskOutcome("TASK_FINISHED", 1.0), TaskOutcome("TASK_FAILED", 0.0, 2.0)]),
    st.sampled_from([{}, {"oversubscribe_reservations": "true"}]),
    st.sampled_from(["documents", "1.11"]),
)
def test_both_roads_lead_to_the_same(
    hosts: list[AgentSpec],
    wanted: list[tuple[str, str, int | None, int | None, tuple[str, ...]]],
    outcome: TaskOutcome,
    flags: dict[str, str],
    version: str,
) -> None:
    playing = tuple(
        SimulatedFrameworkSpec(
            f"f{number}",
            (role,),
            parse_resources(task),
            tasks=tasks,
            per_offer=per_offer,
            principal="p",
            capabilities=("MULTI_ROLE", "RESERVATION_REFINEMENT", *able),
        )
        for number, (role, task, tasks, per_offer, able) in enumerate(wanted)
    )
    spec = ClusterSpec(tuple(hosts), version, flags, playing, outcome)
    by_values, by_json = started(spec, as_json=False), started(spec, as_json=True)
    for seconds in (0.0, 1.0, 0.4, 3.0):
        for master, clock in (by_values, by_json):
            clock.sleep(seconds)
            master.advance()
        assert shown(by_values[0]) == shown(by_json[0])


def test_an_offer_that_is_gone_loses_the_tasks_on_both_roads() -> None:
    spec = ClusterSpec(
        ("cpus:4;mem:4096",),
        "1.11",
        {},
        (SimulatedFrameworkSpec("f", ("a",), parse_resources("cpus:1"), answer="hold"),),
    )
    found = []
    for as_json in (False, True):
        master, _ = started(spec, as_json=as_json)
        master.advance()
        (framework,) = master.state.frameworks.values()
        (offer,) = framework.offers.values()
        held = parse_resources("cpus:1").allocated_to("a")
        task = KnownTask("t", framework.id, offer.agent_id, {}, held, "a")
        master.offers.rescind(offer)
        master.offer_answers.launch(framework, offer.id, [task], held)
        assert not framework.all_tasks()
        found.append(shown(master))
    assert found[0] == found[1]
    assert found[0]["metrics"]["master/task_lost/source_master/reason_invalid_offers"] == 1.0
