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
    lab = Lab(AgentSpec(LARGE, loses=1), version="1.4")
    agent = next(iter(lab.master.state.agents.values()))
    body = {"agent_id": {"value": agent.id}, "resources": [owned(1.0)]}
    lab.call("RESERVE_RESOURCES", **body)
    assert agent.applied != agent.total
    lab.call("RESERVE_RESOURCES", **body)
    assert agent.applied == agent.total
    assert [entry.value for entry in agent.applied if entry.is_reserved] == [2000]
