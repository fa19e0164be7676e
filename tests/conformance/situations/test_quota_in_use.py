"""Quota while frameworks are there: limits, guarantees of those who are absent, nested roles and reservations."""

import json
from typing import Any

import pytest

from tests.conformance.callers.holding import amounts, cpus, held, limited, release, role_entry
from tests.conformance.callers.operations import reserve
from tests.conformance.callers.owning import owned
from tests.conformance.callers.owning import reserve as reserved_by_operator
from tests.conformance.scenarios.scenario import scalars
from tests.conformance.situations.conftest import Begin


def test_a_limit_cuts_what_is_offered(begin: Begin) -> None:
    master, join = begin(count=2)
    assert limited(master, "a", limits={"cpus": 3}) == 200
    assert amounts(join("a").subscribe(), "cpus", "mem") == {"cpus": 3.0, "mem": 1024.0}


def test_a_limit_of_nothing_leaves_the_rest(begin: Begin) -> None:
    master, join = begin(count=1)
    assert limited(master, "a", limits={"cpus": 0}) == 200
    assert amounts(join("a").subscribe(), "cpus", "mem") == {"mem": 512.0}


def test_a_limit_without_room_for_the_least_offers_nothing(begin: Begin) -> None:
    master, join = begin(count=1)
    assert limited(master, "a", limits={"cpus": 0, "mem": 0}) == 200
    assert cpus(join("a").subscribe(), join("b").subscribe()) == [0.0, 2.0]


def test_a_limit_is_for_all_frameworks_of_a_role(begin: Begin) -> None:
    master, join = begin(count=2)
    assert limited(master, "a", limits={"cpus": 2}) == 200
    first, second = join("a").subscribe(), join("a").subscribe()
    assert sum(cpus(first, second)) == 2.0


@pytest.mark.parametrize("below", ["a/x", "a/x/y"])
def test_a_limit_cuts_nothing_from_the_roles_below(begin: Begin, below: str) -> None:
    master, join = begin(count=3)
    assert limited(master, "a", limits={"cpus": 2}) == 200
    assert cpus(join("a").subscribe(), join(below).subscribe()) == [2.0, 4.0]


def test_a_guarantee_of_an_absent_role_is_kept_free(begin: Begin) -> None:
    master, join = begin(count=3)
    assert limited(master, "q", guarantees={"cpus": 4}) == 200
    other = join("b").subscribe()
    assert cpus(other) == [2.0]
    assert limited(master, "q") == 200
    assert cpus(other) == [6.0]


def test_two_guarantees_of_absent_roles_are_both_kept_free(begin: Begin) -> None:
    master, join = begin(count=3)
    assert limited(master, "q", guarantees={"cpus": 2}) == 200
    assert limited(master, "s", guarantees={"cpus": 3}) == 200
    assert cpus(join("b").subscribe()) == [1.0]


def test_only_what_is_guaranteed_is_kept_free(begin: Begin) -> None:
    master, join = begin(count=2)
    assert limited(master, "q", guarantees={"cpus": 4}) == 200
    assert amounts(join("b").subscribe(), "cpus", "mem") == {"mem": 1024.0}


def test_a_guarantee_is_given_before_anything_else(begin: Begin) -> None:
    master, join = begin(count=3)
    assert limited(master, "q", guarantees={"cpus": 4}) == 200
    other = join("b").subscribe()
    guaranteed = join("q").subscribe()
    assert cpus(other, guaranteed) == [2.0, 4.0]


def test_beyond_its_guarantee_a_role_shares_as_others(begin: Begin) -> None:
    master, join = begin(count=4)
    assert limited(master, "q", guarantees={"cpus": 2}) == 200
    guaranteed, other = join("q").subscribe(), join("b").subscribe()
    release(guaranteed)
    assert cpus(guaranteed, other) == [4.0, 4.0]


