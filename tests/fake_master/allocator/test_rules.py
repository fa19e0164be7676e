"""Rules that need more than a scenario's words: counts, chances, errors, brackets, figures."""

import math
import random
from collections import Counter
from typing import Any

import pytest

from fake_master.allocator.hierarchical.allocator import HierarchicalAllocator
from fake_master.allocator.hierarchical.metrics import percentile
from fake_master.allocator.hierarchical.offer_filters import filter_seconds, timeout_of
from fake_master.allocator.hierarchical.offerable.allocations import AllocationPool, Content, scalar_pairs
from fake_master.allocator.hierarchical.role_tree import RoleTree
from fake_master.allocator.hierarchical.run_schedule import agents_to_wait_for
from fake_master.allocator.hierarchical.sorters.drf_sorter import DrfSorter
from fake_master.allocator.hierarchical.sorters.random_sorter import RandomSorter
from fake_master.allocator.hierarchical.sorters.sorter import Totals
from fake_master.allocator.hierarchical.state import State
from fake_master.allocator.interface import DEFAULT_REFUSE_SECONDS, AgentInfo, Callbacks, FrameworkInfo, Unavailability
from fake_master.allocator.options import Options
from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota, to_sent_milli, to_shown
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.amounts.values import Items, Ranges, Value
from mesosctl.mesos.rules.offers.frameworks import parse_minimum
from mesosctl.mesos.rules.reservations.operations import Conversion
from tests.fake_master.allocator.player import Player, player
from tests.fake_master.allocator.words import expand

# --- Sorters --------------------------------------------------------------------------------------


def test_a_weighted_permutation_draws_without_replacement() -> None:
    expected = [  # probability of item i at position j
        [0.07, 0.08, 0.12, 0.20, 0.54],
        [0.13, 0.16, 0.20, 0.28, 0.23],
        [0.20, 0.22, 0.24, 0.22, 0.12],
        [0.27, 0.26, 0.23, 0.17, 0.07],
        [0.33, 0.28, 0.21, 0.13, 0.04],
    ]
    sorter = RandomSorter(Totals(), None, random.Random(7))
    for index in range(5):
        sorter.add(f"i{index}")
        sorter.activate(f"i{index}")
        sorter.update_weight(f"i{index}", index + 1.0)
    draws = 5000
    found = Counter((path, position) for _ in range(draws) for position, path in enumerate(sorter.sort()))
    for index, row in enumerate(expected):
        for position, chance in enumerate(row):
            assert found[f"i{index}", position] / draws == pytest.approx(chance, abs=0.05)


def test_random_sorter_weighs_level_by_level() -> None:
    sorter = RandomSorter(Totals(), None, random.Random(7))
    for path in ("a/x", "a/y", "b", "c"):
        sorter.add(path)
        sorter.activate(path)
    sorter.deactivate("c")
    first = Counter(sorter.sort()[0] for _ in range(4000))
    assert first["b"] / 4000 == pytest.approx(0.5, abs=0.05)
    assert first["a/x"] / 4000 == pytest.approx(0.25, abs=0.05)
    assert "c" not in first


@pytest.mark.parametrize(("heavy", "light"), [(1e308, 1.0), (1e308, 1e308), (1.0, 5e-324), (5e-324, 5e-324)])
def test_random_sorter_takes_any_weight(heavy: float, light: float) -> None:
    sorter = RandomSorter(Totals(), None, random.Random(7))
    for path, weight in {"a/x": heavy, "a/y": heavy, "b": heavy, "c": light}.items():
        sorter.update_weight(path, weight)
        sorter.add(path)
        sorter.activate(path)
    sorter.update_weight("a", heavy)
    first = Counter(sorter.sort()[0] for _ in range(2000))
    ways = 3 if heavy == light else 2
    assert first["b"] / 2000 == pytest.approx(1 / ways, abs=0.05)
    assert first["a/x"] / 2000 == pytest.approx(1 / ways / 2, abs=0.05)
    assert first["c"] / 2000 == pytest.approx(1 / 3 if ways == 3 else 0, abs=0.05)


