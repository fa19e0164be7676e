"""Maintenance, and agents that go out of service or leave, as frameworks and operators see them."""

import json
from typing import Any

import pytest

from tests.conformance.callers.frameworks import HEADERS, Framework
from tests.conformance.callers.joining import quick
from tests.conformance.callers.subscribers import Subscription
from tests.conformance.masters.cluster import Cluster

ONE = quick("cpus:4;mem:2048;disk:100;ports:[31000-31009]")
TWO = quick("cpus:4;mem:2048;disk:100;ports:[31000-31009]", "cpus:4;mem:2048;disk:100;ports:[31000-31009]")
SPAN = {"start": {"nanoseconds": 1895232742000000000}, "duration": {"nanoseconds": 3600000000000}}
DONE = 200


def machine_of(agent: dict[str, Any]) -> dict[str, str]:
    """The machine that an agent is on: its host name and its address."""
    return {"hostname": agent["hostname"], "ip": agent["pid"].partition("@")[2].partition(":")[0]}


def schedule(master: Cluster, *machines: dict[str, str]) -> None:
    windows = [{"machine_ids": list(machines), "unavailability": SPAN}] if machines else []
    answer = master.request("POST", "/maintenance/schedule", content=json.dumps({"windows": windows}))
    assert answer.status == DONE, answer


def machines(master: Cluster, path: str, *named: dict[str, str]) -> None:
    answer = master.request("POST", path, content=json.dumps(list(named)))
    assert answer.status == DONE, answer


def about(master: Cluster, call: str, agent_id: str, **more: Any) -> int:
    return master.call(call, **{call.lower(): {"agent_id": {"value": agent_id}, **more}}).status


def watch(master: Cluster) -> Subscription:
    return master.subscribers.open("/api/v1", '{"type":"SUBSCRIBE"}', HEADERS)


def hears(master: Cluster, operator: Subscription, kind: str) -> dict[str, Any]:
    def found() -> list[dict[str, Any]]:
        return [event for event in operator.events if event["type"] == kind]

    assert master.subscribers.wait(lambda: bool(found())), operator.events
    return found()[0]


def asked(framework: Framework) -> dict[str, Any]:
    """The one inverse offer that comes next."""
    [inverse] = framework.next("INVERSE_OFFERS")["inverse_offers"]["inverse_offers"]
    return inverse


def answer(framework: Framework, call: str, inverse: dict[str, Any], refuse: float) -> None:
    body = {"inverse_offer_ids": [inverse["id"]], "filters": {"refuse_seconds": refuse}}
    named: dict[str, Any] = {call.lower(): body}
    framework.ask(call, **named)


def said(master: Cluster) -> list[tuple[str, str]]:
    [machine] = master.read("/maintenance/status")["draining_machines"]
    return [(entry["framework_id"]["value"], entry["status"]) for entry in machine.get("statuses", ())]


def test_a_schedule_takes_back_offers_and_makes_new_ones_that_say_when(start: Any) -> None:
    with start(ONE) as (master, join):
        framework = join("r").subscribe()
        [first] = framework.offers()
        assert "unavailability" not in first
        machine = machine_of(master.agents()[0])
        schedule(master, {**machine, "hostname": machine["hostname"].upper()})
        assert framework.next("RESCIND")["rescind"]["offer_id"] == first["id"]
        [second] = framework.offers()
        assert second["unavailability"] == SPAN
        inverse = asked(framework)
        assert {name: inverse[name] for name in ("agent_id", "framework_id", "unavailability", "url")} == {
            "agent_id": first["agent_id"],
            "framework_id": {"value": framework.id},
            "unavailability": SPAN,
            "url": first["url"],
        }
        assert set(inverse) == {"id", "url", "framework_id", "agent_id", "unavailability"}
        assert master.read("/maintenance/status") == {"draining_machines": [{"id": machine}]}
        framework.none_of("INVERSE_OFFERS")
        schedule(master)
        assert framework.next("RESCIND")["rescind"]["offer_id"] == second["id"]
        rescinded = framework.next("RESCIND_INVERSE_OFFER")["rescind_inverse_offer"]
        assert rescinded == {"inverse_offer_id": inverse["id"]}
        [third] = framework.offers()
        assert "unavailability" not in third
        framework.none_of("INVERSE_OFFERS")


def test_a_machine_without_agents_is_maintained_without_asking_anybody_but_offers_go_all_the_same(start: Any) -> None:
    with start(ONE) as (master, join):
        framework = join("r").subscribe()
        [offer] = framework.offers()
        schedule(master, {"hostname": master.agents()[0]["hostname"]})
        assert framework.next("RESCIND")["rescind"]["offer_id"] == offer["id"]
        assert "unavailability" not in framework.offers()[0]
        framework.none_of("INVERSE_OFFERS")


