"""A master started again on its registry: who comes back, who is awaited, and when offers are made again."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from fake_master.state.shown_since import flags_at
from tests.conformance.callers.frameworks import Framework
from tests.conformance.callers.joining import TICK
from tests.conformance.masters.carriers import (
    IN_PROCESS,
    IN_PROCESS_DOCUMENTS,
    REAL,
    SOCKET,
    SOCKET_DOCUMENTS,
    Carrier,
    each_of,
)
from tests.conformance.masters.cluster import Cluster, Setup
from tests.conformance.scenarios.scenario import quota_request
from tests.helpers.needs import needs

AGENT = "cpus:4;mem:2048;disk:100;ports:[31000-31009]"
TIMEOUT = 5
"""Seconds for which offers are held back, where the test waits for their end."""
LONG = 600


@dataclass
class Restarts:
    """One master after another upon the same folder."""

    carrier: Carrier
    folder: Path
    started: list[Cluster] = field(default_factory=list)
    joined: list[Framework] = field(default_factory=list)

    def start(self, agents: int, timeout: int = LONG) -> Cluster:
        """The next master, with so many agents; the one before it is gone."""
        self.stop()
        flags = {"allocation_interval": f"{TICK * 1000:.0f}ms", "allocator_recovery_timeout": f"{timeout}secs"}
        flags = flags_at(self.carrier.profile.release, flags)  # those without the flag wait for ten minutes
        if self.carrier.needs == REAL.needs:
            flags["registry"] = "replicated_log"
        else:
            flags |= {"registry": "sqlite", "work_dir": str(self.folder)}
        setup = Setup(agents=(AGENT,) * agents, flags=flags)
        self.started.append(self.carrier.start(setup, self.folder))
        return self.started[-1]

    def join(self, *roles: str, again: Framework | None = None) -> Framework:
        """A framework of the latest master; `again` is one of a former master that keeps its id."""
        framework = Framework(self.started[-1], *roles, failover_timeout=100.0)
        framework.id = None if again is None else again.id
        self.joined.append(framework)
        return framework.subscribe()

    def stop(self) -> None:
        for framework in self.joined:
            framework.stream.hang_up()
        self.joined.clear()
        for cluster in self.started:
            cluster.stop()


@pytest.fixture(params=[REAL, SOCKET, IN_PROCESS, SOCKET_DOCUMENTS, IN_PROCESS_DOCUMENTS], ids=str)
def restarts(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Restarts]:
    masters = Restarts(request.param, tmp_path)
    yield masters
    masters.stop()


@pytest.fixture(params=each_of("1.4.3", "1.8.1"), ids=str)
def restarts_of_release(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Restarts]:
    masters = Restarts(request.param, tmp_path)
    yield masters
    masters.stop()


def set_quota(master: Cluster) -> None:
    answer = master.request("POST", "/quota", content=json.dumps(quota_request("r1", cpus=1, force=True)))
    assert answer.status == 200, answer


def ids(entries: list[dict[str, Any]]) -> set[str]:
    return {entry["id"] for entry in entries}


def test_no_offers_until_the_timeout_where_too_few_agents_are_back(restarts: Restarts) -> None:
    set_quota(restarts.start(5))
    second = restarts.start(3, timeout=TIMEOUT)
    in_role, other = restarts.join("r1"), restarts.join("n")

    def offered() -> bool:
        return any(event["type"] == "OFFERS" for one in (in_role, other) for event in one.stream.events)

    assert second.subscribers.wait(offered)
    assert second.subscribers.now() - second.read("/state")["elected_time"] >= TIMEOUT
    # Quota was set for one agent's worth, and each offer is a whole agent; the rest is shared.
    assert len(in_role.offers()) >= 1
    assert len(other.offers()) >= 1


def test_offers_at_once_where_four_of_five_are_back(restarts: Restarts) -> None:
    set_quota(restarts.start(5))
    restarts.start(4)
    assert restarts.join("n").offers(agents=3)


def test_one_of_two_is_enough_and_one_alone_is_not_waited_for(restarts: Restarts) -> None:
    set_quota(restarts.start(2))
    restarts.start(1)
    assert restarts.join("r1").offers()


@needs(*REAL.needs)
def test_older_releases_wait_for_four_of_five_as_well(restarts_of_release: Restarts) -> None:
    """And no flag says otherwise: for ten minutes."""
    restarts = restarts_of_release
    set_quota(restarts.start(5))
    restarts.start(3)
    restarts.join("n").none_of("OFFERS", 10 * TICK)
    restarts.start(4)
    assert restarts.join("n").offers(agents=3)


@needs(*REAL.needs)
def test_older_releases_hold_nothing_back_without_quota(restarts_of_release: Restarts) -> None:
    restarts_of_release.start(5)
    restarts_of_release.start(1)
    assert restarts_of_release.join("n").offers()


def test_without_quota_nothing_is_held_back(restarts: Restarts) -> None:
    restarts.start(5)
    restarts.start(1)
    assert restarts.join("n").offers()


def test_a_new_leader_has_a_new_id_and_the_agents_keep_theirs(restarts: Restarts) -> None:
    first = restarts.start(3)
    old = first.read("/state")
    second = restarts.start(3)
    new = second.read("/state")
    assert new["id"] != old["id"]
    assert ids(new["slaves"]) == ids(old["slaves"])
    assert all("reregistered_time" not in agent for agent in old["slaves"])
    for agent in new["slaves"]:
        assert agent["reregistered_time"] >= agent["registered_time"] >= new["start_time"]
    described = second.call("GET_AGENTS").json()["get_agents"]["agents"]
    assert all("reregistered_time" in agent for agent in described)
    figures = second.read("/metrics/snapshot")
    counted = ("slave_reregistrations", "slave_registrations", "messages_register_slave")
    assert [figures[f"master/{name}"] for name in counted] == [3.0, 0.0, 0.0]
    assert figures["master/messages_reregister_slave"] >= 3.0  # an agent asks again where no answer comes soon
    assert new["recovered_slaves"] == []


def test_agents_that_are_not_back_are_recovered(restarts: Restarts) -> None:
    first = restarts.start(3)
    set_quota(first)
    before = {
        agent["agent_info"]["id"]["value"]: agent for agent in first.call("GET_AGENTS").json()["get_agents"]["agents"]
    }
    second = restarts.start(1)
    slaves, state = second.read("/slaves"), second.read("/state")
    recovered = slaves["recovered_slaves"]
    assert ids(slaves["slaves"]) | ids(recovered) == set(before)
    assert len(recovered) == 2
    assert state["recovered_slaves"] == recovered
    assert (state["activated_slaves"], state["deactivated_slaves"], state["unreachable_slaves"]) == (1.0, 0.0, 0.0)
    for entry in recovered:
        assert sorted(entry) == ["attributes", "hostname", "id", "port"]
        alone = second.read(f"/slaves?slave_id={entry['id']}")
        assert alone == {"slaves": [], "recovered_slaves": [entry]}
    described = second.call("GET_AGENTS").json()["get_agents"]["recovered_agents"]
    for entry in described:
        was = before[entry["id"]["value"]]["agent_info"]
        assert {key: entry[key] for key in ("hostname", "resources", "checkpoint")} == {
            key: was[key] for key in ("hostname", "resources", "checkpoint")
        }
    in_state = second.call("GET_STATE").json()["get_state"]["get_agents"]
    assert len(in_state["recovered_agents"]) == 2
    assert len(second.read("/state-summary")["slaves"]) == 1
    assert second.read("/metrics/snapshot")["master/slaves_unreachable"] == 0.0


def test_capacity_is_that_of_the_agents_that_are_back(restarts: Restarts) -> None:
    set_quota(restarts.start(3))
    second = restarts.start(1)
    for cpus, status in ((4, 409), (3, 200)):
        content = json.dumps(quota_request("r2", cpus=cpus))
        assert second.request("POST", "/quota", content=content).status == status


def test_a_framework_comes_back_with_its_id_and_its_old_offers_are_gone(restarts: Restarts) -> None:
    set_quota(restarts.start(2))
    framework = restarts.join("r1")
    (offer,) = framework.offers()[:1]
    first_id = framework.id
    second = restarts.start(2)
    assert second.read("/frameworks")["frameworks"] == []
    back = restarts.join("r1", again=framework)
    assert back.id == first_id
    fresh = back.offers()
    assert offer["id"] not in [one["id"] for one in fresh]
    (entry,) = second.read("/frameworks")["frameworks"]
    assert (entry["active"], entry["connected"], entry["recovered"]) == (True, True, False)
    task = {
        "name": "t",
        "task_id": {"value": "t"},
        "agent_id": offer["agent_id"],
        "command": {"value": "true"},
        "resources": [{"name": "cpus", "type": "SCALAR", "scalar": {"value": 1}}],
    }
    back.accept([offer], {"type": "LAUNCH", "launch": {"task_infos": [task]}})
    status = back.next("UPDATE")["update"]["status"]
    assert (status["state"], status["reason"]) == ("TASK_LOST", "REASON_INVALID_OFFERS")
    figures = second.read("/metrics/snapshot")
    assert figures["master/messages_reregister_framework"] == 1.0
    assert figures["master/messages_register_framework"] == 0.0
    other = restarts.join("n")
    assert other.id not in (None, first_id)


def test_nobody_is_told_of_tasks_on_an_agent_that_is_awaited(restarts: Restarts) -> None:
    restarts.start(2)
    second = restarts.start(1)
    (awaited,) = second.read("/slaves")["recovered_slaves"]
    (present,) = second.agents()
    framework = restarts.join("n")

    def ask(agent_id: str) -> None:
        task = {"task_id": {"value": f"of-{agent_id}"}, "agent_id": {"value": agent_id}}
        framework.ask("RECONCILE", reconcile={"tasks": [task]})

    ask(awaited["id"])
    ask(present["id"])
    status = framework.next("UPDATE")["update"]["status"]
    assert (status["task_id"]["value"], status["state"]) == (f"of-{present['id']}", "TASK_LOST")


CALLS = [
    ("REACTIVATE_AGENT", 400),
    ("DEACTIVATE_AGENT", 200),
    ("REACTIVATE_AGENT", 409),
    ("REACTIVATE_AGENT", 400),
    ("DRAIN_AGENT", 200),
    ("REACTIVATE_AGENT", 400),
    ("DEACTIVATE_AGENT", 200),
    ("MARK_AGENT_GONE", 200),
    ("REACTIVATE_AGENT", 400),
    ("MARK_AGENT_GONE", 200),
    ("RESERVE_RESOURCES", 400),
]


def test_what_operators_may_do_to_an_agent_that_is_awaited(restarts: Restarts) -> None:
    restarts.start(2)
    second = restarts.start(1)
    (awaited,) = second.read("/slaves")["recovered_slaves"]
    reserved = {
        "name": "cpus",
        "type": "SCALAR",
        "scalar": {"value": 1},
        "reservations": [{"type": "DYNAMIC", "role": "r"}],
    }
    for call, status in CALLS:
        more = {"resources": [reserved]} if call == "RESERVE_RESOURCES" else {}
        answer = second.call(call, **{call.lower(): {"agent_id": {"value": awaited["id"]}, **more}})
        assert answer.status == status, (call, answer)
    # Even of those that are given up, as long as they are awaited.
    assert second.read("/slaves")["recovered_slaves"] == [awaited]


def test_what_was_said_of_an_agent_that_was_awaited_holds_when_it_is_back(restarts: Restarts) -> None:
    restarts.start(2)
    second = restarts.start(1)
    (awaited,) = second.read("/slaves")["recovered_slaves"]
    drained = second.call("DRAIN_AGENT", drain_agent={"agent_id": {"value": awaited["id"]}})
    assert drained.status == 200
    third = restarts.start(2)
    by_id = {agent["id"]: agent for agent in third.read("/slaves")["slaves"]}
    back = by_id.pop(awaited["id"])
    assert (back["active"], back["deactivated"], "drain_info" in back) == (False, True, True)
    assert all(agent["active"] for agent in by_id.values())


def test_an_agent_that_was_reactivated_while_it_was_awaited_is_in_service_when_it_is_back(restarts: Restarts) -> None:
    restarts.start(2)
    second = restarts.start(1)
    (awaited,) = second.read("/slaves")["recovered_slaves"]
    for call, status in (("DEACTIVATE_AGENT", 200), ("REACTIVATE_AGENT", 409)):
        assert second.call(call, **{call.lower(): {"agent_id": {"value": awaited["id"]}}}).status == status
    third = restarts.start(2)
    assert all(agent["active"] for agent in third.agents())


def test_a_new_leader_does_not_know_what_was_said_of_an_agent_that_is_gone(restarts: Restarts) -> None:
    first = restarts.start(2)
    agent_id = first.agents()[1]["id"]
    for call in ("DEACTIVATE_AGENT", "MARK_AGENT_GONE"):
        assert first.call(call, **{call.lower(): {"agent_id": {"value": agent_id}}}).status == 200
    second = restarts.start(1)
    assert second.call("REACTIVATE_AGENT", reactivate_agent={"agent_id": {"value": agent_id}}).status == 400