def test_a_guarantee_is_kept_free_from_the_roles_below_too(begin: Begin) -> None:
    master, join = begin(count=2)
    assert limited(master, "q", guarantees={"cpus": 4}) == 200
    assert cpus(join("b").subscribe(), join("q/x").subscribe()) == [0.0, 0.0]
    assert cpus(join("q").subscribe()) == [4.0]


def test_what_one_framework_of_a_guaranteed_role_declines_goes_to_the_other(begin: Begin) -> None:
    master, join = begin(count=2)
    assert limited(master, "q", guarantees={"cpus": 4}, limits={"cpus": 4}) == 200
    first, second = join("q").subscribe(), join("q").subscribe()
    assert sum(cpus(first, second)) == 4.0
    release(first, refuse=1000)
    assert cpus(first, second) == [0.0, 4.0]


def test_what_a_guaranteed_role_declines_stays_free(begin: Begin) -> None:
    master, join = begin(count=2)
    assert limited(master, "q", guarantees={"cpus": 4}) == 200
    guaranteed, other = join("q").subscribe(), join("b").subscribe()
    release(guaranteed, refuse=1000)
    assert cpus(guaranteed, other) == [0.0, 0.0]


def test_a_suppressed_role_keeps_its_guarantee_free(begin: Begin) -> None:
    master, join = begin(count=2)
    assert limited(master, "q", guarantees={"cpus": 2}) == 200
    guaranteed = join("q").subscribe()
    guaranteed.ask("SUPPRESS")
    release(guaranteed)
    assert cpus(guaranteed, join("b").subscribe()) == [0.0, 2.0]


def test_reservations_are_part_of_a_limit(begin: Begin) -> None:
    master, join = begin("cpus(q):2;cpus:4;mem:512;disk:10;ports:[1-2]")
    assert limited(master, "q", limits={"cpus": 3}) == 200
    framework = join("q").subscribe()
    assert amounts(framework, "cpus") == {"cpus(q)": 2.0, "cpus": 1.0}


def test_a_reservation_that_nobody_uses_is_part_of_a_limit(begin: Begin) -> None:
    master, join = begin("cpus(q):2;mem(q):128;disk:10;ports:[1-2]", count=2)
    assert limited(master, "q", limits={"cpus": 3}) == 200
    framework = join("q").subscribe()
    mine = [offer for offer in held(framework) if any(entry.get("reservations") for entry in offer["resources"])]
    framework.decline(mine, refuse=1000)
    assert amounts(framework, "cpus") == {"cpus": 1.0}


def test_a_reservation_larger_than_a_limit_is_offered(begin: Begin) -> None:
    master, join = begin("cpus(q):3;cpus:2;mem:512;disk:10;ports:[1-2]")
    assert limited(master, "q", limits={"cpus": 1}) == 400
    assert limited(master, "q", limits={"cpus": 1}, force=True) == 200
    assert amounts(join("q").subscribe(), "cpus") == {"cpus(q)": 3.0}


def test_the_reservations_of_a_role_below_are_part_of_a_limit(begin: Begin) -> None:
    master, join = begin("cpus(q/x):2;cpus:4;mem:512;disk:10;ports:[1-2]")
    assert limited(master, "q", limits={"cpus": 3}) == 200
    assert amounts(join("q").subscribe(), "cpus") == {"cpus": 1.0}


def test_reservations_fulfil_a_guarantee(begin: Begin) -> None:
    master, join = begin("cpus(q):2;cpus:4;mem:512;disk:10;ports:[1-2]")
    assert limited(master, "q", guarantees={"cpus": 3}) == 200
    assert amounts(join("b").subscribe(), "cpus") == {"cpus": 3.0}


def test_the_reservations_of_others_are_capacity(begin: Begin) -> None:
    master, _ = begin("cpus(b):2;cpus:2;mem:512;disk:10;ports:[1-2]")
    beyond, within = (json.dumps({"role": "q", "guarantee": scalars(cpus=cpus)}) for cpus in (5, 3))
    assert master.request("POST", "/quota", content=beyond).status == 409
    assert limited(master, "q", guarantees={"cpus": 5}) == 400
    assert master.request("POST", "/quota", content=within).status == 200
    assert limited(master, "q", guarantees={"cpus": 4}) == 200