def test_answers_to_inverse_offers_are_kept_until_the_schedule_changes(start: Any) -> None:
    with start(ONE) as (master, join):
        framework = join("r").subscribe()
        machine = machine_of(master.agents()[0])
        schedule(master, machine)
        first = asked(framework)
        answer(framework, "DECLINE_INVERSE_OFFERS", first, 0)
        second = asked(framework)
        assert second["id"] != first["id"]
        assert said(master) == [(framework.id, "DECLINE")]
        answer(framework, "ACCEPT_INVERSE_OFFERS", second, 1000)
        framework.none_of("INVERSE_OFFERS")
        assert said(master) == [(framework.id, "ACCEPT")]
        answer(framework, "DECLINE_INVERSE_OFFERS", second, 0)
        assert said(master) == [(framework.id, "ACCEPT")]
        schedule(master, machine)
        asked(framework)
        assert said(master) == []


def test_a_machine_that_goes_down_takes_its_agents_along(start: Any) -> None:
    with start(ONE) as (master, join):
        framework = join("r").subscribe()
        operator = watch(master)
        [agent] = master.agents()
        machine = machine_of(agent)
        schedule(master, machine)
        inverse = asked(framework)
        held = len(framework.stream.events)
        machines(master, "/machine/down", machine)
        assert framework.next("RESCIND_INVERSE_OFFER")["rescind_inverse_offer"]["inverse_offer_id"] == inverse["id"]
        assert framework.next("FAILURE")["failure"] == {"agent_id": {"value": agent["id"]}}
        kinds = ["RESCIND", "RESCIND_INVERSE_OFFER", "FAILURE"]
        told = [event["type"] for event in framework.stream.events[held:]]
        assert [kind for kind in told if kind in kinds] == kinds
        removed = hears(master, operator, "AGENT_REMOVED")
        assert removed == {"type": "AGENT_REMOVED", "agent_removed": {"agent_id": {"value": agent["id"]}}}
        assert master.read("/slaves") == {"slaves": [], "recovered_slaves": []}
        assert master.read("/maintenance/status") == {"down_machines": [machine]}
        for call in ("DRAIN_AGENT", "DEACTIVATE_AGENT", "REACTIVATE_AGENT"):
            assert about(master, call, agent["id"]) == 400
        assert about(master, "MARK_AGENT_GONE", agent["id"]) == 404
        machines(master, "/machine/up", machine)
        assert master.read("/maintenance/status") == {}


def test_an_agent_out_of_service_is_not_offered_and_back_in_service_is(start: Any) -> None:
    with start(TWO) as (master, join):
        framework = join("r").subscribe()
        offers = {offer["agent_id"]["value"]: offer for offer in framework.offers(agents=2)}
        first = master.agents()[0]["id"]
        assert about(master, "DEACTIVATE_AGENT", first) == DONE
        assert framework.next("RESCIND")["rescind"]["offer_id"] == offers[first]["id"]
        framework.none_of("OFFERS")
        shown = {agent["id"]: (agent["active"], agent["deactivated"]) for agent in master.read("/slaves")["slaves"]}
        assert shown == {agent: (agent != first, agent == first) for agent in offers}
        state = master.read("/state")
        assert (state["activated_slaves"], state["deactivated_slaves"], state["unreachable_slaves"]) == (1, 1, 0)
        assert about(master, "REACTIVATE_AGENT", first) == DONE
        assert [offer["agent_id"]["value"] for offer in framework.offers()] == [first]


def test_an_idle_agent_is_drained_at_once(start: Any) -> None:
    with start(ONE) as (master, join):
        framework = join("r").subscribe()
        framework.offers()
        agent_id = master.agents()[0]["id"]
        assert about(master, "DRAIN_AGENT", agent_id, max_grace_period={"seconds": 5, "nanos": 3}) == DONE
        framework.next("RESCIND")

        def is_drained() -> bool:
            return master.agents()[0].get("drain_info", {}).get("state") == "DRAINED"

        assert master.subscribers.wait(is_drained), master.agents()
        framework.none_of("OFFERS")
        [agent] = master.agents()
        config = {"max_grace_period": {"nanoseconds": 5000000003}, "mark_gone": False}
        assert (agent["active"], agent["deactivated"]) == (False, True)
        assert agent["drain_info"] == {"state": "DRAINED", "config": config}
        assert isinstance(agent["estimated_drain_start_time_seconds"], float)
        [entry] = master.call("GET_AGENTS").json()["get_agents"]["agents"]
        assert entry["drain_info"] == agent["drain_info"]
        start_time = entry["estimated_drain_start_time"]["nanoseconds"] / 1e9
        assert start_time == int(agent["estimated_drain_start_time_seconds"])
        assert about(master, "REACTIVATE_AGENT", agent_id) == DONE
        assert "drain_info" not in master.agents()[0]
        framework.offers()