@pytest.mark.parametrize("chance", [False, True])
def test_sorters_and_the_tree_take_roles_of_any_depth(chance: bool) -> None:
    path = "/".join(["a"] * 3000)
    sorter = RandomSorter(Totals(), None, random.Random(7)) if chance else DrfSorter(Totals())
    for each in (path, "a/b", f"{path}/c"):
        sorter.add(each)
        sorter.activate(each)
    assert sorted(sorter.sort()) == sorted([path, "a/b", f"{path}/c"])
    tree = RoleTree()
    assert tree.ensure(path) is tree.ensure(path)
    assert [role.name.count("/") for role in tree] == list(range(3000))
    tree.prune(tree.ensure(path))
    assert not list(tree)


@pytest.mark.parametrize(("weight", "roles"), [(2.0, ["a", "a/b", "a/b/c"]), (1.0, [])])
def test_a_role_exists_while_something_says_so(weight: float, roles: list[str]) -> None:
    tree = RoleTree()
    tree.set_weight("a/b/c", 2.0)
    tree.set_weight("a/b/c", weight)
    assert sorted(role.name for role in tree) == roles
    assert [role.name for name in ("a", "a/b", "a/b/c") if (role := tree.get(name)) is not None] == roles


def test_quota_and_reservations_keep_roles_too() -> None:
    tree = RoleTree()
    tree.set_quota("q", Quota(Quantities({"cpus": 1}), Limits()))
    reserved = [("a/b/c", (("cpus", 1000),))]
    tree.reserve((), reserved)
    assert {role.name: role.reservations for role in tree if role.reservations} == {
        name: {"cpus": 1000} for name in ("a", "a/b", "a/b/c")
    }
    tree.reserve(reserved, ())
    tree.set_quota("q", Quota())
    assert list(tree) == []


@pytest.mark.parametrize(
    ("first", "order", "shares"),
    [
        ("F2", "F2 F1 F1 F2 F1", [0.333, 0.222, 0.444, 0.667, 0.667]),
        ("F1", "F1 F2 F1 F2 F1", [0.222, 0.333, 0.444, 0.667, 0.667]),
    ],
)
def test_a_worked_example_of_dominant_shares(first: str, order: str, shares: list[float]) -> None:
    tasks = {"F1": expand("1/4"), "F2": expand("3/1")}
    totals = Totals()
    totals.change(scalar_pairs(expand("9/18")))
    sorter, parcels, left = DrfSorter(totals), AllocationPool(), expand("9/18")
    for name in tasks:
        sorter.add(name)
        sorter.activate(name)
    chosen: list[str] = []
    seen: list[float] = []
    while fitting := [name for name in sorter.sort() if left.contains(tasks[name])]:
        name = fitting[0] if chosen else first
        sorter.allocated(sorter.leaf(name), "A", parcels.for_role("r", Content(tasks[name])))
        left -= tasks[name]
        chosen.append(name)
        seen.append(round(sorter.share(name), 3))
    assert (" ".join(chosen), seen) == (order, shares)
    assert left == expand("mem:4")
    assert sorter.allocation("F1") == {"cpus": 3000, "mem": 12000}
    assert sorter.allocation("F2") == {"cpus": 6000, "mem": 2000}


def test_a_guarantee_is_met_beyond_an_agent_that_its_role_takes_nothing_of() -> None:
    made = player("queued quota q 1/1 limit=", "agent A1 4/4")
    for name, role in (("E", "a"), ("F", "q")):
        excludes = {role: lambda agent: agent.id == "A1"}
        made.allocator.add_framework(FrameworkInfo(name, frozenset({role}), excludes=excludes))
    made.play("tick -> -")
    made.allocator.pause()
    made.play("agent A2 4/4 -> -")
    made.allocator.resume()
    made.play("tick -> F:A2=4/4")


def test_the_random_sorters_share_out_everything() -> None:
    made = player(
        *(f"queued agent A{index} 2/1024" for index in range(8)),
        "queued framework F1 a/x",
        "queued framework F2 a/y",
        "queued quota q 2/1024",
        "framework F3 q",
        role_sorter="random",
        framework_sorter="random",
    )
    assert Counter(offer[2] for offer in made.offers) == Counter(f"A{index}" for index in range(8))
    assert sum(offer[0] == "F3" for offer in made.offers) == 1


