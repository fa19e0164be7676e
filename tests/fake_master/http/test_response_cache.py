"""Answers that are kept in parts: always those that would be written anew."""

import json
from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fake_master.http.application import Application
from fake_master.http.json_text import JsonPieces, text_of
from fake_master.http.quota import QuotaEndpoints
from fake_master.http.request_response import Request
from fake_master.http.state_flags_metrics import StateEndpoints
from fake_master.http.views import agents as views
from fake_master.http.views import response_cache, roles
from fake_master.http.views.response_cache import ResponseCache
from fake_master.sources.agent_tables import AgentSpec
from fake_master.sources.cluster_file import ClusterSpec
from fake_master.sources.simulated_frameworks import SimulatedFrameworkSpec
from fake_master.state.agents import Absence, KnownAgent
from fake_master.state.clock import VirtualClock
from fake_master.state.quota import SentQuota
from fake_master.state.roles import everything
from fake_master.state.tasks import TaskOutcome
from mesosctl.mesos.amounts.notation import parse_resources
from tests.helpers.profiles import examples

PATHS = ("/state", "/slaves", "/frameworks", "/roles", "/quota", "/state-summary")
CALLS = ("GET_STATE", "GET_ROLES", "GET_OPERATIONS")
AGENT = "cpus:4;mem:4096;disk:1000;cpus(ads):2;ports:[31000-31010]"


def resident(name: str, task: str = "", **more: Any) -> SimulatedFrameworkSpec:
    return SimulatedFrameworkSpec(name, (name,), parse_resources(task), **more)


AGENTS = (
    AgentSpec(AGENT, "a", {"rack": "r1"}),
    AgentSpec(AGENT, "b", absence=Absence(4.0, 9.0), oversubscribed="cpus:1"),
    AgentSpec("cpus:2;mem:512", "c"),
)
CLUSTER = ClusterSpec(
    AGENTS,
    "1.11",
    frameworks=(
        resident("ads", "cpus:1;mem:256", tasks=4),
        resident("web", "cpus:0.5;mem:100", tasks=2, after=3.0),
        resident("idle", answer="hold"),
        resident("shy", answer="decline", refuse_seconds=2.0),
    ),
    task_outcome=TaskOutcome("TASK_FINISHED", 5.0, 1.0),
)


class Stage:
    """A played cluster, a client that asks again and again, and the changes that an operator can make."""

    def __init__(self, spec: ClusterSpec) -> None:
        self.clock = VirtualClock(1000.0)
        self.master = spec.start(clock=self.clock)
        self.application = Application(self.master)

    def wait(self, seconds: float) -> None:
        self.clock.sleep(seconds)
        self.application.tick()

    def read(self, path: str) -> Any:
        answer = self.application.handle(Request("GET", path))
        assert answer.status == 200
        return json.loads(answer.body)

    def read_all(self) -> list[Any]:
        return [*map(self.read, PATHS), *(json.loads(self.call(name)) for name in CALLS)]

    def call(self, name: str, **body: Any) -> bytes:
        """Whatever comes of it: a refusal must leave answers right as well."""
        headers = {"content-type": "application/json", "accept": "application/json"}
        content = json.dumps({"type": name, name.lower(): body}).encode()
        return self.application.handle(Request("POST", "/api/v1", headers, content)).body

    def agent_id(self, number: int) -> dict[str, str]:
        ids = [*self.master.state.agents, "nobody's"]
        return {"value": ids[number % len(ids)]}

    def reserve(self, number: int) -> None:
        stack = [{"type": "DYNAMIC", "role": "web"}]
        cpu = {"name": "cpus", "type": "SCALAR", "scalar": {"value": 0.5}, "reservations": stack}
        self.call("RESERVE_RESOURCES", agent_id=self.agent_id(number), resources=[cpu])

    def tear_down(self, number: int) -> None:
        ids = list(self.master.state.frameworks)
        if ids:
            self.call("TEARDOWN", framework_id={"value": ids[number % len(ids)]})

    def drain(self, number: int) -> None:
        self.call("DRAIN_AGENT", agent_id=self.agent_id(number))

    def deactivate(self, number: int) -> None:
        self.call("DEACTIVATE_AGENT", agent_id=self.agent_id(number))

    def reactivate(self, number: int) -> None:
        self.call("REACTIVATE_AGENT", agent_id=self.agent_id(number))

    def gone(self, number: int) -> None:
        self.call("MARK_AGENT_GONE", agent_id=self.agent_id(number))

    def quota(self, number: int) -> None:
        limits = {"cpus": {"value": float(number)}}
        self.call("UPDATE_QUOTA", force=True, quota_configs=[{"role": "ads", "limits": limits}])

    def weight(self, number: int) -> None:
        self.call("UPDATE_WEIGHTS", weight_infos=[{"role": "web", "weight": 1.0 + number}])


