"""Offer constraints: which agents a framework does not want to be offered (spec/allocator.md §6).

The message is OfferConstraints of Mesos 1.11, and the rules and words are those of its master.  The
groups of a role are alternatives, the constraints of one group must all hold.  `exists` and
`not_exists` are about presence; of the predicates about text the negative ones hold for an attribute
that is absent, and all of them for one that is there but is no text.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from fake_master.allocator.interface import AgentInfo
from mesosctl.core.errors import RuleViolation

Holds = Callable[[AgentInfo], bool]
Value = str | float | None
"""Of an attribute; None where the agent has none of that name."""
_PSEUDO = ("HOSTNAME", "REGION", "ZONE")


def excluded_agents(constraints: Mapping[str, Any]) -> dict[str, Holds]:
    """By role: true for an agent that its constraints exclude.  Raises RuleViolation."""
    return {role: _excludes(role, body) for role, body in constraints.get("role_constraints", {}).items()}


def _excludes(role: str, body: Mapping[str, Any]) -> Holds:
    groups = [group.get("attribute_constraints", ()) for group in body.get("groups", ())]
    if not groups:
        raise RuleViolation(
            f"'OfferConstraints::role_constraints' has an empty 'RoleConstraints::groups' for role {role}"
        )
    if not all(groups):
        raise RuleViolation(  # the missing space is the master's
            f"'OfferConstraints::RoleConstraints::groups' for role {role}contains an empty RoleConstraints::Group"
        )
    try:
        alternatives = [[_constraint(constraint) for constraint in group] for group in groups]
    except RuleViolation as error:
        raise RuleViolation(f"A role {role} has an invalid 'AttributeConstraint': {error.message}") from error
    return lambda agent: not any(all(holds(agent) for holds in group) for group in alternatives)


def _constraint(constraint: Mapping[str, Any]) -> Holds:
    select = _selector(constraint.get("selector", {}))
    predicate = _predicate(constraint.get("predicate", {}))
    return lambda agent: predicate(select(agent))


def _selector(selector: Mapping[str, Any]) -> Callable[[AgentInfo], Value]:
    """Where both are named the pseudo attribute is taken to count: a `oneof` keeps its last member."""
    pseudo = selector.get("pseudoattribute_type")
    if pseudo is None:
        if "attribute_name" not in selector:
            raise RuleViolation(
                "Exactly one of 'AttributeConstraint::Selector::name' or "
                "'AttributeConstraint::Selector::pseudoattribute_type' must be set"
            )
        name = selector["attribute_name"]
        return lambda agent: dict(reversed(agent.attributes)).get(name)
    if pseudo not in _PSEUDO:
        raise RuleViolation("Unknown pseudoattribute type")
    if pseudo == "HOSTNAME":
        return lambda agent: agent.hostname
    if pseudo == "REGION":
        return lambda agent: agent.region
    return lambda _agent: None  # an agent's zone is not known here


def _predicate(predicate: Mapping[str, Any]) -> Callable[[Value], bool]:
    if "exists" in predicate:
        return lambda value: value is not None
    if "not_exists" in predicate:
        return lambda value: value is None
    for negative, prefix in ((False, "text_"), (True, "text_not_")):
        equals, matches = predicate.get(f"{prefix}equals"), predicate.get(f"{prefix}matches")
        if equals is not None:
            return _about_text(str(equals.get("value", "")).__eq__, negative)
        if matches is not None:
            return _about_text(_whole(str(matches.get("regex", ""))), negative)
    raise RuleViolation("Unknown predicate type")


def _about_text(accepts: Callable[[str], bool], negative: bool) -> Callable[[Value], bool]:
    def holds(value: Value) -> bool:
        if value is None:
            return negative
        if not isinstance(value, str) or value.startswith(("[", "{")):  # a scalar, ranges or a set
            return True
        return accepts(value) != negative

    return holds


def _whole(regex: str) -> Callable[[str], bool]:
    """Python's expressions stand in for RE2's: the same for all but exotic ones, and without its size limit."""
    try:
        compiled = re.compile(regex)
    except re.error as error:
        raise RuleViolation(f"Failed to construct regex from pattern '{regex}': {error}") from error
    return lambda text: compiled.fullmatch(text) is not None