def test_a_sorter_counts_how_often_counts_may_decide() -> None:
    totals = Totals()
    totals.change(scalar_pairs(expand("9/9")))
    sorter, parcels = DrfSorter(totals), AllocationPool()
    for name in ("a", "b", "c"):
        sorter.add(name)
        sorter.activate(name)

    def ties_with(name: str) -> int:
        before = sorter.ties
        sorter.allocated(sorter.leaf(name), "A", parcels.for_role("r", Content(expand("3/1"))))
        sorter.refresh()
        return sorter.ties - before

    sorter.refresh()
    # Alone; before its equal; after it; alone again; after it, and then before it.
    assert [ties_with(name) for name in ("b", "a", "c", "b", "c", "a")] == [0, 1, 1, 0, 1, 1]


def test_a_sorter_knows_how_many_clients_take_part() -> None:
    sorter = DrfSorter(Totals())
    for name in ("a", "b"):
        sorter.add(name)
    counts = []
    for change in (sorter.activate, sorter.activate, sorter.deactivate, sorter.deactivate):
        change("a")
        counts.append((sorter.active, list(sorter.sort())))
    assert counts == [(1, ["a"]), (1, ["a"]), (0, []), (0, [])]


def test_a_pool_knows_how_much_its_capacities_remember() -> None:
    state = State(Options())
    pool, capacity = state.pool, state.capacity(AgentInfo("A1"), expand("4/4"))
    held = [pool.allocations.for_role("r", Content(expand(text))) for text in ("1/1", "2/2")]
    for some in ((), (held[0],), (held[1],), (held[0],)):
        capacity.free(some)
    assert pool.remembered == 3
    assert len(pool) == 3 + 3 + 2 + 1  # what is free, each twice; what is held; and the capacity


# --- Time -----------------------------------------------------------------------------------------


def test_refusals_have_bounds() -> None:
    year = 365 * 86400.0
    given = [-1.0, 0.0, 0.25, 4e8, 1e10, 1e300, math.inf]
    assert [timeout_of(seconds) for seconds in given] == [DEFAULT_REFUSE_SECONDS, 0.0, 0.25, *[year] * 4]


def test_refusals_without_a_longest_time_last_as_long_as_a_duration_can() -> None:
    longest = (2**63 - 1) / 1e9  # of the durations of Mesos
    senseless = [-1.0, math.nan, math.inf, 1e300, math.nextafter(longest, math.inf)]
    assert [timeout_of(seconds, math.inf) for seconds in senseless] == [DEFAULT_REFUSE_SECONDS] * 5
    assert [timeout_of(seconds, math.inf) for seconds in (4e8, longest)] == [4e8, longest]


def test_a_refusal_until_no_time_at_all_lasts_one_interval() -> None:
    assert filter_seconds(math.nan, 1.5) == 1.5
    assert filter_seconds(0.0, 1.5) is None


@pytest.mark.parametrize(("known", "awaited"), [(0, 0), (1, 0), (2, 1), (3, 2), (4, 3), (5, 4), (10, 8)])
def test_how_many_agents_are_waited_for(known: int, awaited: int) -> None:
    assert agents_to_wait_for(known, 0.8) == awaited


def test_a_bracket_holds_runs_back_and_forgets_whom_they_were_for() -> None:
    made = player("framework F r")
    made.allocator.pause()
    made.allocator.pause()
    made.play("agent A1 1/100 -> -")
    made.allocator.resume()
    made.play("agent A2 1/100 -> -")
    made.allocator.resume()
    made.play("revive F -> F:A1 F:A2")
    with pytest.raises(ValueError, match="without pause"):
        made.allocator.resume()


def test_a_bracket_does_not_end_recovery() -> None:
    made = player("recovery 5 q 1/100", "framework F n")
    made.allocator.pause()
    made.allocator.resume()
    made.play("agent A1 1/100 -> -")
    made.play("tick -> -")


