"""Reservations, volumes and roles while frameworks are there: who is offered them, and who may change them."""

import json
from typing import Any

import pytest

from tests.conformance.callers.frameworks import Framework
from tests.conformance.callers.holding import amounts, cpus, held, release, role_entry, weigh
from tests.conformance.callers.operations import reserve, unreserve
from tests.conformance.callers.owning import owned
from tests.conformance.callers.owning import reserve as reserved_by_operator
from tests.conformance.callers.owning import unreserve as unreserved_by_operator
from tests.conformance.situations.conftest import Begin

MIXED = "cpus(a):2;cpus:4;mem:512;disk:100;ports:[31000-31003]"
WHOLLY = "cpus(a):2;mem(a):256;disk(a):10;ports(a):[1-2]"


def labelled(resources: list[dict[str, Any]], key: str) -> list[dict[str, Any]]:
    """The same with a label on their last reservation."""
    labels = {"labels": {"labels": [{"key": key, "value": "v"}]}}
    return [
        {**entry, "reservations": [*entry["reservations"][:-1], entry["reservations"][-1] | labels]}
        for entry in resources
    ]


def operate(framework: Framework, *operations: dict[str, Any]) -> dict[str, float]:
    """Accept everything on its one agent with these; what it holds then."""
    framework.accept(held(framework), *operations)
    return amounts(framework, "cpus", "disk")


@pytest.mark.parametrize(
    ("roles", "found"),
    [
        (("a", "b"), [2.0, 0.0]),
        (("b", "a"), [0.0, 2.0]),
        (("a/x", "b"), [2.0, 0.0]),
        (("a/x/y", "b"), [2.0, 0.0]),
        (("ab", "b"), [0.0, 0.0]),
    ],
    ids=str,
)
def test_an_agent_that_is_wholly_reserved(begin: Begin, roles: tuple[str, ...], found: list[float]) -> None:
    """It is offered to its role and those below."""
    _, join = begin(WHOLLY)
    assert cpus(*[join(role).subscribe() for role in roles]) == found


def test_what_is_reserved_for_a_role_below_is_not_offered_above(begin: Begin) -> None:
    _, join = begin("cpus(a/x):2;cpus:4;mem:512;disk:100;ports:[1-2]")
    assert amounts(join("a").subscribe(), "cpus") == {"cpus": 4.0}


def test_a_mixed_agent_is_split_between_owner_and_others(begin: Begin) -> None:
    _, join = begin(MIXED)
    owner, other = join("a").subscribe(), join("b").subscribe()
    (offer,) = held(owner)
    part = [entry for entry in offer["resources"] if entry.get("reservations")]
    assert amounts(owner, "cpus") == {"cpus(a)": 2.0, "cpus": 4.0}
    assert part
    release(owner, refuse=1000)
    assert amounts(other, "cpus") == {"cpus": 4.0}
    # What is left is less than what was declined.
    assert amounts(owner, "cpus") == {}


def test_what_one_framework_reserves_is_offered_to_another_of_its_role(begin: Begin) -> None:
    _, join = begin(count=1)
    first = join("a").subscribe()
    assert operate(first, reserve(owned("a", cpus=2))) == {"cpus(a)": 2.0, "disk": 100.0}
    second = join("a").subscribe()
    release(first, refuse=1000)
    assert amounts(second, "cpus") == {"cpus(a)": 2.0}
    assert operate(second, unreserve(owned("a", cpus=2))) == {"cpus": 2.0, "disk": 100.0}


def test_what_a_role_has_reserved_is_offered_to_nobody_else(begin: Begin) -> None:
    _, join = begin(count=1)
    first = join("a").subscribe()
    operate(first, reserve(owned("a", cpus=2)))
    other = join("b").subscribe()
    release(first, refuse=1000)
    assert amounts(other, "cpus") == {}


def test_reservations_add_up_exactly(begin: Begin) -> None:
    _, join = begin(count=1)
    framework = join("a").subscribe()
    for times in range(1, 4):
        found = operate(framework, reserve(owned("a", cpus=0.1)))
        assert found == {"cpus(a)": round(0.1 * times, 3), "cpus": round(2 - 0.1 * times, 3), "disk": 100.0}


