"""Operations on their way to an agent that is slow, or that a message does not reach."""

from typing import Any

import pytest

from fake_master.sources.agent_tables import AgentSpec
from tests.helpers.lab import Lab, Scheduler, scalar

LARGE = "cpus:4;mem:2048;disk:1000"


def owned(cpus: float) -> dict[str, Any]:
    return scalar("cpus", cpus) | {"reservations": [{"type": "DYNAMIC", "role": "f"}]}


def reserve(framework: Scheduler, cpus: float = 1.0) -> str:
    """Reserve with an id; the id of the agent."""
    (offer,) = framework.offers()
    operation = {"type": "RESERVE", "id": {"value": "o"}, "reserve": {"resources": [owned(cpus)]}}
    framework.ask("ACCEPT", offer_ids=[offer["id"]], operations=[operation], filters={"refuse_seconds": 1000})
    return str(offer["agent_id"]["value"])


def statuses(framework: Scheduler) -> list[str]:
    return [told["status"]["state"] for told in framework.heard("UPDATE_OPERATION_STATUS")]


def shown(lab: Lab) -> list[str]:
    return [one["latest_status"]["state"] for one in lab.call("GET_OPERATIONS").get("operations", ())]


def reconciled(framework: Scheduler, agent_id: str) -> list[str]:
    wanted = {"operation_id": {"value": "o"}, "agent_id": {"value": agent_id}}
    framework.ask("RECONCILE_OPERATIONS", operations=[wanted])
    return statuses(framework)


def test_an_operation_is_pending_until_the_agent_has_it() -> None:
    lab = Lab(AgentSpec(LARGE, delay=5.0))
    framework = Scheduler(lab)
    agent_id = reserve(framework)
    assert (statuses(framework), shown(lab)) == ([], ["OPERATION_PENDING"])
    assert reconciled(framework, agent_id) == ["OPERATION_PENDING"]
    assert lab.metric("operations/finished") == 0
    lab.wait(5)
    assert (statuses(framework), shown(lab)) == (["OPERATION_FINISHED"], ["OPERATION_FINISHED"])
    assert lab.metric("operations/finished") == 1


def test_an_operation_is_acknowledged_by_its_own_framework_alone() -> None:
    lab = Lab(LARGE)
    first = Scheduler(lab)
    reserve(first)
    (told,) = [one["status"] for one in first.heard("UPDATE_OPERATION_STATUS")]
    body = {"operation_id": told["operation_id"], "agent_id": told["agent_id"], "uuid": told["uuid"]["value"]}
    Scheduler(lab, name="another").ask("ACKNOWLEDGE_OPERATION_STATUS", **body)
    assert shown(lab) == ["OPERATION_FINISHED"]
    first.ask("ACKNOWLEDGE_OPERATION_STATUS", **body)
    assert shown(lab) == []


def test_of_two_operations_with_one_id_the_later_is_reconciled() -> None:
    lab = Lab(LARGE, AgentSpec(LARGE, delay=5.0))
    framework = Scheduler(lab)
    for offer in framework.offers():
        operation = {"type": "RESERVE", "id": {"value": "o"}, "reserve": {"resources": [owned(1.0)]}}
        framework.ask("ACCEPT", offer_ids=[offer["id"]], operations=[operation], filters={"refuse_seconds": 1000})
    assert shown(lab) == ["OPERATION_FINISHED", "OPERATION_PENDING"]
    assert statuses(framework) == ["OPERATION_FINISHED"]
    assert reconciled(framework, lab.agents[1]["id"]) == ["OPERATION_PENDING"]


def test_every_operation_of_an_agent_ends_with_it_and_none_of_another() -> None:
    lab = Lab(*[AgentSpec(LARGE, delay=5.0)] * 2)
    framework = Scheduler(lab)
    first, second = framework.offers()
    for offer, names in ((first, "ab"), (second, "c")):
        operations = [
            {"type": "RESERVE", "id": {"value": name}, "reserve": {"resources": [owned(1.0)]}} for name in names
        ]
        framework.ask("ACCEPT", offer_ids=[offer["id"]], operations=operations, filters={"refuse_seconds": 1000})
    lab.about("MARK_AGENT_GONE", first["agent_id"]["value"])
    told = [one["status"] for one in framework.heard("UPDATE_OPERATION_STATUS")]
    assert [(one["operation_id"]["value"], one["state"]) for one in told] == [
        (name, "OPERATION_GONE_BY_OPERATOR") for name in "ab"
    ]
    assert shown(lab) == ["OPERATION_PENDING"]


@pytest.mark.parametrize("how", ["gone", "down"])
def test_an_operation_ends_with_its_agent(how: str) -> None:
    lab = Lab(AgentSpec(LARGE, delay=5.0))
    framework = Scheduler(lab)
    agent_id = reserve(framework)
    if how == "gone":
        lab.about("MARK_AGENT_GONE", agent_id)
    else:
        lab.take_down()
    told = statuses(framework)
    assert (told, shown(lab)) == (["OPERATION_GONE_BY_OPERATOR"] if how == "gone" else [], [])
    lab.wait(20)
    assert statuses(framework) == []
    assert reconciled(framework, agent_id) == ["OPERATION_GONE_BY_OPERATOR" if how == "gone" else "OPERATION_UNKNOWN"]


def test_a_lost_message_is_made_good_by_the_next_one_of_the_documents_master() -> None:
    lab = Lab(AgentSpec(LARGE, loses=1), version="documents")
    agent = next(iter(lab.master.state.agents.values()))
    body = {"agent_id": {"value": agent.id}, "resources": [owned(1.0)]}
    lab.call("RESERVE_RESOURCES", **body)
    assert agent.applied != agent.total
    lab.call("RESERVE_RESOURCES", **body)
    assert agent.applied == agent.total
    assert [entry.value for entry in agent.applied if entry.is_reserved] == [2000]
