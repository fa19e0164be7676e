"""Dry runs: what is tried out on a master made of a snapshot."""

from dataclasses import replace
from io import BytesIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fake_master
from fake_master.forecasting.dry_run import DryRun
from mesosctl.mesos.amounts.holding import UsedAndOffered
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.amounts.quantities import Quantities, Quota
from mesosctl.mesos.cluster.agents import ClusterAgent
from mesosctl.mesos.cluster.snapshot import ClusterSnapshot, FrameworkUsage, SnapshotFramework
from mesosctl.mesos.door.forecast import DryRunOptions
from mesosctl.mesos.errors import BadInput
from mesosctl.mesos.rules.offers.offers import OutstandingOffer
from tests.helpers.profiles import examples

CAPABILITIES = frozenset({"MULTI_ROLE", "RESERVATION_REFINEMENT"})
FOUR = "cpus:4;mem:4096"


def agents(count: int, text: str = FOUR) -> tuple[ClusterAgent, ...]:
    return tuple(
        ClusterAgent(f"m-S{n}", f"host-{n}", f"slave({n})@127.0.0.1:5051", parse_resources(text)) for n in range(count)
    )


def framework(name: str, *roles: str, **more) -> SnapshotFramework:
    return SnapshotFramework(
        f"m-{name}", name, roles or (name,), capabilities=CAPABILITIES, suppressed=frozenset(), **more
    )


def usage(name: str, agent: int, text: str) -> FrameworkUsage:
    return FrameworkUsage(f"m-{name}", f"m-S{agent}", name, parse_resources(text), tasks=1)


def snapshot(**more) -> ClusterSnapshot:
    return replace(ClusterSnapshot("1.11.0", 1e9, agents(4)), **more)


def begin(cluster: ClusterSnapshot, **terms) -> DryRun:
    return fake_master.start_dry_run(cluster, DryRunOptions(**terms))


def cpus(amounts: Quantities) -> float:
    return amounts.get_amount("cpus") / 1000


def test_nothing_that_happens_changes_nothing():
    dry_run = begin(snapshot(frameworks=(framework("a"), framework("b")), usages=(usage("a", 0, "cpus:2;mem:100"),)))
    said = dry_run.forecast()
    assert said.is_harmless
    assert said.rescinded == ()
    assert not any(party.changes for party in (*said.roles, *said.frameworks))


def test_a_lost_agent_takes_tasks_and_offers_along():
    offer = OutstandingOffer("m-O1", "b", "m-b", "b", "m-S1", "host-1", parse_resources(FOUR))
    dry_run = begin(
        snapshot(
            agents=agents(2),
            frameworks=(framework("a"), framework("b")),
            usages=(usage("a", 0, "cpus:4;mem:4096"),),
            offers=(offer,),
        )
    )
    dry_run.lose_agents(["m-S0", "m-S1"])
    said = dry_run.forecast()
    assert [one.offer_id for one in said.rescinded] == ["m-O1"]
    assert {party.name: party.after for party in said.frameworks} == {"a": UsedAndOffered(), "b": UsedAndOffered()}
    assert [(one.kind, one.name, one.reason) for one in said.starved] == [
        ("role", "a", "nothing"),
        ("framework", "a", "nothing"),
    ]
    assert [(one.kind, one.name) for one in said.unoffered] == [("role", "b"), ("framework", "b")]
    assert said.totals == Quantities()


def test_an_agent_that_is_not_there_cannot_be_lost():
    with pytest.raises(KeyError):
        begin(snapshot()).lose_agents(["nobody"])


def test_added_agents_are_shared_out():
    dry_run = begin(snapshot(agents=agents(2), frameworks=(framework("a"), framework("b"))))
    dry_run.add_agents(parse_resources("cpus:8;mem:8192"), 2, {"rack": "new"})
    said = dry_run.forecast()
    assert {party.name: cpus(party.gains) for party in said.roles} == {"a": 8, "b": 8}
    assert cpus(said.totals) == 24


def test_added_agents_have_names_of_their_own():
    dry_run = begin(snapshot(agents=()))
    dry_run.add_agents(parse_resources(FOUR), 2, {})
    dry_run.add_agents(parse_resources(FOUR), 1, {})
    assert cpus(dry_run.forecast().totals) == 12


def test_a_framework_that_leaves_gives_everything_back():
    dry_run = begin(snapshot(frameworks=(framework("a"), framework("b")), usages=(usage("a", 0, "cpus:4;mem:4096"),)))
    dry_run.lose_framework("m-a")
    said = dry_run.forecast()
    assert {party.name: cpus(party.after.total) for party in said.frameworks} == {"a": 0, "b": 16}
    assert said.is_harmless


