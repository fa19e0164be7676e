"""Shares of offers: roles, weights, nested roles, filters, suppressed roles and the least that is offered."""

from typing import Any

import pytest

from tests.conformance.callers.holding import amounts, cpus, held, release, weigh
from tests.conformance.situations.conftest import Begin


@pytest.mark.parametrize(
    ("roles", "weights", "shares"),
    [
        (("a", "b"), {}, [4.0, 4.0]),
        (("a", "a"), {}, [4.0, 4.0]),
        (("a", "b"), {"a": 3}, [6.0, 2.0]),
        (("a/x", "a/y", "b"), {}, [2.0, 2.0, 4.0]),
        (("a", "a/x", "b"), {}, [2.0, 2.0, 4.0]),
        (("a/x", "b/y"), {"b": 3}, [2.0, 6.0]),
        # A weight within a role says nothing to the roles beside it.
        (("a/x", "b"), {"a__x": 3}, [4.0, 4.0]),
        (("a/x/y", "a/x/z", "b"), {"a": 3}, [4.0, 2.0, 2.0]),
    ],
    ids=str,
)
def test_agents_are_shared(
    begin: Begin, roles: tuple[str, ...], weights: dict[str, float], shares: list[float]
) -> None:
    master, join = begin(count=4)
    if weights:
        assert weigh(master, **weights) == 200
    frameworks = [join(role).subscribe() for role in roles]
    release(frameworks[0])
    found = cpus(*frameworks)
    if roles == ("a/x/y", "a/x/z", "b"):  # three agents for two: which of them has two is open
        assert sorted(found[:2]) == [2.0, 4.0]
        assert found[2] == 2.0
    else:
        assert found == shares


def test_the_first_keeps_what_it_holds(begin: Begin) -> None:
    _, join = begin(count=2)
    first, second = join("a").subscribe(), join("b").subscribe()
    assert cpus(first, second) == [4.0, 0.0]


def test_what_is_held_counts_towards_the_share_of_its_role(begin: Begin) -> None:
    _, join = begin(count=4)
    first, second = join("a").subscribe(), join("b").subscribe()
    first.decline(held(first)[:2], refuse=0)
    assert cpus(first, second) == [4.0, 4.0]


def test_a_framework_that_hangs_up_leaves_its_agents_to_others(begin: Begin) -> None:
    _, join = begin(count=2)
    first, second = join("a", failover_timeout=100.0).subscribe(), join("b").subscribe()
    assert cpus(first) == [4.0]
    first.stream.hang_up()
    assert second.offers(agents=2)
    assert cpus(second) == [4.0]


def test_a_framework_that_returns_is_offered_what_is_free(begin: Begin) -> None:
    _, join = begin(count=2)
    first = join("a", failover_timeout=100.0).subscribe()
    release(first, refuse=1000)
    assert cpus(first) == [0.0]
    first.stream.hang_up()
    first.subscribe()
    assert cpus(first) == [4.0]  # filters are forgotten


def test_a_suppressed_framework_leaves_everything_to_others(begin: Begin) -> None:
    _, join = begin(count=2)
    first, second = join("a").subscribe(), join("b").subscribe()
    first.ask("SUPPRESS")
    release(first)
    assert cpus(first, second) == [0.0, 4.0]
    first.ask("REVIVE")
    assert cpus(first, second) == [0.0, 4.0]  # nothing is free
    release(second)
    assert cpus(first, second) == [2.0, 2.0]


def test_roles_may_be_suppressed_from_the_start(begin: Begin) -> None:
    _, join = begin(count=2)
    first = join("a", "b").subscribe(suppressed_roles=["a", "b"])
    assert cpus(first) == [0.0]
    first.ask("REVIVE", revive={"roles": ["b"]})
    assert {offer["allocation_info"]["role"] for offer in held(first)} == {"b"}
    assert cpus(first) == [4.0]


def test_what_one_declines_goes_to_another(begin: Begin) -> None:
    _, join = begin(count=1)
    first, second = join("a").subscribe(), join("b").subscribe()
    release(first, refuse=1000)
    assert cpus(first, second) == [0.0, 2.0]
    release(second, refuse=1000)
    assert cpus(first, second) == [0.0, 0.0]
    first.ask("REVIVE")
    assert cpus(first, second) == [2.0, 0.0]


def test_what_is_free_goes_to_others_too_when_one_revives(begin: Begin) -> None:
    """No other allocation comes meanwhile."""
    _, join = begin(count=1, flags={"allocation_interval": "1hrs"})
    first, second, third = join("a").subscribe(), join("b").subscribe(), join("c").subscribe(suppressed_roles=["c"])
    first.decline(first.offers(), refuse=7200)
    third.ask("REVIVE")
    assert len(second.offers()) == 1
    third.catch_up()
    assert not any(event["type"] == "OFFERS" for event in third.stream.events)


