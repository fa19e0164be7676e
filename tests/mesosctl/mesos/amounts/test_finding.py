"""Finding resources whoever owns them."""

import pytest

from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.amounts.resource import Reservation, Resource
from mesosctl.mesos.amounts.resources import Resources, find


def found(target: str, within: str) -> Resources | None:
    return find(parse_resources(target), parse_resources(within))


def test_the_own_role_first_then_what_nobody_owns():
    assert found("cpus(role1):3;mem(role1):15", "cpus(role1):2;mem(role1):10;cpus:4;mem:20") == parse_resources(
        "cpus(role1):2;mem(role1):10;cpus:1;mem:5"
    )


def test_other_roles_last():
    within = "cpus(role1):1;mem(role1):5;cpus(role2):2;mem(role2):8;cpus:1;mem:7"
    assert found("cpus(role1):3;mem(role1):15", within) == parse_resources(
        "cpus(role1):1;mem(role1):5;cpus:1;mem:7;cpus(role2):1;mem(role2):3"
    )


def test_for_nobody_in_particular_and_more_than_there_is():
    assert found("cpus:6;mem:6", "cpus(role1):5;mem(role1):5;cpus:5;mem:5") == parse_resources(
        "cpus:5;mem:5;cpus(role1):1;mem(role1):1"
    )
    assert found("cpus(role1):2;mem(role1):2", "cpus(role1):1;mem(role1):1") is None


@pytest.mark.parametrize("target", ["cpus:1", "cpus(a/b):1", "cpus(other):1"])
def test_pieces_keep_the_stack_they_were_found_with(target: str):
    stack = (Reservation("STATIC", "a"), Reservation("DYNAMIC", "a/b", "p"))
    within = Resources([Resource("cpus", 4000, stack)])
    assert find(parse_resources(target), within) == Resources([Resource("cpus", 1000, stack)])


def test_ranges_are_found_where_one_entry_has_them():
    within = "ports(a):[1-10];ports:[20-30]"
    assert found("ports:[3-4]", within) == parse_resources("ports(a):[3-4]")
    assert found("ports:[10-11]", within) is None


def test_one_target_that_is_missing_is_enough():
    assert found("cpus:1;mem:1", "cpus:4") is None


def test_the_own_role_comes_first_whatever_the_order():
    assert found("cpus(role1):1", "cpus(role2):2;cpus(role1):1") == parse_resources("cpus(role1):1")
