"""Reading a snapshot where a master hides things, or changes meanwhile."""

import json
from dataclasses import replace
from threading import Event

import httpx
import pytest

from fake_master.sources.snapshot import RestoredCluster
from fake_master.transports.in_process import InProcessTransport
from mesosctl.client.address import parse_address
from mesosctl.client.deadline import Deadline
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.amounts.quantities import Quantities, Quota
from mesosctl.mesos.cluster.agents import ClusterAgent
from mesosctl.mesos.cluster.snapshot import (
    ClusterSnapshot,
    FrameworkUsage,
    Lending,
    Refusal,
    SnapshotFramework,
    SnapshotTask,
)
from mesosctl.mesos.errors import Denied, UnexpectedAnswer
from mesosctl.mesos.messages.snapshots import cluster_state
from mesosctl.snapshot.work import read_snapshot

AGENT = ClusterAgent("m-S0", "h0", "slave(1)@127.0.0.1:5050", parse_resources("cpus:8;mem:4096"))
SHOP = SnapshotFramework(
    "m-0000", "shop", ("web",), capabilities=frozenset({"MULTI_ROLE"}), suppressed=frozenset({"web"})
)
HELD = FrameworkUsage("m-0000", "m-S0", "web", parse_resources("cpus:4;mem:512"), 2)
SNAPSHOT = ClusterSnapshot(
    "1.11.0", 0.0, (AGENT,), (SHOP,), (HELD,), quotas={"web": Quota(Quantities({"cpus": 1000}))}, weights={"web": 2.0}
)


class Between(httpx.BaseTransport):
    """A fake master, and somebody between who changes what it says."""

    def __init__(self, snapshot=SNAPSHOT, **instead):
        self.fake = RestoredCluster(snapshot).start(clock=lambda: 1000.0)
        self.transport = InProcessTransport(self.fake)
        self.instead = instead
        self.asked = []

    def handle_request(self, request):
        content = request.read()
        name = json.loads(content)["type"] if request.method == "POST" else request.url.path.strip("/").split("/")[0]
        self.asked.append(name)
        answer = self.transport.handle_request(request)
        answer.read()
        change = self.instead.get(name)
        if isinstance(change, int):
            return httpx.Response(change)
        if change is None:
            return answer
        value = answer.json()
        return httpx.Response(200, json=change(self, value) or value)


def snapshot_of(between):
    return read_snapshot(LeadingMaster(parse_address("http://m:5050"), transport=between), now=lambda: 7.0)


def test_all_that_a_master_tells():
    snapshot = snapshot_of(Between())
    assert (snapshot.version, snapshot.taken_at) == ("1.11.0", 7.0)
    assert snapshot.usages == (HELD,)
    assert (snapshot.quotas, snapshot.weights) == (SNAPSHOT.quotas, SNAPSHOT.weights)
    assert snapshot.frameworks[0].suppressed == {"web"}
    assert [sentence.partition(":")[0] for sentence in snapshot.unknown] == ["offer filters"]


def test_what_may_not_be_seen_is_listed_with_what_stands_in_its_place():
    snapshot = snapshot_of(Between(quota=403, weights=403, flags=403, metrics=404))
    assert (snapshot.quotas, snapshot.weights, snapshot.flags) == ({}, {}, {})
    assert snapshot.frameworks[0].suppressed is None
    told = " ".join(snapshot.unknown)
    for word in ("quotas:", "weights:", "flags", "suppress"):
        assert word in told


def without_frameworks(_, value):
    state = value["get_state"]
    state["get_frameworks"]["frameworks"] = []
    state["get_tasks"]["tasks"] = []


def test_what_hidden_frameworks_hold_is_held_all_the_same():
    snapshot = snapshot_of(Between(GET_STATE=without_frameworks))
    (stand_in,) = snapshot.frameworks
    assert (stand_in.name, stand_in.roles, stand_in.active) == ("(unseen)", ("web",), False)
    assert [(usage.role, usage.resources) for usage in snapshot.usages] == [("web", HELD.resources)]
    assert "may not see" in " ".join(snapshot.unknown)
    again = RestoredCluster(snapshot).start(clock=lambda: 1000.0)
    assert again.state.used_on("m-S0").allocated_to(None) == HELD.resources


def other_weights_for(times):
    def change(between, value):
        seen = sum(name == "weights" for name in between.asked)
        return [{"role": "web", "weight": 2.0 + min(seen, times)}]

    return change


def test_it_is_read_again_while_somebody_changes_it():
    between = Between(weights=other_weights_for(2))
    snapshot = snapshot_of(between)
    assert between.asked.count("GET_STATE") == 2
    assert snapshot.weights == {"web": 4.0}
    assert not any("single moment" in sentence for sentence in snapshot.unknown)


def test_a_cluster_that_never_rests_is_kept_with_a_warning():
    between = Between(weights=other_weights_for(99))
    snapshot = snapshot_of(between)
    assert between.asked.count("GET_STATE") == 3
    assert any(sentence.startswith("the state at a single moment") for sentence in snapshot.unknown)


def test_without_the_state_there_is_no_snapshot():
    with pytest.raises(Denied):
        snapshot_of(Between(GET_STATE=403))


