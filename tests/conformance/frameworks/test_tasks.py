"""Launching, groups, killing and shutting down.

On the real master tasks do not run here: an executor ends at once.  What it is told of that is compared too.
"""

from typing import Any

import pytest

from mesosctl.mesos.messages.protobuf_json.releases import has
from tests.conformance.callers.frameworks import HEADERS
from tests.conformance.callers.operations import reserve, unreserve
from tests.conformance.callers.owning import owned
from tests.conformance.callers.tasks import SETUP, custom, executor, group, joined, launch, refusal, task, told
from tests.conformance.masters.carriers import Carrier, skip_before
from tests.conformance.scenarios.scenario import scalars


def test_launches_are_counted_and_empty_ones_decline(start: Any) -> None:
    with start(SETUP) as (master, join):
        framework = joined(join)

        def figures() -> list[float]:
            found = master.read("/metrics/snapshot")
            names = ["messages_launch_tasks", "messages_decline_offers", "tasks_error"]
            names += ["task_error/source_master/reason_task_invalid", f"frameworks/f/{framework.id}/operations/launch"]
            return [found.get(f"master/{name}", 0.0) for name in names]

        offer = framework.offers()[0]
        framework.accept([offer], launch(task(offer, "t", cpus=100)))
        refusal(framework, "t")
        assert figures() == [1.0, 0.0, 1.0, 1.0, 0.0]
        framework.accept(framework.offers(), launch())
        framework.accept(framework.offers(), group(executor(framework), task(offer, "t", cpus=100)))
        refusal(framework, "t")
        assert figures() == [1.0, 1.0, 2.0, 1.0, 0.0]


def test_what_is_told_when_an_executor_ends(start: Any, carrier: Carrier) -> None:
    """FAILURE names it, unless it is one that the agent made for a command."""
    if carrier.name == "real":
        skip_before("1.10.0", carrier, "an agent in the master's process does not always report that an executor ended")
    with start(SETUP) as (master, join):
        framework = joined(join)
        offer = framework.offers()[0]
        framework.accept([offer], group(executor(framework), task(offer, "g1"), task(offer, "g2", cpus=0.5)))
        if carrier.name != "real":
            for name in ("g1", "g2"):
                framework.ask("KILL", kill={"task_id": {"value": name}, "agent_id": offer["agent_id"]})
        failure = framework.next("FAILURE")["failure"]
        assert (failure["agent_id"], failure["executor_id"]) == (offer["agent_id"], {"value": "e"})
        assert isinstance(failure["status"], int)
        figures = master.read("/metrics/snapshot")
        assert figures["master/messages_exited_executor"] == 1.0
        if has(carrier.profile.release, "1.7.3"):
            assert figures[f"master/frameworks/f/{framework.id}/events/failure"] == 1.0
            assert figures[f"master/frameworks/f/{framework.id}/operations/launch_group"] == 1.0
        assert not master.call("GET_EXECUTORS").json()["get_executors"].get("executors")


def test_operators_hear_of_tasks(start: Any, carrier: Carrier) -> None:
    with start(SETUP) as (master, join):
        listener = master.subscribers.open("/api/v1", '{"type":"SUBSCRIBE"}', HEADERS)
        framework = joined(join)
        offer = framework.offers()[0]
        framework.accept([offer], launch(task(offer, "t")))

        def heard(*kinds: str) -> list[dict[str, Any]]:
            return [event for event in listener.events if event["type"] in kinds]

        assert master.subscribers.wait(lambda: bool(heard("TASK_UPDATED")))
        added, *_ = heard("TASK_ADDED", "TASK_UPDATED")
        own = [
            {"name": name, "type": "SCALAR", "scalar": {"value": value}, "allocation_info": {"role": "ads"}}
            for name, value in (("cpus", 1.0), ("mem", 32.0))
        ]
        assert added == {
            "type": "TASK_ADDED",
            "task_added": {
                "task": {
                    "name": "t",
                    "task_id": {"value": "t"},
                    "framework_id": {"value": framework.id},
                    "agent_id": offer["agent_id"],
                    "state": "TASK_STAGING",
                    "resources": own,
                }
            },
        }
        (shown,) = master.call("GET_TASKS").json()["get_tasks"]["tasks"]
        keys = "agent_id framework_id name resources state status_update_state status_update_uuid statuses task_id"
        assert sorted(shown) == keys.split()
        framework.leave()
        assert master.subscribers.wait(lambda: bool(heard("FRAMEWORK_REMOVED")))
        *_, updated, removed = heard("TASK_UPDATED", "FRAMEWORK_REMOVED")
        last = updated["task_updated"]["status"]
        # On a real agent, it has ended before.
        if carrier.name != "real" or carrier.profile.operators_hear_of_ended_tasks:
            assert (last["state"], last["reason"]) == ("TASK_KILLED", "REASON_FRAMEWORK_REMOVED")
            assert last["message"] == f"Framework {framework.id} removed"
        assert removed["type"] == "FRAMEWORK_REMOVED"
        listener.hang_up()


def test_calls_about_executors_and_agents_that_are_not_there(start: Any, carrier: Carrier) -> None:
    with start(SETUP) as (master, join):
        framework = joined(join)
        agent = framework.offers()[0]["agent_id"]
        for where in (agent, {"value": "zz"}):
            framework.ask("SHUTDOWN", shutdown={"agent_id": where, "executor_id": {"value": "nope"}})
            framework.ask("MESSAGE", message={"agent_id": where, "executor_id": {"value": "nope"}, "data": "aGk="})
        for event in ("UPDATE", "FAILURE", "ERROR"):
            framework.none_of(event)
        figures = master.read("/metrics/snapshot")
        kinds = ("valid", "invalid")
        assert [figures[f"master/{kind}_framework_to_executor_messages"] for kind in kinds] == [1.0, 1.0]
        if has(carrier.profile.release, "1.7.3"):
            assert figures[f"master/frameworks/f/{framework.id}/calls/shutdown"] == 2.0


