"""A new leader upon an old registry, in virtual time: who is waited for and how long (QA-27, QA-28)."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fake_master import __main__ as program
from fake_master.http.application import Application
from fake_master.http.request_response import Request
from fake_master.registry.interface import MemoryRegistry, Registry
from fake_master.registry.sqlite import SqliteRegistry
from fake_master.services import v1_messages
from fake_master.sources.cluster_file import ClusterSpec
from fake_master.sources.snapshot import RestoredCluster
from fake_master.state.clock import VirtualClock
from fake_master.state.flags import MasterFlags
from mesosctl.mesos.cluster.snapshot import ClusterSnapshot
from mesosctl.mesos.errors import BadInput
from mesosctl.mesos.messages.protobuf_json import recordio
from tests.helpers.lab import scalar
from tests.helpers.profiles import examples

AGENT = "cpus:4;mem:2048"
JSON = {"content-type": "application/json", "accept": "application/json"}
NO_PERCENTAGES = ("50", "abc%", "101%", "-1%", " 50%", "50 %", "50%%", "5_0%", "inf%", "%", "")
PATIENCE = 600.0
"""Seconds until an agent that is not back counts as unreachable."""


class Leader:
    """One master upon a registry, and a framework of it."""

    def __init__(self, registry: Registry, agents: int, clock: VirtualClock, **flags: str) -> None:
        self.clock = clock
        spec = ClusterSpec(agents=(AGENT,) * agents, mesos_version="1.11", flags=flags)
        self.application = Application(spec.start(registry, clock=clock, takes_over=True))
        self._stream: Any = None

    def get(self, path: str) -> Any:
        return json.loads(self.application.handle(Request("GET", path)).body)

    def call(self, kind: str, **body: Any) -> int:
        content = json.dumps({"type": kind, kind.lower(): body}).encode()
        return self.application.handle(Request("POST", "/api/v1", JSON, content)).status

    def set_quota(self) -> None:
        configs = [{"role": "r1", "guarantees": {"cpus": {"value": 1}}}]
        assert self.call("UPDATE_QUOTA", force=True, quota_configs=configs) == 200

    def subscribe(self, *capabilities: str) -> None:
        listed = [{"type": name} for name in ("MULTI_ROLE", *capabilities)]
        info = {"user": "u", "name": "f", "roles": ["n"], "capabilities": listed}
        body = {"type": "SUBSCRIBE", "subscribe": {"framework_info": info}}
        answer = self.application.handle(Request("POST", "/api/v1/scheduler", JSON, json.dumps(body).encode()))
        self._stream = answer.stream

    def reconcile(self, framework_id: str, agent_id: str) -> None:
        task = {"task_id": {"value": "t"}, "agent_id": {"value": agent_id}}
        body = {"type": "RECONCILE", "framework_id": {"value": framework_id}, "reconcile": {"tasks": [task]}}
        headers = {**JSON, "mesos-stream-id": self._stream.id}
        answer = self.application.handle(Request("POST", "/api/v1/scheduler", headers, json.dumps(body).encode()))
        assert answer.status == 202

    def heard(self) -> list[Mapping[str, Any]]:
        return [json.loads(record) for record in recordio.decode(self._stream.take())]

    def offered(self) -> int:
        """How many agents have been offered since this was last asked."""
        return sum(len(event["offers"]["offers"]) for event in self.heard() if event["type"] == "OFFERS")

    def later(self, seconds: float) -> None:
        self.clock.now += seconds
        self.application.tick()


@given(known=st.integers(0, 12), back=st.integers(0, 12), factor=st.sampled_from(["0", "0.5", "0.8", "1", "2", "-1"]))
@settings(deadline=None, max_examples=examples(60))
def test_offers_are_held_back_exactly_until_enough_agents_or_the_timeout(known: int, back: int, factor: str) -> None:
    registry, clock = MemoryRegistry(), VirtualClock()
    Leader(registry, known, clock).set_quota()
    second = Leader(registry, back, clock, allocator_agent_recovery_factor=factor, allocator_recovery_timeout="30secs")
    second.subscribe()
    second.later(5)
    enough = back >= int(known * float(factor))
    # Nobody is in the role that has quota; one agent is offered less the headroom for it.
    assert second.offered() == (back if enough else 0)
    second.later(30)
    assert second.offered() == (0 if enough else back)


def about(leader: Leader, number: int) -> dict[str, Any]:
    return {"agent_id": {"value": leader.get("/slaves")["slaves"][number]["id"]}}


def set_and_removed(leader: Leader) -> int:
    leader.set_quota()
    return leader.call("REMOVE_QUOTA", role="r1")


OWNED = scalar("cpus", 1) | {"reservations": [{"type": "DYNAMIC", "role": "r1"}]}
MACHINES = [{"machine_ids": [{"hostname": "agent-2"}], "unavailability": {"start": {"nanoseconds": 1}}}]
KEPT: dict[str, Callable[[Leader], int]] = {
    "weights": lambda leader: leader.call(
        "UPDATE_WEIGHTS", weight_infos=[{"role": role, "weight": 2.0} for role in ("r1", "n")]
    ),
    "maintenance": lambda leader: leader.call("UPDATE_MAINTENANCE_SCHEDULE", schedule={"windows": MACHINES}),
    "reservations": lambda leader: leader.call("RESERVE_RESOURCES", **about(leader, 0), resources=[OWNED]),
    "drained": lambda leader: leader.call("DRAIN_AGENT", **about(leader, 3)),
    "deactivated": lambda leader: leader.call("DEACTIVATE_AGENT", **about(leader, 2)),
    "gone": lambda leader: leader.call("MARK_AGENT_GONE", **about(leader, 4)),
    "quota that was removed": set_and_removed,
}
"""What a registry holds beside quota."""


@given(kept=st.lists(st.sampled_from(sorted(KEPT)), unique=True), has_quota=st.booleans())
@example(kept=["weights"], has_quota=False)
@example(kept=sorted(KEPT), has_quota=False)
@example(kept=sorted(KEPT), has_quota=True)
@settings(deadline=None, max_examples=examples(60))
def test_offers_are_held_back_for_quota_and_for_nothing_else_that_a_registry_holds(
    kept: list[str], has_quota: bool
) -> None:
    registry, clock = MemoryRegistry(), VirtualClock()
    first = Leader(registry, 5, clock)
    for name in kept:
        assert KEPT[name](first) in (200, 202), name
    if has_quota:
        first.set_quota()
    second = Leader(registry, 1, clock)
    second.subscribe()
    second.later(2)
    assert second.offered() == (0 if has_quota else 1)


@contextmanager
def sqlite(path: Path) -> Iterator[SqliteRegistry]:
    with closing(SqliteRegistry(path)) as registry:
        yield registry


def test_agents_that_do_not_come_back_in_time_are_unreachable_until_they_do(tmp_path: Path) -> None:
    path, clock = tmp_path / "r.sqlite", VirtualClock()
    with sqlite(path) as registry:
        ids = {agent["id"] for agent in Leader(registry, 3, clock).get("/slaves")["slaves"]}
    with sqlite(path) as registry:
        second = Leader(registry, 1, clock)
        second.subscribe("PARTITION_AWARE")
        framework_id = second.get("/frameworks")["frameworks"][0]["id"]
        recovered = {agent["id"] for agent in second.get("/slaves")["recovered_slaves"]}
        assert len(recovered) == 2
        second.later(PATIENCE - 1)
        assert len(second.get("/slaves")["recovered_slaves"]) == 2
        second.heard()
        second.later(1)
        state, figures = second.get("/state"), second.get("/metrics/snapshot")
        assert (state["recovered_slaves"], state["unreachable_slaves"]) == ([], 2.0)
        for name in ("recovery_slave_removals", "slave_removals", "slave_unreachable_completed", "slaves_unreachable"):
            assert figures[f"master/{name}"] == 2.0, name
        failures = [event["failure"] for event in second.heard() if event["type"] == "FAILURE"]
        assert {failure["agent_id"]["value"] for failure in failures} == recovered
        second.reconcile(framework_id, next(iter(recovered)))
        (status,) = (event["update"]["status"] for event in second.heard() if event["type"] == "UPDATE")
        assert status["state"] == "TASK_UNREACHABLE"
    with sqlite(path) as registry:
        third = Leader(registry, 2, clock)
        state = third.get("/state")
        assert (len(state["slaves"]), state["unreachable_slaves"], state["recovered_slaves"]) == (2, 1.0, [])
        assert {agent["id"] for agent in state["slaves"]} < ids
        assert all("reregistered_time" in agent for agent in state["slaves"])
        assert third.get("/metrics/snapshot")["master/slave_reregistrations"] == 2.0


def test_an_agent_that_is_given_up_while_it_is_awaited_does_not_become_unreachable() -> None:
    registry, clock = MemoryRegistry(), VirtualClock()
    Leader(registry, 2, clock)
    second = Leader(registry, 1, clock)
    (awaited,) = second.get("/slaves")["recovered_slaves"]
    assert second.call("MARK_AGENT_GONE", agent_id={"value": awaited["id"]}) == 200
    second.later(PATIENCE)
    state = second.get("/state")
    assert (state["recovered_slaves"], state["unreachable_slaves"]) == ([], 0.0)
    # And it is no longer waited for, nor taken back, by whoever comes next.
    third = Leader(registry, 2, clock)
    state = third.get("/state")
    assert (len(state["slaves"]), state["recovered_slaves"]) == (1, [])


@pytest.mark.parametrize(
    ("limit", "back", "ends"),
    [("100%", 0, False), ("50%", 2, False), ("49.9%", 2, True), ("0%", 3, True), ("0%", 4, False), ("nan%", 0, False)],
)
def test_a_master_ends_where_more_agents_stay_away_than_may(limit: str, back: int, ends: bool) -> None:
    registry, clock = MemoryRegistry(), VirtualClock()
    Leader(registry, 4, clock)
    second = Leader(registry, back, clock, recovery_agent_removal_limit=limit)
    second.later(PATIENCE - 1)
    assert second.application.master.state.ended is None
    second.later(1)
    assert (second.application.master.state.ended is not None) is ends
    # What it did not give up is awaited by the next one.
    third = Leader(registry, 0, clock)
    assert len(third.get("/slaves")["recovered_slaves"]) == (4 if ends else back)


@pytest.mark.socket
def test_a_served_master_that_ends_says_why(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    registry, clock = MemoryRegistry(), VirtualClock()
    Leader(registry, 2, clock)
    second = Leader(registry, 1, clock, recovery_agent_removal_limit="20%")
    clock.now += PATIENCE
    monkeypatch.setattr(program, "_start", lambda _options, _spec: second.application.master)
    monkeypatch.setattr(sys, "argv", ["mesos-fake-master", "--port", "0"])
    with pytest.raises(SystemExit) as end:
        program.main()
    assert end.value.code == 1
    assert "1 of 2 agents did not register again within 10mins" in capsys.readouterr().err


def test_a_drain_goes_on_when_its_agent_is_back() -> None:
    registry, clock = MemoryRegistry(), VirtualClock()
    Leader(registry, 2, clock)
    second = Leader(registry, 1, clock)
    (awaited,) = second.get("/slaves")["recovered_slaves"]
    assert second.call("DRAIN_AGENT", agent_id={"value": awaited["id"]}) == 200
    third = Leader(registry, 2, clock)
    third.later(0)
    (back,) = (agent for agent in third.get("/slaves")["slaves"] if agent["id"] == awaited["id"])
    assert (back["deactivated"], back["drain_info"]["state"]) == (True, "DRAINED")


def test_ids_are_never_given_twice() -> None:
    registry, clock = MemoryRegistry(), VirtualClock()
    agents: set[str] = set()
    frameworks: list[str] = []
    for number in range(1, 5):
        leader = Leader(registry, number, clock)
        leader.subscribe()
        agents |= {agent["id"] for agent in leader.get("/slaves")["slaves"]}
        frameworks += [framework["id"] for framework in leader.get("/frameworks")["frameworks"]]
        assert any(known.startswith(leader.get("/state")["id"]) and known.endswith("-S0") for known in agents)
    assert len(agents) == 4
    assert len(set(frameworks)) == 4


def test_a_command_upon_a_fake_address_takes_nothing_over(tmp_path: Path) -> None:
    clock, spec = VirtualClock(), ClusterSpec(agents=(AGENT,) * 2)
    with sqlite(tmp_path / "r.sqlite") as registry:
        first = spec.start(registry, clock=clock)
        ids = list(first.state.agents)
    with sqlite(tmp_path / "r.sqlite") as registry:
        again = ClusterSpec(agents=(AGENT,)).start(registry, clock=clock)
        assert (again.state.id, list(again.state.agents)) == (first.state.id, ids[:1])
        assert v1_messages.recovered_agents(again.state) == []


@pytest.mark.parametrize(
    ("flag", "value"),
    [
        ("agent_reregister_timeout", "599secs"),
        ("agent_reregister_timeout", "soon"),
        ("agent_ping_timeout", "1 minute"),
        ("allocator_recovery_timeout", "-1secs"),
        ("allocator_agent_recovery_factor", "nan"),
        ("allocator_agent_recovery_factor", "most"),
        ("max_agent_ping_timeouts", "-1"),
        *(("recovery_agent_removal_limit", value) for value in NO_PERCENTAGES),
    ],
)
def test_flags_that_mean_nothing(flag: str, value: str) -> None:
    with pytest.raises(BadInput, match=flag):
        MasterFlags.parse({flag: value})


def test_a_flag_of_a_later_release_is_refused_with_the_release_that_has_it() -> None:
    """As by the command line of a real master, which starts with no flag that it does not know."""
    flags = {"allocator_recovery_timeout": "5mins"}
    with pytest.raises(BadInput, match=r"allocator_recovery_timeout came with Mesos 1\.11\.0"):
        MasterFlags.parse(flags, "1.10.0")
    for release in ("1.11.0", None):  # None: the master of the documents has every flag
        MasterFlags.parse(flags, release)


def test_a_snapshot_is_played_by_an_older_release_without_the_flags_that_it_lacks() -> None:
    snapshot = ClusterSnapshot("1.11.0", 0.0, flags={"memory_profiling": "true", "offer_timeout": "1mins"})
    shown = RestoredCluster(snapshot, "1.5").start().state.flags.shown
    assert shown["offer_timeout"] == "1mins"
    assert shown["memory_profiling"] == "false"