@pytest.mark.parametrize("how", ["MARK_AGENT_GONE", "DRAIN_AGENT"])
def test_an_agent_is_given_up(start: Any, how: str) -> None:
    with start(ONE) as (master, join):
        operator = watch(master)
        aware = join("r", capabilities=("MULTI_ROLE", "PARTITION_AWARE")).subscribe()
        plain = join("q").subscribe()
        agent_id = aware.offers()[0]["agent_id"]["value"]
        more = {"mark_gone": True} if how == "DRAIN_AGENT" else {}
        assert about(master, how, agent_id, **more) == DONE
        aware.next("RESCIND")
        for framework in (aware, plain):
            assert framework.next("FAILURE")["failure"] == {"agent_id": {"value": agent_id}}
        assert master.read("/slaves")["slaves"] == []
        assert about(master, "MARK_AGENT_GONE", agent_id) == DONE
        assert about(master, "DRAIN_AGENT", agent_id) == 400
        task = {"task_id": {"value": "t"}, "agent_id": {"value": agent_id}}
        for framework, state in ((aware, "TASK_GONE_BY_OPERATOR"), (plain, "TASK_LOST")):
            framework.ask("RECONCILE", reconcile={"tasks": [task]})
            assert framework.next("UPDATE")["update"]["status"]["state"] == state
        assert not [event for event in operator.events if event["type"] == "AGENT_REMOVED"]


OUT_OF_SERVICE: list[tuple[str, dict[str, Any], int]] = [
    ("DEACTIVATE_AGENT", {}, 409),
    ("DRAIN_AGENT", {}, 409),
    ("DRAIN_AGENT", {"mark_gone": True}, 400),
]


@pytest.mark.parametrize(("how", "more", "status"), OUT_OF_SERVICE)
def test_what_was_said_of_an_agent_that_is_gone_is_forgotten_once(
    start: Any, how: str, more: dict[str, Any], status: int
) -> None:
    with start(ONE) as (master, _):
        [agent] = master.agents()

        def is_out() -> bool:
            return all(one.get("drain_info", {}).get("state") != "DRAINING" for one in master.agents())

        assert about(master, how, agent["id"], **more) == DONE
        assert master.subscribers.wait(is_out)
        assert about(master, "MARK_AGENT_GONE", agent["id"]) == DONE
        assert about(master, "REACTIVATE_AGENT", agent["id"]) == status
        assert about(master, "REACTIVATE_AGENT", agent["id"]) == 400


def test_a_framework_that_fails_over_is_asked_again(start: Any) -> None:
    with start(ONE) as (master, join):
        framework = join("r", failover_timeout=100.0).subscribe()
        schedule(master, machine_of(master.agents()[0]))
        first = asked(framework)
        framework.subscribe()
        second = asked(framework)
        assert second["id"] != first["id"]
        answer(framework, "DECLINE_INVERSE_OFFERS", first, 1000)
        answer(framework, "ACCEPT_INVERSE_OFFERS", {"id": {"value": "none such"}}, 1000)
        assert said(master) == []
        framework.stream.hang_up()
        framework.subscribe()
        assert asked(framework)["id"] != second["id"]


def test_what_a_framework_said_outlives_it(start: Any) -> None:
    with start(ONE) as (master, join):
        framework = join("r").subscribe()
        schedule(master, machine_of(master.agents()[0]))
        answer(framework, "DECLINE_INVERSE_OFFERS", asked(framework), 1000)
        assert said(master) == [(framework.id, "DECLINE")]
        framework.leave()
        assert framework.closed()
        assert said(master) == [(framework.id, "DECLINE")]


def test_who_holds_nothing_there_is_not_asked(start: Any) -> None:
    with start(ONE) as (master, join):
        idle = join("q").subscribe()
        [offer] = idle.offers()
        idle.decline([offer], 1000.0)
        schedule(master, machine_of(master.agents()[0]))
        idle.none_of("INVERSE_OFFERS")
        idle.none_of("OFFERS")
        assert about(master, "DEACTIVATE_AGENT", offer["agent_id"]["value"]) == DONE
        idle.ask("REVIVE")
        idle.none_of("OFFERS")