def test_the_next_deadline_is_now_while_a_run_is_due() -> None:
    made = player("tick 0.25")
    assert made.allocator.next_deadline() == 1.0
    made.play("queued agent A1 1/100")
    assert made.allocator.next_deadline() == 0.25


def test_agents_and_entries_are_shuffled_by_the_hook() -> None:
    calls: list[int] = []

    def backwards(items: list[Any]) -> None:
        calls.append(len(items))
        items.sort(key=lambda agent: agent.id, reverse=True)

    made = player(
        "queued agent A1 2/1024", "queued agent A2 4/1024", "queued framework F1 a", "framework F2 b", shuffle=backwards
    )
    assert [(framework, agent) for framework, _, agent, _ in made.offers] == [("F1", "A2"), ("F2", "A1")]
    assert calls == [2, 2]


def test_a_run_for_few_of_many_agents_offers_them_in_the_order_of_registration() -> None:
    made = player(*(f"queued agent A{number} 1/1" for number in range(30)), "framework F r -> F*30")
    for number in (17, 5, 9, 2):
        made.play(f"queued recover F A{number}")
    made.play("unavailable A17 A2 A5")
    assert [agent for _, _, agent, _ in made.offers] == ["A2", "A5", "A17"]


# --- Inverse offers -------------------------------------------------------------------------------


def test_an_inverse_offer_is_repeated_when_answered_and_not_refused() -> None:
    made = player("agent A1 2/1024", "framework F r", "unavailable A1", "inverse-offers F:A1")
    made.allocator.update_inverse_offer("F", "A1", refuse_seconds=1.5)
    made.play("tick")
    made.play("inverse-offers")
    made.play("tick")
    made.play("inverse-offers F:A1")
    made.allocator.update_inverse_offer("F", "A1")
    made.play("tick")
    made.play("inverse-offers F:A1")
    made.allocator.update_unavailability("A1", None)
    made.play("tick")
    made.play("inverse-offers")


def test_another_maintenance_of_an_agent_is_asked_for_though_the_last_one_was_refused() -> None:
    made = player("agent A1 2/1024", "framework F r", "unavailable A1", "inverse-offers F:A1")
    made.allocator.update_inverse_offer("F", "A1", refuse_seconds=100.0)
    made.play("tick")
    made.play("inverse-offers")
    made.play("unavailable A1")
    made.play("inverse-offers F:A1")


def test_deactivated_agents_are_asked_for_too() -> None:
    made = player("agent A1 2/1024", "framework F r", "agent-off A1")
    made.allocator.update_unavailability("A1", Unavailability(10.0, 5.0))
    made.play("tick 0")
    made.play("inverse-offers F:A1")


# --- Eligibility ----------------------------------------------------------------------------------


def test_regions_gpus_and_constraints_keep_agents_from_frameworks() -> None:
    made = Player(Options(region="here"))
    made.allocator.add_framework(
        FrameworkInfo("F", frozenset({"r"}), excludes={"r": lambda agent: agent.hostname == "bad"})
    )
    total = expand("1/100")
    for agent, resources in (
        (AgentInfo("far", region="there"), total),
        (AgentInfo("bad", hostname="bad"), total),
        (AgentInfo("gpu"), expand("1/100;gpus:1")),
        (AgentInfo("near", region="here"), total),
        (AgentInfo("nowhere"), total),
    ):
        made.allocator.add_agent(agent, resources)
    made.play("tick 0 -> F:near F:nowhere")
    able = frozenset({"MULTI_ROLE", "REGION_AWARE", "GPU_RESOURCES"})
    made.allocator.update_framework(FrameworkInfo("F", frozenset({"r"}), able))
    made.play("tick -> F:far F:bad F:gpu")


def test_a_changed_description_has_its_own_constraints() -> None:
    made = player("agent A1 2/1024 host=h1", "agent A2 2/1024 host=h2")
    made.allocator.add_framework(FrameworkInfo("F", frozenset({"r"}), excludes={"r": lambda agent: agent.id == "A1"}))
    made.play("tick 0 -> F:A2")
    made.play("recover F A2")
    changed = FrameworkInfo("F", frozenset({"r"}), excludes={"r": lambda agent: agent.id == "A2"})
    made.allocator.update_framework(changed)
    made.play("tick -> F:A1")