@pytest.mark.parametrize(
    "broken",
    [
        lambda _, _v: {"type": "GET_STATE"},
        lambda _, v: v["get_state"]["get_agents"]["agents"][0].pop("agent_info") and None,
        lambda _, v: v["get_state"]["get_tasks"]["tasks"][0].update(resources=3),
        lambda _, v: v["get_state"]["get_tasks"]["tasks"][0].update(resources=[{"name": "cpus"}]),
        lambda _, v: v["get_state"]["get_frameworks"].update(frameworks=[3]),
    ],
)
def test_an_answer_that_no_master_gives_is_told_apart(broken):
    with pytest.raises(UnexpectedAnswer, match="not as documented"):
        snapshot_of(Between(GET_STATE=broken))


LENT = Lending(
    tuple(SnapshotTask(f"t{n}", "m-0000", "m-S0", "web", parse_resources("cpus:2;mem:256")) for n in range(2)),
    refusals=(Refusal("m-0000", "m-S0", "web", parse_resources("cpus:4"), 30.0),),
    stop_seconds=2.0,
)
LENDING = replace(
    SNAPSHOT,
    usages=(HELD,),
    flags={"oversubscribe_reservations": "true", "lendable_names": "cpus"},
    lending=LENT,
)


def test_a_master_that_lends_tells_all_that_its_snapshot_has():
    between = Between(LENDING)
    snapshot = snapshot_of(between)
    assert between.asked.count("GET_STATE") == 1
    assert snapshot.lending == LENT
    assert snapshot.flags["lendable_names"] == "cpus"
    assert snapshot.unknown == ()


def test_what_is_on_its_way_there_is_not_told():
    first, second = LENT.tasks
    tasks = (replace(first, phase="ending"), second)
    snapshot = snapshot_of(Between(replace(LENDING, lending=replace(LENT, tasks=tasks))))
    assert snapshot.lending is not None
    assert [task.phase for task in snapshot.lending.tasks] == ["ending", "running"]
    assert [sentence.partition(":")[0] for sentence in snapshot.unknown] == ["tasks that are ending"]


def test_that_it_lends_is_known_without_its_flags():
    between = Between(LENDING, flags=403)
    snapshot = snapshot_of(between)
    assert between.asked.count("GET_STATE") == 1
    assert snapshot.lending == LENDING.lending
    assert snapshot.flags == {"oversubscribe_reservations": "true"}
    assert any(sentence.startswith("flags of the master: this principal ") for sentence in snapshot.unknown)


def broken(state, change):
    change(state["get_state"]["get_agents"]["agents"][0]["lending"])


@pytest.mark.parametrize(
    "change",
    [
        lambda told: told.update(guests=[{}]),
        lambda told: told.update(debts=[{"framework_id": "x"}]),
        lambda told: told.update(stop_seconds="soon"),
    ],
)
def test_lending_that_is_not_as_documented_is_refused(change):
    with pytest.raises(UnexpectedAnswer):
        snapshot_of(Between(LENDING, GET_STATE=lambda _, value: broken(value, change)))


class Cutting(Between):
    """The state is cut off."""

    def handle_request(self, request):
        answer = super().handle_request(request)
        if self.asked[-1] != "GET_STATE":
            return answer
        return httpx.Response(200, headers={"Content-Type": "application/json"}, content=answer.read()[:-5])


@pytest.mark.parametrize("instead", [{}, {"flags": 403}])
def test_the_answer_of_a_master_that_lends_may_be_cut_off(instead):
    with pytest.raises(UnexpectedAnswer, match="cut off or broken"):
        snapshot_of(Cutting(LENDING, **instead))


def test_a_leader_that_does_not_lend_after_one_that_did():
    flags = {"flags": {"oversubscribe_reservations": "true"}}
    assert snapshot_of(Between(flags=lambda _, _value: flags)).lending is None


def test_the_state_is_evaluated_while_the_master_makes_its_metrics(monkeypatch):
    asked, evaluate = Event(), cluster_state.cluster_state

    def when_asked(chunks):
        assert asked.wait(30)
        return evaluate(chunks)

    monkeypatch.setattr(cluster_state, "cluster_state", when_asked)
    between = Between(metrics=lambda *_: asked.set())
    assert snapshot_of(between).frameworks == SNAPSHOT.frameworks


def test_an_interruption_does_not_wait_for_the_evaluation(monkeypatch):
    begun, ended, read, end = Event(), Event(), [], Deadline.end

    def evaluate(chunks):
        for piece in chunks:
            read.append(piece)
            begun.set()
            assert ended.wait(30)

    def interrupt(*_):
        assert begun.wait(30)
        raise KeyboardInterrupt

    def end_and_tell(deadline):
        end(deadline)
        ended.set()

    monkeypatch.setattr(cluster_state, "cluster_state", evaluate)
    monkeypatch.setattr(Deadline, "end", end_and_tell)
    large = {"padding": "x" * 3_000_000}
    with pytest.raises(KeyboardInterrupt):
        snapshot_of(Between(GET_STATE=lambda *_: large, metrics=interrupt))
    assert len(read) == 1