def test_executors_without_tasks_end_with_their_framework():
    idle = FrameworkUsage("m-a", "m-S0", "a", parse_resources("cpus:4;mem:4096"))
    dry_run = begin(snapshot(agents=agents(1), frameworks=(framework("a"),), usages=(idle,)))
    dry_run.lose_framework("m-a")
    said = dry_run.forecast()
    assert said.headroom.free == (Quantities(), said.totals)


def test_frameworks_that_run_tasks_on_all_they_are_offered():
    cluster = snapshot(frameworks=(framework("a"), framework("b")))
    held = {assume: begin(cluster, assume=assume).forecast().roles for assume in ("hold", "accept")}
    assert [cpus(role.after.offered) for role in held["hold"]] == [8, 8]
    assert [cpus(role.after.used) for role in held["accept"]] == [8, 8]
    assert [cpus(role.after.offered) for role in held["accept"]] == [0, 0]


def test_time_is_virtual_and_long_enough_for_filters():
    dry_run = begin(snapshot(flags={"allocation_interval": "500ms"}), cycles=3)
    said = dry_run.forecast()
    assert (said.cycles, said.seconds) == (12, 6.0)
    assert dry_run.clock() == 1e9 + 1.5 + 6.0


def test_progress_ends_with_everything():
    parts: list[float] = []
    begin(snapshot(), cycles=2, progress=parts.append).forecast()
    assert parts == sorted(parts)
    assert parts[-1] == 1.0


def test_a_guarantee_that_is_short_before_and_after_is_nobodys_fault():
    quotas = {"a": Quota(Quantities({"cpus": 16_000}))}
    dry_run = begin(
        snapshot(frameworks=(framework("a"), framework("b")), usages=(usage("b", 0, "cpus:4;mem:4096"),), quotas=quotas)
    )
    said = dry_run.forecast()
    assert [(one.name, cpus(one.short), one.caused) for one in said.starving] == [("a", 4, False)]
    assert said.is_harmless


def test_a_file_that_is_none():
    with pytest.raises(BadInput, match="the file is not TOML"):
        fake_master.start_dry_run_of_file(BytesIO(b"agents ="), "the file", DryRunOptions())


amounts = st.integers(1, 4)
snapshots = st.builds(
    lambda count, roles, used, promised: snapshot(
        agents=agents(count),
        frameworks=tuple(framework(role) for role in roles),
        usages=tuple(
            usage(role, n % count, f"cpus:{n % 2 + 1};mem:1024") for n, role in enumerate(sorted(roles)[:used])
        ),
        quotas={role: Quota(Quantities({"cpus": amount * 1000})) for role, amount in promised.items()},
    ),
    st.integers(2, 5),
    st.sets(st.sampled_from("abcd"), min_size=1),
    st.integers(0, 2),
    st.dictionaries(st.sampled_from("abcd"), amounts, max_size=2),
)


@settings(max_examples=examples(150))
@given(snapshots, st.integers(0, 2), st.integers(0, 3), st.sampled_from(("hold", "accept")))
def test_nothing_is_given_out_twice(cluster, lost, added, assume):
    dry_run = begin(cluster, assume=assume, cycles=2)
    dry_run.lose_agents(agent.id for agent in cluster.agents[: min(lost, len(cluster.agents) - 1)])
    dry_run.add_agents(parse_resources("cpus:2;mem:2048"), added, {})
    said = dry_run.forecast()
    after = Quantities.total(party.after.total for party in said.frameworks)
    assert after + said.headroom.free[1] == said.totals
    assert Quantities.total(role.after.total for role in said.roles) == after
    assert cpus(said.totals) == 4 * (len(cluster.agents) - min(lost, len(cluster.agents) - 1)) + 2 * added


# --- Frameworks that want no more -----------------------------------------------------------------------

ASKS_AGAIN = "what frameworks with suppressed offers do if they lose tasks"


def full(*usages: FrameworkUsage, **more) -> ClusterSnapshot:
    """A cluster with a framework that suppresses its role, which has a guarantee of 4 cpus."""
    quiet = replace(framework("shop"), suppressed=frozenset({"shop"}))
    quotas = {"shop": Quota(Quantities({"cpus": 4000}))}
    return snapshot(frameworks=(quiet,), usages=usages, quotas=quotas, **more)


def assumes_asking(said) -> int:
    return [one.what for one in said.unknowns].count(ASKS_AGAIN)


@pytest.mark.parametrize("assume", ["hold", "accept"])
def test_a_framework_that_suppresses_offers_runs_again_what_it_lost_and_no_more(assume):
    dry_run = begin(full(usage("shop", 0, "cpus:2;mem:100"), usage("shop", 1, "cpus:2;mem:100")), assume=assume)
    dry_run.lose_agents(["m-S0"])
    said = dry_run.forecast()
    (shop,) = said.frameworks
    assert (shop.after, said.starving, assumes_asking(said)) == (shop.before, (), 1)