@pytest.mark.parametrize("resources", [owned("a", cpus=3), owned("b", cpus=1), owned("a/x", cpus=1)], ids=str)
def test_a_reservation_that_is_dropped(begin: Begin, resources: list[dict[str, Any]]) -> None:
    """Too much, and for another role than that of the offer."""
    _, join = begin(count=1)
    framework = join("a").subscribe()
    assert operate(framework, reserve(resources)) == {"cpus": 2.0, "disk": 100.0}


def test_a_reservation_for_another_role_of_the_framework_is_dropped(begin: Begin) -> None:
    _, join = begin(count=1)
    framework = join("a", "b").subscribe()
    (offer,) = held(framework)
    other = {"a": "b", "b": "a"}[offer["allocation_info"]["role"]]
    assert operate(framework, reserve(owned(other, cpus=1))) == {"cpus": 2.0, "disk": 100.0}


def test_of_two_operations_the_second_may_need_the_first(begin: Begin) -> None:
    _, join = begin(count=1)
    framework = join("a").subscribe()
    both = reserve(owned("a", cpus=2)), unreserve(owned("a", cpus=1))
    assert operate(framework, *both) == {"cpus(a)": 1.0, "cpus": 1.0, "disk": 100.0}
    # The other way round the first is dropped, and the second is made.
    assert operate(framework, unreserve(owned("a", cpus=2)), reserve(owned("a", cpus=1))) == {
        "cpus(a)": 2.0,
        "disk": 100.0,
    }


def test_labels_keep_reservations_apart(begin: Begin) -> None:
    _, join = begin(count=1)
    framework = join("a").subscribe()
    plain, one, other = owned("a", cpus=0.5), *(labelled(owned("a", cpus=0.5), key) for key in ("k", "l"))
    assert operate(framework, reserve([*plain, *one])) == {"cpus(a)": 1.0, "cpus": 1.0, "disk": 100.0}
    (offer,) = held(framework)
    assert len([entry for entry in offer["resources"] if entry.get("reservations")]) == 2
    assert operate(framework, unreserve(other)) == {"cpus(a)": 1.0, "cpus": 1.0, "disk": 100.0}
    assert operate(framework, unreserve(one)) == {"cpus(a)": 0.5, "cpus": 1.5, "disk": 100.0}


@pytest.mark.parametrize("again", [["a"], ["a/x"]])
def test_a_reservation_outlives_its_framework(begin: Begin, again: list[str]) -> None:
    _, join = begin(count=1)
    first = join("a").subscribe()
    operate(first, reserve(owned("a", cpus=2)))
    first.leave()
    assert amounts(join(*again).subscribe(), "cpus") == {"cpus(a)": 2.0}


VOLUME = {"persistence": {"id": "v"}, "volume": {"mode": "RW", "container_path": "data"}}


def volume(size: float) -> dict[str, Any]:
    return owned("a", disk=size)[0] | {"disk": VOLUME}


def test_a_volume_outlives_its_framework_and_is_whole(begin: Begin) -> None:
    _, join = begin(count=1)
    first = join("a").subscribe()
    create = {"type": "CREATE", "create": {"volumes": [volume(10)]}}
    operate(first, reserve(owned("a", disk=20)), create)
    first.leave()
    second = join("a").subscribe()
    (offer,) = held(second)
    sizes = [entry["scalar"]["value"] for entry in offer["resources"] if "disk" in entry]
    assert sizes == [10.0]
    part = {"type": "DESTROY", "destroy": {"volumes": [volume(5)]}}
    assert operate(second, part) == {"cpus": 2.0, "disk(a)": 20.0, "disk": 80.0}
    (offer,) = held(second)
    assert any("disk" in entry for entry in offer["resources"])
    operate(second, {"type": "DESTROY", "destroy": {"volumes": [volume(10)]}}, unreserve(owned("a", disk=20)))
    assert amounts(second, "disk") == {"disk": 100.0}


