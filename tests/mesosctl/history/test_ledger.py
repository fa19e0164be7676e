"""A recording shows at the moment of each state what the state shows, and changes only what has changed."""

import json
import random
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mesosctl.history.recording import Ledger, MasterSettings
from mesosctl.history.records import MICROS, RecordedCluster, Window
from mesosctl.history.sqlite import open_recording, open_writer
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota
from mesosctl.mesos.amounts.resource import Reservation, Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.agents import ClusterAgent
from mesosctl.mesos.cluster.snapshot import SnapshotFramework
from mesosctl.mesos.messages.elements.agents import AgentMessage
from mesosctl.mesos.messages.elements.frameworks import FrameworkMessage
from mesosctl.mesos.messages.elements.tasks import HeldResources, TaskChange
from mesosctl.mesos.messages.events import SeenState
from tests.helpers.profiles import examples

AT = 1_700_000_000 * MICROS
RESERVED = Resources([Resource("cpus", 1000, (Reservation("DYNAMIC", "web", "p"),))])
TOTALS = [parse_resources("cpus:4;mem:1024"), parse_resources("cpus:8"), parse_resources("cpus:4") + RESERVED]
QUOTAS = [Quota(Quantities({"cpus": 1500})), Quota(limits=Limits({"cpus": 2000, "mem": 0}))]


class Cluster:
    """A cluster that changes at random, and the states and settings that its master shows."""

    def __init__(self, seed: int) -> None:
        self.chosen = random.Random(seed)
        self.agents: dict[str, ClusterAgent] = {}
        self.frameworks: dict[str, SnapshotFramework] = {}
        self.held: dict[tuple[str, str, str, bool], HeldResources] = {}
        self.started = 0
        self.quotas: dict[str, Quota] = {}
        self.weights: dict[str, float] = {}
        self.suppressed: dict[str, dict[str, bool]] = {}
        self.rate_limits = '{"limits": []}'
        self.lending = ""

    def change(self) -> None:
        chosen = self.chosen
        for name in ("a1", "a2"):
            if chosen.random() < 0.3:
                self.agents.pop(name, None)
            elif chosen.random() < 0.4:
                self.agents[name] = ClusterAgent(name, chosen.choice("gh"), "", chosen.choice(TOTALS), {"rack": "r1"})
        for name in ("f1", "f2"):
            if chosen.random() < 0.2:
                self.frameworks.pop(name, None)
            elif chosen.random() < 0.4:
                roles = tuple(sorted(chosen.sample(["ads", "web"], chosen.randint(1, 2))))
                self.frameworks[name] = SnapshotFramework(
                    name, chosen.choice("xy"), roles, chosen.choice([None, "p"]), frozenset({"MULTI_ROLE"})
                )
        self.held = {
            key: one for key, one in self.held.items() if one.agent_id in self.agents and chosen.random() < 0.7
        }
        for _ in range(chosen.randint(0, 3)):
            if not self.agents:
                break
            agent, is_executor = chosen.choice(sorted(self.agents)), chosen.random() < 0.3
            self.started += 1
            key = ("f1", f"t{self.started}", agent if is_executor else "", is_executor)
            size = {chosen.choice(["ads", "web"]): chosen.choice(TOTALS[:2])}
            self.held[key] = HeldResources("f1", key[1], agent, size, None if is_executor else "TASK_RUNNING")
        self.quotas = {role: chosen.choice(QUOTAS) for role in ("ads", "web") if chosen.random() < 0.6}
        self.weights = {role: chosen.choice([0.5, 2.0]) for role in ("ads", "web") if chosen.random() < 0.6}
        self.rate_limits = chosen.choice(['{"limits": []}', '{"limits": [{"principal": "p"}]}'])
        self.lending = chosen.choice(["", '{"names": ["cpus"]}', '{"names": ["cpus", "mem"]}'])
        self.suppressed = {
            name: {role: chosen.random() < 0.5 for role in framework.roles}
            for name, framework in self.frameworks.items()
        }

    def state(self) -> SeenState:
        return SeenState(
            [AgentMessage(agent, {}, None, None) for agent in self.agents.values()],
            [FrameworkMessage(framework, recovered=False, registered=None) for framework in self.frameworks.values()],
            list(self.held.values()),
        )

    def shown(self) -> dict[str, Any]:
        """Everything that a recording should have of the present moment."""
        return {
            "agents": sorted((one.id, one.hostname, str(one.total), one.attributes) for one in self.agents.values()),
            "frameworks": sorted(
                (one.id, one.name, one.roles, one.principal or "", tuple(one.capabilities))
                for one in self.frameworks.values()
            ),
            "tasks": sorted(
                (one.id, one.agent_id, one.is_executor, one.role, str(one.resources), one.state or "")
                for one in self.held.values()
            ),
            "suppressions": sorted(
                (name, role, is_so) for name, roles in self.suppressed.items() for role, is_so in roles.items()
            ),
            "quotas": {
                role: {
                    "role": role,
                    "guarantees": {name: {"value": milli / 1000} for name, milli in quota.guarantees.items()},
                    "limits": {name: {"value": milli / 1000} for name, milli in quota.limits.items()},
                }
                for role, quota in self.quotas.items()
            },
            "weights": {role: {"role": role, "weight": weight} for role, weight in self.weights.items()},
            "reserving": sorted(one.id for one in self.agents.values() if one.total is TOTALS[2]),
            "rate limits": json.loads(self.rate_limits),
            "lending": [json.loads(self.lending)] if self.lending else [],
        }


