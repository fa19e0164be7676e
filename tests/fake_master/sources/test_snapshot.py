"""A fake master made from a snapshot: it is as the snapshot says, and keeps what is changed."""

import json
from contextlib import closing
from dataclasses import replace

import pytest
from hypothesis import assume, given, settings

import fake_master
from fake_master.registry.interface import MemoryRegistry
from fake_master.sources.snapshot import RestoredCluster
from fake_master.state.streams import EventStream
from fake_master.transports.address import open_on_call
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.amounts.quantities import Quantities, Quota
from mesosctl.mesos.amounts.resource import Reservation, Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.agents import ClusterAgent
from mesosctl.mesos.cluster.snapshot import ClusterSnapshot, FrameworkUsage, SnapshotFramework
from mesosctl.mesos.door.forecast import DryRunOptions
from mesosctl.mesos.errors import BadInput
from mesosctl.mesos.messages.snapshots import snapshot as snapshot_api
from mesosctl.mesos.rules.offers.offers import OutstandingOffer
from tests.fake_master.sources.shown_state import shown_state
from tests.helpers.profiles import examples
from tests.mesosctl.mesos.messages.snapshots.strategies import snapshots

TOTAL = parse_resources("cpus:8;mem:4096;ports:[31000-31009]")
AGENTS = tuple(ClusterAgent(f"m-S{n}", "same.example", f"slave({n})@h:5051", TOTAL) for n in range(2))
WEB = SnapshotFramework("m-0000", "shop", ("web",), capabilities=frozenset({"MULTI_ROLE"}))
HALF = parse_resources("cpus:4;mem:2048;ports:[31000-31004]")
BASE = ClusterSnapshot("1.11.0", 1000.0, AGENTS, (WEB,))


def offered(name, agent, resources, role="web", framework="m-0000"):
    return OutstandingOffer(name, role, framework, "shop", agent, "same.example", resources, stacked_format=False)


def started(snapshot, **more):
    return RestoredCluster(snapshot).start(clock=lambda: 2000.0, **more)


def summed(usages):
    held: dict[tuple[str, str, str], Resources] = {}
    for usage in usages:
        key = (usage.framework_id, usage.agent_id, usage.role)
        held[key] = held.get(key, Resources()) + usage.resources
    return {key: resources for key, resources in held.items() if len(resources)}


def _unowned(total: Resources) -> Resources:
    """The same without owners, in which a range that stands twice is one."""
    return Resources(replace(entry, reservations=()) for entry in total)


@settings(max_examples=examples(100), deadline=None)
@given(snapshots())
def test_whatever_a_snapshot_says_the_master_says_too(snapshot):
    # No master tells of one port that has two owners.
    assume(all(_unowned(agent.total).quantities() == agent.total.quantities() for agent in snapshot.agents))
    shown = shown_state(RestoredCluster(snapshot).start(clock=lambda: snapshot.taken_at))
    assert [(a.id, a.hostname, a.total, a.attributes, a.active, a.region) for a in shown.agents] == [
        (a.id, a.hostname, a.total, a.attributes, a.active, a.region) for a in snapshot.agents
    ]
    assert [(f.id, f.name, set(f.roles), f.principal, f.active, f.connected) for f in shown.frameworks] == [
        (f.id, f.name, set(f.roles), f.principal, f.active, f.connected) for f in snapshot.frameworks
    ]
    assert summed(shown.usages) == summed(snapshot.usages)
    assert {offer.id for offer in shown.offers} <= {offer.id for offer in snapshot.offers}


def test_offers_are_outstanding_as_before_and_the_rest_is_offered_at_once():
    snapshot = ClusterSnapshot("1.11.0", 0.0, AGENTS, (WEB,), offers=(offered("m-O7", "m-S0", HALF),))
    master = started(snapshot)
    assert [offer.id for offer in master.state.offers] == ["m-O7"]
    master.advance()
    assert "m-O7" in [offer.id for offer in master.state.offers]
    assert sorted(offer.agent_id for offer in master.state.offers) == ["m-S0", "m-S0", "m-S1"]
    assert master.state.offered_on("m-S0").allocated_to(None).quantities() == TOTAL.quantities()


def test_what_is_suppressed_or_away_is_offered_nothing():
    quiet = SnapshotFramework("q", "q", ("q",), suppressed=frozenset({"q"}), capabilities=frozenset({"MULTI_ROLE"}))
    away = SnapshotFramework("a", "a", ("a",), active=False, connected=False, capabilities=frozenset({"MULTI_ROLE"}))
    master = started(ClusterSnapshot("1.11.0", 0.0, AGENTS, (quiet, away)))
    master.advance()
    assert len(master.state.offers) == 0


def test_tasks_share_what_their_framework_holds():
    usage = FrameworkUsage("m-0000", "m-S0", "web", parse_resources("cpus:1;mem:100;ports:[31000-31001]"), tasks=3)
    master = started(ClusterSnapshot("1.11.0", 0.0, AGENTS, (WEB,), (usage,)))
    tasks = list(master.state.frameworks["m-0000"].all_tasks().values())
    assert len(tasks) == 3
    assert [task.resources.scalar_quantities().get_amount("cpus") for task in tasks] == [333, 333, 334]
    master.subscriptions.remove(master.state.frameworks["m-0000"])
    assert len(master.state.agents["m-S0"].used) == 0
    assert master.allocator.metrics()["allocator/mesos/resources/cpus/offered_or_allocated"] == 0.0


