"""Snapshots without names, and what is different between two."""

import json
from dataclasses import replace
from typing import Any

from hypothesis import given, settings

from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota
from mesosctl.mesos.amounts.resource import Disk, DiskSource, Labels, Reservation, Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.amounts.values import Items
from mesosctl.mesos.cluster.agents import ClusterAgent
from mesosctl.mesos.cluster.anonymisation import anonymised
from mesosctl.mesos.cluster.snapshot import (
    ClusterSnapshot,
    Debt,
    FrameworkUsage,
    Lending,
    Refusal,
    SnapshotFramework,
    SnapshotTask,
)
from mesosctl.mesos.cluster.unreachable import UnreachableAgent
from mesosctl.mesos.messages.snapshots import snapshot as snapshot_api
from mesosctl.mesos.roles import is_strict_subrole
from mesosctl.mesos.rules.offers.offers import OutstandingOffer
from mesosctl.snapshot.differences import changes
from tests.helpers.profiles import examples
from tests.mesosctl.mesos.messages.snapshots.strategies import snapshots

STACK = (
    Reservation("DYNAMIC", "SECRETdept", "SECRETprincipal", Labels([("SECRETkey", "SECRETvalue")])),
    Reservation("DYNAMIC", "SECRETdept/SECRETteam", "SECRETother"),
)
VOLUME = Disk(
    "SECRETvolume",
    DiskSource("MOUNT", "/SECRET/root", metadata=Labels([("SECRETkey", "SECRETvalue")])),
    "SECRETprincipal",
    "SECRETpath",
    "RW",
    "/SECRET/host",
)
HELD = Resources([Resource("cpus", 2000, STACK), Resource("disk", 5000, STACK, disk=VOLUME)])
TELLING = ClusterSnapshot(
    "1.11.0",
    1.0,
    agents=(
        ClusterAgent(
            "SECRETmaster-S0",
            "SECRET.example",
            "slave(1)@SECRET.example:5051",
            HELD + Resources([Resource("SECRETfpga", 1000), Resource("zones", Items(frozenset({"SECRETzone"})))]),
            {"SECRETrack": "SECRETr1", "number": 3.0},
            region="SECRETregion",
            zone="SECRETzone",
        ),
    ),
    frameworks=(
        SnapshotFramework(
            "SECRETmaster-0000",
            "SECRETshop",
            ("SECRETdept/SECRETteam",),
            "SECRETprincipal",
            offer_constraints={
                "role_constraints": {
                    "SECRETdept/SECRETteam": {
                        "groups": [
                            {
                                "attribute_constraints": [
                                    {
                                        "selector": {"attribute_name": "SECRETrack"},
                                        "predicate": {"text_equals": {"value": "SECRETr1"}},
                                    }
                                ]
                            }
                        ]
                    },
                    "SECRETx": {"groups": [{"predicate": {"text_matches": {"regex": "SECRET.*"}}}]},
                }
            },
        ),
    ),
    usages=(FrameworkUsage("SECRETmaster-0000", "SECRETmaster-S0", "SECRETdept/SECRETteam", HELD, 2),),
    offers=(
        OutstandingOffer(
            "SECRETmaster-O1",
            "SECRETdept",
            "SECRETmaster-0000",
            "SECRETshop",
            "SECRETmaster-S0",
            "SECRET.example",
            HELD,
        ),
    ),
    quotas={"SECRETdept": Quota(Quantities({"cpus": 2000, "SECRETfpga": 1000}), Limits({"SECRETfpga": 1000}))},
    weights={"SECRETdept/SECRETteam": 2.0},
    lending=Lending(
        tasks=(
            SnapshotTask(
                "SECRETtask",
                "SECRETmaster-0000",
                "SECRETmaster-S0",
                "SECRETdept/SECRETteam",
                HELD,
                "SECRETexecutor",
                HELD,
            ),
        ),
        debts=(Debt("SECRETmaster-0000", "SECRETmaster-S0", "SECRETdept/SECRETteam", HELD),),
        refusals=(Refusal("SECRETmaster-0000", "SECRETmaster-S0", "SECRETdept/SECRETteam", HELD, 30.0),),
        stop_seconds=2.0,
    ),
    completed=(SnapshotFramework("SECRETmaster-0001", "SECRETold", ("SECRETdept",), "SECRETprincipal", ended=1.0),),
    unreachable=(UnreachableAgent("SECRETmaster-S1", 1.0),),
    unreachable_tasks=(SnapshotTask("SECRETt", "SECRETmaster-0000", "SECRETmaster-S1", "SECRETdept", HELD),),
    flags={
        "lendable_names": "cpus, SECRETfpga",
        "priorities": "SECRETdept=3, SECRETdept/SECRETteam=-1",
        "roles": "SECRETdept,SECRETdept/SECRETteam",
        "domain": json.dumps({"fault_domain": {"region": {"name": "SECRETregion"}, "zone": {"name": "SECRETzone"}}}),
    },
)


def test_no_name_is_left():
    text = snapshot_api.dump(anonymised(TELLING))
    assert "SECRET" not in text
    assert "regular expressions" in text


