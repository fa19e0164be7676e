"""Access control lists: which rule decides, what follows for one principal, and which rules are unwise.

Source: Mesos documentation, "Authorization".  An action has a list of rules; the first whose principals and objects
both match decides.  If none matches, `permissive` decides.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from mesosctl.model.roles import is_strict_subrole, role_error

ROLES = "roles"
"""The kind of objects that form a tree: `dev/%` means every role below dev."""
_BELOW = "/%"
EntityType = Literal["SOME", "ANY", "NONE"]


@dataclass(frozen=True, slots=True)
class Entity:
    """One side of a rule: some named values, anything, or nothing."""

    kind: str
    """The name of the field: `principals`, or that of the objects, such as `roles`."""
    type: EntityType
    values: tuple[str, ...] = ()

    @property
    def has_tree(self) -> bool:
        """Whether the values are roles, so that `dev/%` means all roles below dev."""
        return self.kind == ROLES

    def matches(self, value: str | None) -> bool:
        """Return whether the rule matches `value`; None means no principal, or no particular object."""
        return self.type != "SOME" or (value is not None and self.names(value))

    def allows(self, value: str | None) -> bool:
        """Return whether a rule that matches lets `value` pass."""
        return self.type == "ANY" or (self.type == "SOME" and value is not None and self.names(value))

    def names(self, value: str) -> bool:
        """Return whether one of the values is `value`, or all roles below one above it."""
        return any(value == named or (self.has_tree and is_below(value, named)) for named in self.values)

    def covers(self, other: "Entity") -> bool:
        """Return whether it matches everything that `other` matches."""
        if self.type != "SOME":
            return True
        return other.type == "SOME" and all(self.covers_name(value) for value in other.values)

    def covers_name(self, value: str) -> bool:
        """Return whether it names everything that `value`, which may be a pattern such as `dev/%`, stands for."""
        if not (self.has_tree and value.endswith(_BELOW)):
            return self.names(value)
        return any(value == named or is_below(value.removesuffix(_BELOW), named) for named in self.values)


def is_below(role: str, pattern: str) -> bool:
    """Whether a pattern such as `dev/%` matches a role."""
    return pattern.endswith(_BELOW) and is_strict_subrole(role, pattern.removesuffix(_BELOW))


class Rule(NamedTuple):
    """One entry in the list of an action."""

    principals: Entity
    objects: Entity

    def matches(self, principal: str | None, target: str | None) -> bool:
        """Return whether it decides, unless a rule before it does."""
        return self.principals.matches(principal) and self.objects.matches(target)

    def allows(self, principal: str | None, target: str | None) -> bool:
        """Return its decision if it matches."""
        return self.principals.allows(principal) and self.objects.allows(target)

    def covers(self, other: "Rule") -> bool:
        """Return whether it matches everything that `other` matches."""
        return self.principals.covers(other.principals) and self.objects.covers(other.objects)

    @property
    def ever_allows(self) -> bool:
        """Whether it allows anything to anybody."""
        return "NONE" not in (self.principals.type, self.objects.type) and not self.names_nothing

    @property
    def names_nothing(self) -> bool:
        """Whether it can never match, because one side names no value."""
        return any(side.type == "SOME" and not side.values for side in self)


class Decision(NamedTuple):
    """The decision about some objects; `names` is None for all that are left."""

    names: tuple[str, ...] | None
    allowed: bool


class Access(NamedTuple):
    """The objects of an action that one principal may act on: the first decision that names an object counts."""

    kind: str
    """The name of the field of the objects; empty if no rule has any."""
    decisions: tuple[Decision, ...]
    """The last is about everything that is left."""

    def allows(self, target: str) -> bool:
        """Return whether an object may be acted on."""
        for names, allowed in self.decisions:
            if names is None or Entity(self.kind, "SOME", names).names(target):
                return allowed
        raise AssertionError("the last decision is about everything")

    @property
    def otherwise(self) -> bool:
        """Whether objects that nothing names may be acted on."""
        return self.decisions[-1].allowed

    @property
    def everything(self) -> bool:
        """Whether every object may be acted on."""
        return all(one.allowed for one in self.decisions)

    @property
    def anything(self) -> bool:
        """Whether at least one object may be acted on."""
        return any(one.allowed for one in self.decisions)

    @property
    def allowed(self) -> tuple[str, ...]:
        """The objects that are allowed by name."""
        return self._named(allowed=True)

    @property
    def refused(self) -> tuple[str, ...]:
        """The objects that are refused by name."""
        return self._named(allowed=False)

    def _named(self, *, allowed: bool) -> tuple[str, ...]:
        found = (name for one in self.decisions if one.allowed is allowed for name in one.names or ())
        return tuple(dict.fromkeys(found))

    def __str__(self) -> str:
        """All, none, or names, the most general first: `dev/%, but not dev/secret`."""
        if self.everything or not self.anything:
            return "all" if self.everything else "none"
        parts, so_far = (["all"], True) if self.otherwise else ([], False)
        # Later decisions are overridden by earlier ones.
        for names, allowed in reversed(self.decisions[:-1]):
            if not parts and not allowed:
                continue  # nothing is allowed so far
            but = "" if allowed is so_far or not parts else "but " if allowed else "but not "
            parts.append(f"{but}{', '.join(names or ())}")
            so_far = allowed
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class Acls:
    """The access control lists of a master; without any, everything is allowed."""

    permissive: bool = True
    rules: Mapping[str, tuple[Rule, ...]] = field(default_factory=dict)
    """The rules of each action, in their order."""

    def allows_all(self, action: str) -> bool:
        """Return whether everybody may do `action` to everything, so that nobody needs to ask for each thing."""
        return self.permissive and not self.rules.get(action)

    def allows(self, action: str, principal: str | None, target: str | None) -> bool:
        """Return whether `principal` (None: unauthenticated) may do `action` to `target`."""
        for rule in self.rules.get(action, ()):
            if rule.matches(principal, target):
                return rule.allows(principal, target)
        return self.permissive

    def access(self, action: str, principal: str | None) -> Access:
        """Return what `principal` may do `action` to."""
        decisions: list[Decision] = []
        kind, named = "", Entity("", "SOME")
        for rule in self.rules.get(action, ()):
            kind = rule.objects.kind
            if not rule.principals.matches(principal) or rule.names_nothing:
                continue
            allowed = rule.principals.allows(principal) and rule.objects.type != "NONE"
            if rule.objects.type != "SOME":
                return Access(kind, (*decisions, Decision(None, allowed)))
            new = tuple(name for name in rule.objects.values if not named.covers_name(name))
            named = Entity(kind, "SOME", (*named.values, *new))
            decisions += [Decision(new, allowed)] if new else []
        return Access(kind, (*decisions, Decision(None, self.permissive)))


# --- What is unwise in a file --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding about a file of ACLs.

    With an error, a master does not start with the file, or ignores a part of it; a warning is about a rule without the
    effect that its author probably wanted.
    """

    level: Literal["error", "warning"]
    rule: str
    field: str
    """The place in the JSON: `update_quotas[1].roles.type`."""
    sentence: str
    hint: str | None = None
    line: int | None = None


