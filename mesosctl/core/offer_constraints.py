"""Offer constraints: which agents a framework does not want to be offered (spec/allocator.md §6).

The message is OfferConstraints of Mesos 1.11, and the rules and words are those of its master.  The
groups of a role are alternatives, the constraints of one group must all hold.  `exists` and
`not_exists` are about presence; of the predicates about text the negative ones hold for an attribute
that is absent, and all of them for one that is there but is no text.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from mesosctl.core import regexes
from mesosctl.core.errors import RuleViolation
from mesosctl.core.regexes import RegexLimits


class AgentTraits(Protocol):
    """What constraints look at."""

    @property
    def hostname(self) -> str:
        """Its host's name."""

    @property
    def attributes(self) -> Sequence[tuple[str, str | float]]:
        """Texts, and numbers of scalars; of a name given twice the first counts."""

    @property
    def region(self) -> str | None:
        """Of its fault domain."""

    @property
    def zone(self) -> str | None:
        """Of its fault domain."""


Holds = Callable[[AgentTraits], bool]
Value = str | float | None
"""Of an attribute; None where the agent has none of that name."""
_PSEUDO = ("HOSTNAME", "REGION", "ZONE")


def excluded_agents(constraints: Mapping[str, Any], limits: RegexLimits | None = None) -> dict[str, Holds]:
    """By role: true for an agent that its constraints exclude.  Raises RuleViolation.

    `limits` are those of the expressions; Mesos's defaults unless given.
    """
    limits = limits or RegexLimits()
    return {role: _excludes(role, body, limits) for role, body in constraints.get("role_constraints", {}).items()}


def _excludes(role: str, body: Mapping[str, Any], limits: RegexLimits) -> Holds:
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
        alternatives = [[_constraint(constraint, limits) for constraint in group] for group in groups]
    except RuleViolation as error:
        raise RuleViolation(f"A role {role} has an invalid 'AttributeConstraint': {error.message}") from error
    return lambda agent: not any(all(holds(agent) for holds in group) for group in alternatives)


def _constraint(constraint: Mapping[str, Any], limits: RegexLimits) -> Holds:
    select = _selector(constraint.get("selector", {}))
    predicate = _predicate(constraint.get("predicate", {}), limits)
    return lambda agent: predicate(select(agent))


def _selector(selector: Mapping[str, Any]) -> Callable[[AgentTraits], Value]:
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
    return lambda agent: agent.zone


def _predicate(predicate: Mapping[str, Any], limits: RegexLimits) -> Callable[[Value], bool]:
    if "exists" in predicate:
        return lambda value: value is not None
    if "not_exists" in predicate:
        return lambda value: value is None
    for negative, prefix in ((False, "text_"), (True, "text_not_")):
        equals, matches = predicate.get(f"{prefix}equals"), predicate.get(f"{prefix}matches")
        if equals is not None:
            return _about_text(str(equals.get("value", "")).__eq__, negative)
        if matches is not None:
            return _about_text(regexes.whole(str(matches.get("regex", "")), limits), negative)
    raise RuleViolation("Unknown predicate type")


def _about_text(accepts: Callable[[str], bool], negative: bool) -> Callable[[Value], bool]:
    def holds(value: Value) -> bool:
        if value is None:
            return negative
        if not isinstance(value, str) or value.startswith(("[", "{")):  # a scalar, ranges or a set
            return True
        return accepts(value) != negative

    return holds