CHANGES = ("reserve", "tear_down", "drain", "deactivate", "reactivate", "gone", "quota", "weight")
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("wait"), st.sampled_from((0.0, 0.5, 1.0, 3.0))),
        st.tuples(st.sampled_from(CHANGES), st.integers(0, 5)),
    ),
    max_size=12,
)


@pytest.mark.parametrize("flags", [{}, {"oversubscribe_reservations": "true"}], ids=["regular", "lending"])
@pytest.mark.parametrize("plain", [response_cache._BYTES_KEPT_PLAIN, 1], ids=["plain", "compressed"])
@settings(max_examples=examples(30), deadline=None)
@given(steps=STEPS)
def test_after_every_change_the_answer_is_what_would_be_written_anew(
    plain: int, flags: dict[str, str], steps: list[tuple[str, Any]]
) -> None:
    stage = Stage(replace(CLUSTER, flags=flags))
    for name, value in [("wait", 0.0), *steps]:
        getattr(stage, name)(value)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(response_cache, "_BYTES_KEPT_PLAIN", plain)
            patch.setattr(response_cache, "_BYTES_WORTH_COMPRESSING", plain)
            kept = stage.read_all()
        response_cache._KEPT.pop(stage.master.state)
        assert kept == stage.read_all()


class Thing:
    def __init__(self, name: str) -> None:
        self.id = name
        self.part: object = "first"


def test_only_what_changed_is_written_again() -> None:
    kept, things, written = ResponseCache(), [Thing("a"), Thing("b")], []

    def view(thing: Thing) -> dict[str, Any]:
        written.append(thing.id)
        return {thing.id: thing.part}

    def ask() -> str:
        return bytes(kept.array(things, lambda thing: (thing.part,), view)).decode()

    assert (ask(), ask()) == ('[{"a":"first"},{"b":"first"}]',) * 2
    assert written == ["a", "b"]
    things[1].part = "second"
    assert ask() == '[{"a":"first"},{"b":"second"}]'
    assert written == ["a", "b", "b"]
    gone = things.pop(0)
    assert ask() == '[{"b":"second"}]'
    things.append(gone)
    assert ask() == '[{"b":"second"},{"a":"first"}]'
    assert written == ["a", "b", "b", "a"]


@given(st.lists(st.lists(st.integers(0, 2), max_size=3), max_size=6))
def test_a_whole_is_written_again_exactly_when_its_parts_are_not_the_same(histories: list[list[int]]) -> None:
    parts, kept = [object() for _ in range(3)], ResponseCache()
    told, now = [], [-1]

    def write() -> JsonPieces:
        told.append(list(now))
        return JsonPieces([str(now).encode()])

    def ask() -> bytes:
        return bytes(kept.whole(lambda: (parts[index] for index in now), write))

    for then in histories:
        same = now == then
        now, before = then, len(told)
        assert ask() == str(then).encode()
        assert (len(told) == before) == same