def test_an_agent_is_kept_from_a_framework_by_its_constraints_and_by_an_extension() -> None:
    def withheld(framework: str, role: str, agent: AgentInfo) -> bool:
        return (framework, role, agent.id) == ("F", "r", "kept")

    offers: list[str] = []
    options = Options()
    allocator = HierarchicalAllocator(
        options,
        Callbacks(lambda _, by_role: offers.extend(by_role["r"])),
        0.0,
        state=State(options, withheld=withheld),
    )
    allocator.add_framework(FrameworkInfo("F", frozenset({"r"}), excludes={"r": lambda agent: agent.id == "excluded"}))
    for agent in ("kept", "excluded", "plain"):
        allocator.add_agent(AgentInfo(agent), expand("1/100"))
    allocator.advance_to(0.0)
    assert offers == ["plain"]


def test_a_shared_volume_goes_to_one_framework_a_run() -> None:
    made = player(
        "queued agent A1 10/100;disk(r)[v]<S>:5",
        "queued framework F1 r caps=SHARED_RESOURCES minimum=cpus:1",
        "queued framework F2 r caps=SHARED_RESOURCES minimum=disk:1",
        "tick 0 -> F1:A1=10/100;disk(r)[v]<S>:5",
        "tick -> F2:A1=disk(r)[v]<S>:5",
    )
    state = made.allocator.state
    assert state.total_used()["disk"] == 5000  # two copies, one disk
    made.play("queued recover F1 A1")
    assert state.total_used() == {"disk": 5000}
    made.play("queued recover F2 A1")
    assert state.total_used() == {}
    assert state.role_sorter.allocation("r") == {}


def test_what_is_made_of_an_offer_counts_as_the_same_offer() -> None:
    """Counts of offers decide between equal shares."""
    made = player("agent A1 2/1024", "framework F r", "queued reserve A1 r cpus:1 F")

    def counts() -> list[int]:
        return [leaf.count for leaf in made.allocator.state.role_sorter.walk()]

    assert counts() == [1]
    made.play("recover F A1")
    made.play("tick -> F:A1=1/1024;cpus(+r):1")
    assert counts() == [2]


def test_a_client_is_added_to_a_sorter_once() -> None:
    sorter = DrfSorter(Totals())
    sorter.add("a/b")
    with pytest.raises(ValueError, match="a/b is already a client"):
        sorter.add("a/b")


def add_two_to_a_role(made: Player) -> None:
    """E takes revocable resources, but nothing of A1; F takes only what is not revocable."""
    excludes = {"r": lambda agent: agent.id == "A1"}
    able = frozenset({"MULTI_ROLE", "REVOCABLE_RESOURCES"})
    made.allocator.add_framework(FrameworkInfo("E", frozenset({"r"}), able, excludes=excludes))
    made.allocator.add_framework(FrameworkInfo("F", frozenset({"r"})))


def test_a_role_that_took_something_is_still_offered_what_is_like_the_rest() -> None:
    """One of its frameworks excludes the first agent, and its other wants only what is not revocable."""
    made = player("quota r limit=cpus:1", "queued agent A1 cpus:1;cpus{REV}:1", "queued agent A2 cpus{REV}:1")
    add_two_to_a_role(made)
    made.play("tick 0 -> F:A1=cpus:1 E:A2=cpus{REV}:1")


def test_a_role_is_offered_an_agent_like_one_that_it_was_not() -> None:
    """The limit leaves nothing of both for one of its frameworks; the other excludes the first agent alone."""
    made = player("quota r limit=cpus:0", *(f"queued agent {name} cpus:1;cpus{{REV}}:1" for name in ("A1", "A2")))
    add_two_to_a_role(made)
    made.play("tick 0 -> E:A2=cpus{REV}:1")


# --- What is held ---------------------------------------------------------------------------------