def test_changes_outlive_the_master_and_offers_of_what_is_gone_do_not():
    registry = MemoryRegistry()
    whole = ClusterSnapshot(
        "1.11.0", 0.0, AGENTS, (WEB,), offers=(offered("m-O7", "m-S0", TOTAL), offered("m-O8", "m-S1", TOTAL))
    )
    first = started(whole, registry=registry)
    reservation = (Reservation("DYNAMIC", "db"),)
    with first.transaction():
        first.reservations.reserve(None, first.state.agents["m-S0"], [Resource("cpus", 2000, reservation)], None)
        first.weights.update(None, [("web", 3.0)])
    second = started(whole, registry=registry)
    assert second.state.agents["m-S0"].total.reserved("db").scalar_quantities() == Quantities({"cpus": 2000})
    assert second.state.agents["m-S1"].total == TOTAL  # of the same host name
    assert second.state.weights == {"web": 3.0}
    assert [offer.id for offer in second.state.offers] == ["m-O8"]


def test_a_removed_quota_does_not_come_back():
    registry = MemoryRegistry()
    snapshot = ClusterSnapshot("1.11.0", 0.0, AGENTS, quotas={"web": Quota(Quantities({"cpus": 1000}))})
    with (first := started(snapshot, registry=registry)).transaction():
        first.quotas.remove(None, "web")
    assert started(snapshot, registry=registry).state.quota_meanings() == {}


def test_a_snapshot_file_is_opened_by_its_content(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    file = tmp_path / "cluster"
    file.write_text(snapshot_api.dump(BASE))

    def ask(path, method="GET", body=b"", options=""):
        with closing(open_on_call(f"fake:{file}{options}")) as carrier:
            answer = carrier.answer(method, path, {}, body)
            return json.loads(answer.body) if answer.body else None

    assert [agent["id"] for agent in ask("/slaves")["slaves"]] == ["m-S0", "m-S1"]
    assert ask("/version")["version"] == "1.11.0"
    web = [{"role": "web", "weight": 3.0}]
    ask("/weights", "PUT", json.dumps(web).encode())
    assert ask("/weights") == web
    assert ask("/version", options="?version=documents")["version"] == "1.4.0"
    file.write_text(snapshot_api.dump(BASE) + " ")
    assert ask("/weights") == []  # taken anew


@pytest.mark.parametrize(
    ("content", "said"),
    [("{", "is not JSON"), ("{}", "is not a snapshot"), (snapshot_api.dump(BASE).replace('"m-S1"', '"m-S0"'), "twice")],
)
def test_a_file_that_is_no_snapshot_is_told_apart(tmp_path, content, said):
    file = tmp_path / "cluster.json"
    file.write_text(content)
    with pytest.raises(BadInput, match=said):
        open_on_call(f"fake:{file}")


def test_quota_on_a_nested_role_is_refused_in_words() -> None:
    quotas = {"eng/a": Quota(Quantities({"cpus": 1000}))}
    with pytest.raises(BadInput, match="quota on the nested role 'eng/a'"):
        RestoredCluster(ClusterSnapshot("1.11.0", 0.0, quotas=quotas)).start()
    with pytest.raises(BadInput, match="quota on the nested role 'eng/a'"):
        fake_master.start_dry_run(ClusterSnapshot("1.11.0", 0.0, quotas=quotas), DryRunOptions())


def test_draining_an_agent_makes_its_tasks_alone() -> None:
    usages = tuple(FrameworkUsage("m-0000", agent.id, "web", HALF, tasks=3) for agent in AGENTS)
    master = started(replace(BASE, usages=usages))
    with master.transaction():
        master.draining.drain("m-S0", None, mark_gone=False)
    framework = master.state.frameworks["m-0000"]
    assert [group.agent_id for group in framework.task_groups()] == ["m-S1"]
    assert framework.counts["tasks/terminal/task_killed"] == 3


def test_tasks_that_are_lost_are_the_same_whether_an_operator_hears_of_each_or_nobody_does() -> None:
    usages = (
        FrameworkUsage("m-0000", "m-S0", "web", HALF, tasks=3),
        FrameworkUsage("m-0000", "m-S1", "web", HALF, tasks=1),
    )
    heard, unheard = (started(replace(BASE, usages=usages)) for _ in range(2))
    heard.events.add_operator(EventStream(), None, b"")
    for master in (heard, unheard):
        with master.transaction():
            master.agent_removal.give_up([master.state.agents["m-S0"]])
    one, other = (master.state.frameworks["m-0000"] for master in (heard, unheard))
    assert (one.counts, one.used(), one.held) == (other.counts, other.used(), other.held)
    assert {task.state for task in one.unreachable_tasks.values()} == {"TASK_LOST"}
    assert one.unreachable_tasks == other.unreachable_tasks
    assert one.all_tasks() == other.all_tasks()
    assert len(one.all_tasks()) == 1