def not_really(carrier: Carrier) -> None:
    if carrier.name == "real":
        pytest.skip("tasks do not run on the real agents here")


def test_a_task_may_ask_for_nothing_by_name(start: Any, carrier: Carrier) -> None:
    not_really(carrier)  # one takes it, and fails where it would run
    with start(SETUP) as (_, join):
        framework = joined(join)
        offer = framework.offers()[0]
        framework.accept([offer], launch(task(offer, "t", resources=scalars(cpus=0))))
        assert [told(framework)["state"] for _ in range(2)] == ["TASK_STARTING", "TASK_RUNNING"]
        framework.ask("KILL", kill={"task_id": {"value": "t"}})
        assert told(framework)["state"] == "TASK_KILLED"


def test_killing_and_shutting_down_a_group(start: Any, carrier: Carrier) -> None:
    not_really(carrier)
    with start(SETUP) as (master, join):
        framework = joined(join)
        offer = framework.offers()[0]
        names = ("g1", "g2", "g3")
        framework.accept([offer], group(executor(framework), *(task(offer, name, cpus=0.5) for name in names)))
        states = [told(framework)["state"] for _ in range(6)]
        assert sorted(states) == ["TASK_RUNNING"] * 3 + ["TASK_STARTING"] * 3
        (running,) = master.call("GET_EXECUTORS").json()["get_executors"]["executors"]
        assert running["executor_info"]["resources"][0]["allocation_info"] == {"role": "ads"}
        framework.ask("KILL", kill={"task_id": {"value": "g1"}})
        status = told(framework)
        assert (status["task_id"]["value"], status["state"]) == ("g1", "TASK_KILLED")
        framework.none_of("FAILURE")
        framework.ask("SHUTDOWN", shutdown={"agent_id": offer["agent_id"], "executor_id": {"value": "e"}})
        ended = [told(framework) for _ in range(2)]
        assert {(status["task_id"]["value"], status["state"]) for status in ended} == {
            ("g2", "TASK_KILLED"),
            ("g3", "TASK_KILLED"),
        }
        framework.ask("REVIVE")
        assert sum(event["type"] == "FAILURE" for event in framework.stream.events) == 1
        held = master.read("/slaves")["slaves"][0]["used_resources"]
        assert (held["cpus"], held["mem"], held["disk"]) == (0.0, 0.0, 0.0)


def test_an_executor_is_what_it_was_first_said_to_be(start: Any, carrier: Carrier) -> None:
    with start(SETUP) as (_, join):
        framework = joined(join)
        offer = framework.offers()[0]
        other = custom(framework, resources=scalars(cpus=0.2, mem=32))
        framework.accept(
            [offer],
            launch(
                task(offer, "t1", command=None, executor=custom(framework)),
                task(offer, "t2", command=None, executor=other),
            ),
        )
        statuses = [told(framework) for _ in range(2)]
        (refused,) = [status for status in statuses if status["state"] == "TASK_ERROR"]
        assert refused["task_id"]["value"] == "t2"
        says = "ExecutorInfo is not compatible with existing ExecutorInfo with same ExecutorID"
        assert refused["message"].startswith(says)


def test_a_task_on_what_was_reserved_in_the_same_accept(start: Any, carrier: Carrier) -> None:
    with start(SETUP) as (master, join):
        framework = joined(join, "ads", principal="p")
        offer = framework.offers()[0]
        mine = owned("ads", "p", cpus=1, mem=512)
        framework.accept([offer], reserve(mine), launch(task(offer, "t", resources=mine)))
        status = told(framework)
        while status["state"] in ("TASK_STARTING", "TASK_RUNNING"):
            if status["state"] == "TASK_RUNNING":
                used = master.read("/slaves")["slaves"][0]["used_resources_full"]
                assert {entry["reservations"][0]["role"] for entry in used} == {"ads"}
                framework.ask("KILL", kill={"task_id": {"value": "t"}})
            status = told(framework)

        def offered() -> list[dict[str, Any]]:
            found: list[dict[str, Any]] = framework.offers()
            return found

        # What the task held may come in an offer of its own.
        last = offered()
        while not any(entry.get("reservations") for part in last for entry in part["resources"]):
            last = offered()
        framework.accept(
            [part for part in last if any(e.get("reservations") for e in part["resources"])], unreserve(mine)
        )

        def is_free() -> bool:
            return master.read("/slaves")["slaves"][0]["reserved_resources"] == {}

        assert master.subscribers.wait(is_free)


def test_limits_below_what_tasks_use(start: Any, carrier: Carrier) -> None:
    skip_before("1.9.0", carrier, "there are no limits")
    not_really(carrier)
    with start(SETUP) as (master, join):
        framework = joined(join, "role1")
        offer = framework.offers()[0]
        framework.accept([offer], launch(task(offer, "t", resources=scalars(cpus=2, mem=1024))))
        assert told(framework)["state"] == "TASK_STARTING"

        def limit(cpus: float, *, force: bool = False) -> int:
            configs = [{"role": "role1", "limits": {"cpus": {"value": cpus}}}]
            return master.call("UPDATE_QUOTA", update_quota={"force": force, "quota_configs": configs}).status

        assert limit(1) == 400
        assert limit(2) == 200
        assert limit(1, force=True) == 200
        master.clear_quota()