def test_equal_names_stay_equal_wherever_they_stand():
    hidden = anonymised(TELLING)
    (agent,), (framework,) = hidden.agents, hidden.frameworks
    team = framework.roles[0]
    assert (hidden.usages[0].role, [*hidden.weights]) == (team, [team])
    assert is_strict_subrole(team, hidden.offers[0].role)
    assert agent.total.contains(hidden.usages[0].resources)
    constraints: Any = framework.offer_constraints
    constraint = constraints["role_constraints"][team]["groups"][0]["attribute_constraints"][0]
    assert constraint["selector"]["attribute_name"] in agent.attributes
    assert constraint["predicate"]["text_equals"]["value"] in agent.attributes.values()
    assert hidden.flags["roles"].split(",") == [hidden.offers[0].role, team]
    assert agent.region is not None
    assert agent.region in hidden.flags["domain"]
    assert hidden.flags["priorities"] == f"{hidden.offers[0].role}=3,{team}=-1"
    assert hidden.flags["lendable_names"].split(",")[1] in {entry.name for entry in agent.total}
    assert hidden.lending is not None
    (task,), (debt,), (refusal,) = hidden.lending.tasks, hidden.lending.debts, hidden.lending.refusals
    assert (task.framework_id, task.agent_id, task.role) == (framework.id, agent.id, team)
    assert task.resources == task.executor_resources == debt.resources == refusal.resources
    assert (refusal.seconds, hidden.lending.stop_seconds) == (30.0, 2.0)


@settings(max_examples=examples(100), deadline=None)
@given(snapshots())
def test_shapes_and_amounts_stay(snapshot):
    hidden = anonymised(snapshot)
    assert snapshot_api.load(snapshot_api.dump(hidden)) == hidden
    for one, other in zip(snapshot.agents, hidden.agents, strict=True):
        assert len(one.total) == len(other.total)
        assert (
            one.total.filter(lambda e: e.name != "zones").quantities()
            == other.total.filter(lambda e: not e.name.startswith("resource")).quantities()
        )
    roles = [framework.roles for framework in snapshot.frameworks]
    aliases = [framework.roles for framework in hidden.frameworks]
    flat = list(zip(sum(roles, ()), sum(aliases, ()), strict=True))
    for role, alias in flat:
        for other, other_alias in flat:
            assert is_strict_subrole(role, other) == is_strict_subrole(alias, other_alias)
            assert (role == other) == (alias == other_alias)


def kinds(before, after):
    return [(change.kind, change.name, change.what, change.before, change.after) for change in changes(before, after)]


@settings(max_examples=examples(50), deadline=None)
@given(snapshots())
def test_nothing_is_different_from_itself(snapshot):
    assert changes(snapshot, replace(snapshot, taken_at=snapshot.taken_at + 1)) == []


def test_what_came_went_and_changed():
    agent = ClusterAgent("S0", "h0", "p", parse_resources("cpus:2"))
    other = ClusterAgent("S1", "h1", "p", parse_resources("cpus:4"))
    framework = SnapshotFramework("F0", "shop", ("web",))
    before = ClusterSnapshot("1.11.0", 0.0, (agent,), (framework,), weights={"web": 1.0})
    after = ClusterSnapshot(
        "1.11.0",
        9.0,
        (replace(agent, total=parse_resources("cpus:3"), pid="q"), other),
        (framework,),
        usages=(FrameworkUsage("F0", "S0", "web", parse_resources("cpus:1"), 1),),
        weights={"web": 2.0},
    )
    assert kinds(before, after) == [
        ("agent", "S0", "resources", "cpus:2", "cpus:3"),
        ("agent", "S1", "", None, "h1"),
        ("weight", "web", "", "1", "2"),
        ("used", "shop (F0) as web", "", None, "cpus:1 in 1 task"),
    ]
    assert kinds(after, before)[1] == ("agent", "S1", "", "h1", None)


def test_a_quota_that_came_or_went_has_its_limit_too():
    without = ClusterSnapshot("1.11.0", 0.0, (), ())
    guarantee = Quantities({"cpus": 8000})
    limited = replace(without, quotas={"web": Quota(guarantee, Limits({"cpus": 10_000}))})
    assert kinds(limited, without) == [
        ("quota", "web", "", "cpus:8", None),
        ("quota", "web", "limit", "cpus:10", None),
    ]
    assert kinds(without, limited)[1] == ("quota", "web", "limit", None, "cpus:10")
    assert len(kinds(replace(without, quotas={"web": Quota(guarantee)}), without)) == 1


def test_what_is_lent_is_compared():
    held = parse_resources("cpus:1")
    lent = Resources([Resource("cpus", 2000, revocable=True)])
    lending = Lending((SnapshotTask("t1", "F0", "S0", "web", lent),), refusals=(Refusal("F0", "S0", "web", held, 9.0),))
    before = ClusterSnapshot(
        "1.11.0",
        0.0,
        (ClusterAgent("S0", "h0", "p", parse_resources("cpus:2")),),
        (SnapshotFramework("F0", "shop", ("web",)),),
        usages=(FrameworkUsage("F0", "S0", "web", lent, 1),),
        lending=lending,
    )
    later = replace(before, lending=replace(lending, refusals=(Refusal("F0", "S0", "web", held, 5.0),)))
    assert changes(before, later) == []
    after = replace(
        before,
        lending=Lending(
            (SnapshotTask("t1", "F0", "S0", "web", lent, phase="ending"),),
            debts=(Debt("F0", "S0", "web", lent),),
            stop_seconds=2.0,
        ),
    )
    assert kinds(before, after) == [
        ("master", "stop_seconds", "", "0", "2"),
        ("task", "shop (F0)/t1", "standing", "running", "ending"),
        ("owed", "shop (F0) as web", "", None, "cpus{REV}:2 in 1 entry"),
        ("refused", "shop (F0) as web", "", "cpus:1 in 1 entry", None),
    ]
    assert ("used", "shop (F0) as web", "", "cpus{REV}:2 in 1 task", None) in kinds(before, replace(before, usages=()))