def test_each_agent_is_offered_as_it_wrote_its_resources() -> None:
    """What is equal and was sent in another way: a master shows it as it came."""
    made = player("queued framework F r")
    sent = {
        "A1": (["a", "c"], [(1, 2), (5, 6)], 1.0),
        "A2": (["c", "a"], [(1, 2), (5, 6)], 1.0),
        "A3": (["a", "c"], [(5, 6), (1, 2)], 1.0),
        "A4": (["a", "c"], [(1, 2), (5, 6)], 1.0004),
    }
    for agent, (names, spans, amount) in sent.items():
        values: dict[str, Value] = {
            "zones": Items.of(names),
            "ports": Ranges.as_sent(spans),
            "disk": to_sent_milli(amount),
        }
        whole = Resources(Resource(name, value) for name, value in values.items())
        made.allocator.add_agent(AgentInfo(agent), whole + expand("1/100"))
    made.allocator.advance_to(made.now)
    shown = {agent: {entry.name: entry.value for entry in offered} for _, _, agent, offered in made.offers}
    for agent, (names, spans, amount) in sent.items():
        of = shown[agent]
        assert isinstance(of["zones"], Items)
        assert isinstance(of["ports"], Ranges)
        assert isinstance(of["disk"], int)
        assert (list(of["zones"]), list(of["ports"].sent or of["ports"].spans)) == (names, spans)
        assert to_shown(of["disk"]) == amount


def test_what_both_stages_offer_becomes_one_parcel() -> None:
    made = player("agent A1 2/1024", "framework F r")
    state = made.allocator.state
    agent, client = state.agents["A1"], state.frameworks["F"].clients["r"]
    made.play("recover F A1 1/512")
    more = state.pool.allocations.for_role("r", Content(expand("1/512")))
    state.hold(agent, client, more)
    assert state.merge_last_two(agent, client) == expand("2/1024").allocated_to("r")
    assert client.allocation_count == len(agent.allocations) == 1
    made.allocator.recover_resources("F", "A1", expand("2/1024").allocated_to("r"))
    assert (client.allocation_count, agent.allocations, state.total_used()) == (0, [], {})
    made.play("tick -> F:A1=2/1024")


def test_what_is_used_when_one_of_the_two_appears_is_accounted() -> None:
    held = expand("1/512").allocated_to("r")
    made = Player(Options(min_allocatable_resources=()))
    made.allocator.add_agent(AgentInfo("A1"), expand("2/1024"), {"F": held})
    made.play("tick -> -")
    assert made.allocator.state.total_used() == {}
    made.allocator.add_framework(FrameworkInfo("F", frozenset({"r"})), {"A1": held, "A9": held})
    made.play("tick 0 -> F:A1=1/512")
    made.allocator.add_resource_provider("A1", expand("disk:5"), {"F": expand("disk:2").allocated_to("r")})
    made.play("tick -> F:A1=disk:3")
    assert made.allocator.state.total_used() == {"cpus": 2000, "mem": 1024000, "disk": 5000}


# --- Errors ---------------------------------------------------------------------------------------


def test_what_is_not_held_cannot_be_given_back() -> None:
    made = player("agent A1 2/1024", "framework F r")
    with pytest.raises(ValueError, match=r"F holds .* not"):
        made.allocator.recover_resources("F", "A1", expand("3/1").allocated_to("r"))
    with pytest.raises(ValueError, match="one allocation role"):
        made.allocator.recover_resources("F", "A1", expand("1/1"))
    made.allocator.recover_resources("nobody", "A1", expand("1/1").allocated_to("r"))
    made.allocator.recover_resources("F", "nowhere", expand("1/1").allocated_to("r"))
    assert made.allocator.state.total_used() == {"cpus": 2000, "mem": 1024000}


def test_names_are_used_once_and_quota_is_for_top_level_roles() -> None:
    made = player("agent A1 2/1024", "framework F r")
    with pytest.raises(ValueError, match="A1 is already known"):
        made.allocator.add_agent(AgentInfo("A1"), expand("1/1"))
    with pytest.raises(ValueError, match="F is already known"):
        made.allocator.add_framework(FrameworkInfo("F", frozenset({"r"})))
    with pytest.raises(ValueError, match="nested role"):
        made.allocator.update_quota("a/b", Quota())
    with pytest.raises(KeyError):
        made.allocator.remove_agent("A2")


