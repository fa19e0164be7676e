"""Access control lists: which rule decides, what follows for one principal, and which rules are unwise.

Source: Mesos documentation, "Authorization".  An action has a list of rules; the first whose principals and objects
both match decides.  If none matches, `permissive` decides.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from mesosctl.mesos.roles import is_like_a_pattern, role_error

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
        return any(name in self.values for name in self.standing_for(value))

    def standing_for(self, value: str) -> Iterator[str]:
        """Yield the names that stand for everything that `value`, which may be a pattern such as `dev/%`, stands for.

        They are the value itself, and if it is a role also the patterns of the roles above it.
        """
        yield value
        while self.has_tree and "/" in value:
            value = value.rpartition("/")[0]
            yield value + _BELOW


class AclEntry(NamedTuple):
    """One entry in the list of an action."""

    principals: Entity
    objects: Entity

    def matches(self, principal: str | None, target: str | None) -> bool:
        """Return whether it decides, unless a rule before it does."""
        return self.principals.matches(principal) and self.objects.matches(target)

    def allows(self, principal: str | None, target: str | None) -> bool:
        """Return its decision if it matches."""
        return self.principals.allows(principal) and self.objects.allows(target)

    @property
    def ever_allows(self) -> bool:
        """Whether it allows anything to anybody."""
        return "NONE" not in (self.principals.type, self.objects.type) and not self.names_nothing

    @property
    def names_nothing(self) -> bool:
        """Whether it can never match, because one side names no value."""
        return any(side.type == "SOME" and not side.values for side in self)


class AclDecision(NamedTuple):
    """The decision about some objects; `names` is None for all that are left."""

    names: tuple[str, ...] | None
    allowed: bool


class Access(NamedTuple):
    """The objects of an action that one principal may act on: the first decision that names an object counts."""

    kind: str
    """The name of the field of the objects; empty if no rule has any."""
    decisions: tuple[AclDecision, ...]
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
        return all(decision.allowed for decision in self.decisions)

    @property
    def anything(self) -> bool:
        """Whether at least one object may be acted on."""
        return any(decision.allowed for decision in self.decisions)

    @property
    def allowed(self) -> tuple[str, ...]:
        """The objects that are allowed by name."""
        return self._named(allowed=True)

    @property
    def refused(self) -> tuple[str, ...]:
        """The objects that are refused by name."""
        return self._named(allowed=False)

    def _named(self, *, allowed: bool) -> tuple[str, ...]:
        found = (name for decision in self.decisions if decision.allowed is allowed for name in decision.names or ())
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
    rules: Mapping[str, tuple[AclEntry, ...]] = field(default_factory=dict)
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
        decisions: list[AclDecision] = []
        kind, named = "", set[str]()
        for rule in self.rules.get(action, ()):
            kind = rule.objects.kind
            if not rule.principals.matches(principal) or rule.names_nothing:
                continue
            allowed = rule.principals.allows(principal) and rule.objects.type != "NONE"
            if rule.objects.type != "SOME":
                return Access(kind, (*decisions, AclDecision(None, allowed)))
            names = rule.objects.values
            new = tuple(name for name in names if named.isdisjoint(rule.objects.standing_for(name)))
            named.update(new)
            decisions += [AclDecision(new, allowed)] if new else []
        return Access(kind, (*decisions, AclDecision(None, self.permissive)))


# --- What is unwise in a file --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AclFinding:
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
    column: int | None = None
    """The column where the text stops being JSON, whose line and column are the field; None for any other finding."""


NEEDED: Mapping[str, str] = {
    "register_agents": "no agent can register",
    "register_frameworks": "no framework can subscribe",
    "run_tasks": "no task can be launched",
}
"""The actions without which a cluster does nothing, and the consequence of refusing them to all."""


def warnings(acls: Acls) -> Iterator[AclFinding]:
    """Yield a warning for each rule that is valid and without effect, and for what nobody may do."""
    for action, rules in acls.rules.items():
        yield from _unreachable(action, rules)
        for index, rule in enumerate(rules):
            for entity in rule:
                yield from _entity_warnings(f"{action}[{index}].{entity.kind}", entity)
        if acls.permissive and rules and all(rule.ever_allows for rule in rules):
            yield AclFinding(
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
                yield AclFinding(
                    "warning",
                    "acls.nobody-may",
                    action if action in acls.rules else "permissive",
                    f"permissive is false, and no rule allows {action} to anybody, so {consequence}",
                    f"add a rule to {action}",
                )


def _unreachable(action: str, rules: Sequence[AclEntry]) -> Iterator[AclFinding]:
    covering = _CoveringRules()
    for index, rule in enumerate(rules):
        if rule.names_nothing:
            continue
        earlier = covering.first(rule)
        if earlier is None:
            covering.add(index, rule)
            continue
        yield AclFinding(
            "warning",
            "acls.unreachable",
            f"{action}[{index}]",
            f"it never decides, because {action}[{earlier}] matches everything that it matches, and comes first",
            f"move it before {action}[{earlier}], or remove it",
        )


_Holders = dict[str, dict[int, None]]
"""The rules that hold a name, in their order, by the name."""


class _CoveringRules:
    """An index of the rules of one action that some rule decides by, to find the first that covers another rule.

    A rule covers another if it matches everything that the other matches.  Who is covered is not added: what it covers,
    the first rule that covers it covers too.  The names of a rule are found with as many look-ups as it has, so that a
    file of many rules is read in time that grows with its length.
    """

    def __init__(self) -> None:
        self._names: dict[tuple[bool, bool], tuple[_Holders, _Holders]] = defaultdict(lambda: ({}, {}))
        """The names on each side, by which of the sides are of some names alone."""
        self._of_all: int | None = None

    def add(self, index: int, rule: AclEntry) -> None:
        """Add a rule that follows those added before."""
        shape = (rule.principals.type == "SOME", rule.objects.type == "SOME")
        if not any(shape) and self._of_all is None:
            self._of_all = index
        for is_some, entity, holders in zip(shape, rule, self._names[shape], strict=True):
            for value in entity.values if is_some else ():
                holders.setdefault(value, {})[index] = None

    def first(self, rule: AclEntry) -> int | None:
        """Return the index of the first rule that covers this one; None if there is none."""
        found = [] if self._of_all is None else [self._of_all]
        for shape, names in self._names.items():
            sides = [(entity, holders) for is_some, entity, holders in zip(shape, rule, names, strict=True) if is_some]
            if sides and all(entity.type == "SOME" for entity, _ in sides):
                found.extend(self._holding_all(sides))
        return min(found, default=None)

    @staticmethod
    def _holding_all(sides: Sequence[tuple[Entity, _Holders]]) -> list[int]:
        """The first rule, if any, that holds a name for every value of these sides."""
        needed: list[list[dict[int, None]]] = []
        for entity, holders in sides:
            for value in entity.values:
                held = [holders[name] for name in entity.standing_for(value) if name in holders]
                if not held:
                    return []
                needed.append(held)
        needed.sort(key=lambda held: sum(map(len, held)))
        rarest, *others = needed
        candidates = {index for indices in rarest for index in indices}
        for held in others:
            candidates = {index for index in candidates if any(index in indices for indices in held)}
        return [min(candidates)] if candidates else []


def _entity_warnings(where: str, entity: Entity) -> Iterator[AclFinding]:
    if entity.type == "SOME" and not entity.values:
        yield AclFinding(
            "warning",
            "acls.names-nothing",
            where,
            "it names no value, so the rule never matches",
            'list "values", or write "type": "ANY" or "NONE"',
        )
    elif entity.type != "SOME" and entity.values:
        yield AclFinding(
            "warning",
            "acls.values-ignored",
            where,
            f"its values are ignored, because its type is {entity.type}",
            "leave out the type to mean these values alone, or leave out the values",
        )
    for value in dict.fromkeys(entity.values) if entity.type == "SOME" else ():
        if entity.has_tree and role_error(value) is not None:  # a pattern such as dev/% has the form of a role
            yield AclFinding(
                "warning",
                "acls.no-role",
                where,
                f"'{value}' is not the name of a role, so it matches none",
                "write dev/% for all roles below dev",
            )
        elif is_like_a_pattern(value) and not (entity.has_tree and value.endswith(_BELOW)):
            of = entity.kind.removesuffix("s").replace("_", " ")
            below = ", or dev/% for all roles below dev" if entity.has_tree else ""
            yield AclFinding(
                "warning",
                "acls.no-wildcard",
                where,
                f"'{value}' is only the {of} of that name, and stands for no others",
                f'write "type": "ANY" for all{below}',
            )