def recorded(path: Path, moment: int) -> dict[str, Any]:
    """The same of a recording, at a moment."""
    window = Window(moment, moment + 1)
    with open_recording(path) as read:
        settings = list(read.settings("lab", window))
        return {
            "agents": sorted((one.id, one.host, str(one.total), one.attributes) for one in read.agents("lab", window)),
            "frameworks": sorted(
                (one.id, one.name, one.roles, one.principal or "", one.capabilities)
                for one in read.frameworks("lab", window)
            ),
            "tasks": sorted(
                (one.id, one.agent_id, one.is_executor, one.role, str(one.resources), one.state or "")
                for one in read.tasks("lab", window)
            ),
            "suppressions": sorted(
                (one.framework_id, one.role, one.suppressed) for one in read.suppressions("lab", window)
            ),
            "quotas": {one.name: json.loads(one.value) for one in settings if one.kind == "quota"},
            "weights": {one.name: json.loads(one.value) for one in settings if one.kind == "weight"},
            "reserving": sorted(one.name for one in settings if one.kind == "reservation"),
            "rate limits": next(json.loads(one.value) for one in settings if one.kind == "rate limits"),
            "lending": [json.loads(one.value) for one in settings if one.kind == "lending"],
        }


@settings(max_examples=examples(60))
@given(st.integers(0, 2**32))
def test_what_is_recorded_at_each_moment_is_what_the_master_showed(seed):
    cluster = Cluster(seed)
    shown, changes = {}, []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "h.sqlite"
        with open_writer(path) as recording:
            ledger, after = None, None
            for number in range(6):
                moment = AT + 10 * number * MICROS
                if number and cluster.chosen.random() < 0.8:
                    cluster.change()
                with recording.transaction():
                    if ledger is None or cluster.chosen.random() < 0.3:  # a recorder that starts again
                        known = recording.clusters()
                        record = known[0] if known else RecordedCluster("lab", "http://lab")
                        if not known:
                            recording.put_cluster(record)
                        ledger = Ledger(recording, record)
                        ledger.connected(moment, "1.11.0", "http://lab", "ops")
                    ledger.pass_to(moment)
                    ledger.take_state(cluster.state(), after=after)
                    ledger.take_settings(
                        MasterSettings(
                            cluster.quotas, cluster.weights, cluster.rate_limits, cluster.suppressed, cluster.lending
                        )
                    )
                    after = moment + 5 * MICROS
                    ledger.seen(after)
                shown[moment] = cluster.shown()
                counts = recording.counts("lab")
                changes.append((counts.agents, counts.frameworks))
        for moment, expected in shown.items():
            assert recorded(path, moment) == expected
        with open_recording(path) as read:
            (found,) = read.clusters()
            for rows in (list(read.agents("lab")), list(read.frameworks("lab"))):
                for one in rows:  # what has not changed has one row
                    assert one.end is None or one.end in shown
                    following = [other for other in rows if other.id == one.id and other.start == one.end]
                    assert all(_without_times(other) != _without_times(one) for other in following)
    assert (found.first_seen, found.last_seen, found.version, found.principal) == (AT, after, "1.11.0", "ops")


def _without_times(row: Any) -> tuple[Any, ...]:
    return tuple(getattr(row, name) for name in type(row).__slots__ if name not in ("start", "end", "cause"))


A1 = AgentMessage(ClusterAgent("a1", "h", "", TOTALS[2]), {}, None, None)
TASK = HeldResources("f", "t", "a1", {"web": parse_resources("cpus:1")}, "TASK_RUNNING", first_time=AT / MICROS + 5)