def test_operations_need_free_resources() -> None:
    made = player("agent A1 2/1024", "framework F r")
    volume = expand("disk(+r)[v]:1")
    assert not made.allocator.update_available("A1", [Conversion(expand("disk:1"), volume)])
    assert not made.allocator.update_available("A1", [Conversion(expand("cpus:1"), expand("cpus(+r):1"))])
    made.play("recover F A1")
    assert made.allocator.update_available("A1", [Conversion(expand("cpus:1"), expand("cpus(+r):1"))])
    made.play("tick -> F:A1=1/1024;cpus(+r):1")


# --- Figures --------------------------------------------------------------------------------------


def test_accepted_resources_are_consumed_until_they_come_back() -> None:
    made = player("agent A1 2/1024;disk:5", "framework F a/b")
    name = "allocator/mesos/quota/roles/{}/resources/cpus/consumed"
    assert name.format("a") not in made.allocator.metrics()
    made.play("accept F A1")
    assert [made.allocator.metrics()[name.format(role)] for role in ("", "a", "a/b")] == [2.0] * 3
    held = made.held["F", "A1"]
    made.allocator.recover_resources("F", "A1", held, is_allocated=True)
    assert name.format("a") not in made.allocator.metrics()


def test_a_part_of_what_was_accepted_may_come_back() -> None:
    made = player("agent A1 4/4096", "framework F a")
    name = "allocator/mesos/quota/roles/a/resources/cpus/consumed"
    for part in ("1/1024", "2/1024"):
        made.allocator.transition_offered_to_allocated("A1", expand(part).allocated_to("a"))

    def give_back(text: str) -> float | None:
        made.allocator.recover_resources("F", "A1", expand(text).allocated_to("a"), is_allocated=True)
        return made.allocator.metrics().get(name)

    assert [give_back("2/512"), give_back("0.5/512"), give_back("0.5/1024")] == [1.0, 0.5, None]


def test_what_was_not_accepted_is_not_counted_back() -> None:
    made = player("agent A1 4/4096", "framework F a")
    made.allocator.transition_offered_to_allocated("A1", expand("1/1024").allocated_to("a"))
    made.allocator.recover_resources("F", "A1", expand("2/1024").allocated_to("a"), is_allocated=True)
    assert made.allocator.metrics()["allocator/mesos/quota/roles/a/resources/cpus/consumed"] == 1.0


def test_the_stop_watch_keeps_samples_and_percentiles() -> None:
    ticks = iter(range(100))
    made = player("agent A1 2/1024", "framework F r", "tick", perf_counter=lambda: float(next(ticks)))
    figures = made.allocator.metrics()
    assert figures["allocator/mesos/allocation_runs"] == 3.0
    assert figures["allocator/mesos/allocation_run_ms"] == 1000.0
    assert figures["allocator/mesos/allocation_run_ms/count"] == 3.0
    assert figures["allocator/mesos/roles/r/shares/dominant"] == 1.0
    assert percentile([0.0, 10.0, 20.0, 30.0], 0.5) == 15.0
    assert percentile([4.0], 0.999) == 4.0


def test_the_minimum_is_read_as_the_flag_is_written() -> None:
    assert parse_minimum("cpus:0.01|mem:32") == (Quantities({"cpus": 10}), Quantities({"mem": 32000}))
    assert parse_minimum("cpus:1;mem:64") == (Quantities({"cpus": 1000, "mem": 64000}),)
    assert parse_minimum("") == ()
    with pytest.raises(ValueError, match="NAME:AMOUNT"):
        parse_minimum("cpus")


def test_what_an_unknown_framework_uses_is_not_free() -> None:
    made = Player(Options())
    allocator = made.allocator
    used = expand("3/1024").allocated_to("a")
    allocator.add_framework(FrameworkInfo("F2", frozenset({"b"})))
    allocator.add_agent(AgentInfo("A1"), expand("4/2048"), {"F1": used})
    allocator.advance_to(0.0)
    assert [offered for *_, offered in made.offers] == [expand("1/1024").allocated_to("b")]
    allocator.add_framework(FrameworkInfo("F1", frozenset({"a"})), {"A1": used})
    allocator.suppress("F1")
    made.offers.clear()
    allocator.recover_resources("F1", "A1", used, is_allocated=True)
    allocator.advance_to(1.0)
    assert [offered for *_, offered in made.offers] == [expand("3/1024").allocated_to("b")]