def test_a_framework_that_suppresses_offers_and_loses_everything_asks_again():
    dry_run = begin(full(usage("shop", 0, "cpus:4;mem:100")))
    dry_run.lose_agents(["m-S0"])
    said = dry_run.forecast()
    assert said.starving == ()
    (shop,) = said.frameworks
    assert (cpus(shop.after.used), cpus(shop.after.offered)) == (4, 0)


def test_a_task_that_is_lost_runs_again_as_a_whole():
    fragments = [replace(agent, total=parse_resources("cpus:2;mem:4096")) for agent in agents(4)[1:]]
    dry_run = begin(full(usage("shop", 0, "cpus:4;mem:100"), agents=(agents(1)[0], *fragments)))
    dry_run.lose_agents(["m-S0"])
    said = dry_run.forecast()
    (shop,) = said.frameworks
    assert (cpus(shop.after.used), {one.name for one in said.starving}) == (0, {"shop"})


def test_of_several_lost_tasks_as_many_run_again_as_fit():
    three = replace(usage("shop", 0, "cpus:6;mem:3000"), tasks=3)
    fragments = [replace(agent, total=parse_resources("cpus:3;mem:4096")) for agent in agents(3)[1:]]
    dry_run = begin(full(three, agents=(agents(1)[0], *fragments)))
    dry_run.lose_agents(["m-S0"])
    (shop,) = dry_run.forecast().frameworks
    assert shop.after.used == Quantities({"cpus": 4000, "mem": 2000_000})


def test_without_room_the_role_of_lost_tasks_asks_for_its_guarantee():
    dry_run = begin(full(usage("shop", 0, "cpus:4;mem:100"), agents=agents(1)))
    dry_run.lose_agents(["m-S0"])
    role = dry_run.forecast().starving[0]
    assert (role.name, role.reason, role.is_asked_for) == ("shop", "guarantee", True)


def test_nobody_asks_again_who_has_lost_nothing():
    dry_run = begin(full(usage("shop", 0, "cpus:2;mem:100")))
    dry_run.lose_agents(["m-S3"])
    said = dry_run.forecast()
    (shop,) = said.frameworks
    assert (shop.changes, assumes_asking(said)) == (False, 0)


def test_a_framework_whose_scheduler_is_away_does_not_ask_again():
    cluster = full(usage("shop", 0, "cpus:4;mem:100"))
    away = tuple(
        replace(one, active=False, connected=False) if one.name == "shop" else one for one in cluster.frameworks
    )
    dry_run = begin(replace(cluster, frameworks=away))
    dry_run.lose_agents(["m-S0"])
    said = dry_run.forecast()
    assert ({one.reason for one in said.starving}, assumes_asking(said)) == ({"nothing"}, 0)


def test_tasks_on_agents_that_do_not_come_back_to_another_master_are_asked_for_again():
    dry_run = begin(full(*(usage("shop", number, "cpus:1;mem:100") for number in range(4))))
    dry_run.begin("failover")
    dry_run.restart({}, 0.5)
    said = dry_run.forecast()
    (shop,) = said.frameworks
    assert (cpus(shop.before.used), cpus(shop.after.used), assumes_asking(said)) == (4, 4, 1)


CLUSTER_OF_A_SHOP = b"""
mesos_version = "1.11"
agents = [{count = 3, resources = "cpus:4;mem:4096"}]
frameworks = [{name = "shop", role = "web", task = "cpus:2;mem:100", tasks = 2}]
[quotas.web]
guarantee = "cpus:6"
"""


def test_a_framework_of_a_cluster_file_gains_nothing_beyond_its_tasks():
    dry_run = fake_master.start_dry_run_of_file(BytesIO(CLUSTER_OF_A_SHOP), "c.toml", DryRunOptions())
    dry_run.add_agents(parse_resources(FOUR), 2, {})
    (shop,) = dry_run.forecast().frameworks
    assert (cpus(shop.before.total), shop.changes) == (4, False)


def test_a_framework_of_a_cluster_file_replaces_tasks_on_a_lost_agent():
    dry_run = fake_master.start_dry_run_of_file(BytesIO(CLUSTER_OF_A_SHOP), "c.toml", DryRunOptions())
    held = {agent for one in dry_run._master.state.frameworks.values() for agent in one.agents_used}
    dry_run.lose_agents(held)
    said = dry_run.forecast()
    (shop,) = said.frameworks
    assert (cpus(shop.after.used), cpus(shop.after.offered), assumes_asking(said)) == (4, 0, 0)
