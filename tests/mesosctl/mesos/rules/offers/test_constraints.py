"""Offer constraints; every row was seen on a Mesos 1.11.0 master with --attributes=a:x;n:5;r:[1-3]."""

from typing import Any

import pytest

from fake_master.allocator.interface import AgentInfo
from mesosctl.mesos.errors import RuleViolation
from mesosctl.mesos.rules.offers.constraints import excluded_agents

AGENT = AgentInfo("S0", attributes=(("a", "x"), ("n", 5.0), ("r", "[1-3]")))
ELSEWHERE = AgentInfo("S1", region="eu", zone="b")
HOST, REGION = {"pseudoattribute_type": "HOSTNAME"}, {"pseudoattribute_type": "REGION"}
ZONE = {"pseudoattribute_type": "ZONE"}


def constraints(selector: Any, predicate: Any) -> dict[str, Any]:
    one = {"selector": {"attribute_name": selector} if isinstance(selector, str) else selector, "predicate": predicate}
    return {"role_constraints": {"ads": {"groups": [{"attribute_constraints": [one]}]}}}


@pytest.mark.parametrize(
    ("selector", "predicate", "offered"),
    [
        ("a", {"text_equals": {"value": "x"}}, True),
        ("a", {"text_equals": {"value": "y"}}, False),
        ("a", {"text_not_equals": {"value": "x"}}, False),
        ("zz", {"text_equals": {"value": "y"}}, False),
        ("zz", {"text_not_equals": {"value": "y"}}, True),
        ("n", {"text_equals": {"value": "6"}}, True),
        ("n", {"text_not_equals": {"value": "5"}}, True),
        ("r", {"text_not_equals": {"value": "x"}}, True),
        ("zz", {"exists": {}}, False),
        ("a", {"not_exists": {}}, False),
        ("n", {"exists": {}}, True),
        ("a", {"text_matches": {"regex": "x|y"}}, True),
        ("zz", {"text_matches": {"regex": "y"}}, False),
        ("zz", {"text_not_matches": {"regex": "y"}}, True),
        ("n", {"text_matches": {"regex": "6"}}, True),
        ("n", {"text_not_matches": {"regex": "5"}}, True),
        (HOST, {"exists": {}}, True),
        (REGION, {"exists": {}}, False),
        (REGION, {"not_exists": {}}, True),
    ],
)
def test_one_constraint(selector: Any, predicate: Any, offered: bool) -> None:
    assert excluded_agents(constraints(selector, predicate))["ads"](AGENT) is not offered


@pytest.mark.parametrize(
    ("selector", "value", "offered"),
    [(REGION, "eu", True), (REGION, "us", False), (ZONE, "b", True), (ZONE, "a", False)],
)
def test_the_fault_domain_is_a_pseudo_attribute(selector: Any, value: str, offered: bool) -> None:
    message = constraints(selector, {"text_equals": {"value": value}})
    assert excluded_agents(message)["ads"](ELSEWHERE) is not offered


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        (
            constraints({"pseudoattribute_type": "UNKNOWN"}, {"exists": {}}),
            "A role ads has an invalid 'AttributeConstraint': Unknown pseudoattribute type",
        ),
        (
            constraints({}, {"exists": {}}),
            (
                "A role ads has an invalid 'AttributeConstraint': Exactly one of "
                "'AttributeConstraint::Selector::name' or "
                "'AttributeConstraint::Selector::pseudoattribute_type' must be set"
            ),
        ),
        (constraints("a", {}), "A role ads has an invalid 'AttributeConstraint': Unknown predicate type"),
        (
            {"role_constraints": {"ads": {"groups": []}}},
            "'OfferConstraints::role_constraints' has an empty 'RoleConstraints::groups' for role ads",
        ),
        (
            {"role_constraints": {"ads": {"groups": [{"attribute_constraints": []}]}}},
            "'OfferConstraints::RoleConstraints::groups' for role adscontains an empty RoleConstraints::Group",
        ),
    ],
)
def test_constraints_that_are_refused(message: dict[str, Any], problem: str) -> None:
    with pytest.raises(RuleViolation) as caught:
        excluded_agents(message)
    assert caught.value.message == problem


def test_a_broken_expression_is_refused() -> None:
    with pytest.raises(RuleViolation, match="Failed to construct regex from pattern"):
        excluded_agents(constraints("a", {"text_matches": {"regex": "("}}))
