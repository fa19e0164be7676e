"""Regular expressions of offer constraints: run by RE2, within the limits of the master's flags.

A framework writes them, so nothing else may run them: RE2, which Mesos uses too, always takes linear time, while a
pattern of a few bytes can keep Python's `re` busy forever.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Protocol, Self

from mesosctl.mesos.amounts.notation import parse_bytes
from mesosctl.mesos.errors import RuleViolation, extra

Accepts = Callable[[str], bool]
"""Whether a pattern matches the whole of a text."""
INSTALL = extra("constraints")
_MOST_MEMORY = 2**62
"""The largest limit that RE2 accepts, in bytes."""
# The parts of a valid RE2 pattern that are not groups: quoted text, an escape, a class.
_LITERAL = re.compile(r"\\Q.*?(?:\\E|\Z)|\\.|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*+\]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class RegexLimits:
    """The limits of one expression: memory in bytes, and program size in instructions."""

    memory: int = 4096
    program_size: int = 100

    @classmethod
    def of(cls, flags: Mapping[str, str]) -> Self:
        """Those of `--offer_constraints_re2_max_mem` and `--offer_constraints_re2_max_program_size`."""
        memory = parse_bytes(flags["offer_constraints_re2_max_mem"], "offer_constraints_re2_max_mem")
        return cls(min(memory, _MOST_MEMORY), int(flags["offer_constraints_re2_max_program_size"]))


def can_match() -> bool:
    """Whether RE2 is installed: the extra `constraints`."""
    return find_spec("re2") is not None


def whole(pattern: str, limits: RegexLimits) -> Accepts:
    """The matcher of a pattern.  Raises RuleViolation with the master's words for one it refuses, and without RE2."""
    if not can_match():
        raise RuleViolation(f"Regex '{pattern}' cannot be evaluated: RE2 is not installed; {INSTALL}")
    # Imported late: only a constraint about text needs it.
    import re2

    options = re2.Options()
    options.log_errors, options.max_mem = False, limits.memory
    # Bytes, because a name need not be UTF-8; RE2 itself still reads them as UTF-8.
    try:
        compiled: Any = re2.compile(_bytes(pattern), options)
    except re2.error as error:
        reason = error.args[0]
        raise _broken(pattern, reason.decode(errors="replace") if isinstance(reason, bytes) else reason) from error
    if compiled.programsize > limits.program_size:
        raise RuleViolation(
            f"Regex '{pattern}' is too complex: program size of {compiled.programsize} is larger than maximum of "
            f"{limits.program_size} allowed"
        )
    # RE2 supports (?<name>…) only since a later release than that in Mesos 1.11.
    if "(?<" in _LITERAL.sub("_", pattern):
        raise _broken(pattern, "invalid perl operator: (?<")
    return lambda text: compiled.fullmatch(_bytes(text)) is not None


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogateescape")


def _broken(pattern: str, reason: str) -> RuleViolation:
    return RuleViolation(f"Failed to construct regex from pattern '{pattern}': {reason}")


class AgentTraits(Protocol):
    """The properties of an agent that constraints examine."""

    @property
    def hostname(self) -> str:
        """Its host's name."""

    @property
    def attributes(self) -> Sequence[tuple[str, str | float]]:
        """Texts, and numbers of scalars; the first of a duplicate name counts."""

    @property
    def region(self) -> str | None:
        """Of its fault domain."""

    @property
    def zone(self) -> str | None:
        """Of its fault domain."""


Holds = Callable[[AgentTraits], bool]
Value = str | float | None
"""Of an attribute; None if the agent has none of that name."""
_PSEUDO = ("HOSTNAME", "REGION", "ZONE")


def excluded_agents(constraints: Mapping[str, Any], limits: RegexLimits | None = None) -> dict[str, Holds]:
    """By role: true for an agent that its constraints exclude.  Raises RuleViolation.

    `limits` are those of the expressions; the default is Mesos's.
    """
    limits = limits or RegexLimits()
    return {role: _excludes(role, body, limits) for role, body in constraints.get("role_constraints", {}).items()}


def without_patterns(constraints: Mapping[str, Any]) -> dict[str, Any]:
    """The same constraints without those about the text of an attribute that only RE2 can evaluate.

    A group holds if each of its constraints does, so one that cannot be evaluated is regarded as holding. A role with a
    group that is empty then excludes no agent.
    """
    kept = {}
    for role, body in constraints.get("role_constraints", {}).items():
        groups = [
            [constraint for constraint in group.get("attribute_constraints", ()) if not _has_pattern(constraint)]
            for group in body.get("groups", ())
        ]
        if all(groups):
            kept[role] = {**body, "groups": [{"attribute_constraints": group} for group in groups]}
    return {**constraints, "role_constraints": kept}


def has_patterns(constraints: Mapping[str, Any]) -> bool:
    """Whether RE2 is needed to evaluate these constraints."""
    return any(
        _has_pattern(constraint)
        for body in constraints.get("role_constraints", {}).values()
        for group in body.get("groups", ())
        for constraint in group.get("attribute_constraints", ())
    )


def _has_pattern(constraint: Mapping[str, Any]) -> bool:
    return not {"text_matches", "text_not_matches"}.isdisjoint(constraint.get("predicate", {}))


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
    """If both are given, the pseudo attribute counts, because a `oneof` keeps its last member."""
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
            return _about_text(whole(str(matches.get("regex", "")), limits), negative)
    raise RuleViolation("Unknown predicate type")


def _about_text(accepts: Callable[[str], bool], negative: bool) -> Callable[[Value], bool]:
    def holds(value: Value) -> bool:
        if value is None:
            return negative
        if not isinstance(value, str) or value.startswith(("[", "{")):  # a scalar, ranges or a set
            return True
        return accepts(value) != negative

    return holds
