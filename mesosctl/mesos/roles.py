"""Role names and the tree they form (Mesos documentation, "Roles")."""

import difflib
import itertools
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from mesosctl.mesos.errors import RuleViolation

DEFAULT_ROLE = "*"
_BLANKS = frozenset("\t\n\v\f\r \x7f")
_RESERVED_COMPONENTS = (".", "..", "*")


def role_error(role: str) -> str | None:
    """Why `role` is not a valid role name, or None if it is."""
    if role == DEFAULT_ROLE:
        return None
    if not role:
        return "Role names cannot be the empty string"
    if role.startswith("/"):
        return f"Role '{role}' cannot start with a slash"
    if role.endswith("/"):
        return f"Role '{role}' cannot end with a slash"
    if "//" in role:
        return f"Role '{role}' cannot contain two adjacent slashes"
    for component in role.split("/"):
        if component in _RESERVED_COMPONENTS:
            return f"Role '{role}' cannot include '{component}' as a component"
        if component.startswith("-"):
            return f"Role component '{component}' cannot start with a dash"
        if not _BLANKS.isdisjoint(component):
            return f"Role component '{component}' contains backspace or whitespace"
    return None


def check_role(role: str, field: str = "role") -> str:
    """Return `role`, or raise RuleViolation naming `field`."""
    problem = role_error(role)
    if problem is not None:
        raise RuleViolation(problem, field=field, rule="role.syntax")
    return role


_WORDS_FOR_ALL = frozenset({"%", "ANY", "ALL", "NONE", "SOME"})


def is_like_a_pattern(word: str) -> bool:
    """Whether somebody may mean more than the one name by a word of a file in which names are not patterns."""
    return "*" in word or word.upper() in _WORDS_FOR_ALL or (len(word) > 1 and word.endswith("%"))


def with_ancestors(named: Iterable[str]) -> set[str]:
    """Return the roles and all roles above them."""
    found = set(named)
    return found.union(*map(ancestors, found))


def ancestors(role: str) -> list[str]:
    """The strict ancestors, nearest first: "a/b/c" gives ["a/b", "a"]."""
    found = []
    while "/" in role:
        role = role.rpartition("/")[0]
        found.append(role)
    return found


def top_level(role: str) -> str:
    """The first component, which is the only kind of role that may have a quota."""
    return role.partition("/")[0]


def is_strict_subrole(role: str, of: str) -> bool:
    """Whether `role` lies strictly below `of` in the tree; "*" has no relatives."""
    return role.startswith(of + "/")


def check_whitelist(role: str, whitelist: Collection[str] | None) -> None:
    """With --roles, only those roles and "*" exist.  Raises RuleViolation."""
    if whitelist is not None and role != DEFAULT_ROLE and role not in whitelist:
        raise RuleViolation(
            f"Unknown role '{role}': it is not on the whitelist",
            field="role",
            rule="role.whitelist",
            hint=did_you_mean(role, sorted(whitelist), "the master accepts only the roles that its --roles lists"),
        )


STANDARD_NAMES = ("cpus", "mem", "disk", "gpus", "ports")
"""Resource names that Mesos defines (Mesos documentation, "Attributes and Resources")."""
_SHOWN = 8


def check_name(name: str, known: Collection[str], field: str) -> None:
    """A standard name, or one of `known`.  Raises RuleViolation naming `field` and the likely name."""
    if name in STANDARD_NAMES or name in known:
        return
    names = [*STANDARD_NAMES, *sorted(set(known) - set(STANDARD_NAMES))]
    likely = difflib.get_close_matches(name.lower(), names, 1)
    more = " and others" if len(names) > _SHOWN else ""
    raise RuleViolation(
        f"no agent in the cluster has a resource '{name}'",
        field=field,
        rule="resource.known",
        hint=f"did you mean {likely[0]}?" if likely else f"known: {', '.join(names[:_SHOWN])}{more}",
        override="allow_new_resource",
    )


class Priorities:
    """Priorities by role, the highest is first; a role without one has that of its nearest ancestor, or 0."""

    __slots__ = ("_by_role",)

    def __init__(self, by_role: Mapping[str, int] | None = None) -> None:
        self._by_role = dict(by_role or {})

    @classmethod
    def parse(cls, text: str) -> "Priorities":
        """The flag `--priorities`: `prod=100,batch=1`.  Raises RuleViolation."""
        found: dict[str, int] = {}
        for pair in filter(None, (part.strip() for part in text.split(","))):
            role, equals, number = (word.strip() for word in pair.partition("="))
            problem = role_error(role)
            if not equals or problem is not None:
                raise RuleViolation(
                    f"'{pair}' is not ROLE=PRIORITY" + (f": {problem}" if problem else ""),
                    field="priorities",
                    hint="prod=100,batch=1",
                )
            if role in found:
                raise RuleViolation(f"role '{role}' has two priorities", field="priorities")
            try:
                found[role] = int(number)
            except ValueError:
                raise RuleViolation(
                    f"'{pair}': a priority is a whole number", field="priorities", hint="prod=100,batch=1"
                ) from None
        return cls(found)

    def of(self, role: str) -> int:
        """The priority of any role."""
        if role in self._by_role:
            return self._by_role[role]
        return next((self._by_role[above] for above in ancestors(role) if above in self._by_role), 0)