def test_the_figures_of_an_allocator() -> None:
    of_a_stop_watch = ("", "/count", "/min", "/max", "/p50", "/p90", "/p95", "/p99", "/p999", "/p9999")
    made = player("queued agent A1 2/1024;disk:5", "queued quota r 1/512 limit=cpus:2", "framework F r", "accept F A1")
    figures = made.allocator.metrics()
    quota = "quota/roles/r/resources"
    assert figures.keys() == {
        "allocator/event_queue_dispatches",
        "allocator/mesos/event_queue_dispatches",
        "allocator/mesos/allocation_runs",
        *(f"allocator/mesos/allocation_run{kind}{name}" for kind in ("_ms", "_latency_ms") for name in of_a_stop_watch),
        *(
            f"allocator/mesos/resources/{name}/{kind}"
            for name in ("cpus", "disk", "mem")
            for kind in ("total", "offered_or_allocated")
        ),
        *(f"allocator/mesos/{quota}/{name}/{kind}" for name in ("cpus", "mem") for kind in ("guarantee", "consumed")),
        *(f"allocator/mesos/{quota}/{name}/offered_or_allocated" for name in ("cpus", "mem")),
        f"allocator/mesos/{quota}/cpus/limit",
        f"allocator/mesos/{quota}/disk/consumed",
        *(f"allocator/mesos/quota/roles//resources/{name}/consumed" for name in ("cpus", "disk", "mem")),
        "allocator/mesos/offer_filters/roles/r/active",
        "allocator/mesos/roles/r/shares/dominant",
    }


# --- Updates --------------------------------------------------------------------------------------


def test_an_update_of_a_framework_suppresses_and_revives_its_roles() -> None:
    made = player("framework F a,b")
    for suppressed, agent, offered in (({"a"}, "A1", {"b"}), ({"a", "b"}, "A2", set()), ((), "A3", {"a", "b"})):
        made.allocator.update_framework(made.infos["F"], suppressed=suppressed)
        made.play(f"agent {agent} 1/1")
        found = {role for _, role, *_ in made.offers}
        assert found <= set(offered)
        assert bool(found) is bool(offered)


def test_an_answer_about_what_is_gone_changes_nothing() -> None:
    made = player("framework F a", "agent A 1/1", "accept F A", "unavailable A", "inverse-offers F:A")
    made.allocator.update_inverse_offer("gone", "A", None)
    made.allocator.update_inverse_offer("F", "gone", None)
    made.play("tick -> -")
    made.play("inverse-offers")
    made.allocator.update_inverse_offer("F", "A", None)
    made.play("tick -> -")
    made.play("inverse-offers F:A")


def test_what_is_removed_is_consumed_no_more_and_the_rest_is() -> None:
    made = player("queued agent A1 1/1", "queued agent A2 2/1", "queued agent A3 4/1", "framework F a")
    for agent in ("A1", "A2", "A3"):
        made.play(f"accept F {agent}")
    name = "quota/roles/a/resources/cpus/consumed"
    made.play(f"metric {name} 7")
    made.allocator.remove_agent("A2")
    made.play(f"metric {name} 5")
    made.play("queued framework G a")
    made.allocator.remove_framework("F")
    made.play(f"metric {name} absent")


def test_what_was_held_on_an_agent_that_is_removed_counts_no_more() -> None:
    made = player("quota a limit=cpus:1", "framework F a", "agent A1 1/1 -> F:A1", "accept F A1", "agent A2 1/1 -> -")
    made.allocator.remove_agent("A1")
    made.play("tick -> F:A2")


@pytest.mark.parametrize(("part", "value"), [(0.0, 1.0), (0.25, 1.5), (0.5, 2.0), (0.75, 3.0), (1.0, 4.0)])
def test_a_percentile_lies_between_the_two_nearest_values(part: float, value: float) -> None:
    assert percentile([1.0, 2.0, 4.0], part) == value
    assert percentile([7.0], part) == 7.0