def test_a_filter_is_for_one_role_of_a_framework(begin: Begin) -> None:
    _, join = begin(count=1)
    framework = join("a", "b").subscribe()
    (first,) = held(framework)
    framework.decline([first], refuse=1000)
    (second,) = held(framework)
    assert {offer["allocation_info"]["role"] for offer in (first, second)} == {"a", "b"}
    framework.decline([second], refuse=1000)
    assert held(framework) == []
    framework.ask("REVIVE", revive={"roles": ["a"]})
    (third,) = held(framework)
    assert third["allocation_info"]["role"] == "a"


def test_an_accept_that_does_nothing_filters_as_a_decline_does(begin: Begin) -> None:
    _, join = begin(count=1)
    framework = join("a").subscribe()
    framework.accept(held(framework), refuse=1000)
    assert cpus(framework) == [0.0]


def test_a_filter_keeps_back_what_it_was_made_for_and_lets_more_through(begin: Begin) -> None:
    _, join = begin(count=1)
    first, second = join("a").subscribe(), join("b").subscribe()
    reserve = {"type": "DYNAMIC", "role": "a"}
    part = {"name": "cpus", "type": "SCALAR", "scalar": {"value": 1}, "reservations": [reserve]}
    first.accept(held(first), {"type": "RESERVE", "reserve": {"resources": [part]}})
    assert cpus(first, second) == [1.0, 1.0]
    release(first, refuse=1000)
    assert cpus(first, second) == [0.0, 1.0]
    release(second, refuse=1000)
    assert cpus(first, second) == [2.0, 0.0]


def test_a_framework_says_the_least_that_it_takes(begin: Begin) -> None:
    _, join = begin("cpus:4;mem:512;disk:10;ports:[1-2]", count=1)
    least = {"min_allocatable_resources": {"quantities": [{"quantities": {"cpus": {"value": 3}}}]}}
    choosy, other = join("a", offer_filters={"a": least}).subscribe(), join("b").subscribe()
    assert cpus(choosy, other) == [4.0, 2.0]
    release(choosy, refuse=1000)
    assert cpus(choosy, other) == [0.0, 6.0]


def test_alternatives_of_the_least(begin: Begin) -> None:
    _, join = begin(count=1)
    either = [{"quantities": {"cpus": {"value": 3}}}, {"quantities": {"mem": {"value": 512}}}]
    framework = join("a", offer_filters={"a": {"min_allocatable_resources": {"quantities": either}}}).subscribe()
    assert cpus(framework) == [2.0]


def test_all_amounts_of_one_alternative_are_needed(begin: Begin) -> None:
    _, join = begin(count=1)
    both = [{"quantities": {"cpus": {"value": 2}, "mem": {"value": 513}}}]
    framework = join("a", offer_filters={"a": {"min_allocatable_resources": {"quantities": both}}}).subscribe()
    assert cpus(framework) == [0.0]


def test_without_a_least_everything_is_offered(begin: Begin) -> None:
    _, join = begin("cpus:0.005;mem:16;disk:10;ports:[1-2]")
    none: dict[str, Any] = {"min_allocatable_resources": {"quantities": []}}
    usual, modest = join("a").subscribe(), join("b", offer_filters={"b": none}).subscribe()
    assert amounts(usual) == {}
    assert amounts(modest) == {"cpus": 0.005, "mem": 16.0, "disk": 10.0}


def test_an_update_of_the_least_counts_from_the_next_allocation(begin: Begin) -> None:
    _, join = begin(count=1)
    framework = join("a").subscribe()
    most = {"min_allocatable_resources": {"quantities": [{"quantities": {"cpus": {"value": 8}}}]}}
    info = {**framework.info, "id": {"value": framework.id}, "offer_filters": {"a": most}}
    assert framework.call("UPDATE_FRAMEWORK", update_framework={"framework_info": info}).status == 200
    assert cpus(framework) == [2.0]  # it keeps what it has
    release(framework, refuse=0)
    assert cpus(framework) == [0.0]


def test_a_deactivated_agent_is_offered_to_nobody(begin: Begin) -> None:
    master, join = begin(count=1)
    framework = join("a").subscribe()
    assert cpus(framework) == [2.0]
    agent = {"agent_id": {"value": master.agents()[0]["id"]}}
    assert master.call("DEACTIVATE_AGENT", deactivate_agent=agent).status == 200
    assert cpus(framework) == [0.0]
    assert cpus(join("b").subscribe()) == [0.0]
    assert master.call("REACTIVATE_AGENT", reactivate_agent=agent).status == 200
    assert sum(cpus(framework)) in (0.0, 2.0)  # to whichever of the two
