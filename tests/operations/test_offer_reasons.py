"""Reasons that need a master in a particular state: each from figures as masters tell them."""

from dataclasses import replace
from typing import Any

import pytest

from mesosctl.api.agents import AgentUsage
from mesosctl.api.frameworks import FrameworkStatus, RevocableTask, revocable_tasks
from mesosctl.model.offers.offers import Reason
from mesosctl.model.quantities import Quantities, Quota
from mesosctl.model.quota.status import RoleUsage
from mesosctl.model.resource import Reservation
from mesosctl.model.resources import Resources
from mesosctl.model.text import parse_resources
from mesosctl.operations.offer_context import OfferContext
from mesosctl.operations.offer_reasons import all_reasons

KNOWN_CAPABILITIES = frozenset({"MULTI_ROLE", "HIERARCHICAL_ROLE", "RESERVATION_REFINEMENT"})


def agent(number: int, resources: str = "cpus:1;mem:100", **changes: Any) -> AgentUsage:
    plain = AgentUsage(
        id=f"S{number}",
        hostname=f"host{number}",
        active=True,
        deactivated=False,
        draining=False,
        capabilities=KNOWN_CAPABILITIES,
        total=parse_resources(resources),
        used=Resources(),
        offered=Resources(),
    )
    return replace(plain, **changes)


FRAMEWORK = FrameworkStatus(
    id="F",
    name="shop",
    roles=("ads",),
    active=True,
    connected=True,
    capabilities=frozenset({"MULTI_ROLE", "RESERVATION_REFINEMENT"}),
    offer_constraints={},
    offers={},
)
SCENE = OfferContext(
    framework=FRAMEWORK,
    role="ads",
    everybody=[FRAMEWORK],
    agents=[agent(1), agent(2), agent(3)],
    awaited=0,
    usage={"ads": RoleUsage(allocated=Quantities(), offered=Quantities(), consumed=Quantities())},
    quotas={},
    figures={"master/uptime_secs": 30.0},
    flags={},
)


def reason(name: str, context: OfferContext) -> Reason:
    return next(found for found in all_reasons(context) if found.name == name)


PROMISED = {"web": Quota(guarantees=Quantities({"cpus": 1000}))}


@pytest.mark.parametrize(
    ("present", "awaited", "uptime", "quotas", "holds"),
    [
        (3, 2, 30.0, PROMISED, True),
        (4, 1, 30.0, PROMISED, False),
        (3, 2, 601.0, PROMISED, False),
        (3, 2, 30.0, {}, False),
        (3, 0, 30.0, PROMISED, False),
        (3, 2, None, PROMISED, None),
    ],
)
def test_recovery_mode(
    present: int, awaited: int, uptime: float | None, quotas: dict[str, Quota], holds: bool | None
) -> None:
    figures = {} if uptime is None else {"master/uptime_secs": uptime}
    context = replace(SCENE, agents=[agent(n) for n in range(present)], awaited=awaited, quotas=quotas, figures=figures)
    found = reason("recovery mode", context)
    assert found.holds is holds
    if awaited:
        assert f"{present} of 5 agents are back" in found.sentence
        assert "until 4 are, or for 600 s" in found.sentence


def test_recovery_mode_goes_by_the_masters_flags() -> None:
    flags = {"allocator_agent_recovery_factor": "0.2", "allocator_recovery_timeout": "1hrs"}
    context = replace(SCENE, awaited=2, quotas=PROMISED, flags=flags)
    found = reason("recovery mode", context)
    assert (found.holds, "until 1 are, or for 3600 s" in found.sentence) == (False, True)


@pytest.mark.parametrize(("text", "seconds", "holds"), [("1weeks", "604800", True), ("0secs", "0", False)])
def test_recovery_mode_reads_every_duration_that_a_master_has(text: str, seconds: str, *, holds: bool) -> None:
    context = replace(SCENE, awaited=2, quotas=PROMISED, flags={"allocator_recovery_timeout": text})
    found = reason("recovery mode", context)
    assert (found.holds, f"or for {seconds} s" in found.sentence) == (holds, True)


def test_recovery_mode_does_not_fail_on_a_flag_of_another_kind() -> None:
    context = replace(SCENE, awaited=2, quotas=PROMISED, flags={"allocator_recovery_timeout": "soon"})
    assert reason("recovery mode", context).holds is None


def test_agents_out_of_service_are_told_apart() -> None:
    out = [
        agent(1, active=False, deactivated=True, draining=True),
        agent(2, active=False, deactivated=True),
        agent(3, active=False),
    ]
    found = reason("no agent in service", replace(SCENE, agents=out))
    assert found == Reason(
        "no agent in service", True, "0 of 3 agents are in service, 1 draining, 1 deactivated, 1 disconnected"
    )
    found = reason("no agent in service", replace(SCENE, agents=[*out[:1], agent(4)]))
    assert (found.holds, found.sentence) == (False, "1 of 2 agents are in service, 1 draining")


def test_gpus_are_for_those_who_ask_for_them() -> None:
    context = replace(SCENE, agents=[agent(1, "cpus:1;mem:100;gpus:1"), agent(2, "cpus:1;mem:100;gpus:2")])
    found = reason("missing capability", context)
    says = "of 2 agents with enough 2 are excluded because the framework lacks: GPU_RESOURCES on 2"
    assert (found.holds, found.sentence) == (True, says)
    assert reason("missing capability", replace(context, flags={"filter_gpu_resources": "false"})).holds is False
    capable = replace(FRAMEWORK, capabilities=FRAMEWORK.capabilities | {"GPU_RESOURCES"})
    assert reason("missing capability", replace(context, framework=capable)).holds is False