def test_a_role_whose_quota_was_updated_to_nothing_has_it_still_for_a_request(begin: Begin) -> None:
    master, _ = begin(count=2)
    assert limited(master, "q", guarantees={"cpus": 1}) == 200
    assert limited(master, "q") == 200
    body = json.dumps({"role": "q", "guarantee": scalars(cpus=1)})
    assert master.request("POST", "/quota", content=body).status == 400
    assert master.request("DELETE", "/quota/q").status == 200
    assert master.request("POST", "/quota", content=body).status == 200


def consumed(master: Any, role: str) -> Any:
    return role_entry(master, role)["quota"]["consumed"]


def test_what_a_role_consumes(begin: Begin) -> None:
    master, join = begin("cpus(q):2;mem(q/x):64;cpus:4;mem:512;disk:10;ports:[1-2]")
    assert limited(master, "q", limits={"cpus": 5}) == 200
    framework = join("q").subscribe()
    assert cpus(framework) == [5.0]
    assert consumed(master, "q") == {"cpus": 2.0, "mem": 64.0}  # offers are none of it
    assert consumed(master, "q/x") == {"mem": 64.0}
    (offer,) = held(framework)
    framework.accept([offer], reserve([*owned("q", cpus=1)]))
    framework.settle()
    assert consumed(master, "q") == {"cpus": 3.0, "mem": 64.0}


@pytest.mark.parametrize(("limit", "status"), [(1.5, 400), (2, 200), (2.5, 200)])
def test_a_limit_below_what_is_consumed(begin: Begin, limit: float, status: int) -> None:
    master, _ = begin(count=2)
    assert reserved_by_operator(master, owned("q/x", cpus=2)) == 202
    assert limited(master, "q", limits={"cpus": limit}) == status
    assert limited(master, "q", limits={"cpus": limit}, force=True) == 200


def test_of_several_roles_all_or_none(begin: Begin) -> None:
    master, _ = begin(count=2)
    configs = [{"role": role, "limits": {"cpus": {"value": 1}}} for role in ("a", "b", "-c")]
    call = {"update_quota": {"quota_configs": configs}}
    assert master.call("UPDATE_QUOTA", **call).status == 400
    assert master.read("/quota").get("configs", []) == []
    assert master.call("UPDATE_QUOTA", update_quota={"quota_configs": configs[:2]}).status == 200
    assert sorted(entry["role"] for entry in master.read("/quota")["configs"]) == ["a", "b"]


def test_several_roles_may_ask_for_more_than_there_is_only_by_force(begin: Begin) -> None:
    master, _ = begin(count=2)
    configs = [{"role": role, "guarantees": {"cpus": {"value": 3}}} for role in ("a", "b")]
    for force, status in ((False, 400), (True, 200)):
        call = {"quota_configs": configs, "force": force}
        assert master.call("UPDATE_QUOTA", update_quota=call).status == status


def test_a_request_of_the_old_kind_after_a_limit(begin: Begin) -> None:
    """A role that has a limit alone has quota: it cannot be set, but for by an update."""
    master, _ = begin(count=2)
    assert limited(master, "a", limits={"cpus": 1}) == 200
    body = json.dumps({"role": "a", "guarantee": scalars(cpus=1)})
    assert master.request("POST", "/quota", content=body).status == 400
    assert limited(master, "a", guarantees={"cpus": 1}) == 200


def test_a_limit_that_is_raised_lets_more_through(begin: Begin) -> None:
    master, join = begin(count=2)
    assert limited(master, "a", limits={"cpus": 1}) == 200
    framework = join("a").subscribe()
    assert cpus(framework) == [1.0]
    assert limited(master, "a", limits={"cpus": 3}) == 200
    assert cpus(framework) == [3.0]