def test_equal_parts_that_are_other_objects_count_as_changed() -> None:
    """Resources are equal in any order and labels too, but not shown alike."""
    kept, thing = ResponseCache(), Thing("a")
    texts = []
    for part in ([1, 2], [2, 1]):
        thing.part = part
        texts.append(bytes(kept.array([thing], lambda thing: (thing.part,), lambda thing: {"part": thing.part})))
    assert texts == [b'[{"part":[1,2]}]', b'[{"part":[2,1]}]']


def test_what_is_kept_for_one_is_not_told_to_another() -> None:
    """Not even to a principal whose name is the word for nobody."""
    rule = {"principals": {"values": ["None"]}, "roles": {"type": "ANY"}}
    acls = {"permissive": False, "get_quotas": [rule], "update_quotas": [rule]}
    flags = {"acls": json.dumps(acls)}
    stage = Stage(replace(CLUSTER, flags=flags, frameworks=()))
    with stage.master.transaction():
        stage.master.quotas.update("None", [("ads", SentQuota({}, {"cpus": 1.0}))], force=True)

    endpoint = QuotaEndpoints(stage.master.state, stage.master.quotas)

    def told(principal: str | None) -> Any:
        return json.loads(endpoint.get(Request("GET", "/quota"), principal).body)

    assert told("None")["configs"] == [{"role": "ads", "limits": {"cpus": {"value": 1.0}}}]
    assert told(None) == {}
    assert told("other") == {}


def test_principals_who_see_everything_share_the_texts() -> None:
    stage = Stage(CLUSTER)
    state, runtime = stage.master.state, stage.master.runtime
    endpoints = StateEndpoints(state, runtime, stage.master.metrics.snapshot)
    kinds = []
    for principal in (None, "one", "other"):
        endpoints.get_state(principal)
        roles.roles_described(state, principal)
        kinds.append(set(response_cache._KEPT[state]))
    assert kinds == kinds[:1] * 3


def test_an_agent_alone_is_shown_as_among_all() -> None:
    stage = Stage(CLUSTER)
    stage.wait(3.0)
    for agent in stage.read("/slaves")["slaves"]:
        assert stage.read(f"/slaves?slave_id={agent['id']}")["slaves"] == [agent]
    for framework in stage.read("/frameworks")["frameworks"]:
        assert stage.read(f"/frameworks?framework_id={framework['id']}")["frameworks"] == [framework]
    state, runtime = stage.master.state, stage.master.runtime
    alone = views.AgentViews(state, runtime, everything)
    together = json.loads(bytes(views.agents(state, runtime, None)))
    assert together == [json.loads(text_of(alone.short(alone.shown(agent)))) for agent in state.agents.values()]


@pytest.mark.parametrize("name", [field.name for field in fields(KnownAgent) if field.name != "revision"])
def test_an_agent_is_another_after_each_change(name: str) -> None:
    (agent,) = ClusterSpec(("cpus:1",)).start().state.agents.values()
    before = agent.revision
    assert before is agent.revision
    setattr(agent, name, getattr(agent, name))
    assert agent.revision is not before


def test_that_nothing_changed_is_found_by_one_look_at_each_agent_and_one_at_all_offers() -> None:
    """Hundreds of operators may subscribe at once, and others wait meanwhile."""
    stage = Stage(CLUSTER)
    stage.wait(3.0)
    state = stage.master.state
    views.agents_described(state, stage.master.runtime, None).json()
    assert len(state.offers) > 1
    assert len(response_cache.texts(state, "described")._everything) == len(state.agents) + 1


def test_offers_are_others_after_each_change() -> None:
    stage = Stage(CLUSTER)
    stage.wait(3.0)
    offers = stage.master.state.offers
    revisions = [offers.revision]
    taken = next(iter(offers))
    for change in (offers.remove, offers.add):
        change(taken)
        revisions.append(offers.revision)
    assert len(set(revisions)) == 3