def test_agents_too_old_for_several_roles() -> None:
    old = [agent(1, capabilities=frozenset())]
    found = reason("missing capability", replace(SCENE, agents=old))
    assert (found.holds, found.sentence.endswith("MULTI_ROLE of the agent on 1")) == (True, True)


def test_remote_agents_are_for_those_who_know_of_regions() -> None:
    domain = '{"fault_domain": {"region": {"name": "here"}, "zone": {"name": "a"}}}'
    agents = [agent(1, region="there"), agent(2, region="there"), agent(3, region="here")]
    context = replace(SCENE, agents=agents, flags={"domain": domain})
    found = reason("missing capability", context)
    assert (found.holds, found.sentence.endswith("REGION_AWARE on 2")) == (False, True)
    assert reason("missing capability", replace(context, agents=agents[:2])).holds is True
    aware = replace(FRAMEWORK, capabilities=FRAMEWORK.capabilities | {"REGION_AWARE"})
    assert reason("missing capability", replace(context, framework=aware, agents=agents[:2])).holds is False


LENDS = {"oversubscribe_reservations": "true", "lendable_names": "cpus, mem"}


def lent(task: str, executor: str | None, resources: str, started: float | None = None) -> RevocableTask:
    entries = Resources(replace(entry, revocable=True) for entry in parse_resources(resources))
    return RevocableTask(task, "T", "S1", executor, entries, started)


def test_a_task_that_is_evicted_goes_with_its_executor() -> None:
    tasks = [lent("a", "e", "cpus:1", 1.0), lent("b", None, "cpus:2", 2.0), lent("c", "e", "cpus:1", 3.0)]
    own = Resources(
        replace(entry, reservations=(Reservation("DYNAMIC", "ads"),)) for entry in parse_resources("cpus:4")
    )
    context = replace(SCENE, agents=[agent(1, total=own)], revocable_tasks=tasks, flags=LENDS)
    assert "in this order: T/b, T/a, T/c on host1" in reason("lent to others", context).sentence
    free = parse_resources("cpus:1") + own
    used = parse_resources("cpus:1")
    context = replace(context, agents=[agent(1, total=free, used=used)], revocable_tasks=[tasks[0], tasks[2]])
    assert "in this order: T/a, T/c on host1" in reason("lent to others", context).sentence


def test_names_that_can_be_lent_may_have_blanks_around_them() -> None:
    context = replace(
        SCENE, agents=[agent(1, "cpus:1;mem:100")], revocable_tasks=[lent("a", None, "mem:50", 1.0)], flags=LENDS
    )
    assert "T/a on host1" in reason("lent to others", context).sentence


def test_what_an_executor_holds_counts_once_and_with_its_tasks() -> None:
    def cpus(amount: float, *, is_lent: bool) -> dict[str, Any]:
        plain = {"name": "cpus", "type": "SCALAR", "scalar": {"value": amount}, "allocation_info": {"role": "x"}}
        return plain | ({"revocable": {}} if is_lent else {})

    def task(name: str, started: float) -> dict[str, Any]:
        return {
            "task_id": {"value": name},
            "framework_id": {"value": "F"},
            "agent_id": {"value": "S1"},
            "executor_id": {"value": "e"},
            "state": "TASK_RUNNING",
            "statuses": [{"timestamp": started}],
            "resources": [cpus(1, is_lent=False)],
        }

    info = {"executor_id": {"value": "e"}, "framework_id": {"value": "F"}, "resources": [cpus(2, is_lent=True)]}
    found = revocable_tasks(
        {"get_tasks": {"tasks": [task("late", 2.0), task("early", 1.0)]}},
        {"get_executors": {"executors": [{"executor_info": info, "agent_id": {"value": "S1"}}]}},
    )
    assert [(one.id, one.resources.scalar_quantities()["cpus"]) for one in found] == [("early", 3000), ("late", 1000)]


def constrained(**selector: str) -> OfferContext:
    one = {"selector": selector, "predicate": {"text_equals": {"value": "a"}}}
    constraints = {"role_constraints": {"ads": {"groups": [{"attribute_constraints": [one]}]}}}
    agents = [agent(1, attributes=(("rack", "a"),)), agent(2, zone="a", region="eu"), agent(3)]
    return replace(SCENE, framework=replace(FRAMEWORK, offer_constraints=constraints), agents=agents)


@pytest.mark.parametrize("selector", [{"attribute_name": "rack"}, {"pseudoattribute_type": "ZONE"}])
def test_offer_constraints_are_followed(selector: dict[str, str]) -> None:
    found = reason("offer constraints", constrained(**selector))
    assert found.holds is False
    assert "of 3 agents with enough the framework's own constraints exclude 2 (" in found.sentence


def test_offer_constraints_that_exclude_everybody() -> None:
    found = reason("offer constraints", constrained(pseudoattribute_type="HOSTNAME"))
    assert (found.holds, found.sentence.endswith("exclude 3 (host1, host2, host3)")) == (True, True)


def test_offer_constraints_of_another_role() -> None:
    context = constrained(attribute_name="rack")
    assert reason("offer constraints", replace(context, role="web")).holds is False