@pytest.fixture
def ledger(tmp_path):
    with open_writer(tmp_path / "h.sqlite") as recording, recording.transaction():
        cluster = RecordedCluster("lab", "http://lab", first_seen=AT, last_seen=AT)
        recording.put_cluster(cluster)
        made = Ledger(recording, cluster)
        made.take_agent(A1)
        yield made, recording


def _tasks(recording):
    return [
        (one.id, one.run, (one.start - AT) / MICROS, one.end and (one.end - AT) / MICROS, one.state, one.reason)
        for one in recording.tasks("lab")
    ]


@pytest.mark.parametrize(
    ("told", "after", "start"), [(5, 2, 5), (5, 7, 7), (5, 0, 5), (50, 0, 10), (None, 0, 10), (5, None, 10)]
)
def test_a_task_that_a_state_shows_began_when_it_says_but_not_before_the_last_state(ledger, told, after, start):
    made, recording = ledger
    made.pass_to(AT + 10 * MICROS)
    task = TASK._replace(first_time=None if told is None else AT / MICROS + told)
    made.take_state(SeenState([A1], [], [task]), after=None if after is None else AT + after * MICROS)
    assert _tasks(recording) == [("t", 0, start, None, "TASK_RUNNING", None)]
    assert [one.start_known for one in recording.tasks("lab")] == [False]


@pytest.mark.parametrize(
    ("told", "after", "end", "is_known"), [(5, 2, 5, True), (5, 7, 10, False), (50, 2, 10, False), (None, 2, 10, False)]
)
def test_a_task_that_a_state_shows_ended_did_so_when_it_says(ledger, told, after, end, is_known):
    made, recording = ledger
    made.add_task(TASK)
    made.pass_to(AT + 10 * MICROS)
    change = TaskChange("f", "t", "TASK_FAILED", "REASON_X", None if told is None else AT / MICROS + told)
    made.take_state(SeenState([A1], [], [], [change]), after=AT + after * MICROS)
    assert _tasks(recording) == [("t", 0, 0, end, "TASK_FAILED", "REASON_X")]
    assert [one.end_known for one in recording.tasks("lab")] == [is_known]


def test_a_task_that_is_in_another_state_holds_on(ledger):
    made, recording = ledger
    made.add_task(TASK)
    made.pass_to(AT + 10 * MICROS)
    made.change_task(TaskChange("f", "t", "TASK_KILLING", "REASON_Y", None))
    made.change_task(TaskChange("f", "unknown", "TASK_KILLING", None, None))
    assert _tasks(recording) == [("t", 0, 0, None, "TASK_KILLING", "REASON_Y")]


@pytest.mark.parametrize(
    ("drain_state", "reason", "cause", "recorded_cause"),
    [
        (None, None, "removed", "removed"),
        (None, "REASON_AGENT_REMOVED_BY_OPERATOR", "removed", "gone"),
        ("DRAINING", None, "removed", "removed"),
        ("DRAINED", None, "unreachable", "drained"),
        ("DRAINING", "REASON_AGENT_REMOVED_BY_OPERATOR", "removed", "drained"),
    ],
)
def test_an_agent_ends_for_the_reason_that_its_operator_gave(ledger, drain_state, reason, cause, recorded_cause):
    made, recording = ledger
    made.take_agent(A1._replace(drain_state=drain_state))
    made.add_task(TASK)
    made.add_task(TASK._replace(id="u"))
    made.pass_to(AT + 10 * MICROS)
    if reason is not None:
        made.change_task(TaskChange("f", "t", "TASK_GONE_BY_OPERATOR", reason, None))
    made.end_agent("a1", cause, known=True)
    made.end_agent("a1", "removed", known=True)
    assert not made.has_agent("a1")
    assert [(one.id, one.end, one.cause) for one in recording.agents("lab")] == [
        ("a1", AT + 10 * MICROS, recorded_cause)
    ]
    assert [end for _, _, _, end, *_ in _tasks(recording)] == [10, 10]
    assert [(one.kind, one.end) for one in recording.settings("lab")] == [("reservation", AT + 10 * MICROS)]
    made.pass_to(AT + 20 * MICROS)
    made.add_task(TASK._replace(id="u", state="TASK_STAGING"))
    assert _tasks(recording)[-1] == ("u", 1, 20, None, "TASK_STAGING", None)


def _out(recording):
    """When an agent was out of service, in seconds, and whether that is known."""
    rows = [one for one in recording.settings("lab") if one.kind == "out of service"]
    return [
        (
            (one.start - AT) / MICROS,
            None if one.end is None else (one.end - AT) / MICROS,
            json.loads(one.value)["known"],
        )
        for one in rows
    ]