_LONGEST = 255
_DELETE = "\x7f"


def id_error(name: str) -> str | None:
    """Why a name cannot be an id, in the wording of Mesos; None if it can."""
    if not name:
        return "ID must not be empty"
    if len(name.encode(errors="surrogateescape")) > _LONGEST:
        return f"ID must not be greater than {_LONGEST} characters"
    if name in (".", ".."):
        return f"'{name}' is disallowed"
    if any(character in "/\\" or character < " " or character == _DELETE for character in name):
        return f"'{name}' contains invalid characters"
    return None


def shared_hostnames(hostnames: Iterable[str]) -> frozenset[str]:
    """Return the host names that occur more than once."""
    return frozenset(name for name, count in Counter(hostnames).items() if count > 1)


def short_ids(hostnames: Mapping[str, str]) -> dict[str, str]:
    """Return, by id, the shortest end of each id that is unique; `hostnames` are those of all, by id.

    The ids of one master end in `-S0`, `-S1` and so on, so this is usually the result.
    """
    ordered = sorted(hostnames)
    taken = frozenset(hostnames.values())

    def means_more(end: str) -> bool:
        """Whether it is a host name, or the beginning of an id."""
        place = bisect_left(ordered, end)
        return end in taken or (place < len(ordered) and ordered[place].startswith(end))

    found: dict[str, str] = {}
    left = list(hostnames)
    for parts in itertools.count(1):
        if not left:
            return {agent_id: found[agent_id] for agent_id in hostnames}
        times = Counter(_end(agent_id, parts) for agent_id in hostnames)
        for agent_id in left:
            end = _end(agent_id, parts)
            if end == agent_id or (times[end] == 1 and not means_more(end)):
                found[agent_id] = end
        left = [agent_id for agent_id in left if agent_id not in found]
    raise AssertionError("an id has an end")


def _end(agent_id: str, parts: int) -> str:
    """The last parts of an id, between dashes, or the whole id if it has no more."""
    return "-".join(agent_id.rsplit("-", parts)[-parts:])


def display_names(hostnames: Mapping[str, str]) -> dict[str, str]:
    """Return the name of each agent in sentences, by id: its host name, with its short id if others have the same."""
    shared = shared_hostnames(hostnames.values())
    if not shared:
        return dict(hostnames)
    short = short_ids(hostnames)
    return {agent_id: f"{host} ({short[agent_id]})" if host in shared else host for agent_id, host in hostnames.items()}


_CUTOFF = 0.6
"""The least similarity of two similar names; the default of difflib."""
_MOST = 1000
"""The most names that are compared completely; of more, only those with the most similar beginning or end."""


def closest(word: str, known: Iterable[str], similarity: float = _CUTOFF, *, are_numbered: bool = True) -> str | None:
    """Return the known name that is most similar to `word`, at least by `similarity`, or None; case does not matter.

    If names are numbered, one that differs only in a number is another one: web-1 is no misspelling of web-2.
    """
    folded = word.casefold()
    letters = _without_digits(folded)
    by_folded: dict[str, str] = {}
    for name in known:
        other = name.casefold()
        if not are_numbered or other == folded or _without_digits(other) != letters:
            by_folded.setdefault(other, name)
    candidates: Iterable[str] = by_folded
    if len(by_folded) > _MOST:
        candidates = _neighbours(folded, by_folded)
    found = difflib.get_close_matches(folded, candidates, 1, similarity)
    return by_folded[found[0]] if found else None


def likely_role(role: str, known: Collection[str]) -> str | None:
    """Return the known role that a new one is probably a misspelling of, or None.

    Only its siblings are compared.
    """
    parent, _, own = role.rpartition("/")
    siblings = {}
    for other in known:
        above, _, name = other.rpartition("/")
        if above == parent and name != DEFAULT_ROLE:
            siblings[name] = other
    likely = closest(own, siblings)
    return siblings[likely] if likely else None


def _without_digits(name: str) -> str:
    return "".join(character for character in name if not character.isdecimal())


def _neighbours(word: str, names: Iterable[str]) -> list[str]:
    """The neighbours of `word` in alphabetical order, from the beginning and from the end."""
    found: list[str] = []
    for step in (1, -1):
        ordered = sorted(name[::step] for name in names)
        place = bisect_left(ordered, word[::step])
        found += [name[::step] for name in ordered[max(0, place - _MOST // 4) : place + _MOST // 4]]
    return found


def did_you_mean(words: str | Iterable[str], known: Iterable[str], otherwise: str, *, are_numbered: bool = True) -> str:
    """Return a hint: the known name that is most similar to each word, and `otherwise`, what else to do."""
    candidates = list(known)
    asked = [words] if isinstance(words, str) else words
    found = [closest(word, candidates, are_numbered=are_numbered) for word in asked]
    likely = list(dict.fromkeys(name for name in found if name is not None))
    return f"did you mean {', '.join(likely)}? {otherwise}" if likely else otherwise