def test_a_reserved_disk_with_a_volume_cannot_be_unreserved(begin: Begin) -> None:
    _, join = begin(count=1)
    framework = join("a").subscribe()
    create = {"type": "CREATE", "create": {"volumes": [volume(10)]}}
    operate(framework, reserve(owned("a", disk=10)), create)
    assert operate(framework, unreserve(owned("a", disk=10))) == {"cpus": 2.0, "disk(a)": 10.0, "disk": 90.0}


def test_an_operator_undoes_what_is_offered_and_another_role_gets_it(begin: Begin) -> None:
    master, join = begin(count=1)
    assert reserved_by_operator(master, owned("a", cpus=2)) == 202
    first, other = join("a").subscribe(), join("b").subscribe()
    first.ask("SUPPRESS")
    assert amounts(first, "cpus") == {"cpus(a)": 2.0}
    assert unreserved_by_operator(master, owned("a", cpus=2)) == 202
    first.next("RESCIND")
    assert amounts(other, "cpus") == {"cpus": 2.0}


def test_an_operator_takes_from_several_offers_of_an_agent(begin: Begin) -> None:
    master, join = begin(count=1)
    first = join("a").subscribe()
    first.accept(held(first), reserve(owned("a", cpus=1)))
    second = join("b").subscribe()
    release(first)
    assert sum(cpus(first, second)) == 2.0
    assert reserved_by_operator(master, owned("c", cpus=1)) == 202
    assert sum(cpus(first, second)) == 1.0
    assert reserved_by_operator(master, owned("c", cpus=1)) == 409
    assert unreserved_by_operator(master, owned("a", cpus=1)) == 202


# --- Roles --------------------------------------------------------------------------------------------


def test_roles_are_shown_while_somebody_is_there(begin: Begin) -> None:
    master, join = begin(count=1)
    framework = join("a", "b/c").subscribe()
    assert [role for role in ("a", "b", "b/c", "d") if role_entry(master, role)] == ["a", "b", "b/c"]
    assert [role_entry(master, role)["frameworks"] for role in ("a", "b/c")] == [[framework.id]] * 2
    framework.leave()
    assert [role for role in ("a", "b", "b/c") if role_entry(master, role)] == []


def test_a_framework_that_leaves_a_role_is_no_longer_shown_there(begin: Begin) -> None:
    master, join = begin(count=1)
    framework = join("a", "b").subscribe()
    info = {**framework.info, "roles": ["b"], "id": {"value": framework.id}}
    assert framework.call("UPDATE_FRAMEWORK", update_framework={"framework_info": info}).status == 200
    framework.settle()
    assert role_entry(master, "a") is None
    assert role_entry(master, "b")["frameworks"] == [framework.id]


def test_a_role_that_has_a_weight_is_shown_without_anybody(begin: Begin) -> None:
    master, _ = begin(count=1)
    assert weigh(master, a=2, b__c=3) == 200
    assert role_entry(master, "a")["weight"] == 2.0
    assert role_entry(master, "b/c")["weight"] == 3.0


def test_a_role_that_has_a_reservation_is_shown_without_anybody(begin: Begin) -> None:
    master, _ = begin(count=1)
    assert reserved_by_operator(master, owned("a/x", cpus=1)) == 202
    assert role_entry(master, "a/x")["resources"] == {}
    assert role_entry(master, "a/x")["quota"]["consumed"] == {"cpus": 1.0}
    assert role_entry(master, "a") is not None
    assert unreserved_by_operator(master, owned("a/x", cpus=1)) == 202
    assert role_entry(master, "a/x") is None


def test_weights_are_updated_one_by_one_and_refused_together(begin: Begin) -> None:
    master, _ = begin(count=1)
    assert weigh(master, a=2, b=3) == 200
    assert weigh(master, b=4) == 200
    assert weigh(master, a=5, c=-1) == 400
    shown = {entry["role"]: entry["weight"] for entry in master.read("/weights")}
    assert shown == {"a": 2.0, "b": 4.0}


@pytest.mark.parametrize("weight", [0, -1, "two", None, [1], 1e400])
def test_weights_that_no_role_can_have(begin: Begin, weight: Any) -> None:
    master, _ = begin(count=1)
    body = json.dumps([{"role": "a", "weight": weight}])
    assert master.request("PUT", "/weights", content=body).status == 400
    assert master.read("/weights") == []
