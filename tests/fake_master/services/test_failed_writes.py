"""Events and messages that cannot be written in the middle of any change: state and allocator agree after it.

A subscriber that cannot be told is disconnected; nothing else may differ.
"""

import json
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fake_master.driver.messages import Address
from fake_master.http.request_response import Request
from fake_master.state.streams import EventStream
from mesosctl.mesos.amounts.resources import Resources
from tests.endurance.jobs.day import check_books
from tests.fake_master.driver.by_hand import HERE, INFO, THERE, Drivers
from tests.helpers.lab import scalar
from tests.helpers.profiles import examples

ROLES = ("web", "ads")
SCHEDULER = "/api/v1/scheduler"


class Planted(Exception):
    """The fault."""


class Player(Drivers):
    """Makes random requests of operators, frameworks and drivers; some writes fail."""

    def __init__(self, choice: Random, faults: float) -> None:
        self._choice = choice
        self._faults = faults
        self.failed = 0
        super().__init__("cpus:4;mem:2048", "cpus:8;mem:4096", "cpus:1;mem:64")
        post = self.links.post

        def posting(to: Address, data: bytes) -> None:
            self.may_fail()
            post(to, data)

        self.links.post = posting  # type: ignore[method-assign]
        self.refused = 0

    def may_fail(self) -> None:
        if self._choice.random() < self._faults:
            self.failed += 1
            raise Planted

    def play(self, steps: int) -> None:
        does = [getattr(self, name) for name in dir(self) if name.startswith("do_")]
        for _ in range(steps):
            self._choice.choice(does)()
            self.wait(self._choice.choice([0.0, 0.0, 1.0]))
            self.check()
        self._faults = 0.0

    def sent(self, method: str, path: str, body: Any, **headers: str) -> Any:
        answer = self.request(method, path, body, **headers)
        assert answer.status < 500, (path, body, answer)
        return answer

    # --- What may be asked ------------------------------------------------------------------------------

    def do_subscribe(self) -> None:
        accept = self._choice.choice(["application/json", "application/x-protobuf"])
        info: dict[str, Any] = {**INFO, "role": self._choice.choice(ROLES), "failover_timeout": self._timeout()}
        known = self._choice.choice([None, *self.master.state.frameworks])
        body: dict[str, Any] = {"type": "SUBSCRIBE", "subscribe": {"framework_info": info}}
        if known is not None:
            body["framework_id"] = info["id"] = {"value": known}
        self.sent("POST", SCHEDULER, body, accept=accept)

    def do_listen(self) -> None:
        accept = self._choice.choice(["application/json", "application/x-protobuf"])
        self.sent("POST", "/api/v1", {"type": "SUBSCRIBE"}, accept=accept)

    def do_register(self) -> None:
        sender = self._choice.choice([HERE, THERE])
        info: dict[str, Any] = {**INFO, "failover_timeout": self._timeout()}
        known = self._choice.choice([None, *self.master.state.frameworks])
        if known is None:
            self._tells(sender, "mesos.internal.RegisterFrameworkMessage", framework=info)
        else:
            info["id"] = {"value": known}
            self._tells(sender, "mesos.internal.ReregisterFrameworkMessage", framework=info, failover=True)

    def do_launch(self) -> None:
        framework, offers = self._with_offers()
        if framework is None:
            return
        offer = self._choice.choice(offers)
        agent = {"value": offer.agent_id}
        task: dict[str, Any] = {"name": "t", "task_id": {"value": str(self._choice.random())}, "agent_id": agent}
        task |= {"resources": [scalar("cpus", self._choice.choice([1, 2, 50]))], "command": {"value": "true"}}
        launch = {"type": "LAUNCH", "launch": {"task_infos": [task]}}
        self._calls(framework, "ACCEPT", offer_ids=[{"value": offer.id}], operations=[launch])

    def do_decline(self) -> None:
        framework, offers = self._with_offers()
        if framework is not None:
            self._calls(framework, "DECLINE", offer_ids=[{"value": offer.id} for offer in offers])

    def do_kill(self) -> None:
        for framework in self.master.state.frameworks.values():
            for task_id in framework.all_tasks():
                self._calls(framework, "KILL", task_id={"value": task_id})
                return

    def do_update(self) -> None:
        framework = self._any_framework()
        if framework is not None:
            info = {**framework.info, "role": self._choice.choice(ROLES)}
            self._calls(framework, "UPDATE_FRAMEWORK", update_framework={"framework_info": info})

    def do_tear_down(self) -> None:
        framework = self._any_framework()
        if framework is not None and self._choice.random() < 0.3:
            self._calls(framework, "TEARDOWN")

    def do_lose(self) -> None:
        framework = self._any_framework()
        if framework is not None and framework.stream is not None:
            framework.stream.abandon()

    def do_reserve(self) -> None:
        entry = scalar("cpus", 1) | {"reservations": [{"type": "DYNAMIC", "role": self._choice.choice(ROLES)}]}
        kind = self._choice.choice(["RESERVE_RESOURCES", "UNRESERVE_RESOURCES"])
        where = {"agent_id": {"value": self._choice.choice(list(self.master.state.agents))}, "resources": [entry]}
        self.sent("POST", "/api/v1", {"type": kind, kind.lower(): where})

    def do_quota(self) -> None:
        amounts = {"cpus": {"value": self._choice.choice([0, 1, 3])}}
        config = {"role": self._choice.choice(ROLES), "guarantees": amounts, "limits": amounts}
        self.sent("POST", "/api/v1", {"type": "UPDATE_QUOTA", "update_quota": {"quota_configs": [config]}})

    def do_maintain(self) -> None:
        machine = {"hostname": "agent-3", "ip": "127.0.0.1"}
        window = {
            "machine_ids": [machine],
            "unavailability": {"start": {"nanoseconds": int((self.clock.now + 2) * 1e9)}},
        }
        windows = self._choice.choice([[], [window]])
        self.sent("POST", "/maintenance/schedule", {"windows": windows})
        self.sent("POST", self._choice.choice(["/machine/down", "/machine/up"]), [machine])

    # --- Help -----------------------------------------------------------------------------------------

    def _timeout(self) -> float:
        return self._choice.choice([0.0, 5.0, 1e6])

    def _any_framework(self) -> Any:
        return self._choice.choice([None, *self.master.state.frameworks.values()])

    def _with_offers(self) -> Any:
        found = [framework for framework in self.master.state.frameworks.values() if framework.offers]
        framework = self._choice.choice(found) if found else None
        return framework, list(framework.offers.values()) if framework is not None else []

    def _tells(self, sender: str, name: str, **document: Any) -> None:
        assert self.send(sender, name, document) == 202

    def _calls(self, framework: Any, kind: str, **body: Any) -> None:
        named = {"type": kind, "framework_id": {"value": framework.id}}
        content = body if kind == "UPDATE_FRAMEWORK" else {kind.lower(): body} if body else {}
        if framework.pid is not None:
            self._tells(framework.pid, "mesos.scheduler.Call", **named, **content)
        elif framework.stream is not None:
            self.sent("POST", SCHEDULER, named | content, **{"mesos-stream-id": framework.stream.id})

    # --- What must be so ------------------------------------------------------------------------------

    def check(self) -> None:
        state, allocator = self.master.state, self.master.allocator.state  # type: ignore[attr-defined]
        check_books(self.master)
        assert set(allocator.frameworks) == set(state.frameworks)
        for framework in state.frameworks.values():
            is_there = framework.stream is not None and not framework.stream.closed
            assert framework.active == allocator.frameworks[framework.id].active == (is_there and framework.connected)
            assert is_there or not framework.offers
        assert set(allocator.agents) == set(state.agents)
        for agent_id, agent in state.agents.items():
            handed = allocator.agents[agent_id].allocations
            total = Resources(entry for _, allocation in handed for entry in allocation.without_role)
            assert total == Resources(state.held_on(agent_id).allocated_to(None)), agent.hostname

    def shown(self) -> list[Any]:
        paths = ("/quota", "/weights", "/maintenance/schedule", "/maintenance/status", "/slaves", "/state")
        return [json.loads(self.request("GET", path).body) for path in paths]

    def check_registry(self) -> None:
        """The registry has what the master shows."""
        before = self.shown()
        self.master._is_stale = True
        self.master.refresh()
        assert self.shown() == before

    def check_end(self) -> None:
        """Every framework can be removed, and then nothing is held."""
        for framework_id in list(self.master.state.frameworks):
            answer = self.application.handle(teardown(framework_id))
            assert answer.status == 200
        self.check()
        assert not self.master.state.frameworks
        assert all(not agent.allocations for agent in self.master.allocator.state.agents.values())  # type: ignore[attr-defined]


def teardown(framework_id: str) -> Request:
    return Request("POST", "/teardown", {}, f"frameworkId={framework_id}".encode())


@pytest.fixture
def planting(monkeypatch: pytest.MonkeyPatch) -> Callable[[Player], None]:
    """Have the records of streams fail as the player says."""
    players: list[Player] = []
    for name in ("send_record", "send_first"):
        original = getattr(EventStream, name)

        def failing(stream: EventStream, record: bytes, original: Any = original) -> None:
            if players:
                players[-1].may_fail()
            original(stream, record)

        monkeypatch.setattr(EventStream, name, failing)
    return players.append


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("CRITICAL")


@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32), faults=st.sampled_from([0.02, 0.1, 0.3, 1.0]))
def test_state_allocator_and_registry_agree_after_failed_writes(
    planting: Callable[[Player], None], seed: int, faults: float
) -> None:
    player = Player(Random(seed), faults)
    planting(player)
    player.play(40)
    player.wait(0)
    player.check_registry()
    player.check_end()