def _look(made, second, *, active=True, registered=None):
    made.pass_to(AT + second * MICROS)
    shown = A1._replace(agent=replace(A1.agent, active=active), registered=registered and AT / MICROS + registered)
    made.take_agents([shown], after=made.now)


def test_nobody_knows_when_an_agent_went_out_of_service_between_two_looks(ledger):
    made, recording = ledger
    for second, active in ((10, True), (20, False), (30, False), (40, True), (50, True)):
        _look(made, second, active=active)
    assert _out(recording) == [(10, 20, False), (20, 30, True), (30, 40, False)]


def test_an_agent_is_in_service_until_a_task_starts_there_and_from_its_registration_on(ledger):
    made, recording = ledger
    _look(made, 10)
    made.pass_to(AT + 13 * MICROS)
    made.add_task(TASK)
    _look(made, 20, active=False)
    _look(made, 40, registered=34)
    assert _out(recording) == [(13, 20, False), (20, 34, True)]
    _look(made, 60, registered=57)  # it was away, and nobody saw it
    assert _out(recording)[2:] == [(40, 57, False)]


def test_a_task_that_is_lost_tells_when_the_connection_with_its_agent_was(ledger):
    made, recording = ledger
    made.add_task(TASK)
    _look(made, 10)
    made.pass_to(AT + 13 * MICROS)
    made.change_task(TaskChange("f", "t", "TASK_LOST", "REASON_AGENT_DISCONNECTED", None))
    _look(made, 20, active=False)
    made.pass_to(AT + 40 * MICROS)
    made.take_agents([], after=made.now, unreachable={"a1": AT / MICROS + 31})
    assert _out(recording) == [(13, 31, True)]
    assert [(one.end, one.cause) for one in recording.agents("lab")] == [(AT + 31 * MICROS, "unreachable")]


def test_an_agent_that_is_unreachable_went_out_of_service_since_it_was_last_seen(ledger):
    made, recording = ledger
    _look(made, 10)
    made.pass_to(AT + 40 * MICROS)
    made.take_agents([], after=made.now, cause="unreachable")
    assert _out(recording) == [(10, 40, False)]


def test_an_agent_that_was_drained_and_then_changed_ends_as_drained(ledger):
    made, recording = ledger
    made.pass_to(AT + 5 * MICROS)
    made.take_agent(AgentMessage(ClusterAgent("a1", "h", "", TOTALS[0]), {}, None, None, "DRAINED"))
    made.pass_to(AT + 10 * MICROS)
    made.end_agent("a1", "removed", known=True)
    assert [(one.end, one.cause) for one in recording.agents("lab")] == [
        (AT + 5 * MICROS, "changed"),
        (AT + 10 * MICROS, "drained"),
    ]


def test_executors_begin_and_end_between_polls_and_tasks_go_on(ledger):
    made, recording = ledger
    made.add_task(TASK)
    executor = TASK._replace(id="e", state=None)
    for second, executors in ((10, [executor]), (20, [executor]), (30, [])):
        made.pass_to(AT + second * MICROS)
        made.take_executors(executors)
    rows = {one.id: one for one in recording.tasks("lab")}
    assert rows["t"].end is None
    found = rows["e"]
    assert (found.start, found.end) == (AT + 10 * MICROS, AT + 30 * MICROS)
    assert (found.start_known, found.end_known, found.is_executor) == (False, False, True)


def test_a_task_that_is_back_has_the_state_in_which_it_came(ledger):
    made, recording = ledger
    made.add_task(TASK)
    for second, state in ((10, "TASK_UNREACHABLE"), (20, "TASK_KILLING")):
        made.pass_to(AT + second * MICROS)
        made.change_task(TaskChange("f", "t", state, None, None))
    assert _tasks(recording)[-1] == ("t", 1, 20, None, "TASK_KILLING", None)


@pytest.mark.parametrize(("heard", "last_seen"), [(3, 5), (7, 7)])
def test_a_master_that_is_lost_was_seen_until_it_was_heard_or_changed(ledger, heard, last_seen):
    made, recording = ledger
    made.pass_to(AT + 5 * MICROS)
    made.still_there(AT + 9 * MICROS)
    made.lost(AT + heard * MICROS)
    assert [one.last_seen for one in recording.clusters()] == [AT + last_seen * MICROS]


def test_a_recording_is_cut_by_as_many_rows_as_it_says(ledger):
    made, recording = ledger
    made.take_runs(AT + second * MICROS for second in range(5))
    assert made.prune(AT + 3 * MICROS) == 3
    assert [(at - AT) / MICROS for at in recording.runs("lab")] == [3, 4]
