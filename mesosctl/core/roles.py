"""Role names and the tree they form (spec/reservation.md §1)."""

from collections.abc import Collection

from mesosctl.core.errors import RuleViolation

DEFAULT_ROLE = "*"
_BLANKS = frozenset("\t\n\v\f\r \x7f")
_RESERVED_COMPONENTS = (".", "..", "*")


def role_error(role: str) -> str | None:
    """Why `role` is not a valid role name, or None where it is one."""
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
    """With --roles given, only those roles and "*" exist.  Raises RuleViolation."""
    if whitelist is not None and role != DEFAULT_ROLE and role not in whitelist:
        from mesosctl.core.suggestion import did_you_mean

        raise RuleViolation(
            f"Unknown role '{role}': it is not on the whitelist",
            field="role",
            rule="role.whitelist",
            hint=did_you_mean(role, sorted(whitelist), "the master was started with --roles, which lists every role"),
        )