NEEDED: Mapping[str, str] = {
    "register_agents": "no agent can register",
    "register_frameworks": "no framework can subscribe",
    "run_tasks": "no task can be launched",
}
"""The actions without which a cluster does nothing, and the consequence of refusing them to all."""


def warnings(acls: Acls) -> Iterator[Finding]:
    """Yield a warning for each rule that is valid and without effect, and for what nobody may do."""
    for action, rules in acls.rules.items():
        yield from _unreachable(action, rules)
        for index, rule in enumerate(rules):
            for entity in rule:
                yield from _entity_warnings(f"{action}[{index}].{entity.kind}", entity)
        if acls.permissive and rules and all(rule.ever_allows for rule in rules):
            yield Finding(
                "warning",
                "acls.no-effect",
                action,
                f"the rules of {action} keep nobody out: permissive is true, so everybody whom they do not name may do "
                "it too",
                'end the list with a rule of "principals": {"type": "NONE"}, or set permissive to false',
            )
    if not acls.permissive:
        for action, consequence in NEEDED.items():
            if not any(rule.ever_allows for rule in acls.rules.get(action, ())):
                yield Finding(
                    "warning",
                    "acls.nobody-may",
                    action if action in acls.rules else "permissive",
                    f"permissive is false, and no rule allows {action} to anybody, so {consequence}",
                    f"add a rule to {action}",
                )


def _unreachable(action: str, rules: Sequence[Rule]) -> Iterator[Finding]:
    for index, rule in enumerate(rules):
        earlier = next((number for number in range(index) if rules[number].covers(rule)), None)
        if earlier is not None and not rules[earlier].names_nothing and not rule.names_nothing:
            yield Finding(
                "warning",
                "acls.unreachable",
                f"{action}[{index}]",
                f"it never decides, because {action}[{earlier}] matches everything that it matches, and comes first",
                f"move it before {action}[{earlier}], or remove it",
            )


def _entity_warnings(where: str, entity: Entity) -> Iterator[Finding]:
    if entity.type == "SOME" and not entity.values:
        yield Finding(
            "warning",
            "acls.names-nothing",
            where,
            "it names no value, so the rule never matches",
            'list "values", or write "type": "ANY" or "NONE"',
        )
    elif entity.type != "SOME" and entity.values:
        yield Finding(
            "warning",
            "acls.values-ignored",
            where,
            f"its values are ignored, because its type is {entity.type}",
            "leave out the type to mean these values alone, or leave out the values",
        )
    for value in entity.values if entity.type == "SOME" and entity.has_tree else ():
        if value != "*" and role_error(value.removesuffix(_BELOW)) is not None:
            yield Finding(
                "warning",
                "acls.no-role",
                where,
                f"'{value}' is not the name of a role, so it matches none",
                "write dev/% for all roles below dev",
            )
