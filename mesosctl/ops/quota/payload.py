"""The rules of quota that need no master: they run before anything is sent, or even connected to.

They hold for every version.  Beyond refusing what a master would refuse, they keep back what makes
a 1.11 master abort: amounts beyond its largest, and resources of type TEXT (`wire.resources`).
"""

from collections.abc import Sequence

from mesosctl.core import roles
from mesosctl.core.errors import RuleViolation
from mesosctl.core.quantities import Limits, Quantities, Quota
from mesosctl.core.quota import check_amounts_above_zero, check_config_amounts, check_guarantee, check_not_nested
from mesosctl.core.resource import Resource
from mesosctl.core.scalars import to_double


def check_request(role: str, guarantee: Sequence[Resource]) -> None:
    """The rules of one v0 request.  Raises RuleViolation."""
    roles.check_role(role)
    check_guarantee(guarantee)
    check_amounts_above_zero(guarantee)
    check_config_amounts({name: to_double(milli) for name, milli in _amounts(guarantee).items()}, {})
    check_not_nested(role)


def check_path(role: str) -> None:
    """Role syntax, and the signs that end a path or cannot stand in one unquoted.  Raises RuleViolation."""
    roles.check_role(role)
    if "?" in role or "#" in role or not role.isascii() or not role.isprintable():
        raise RuleViolation(
            f"role '{role}' cannot be named in a path, and masters take no other way to remove a quota safely",
            field="role",
            rule="quota.path",
            hint="name roles in ASCII, without '?' and '#'",
        )


def check_config(role: str, quota: Quota) -> None:
    """The rules of one entry of UPDATE_QUOTA.  Raises RuleViolation."""
    check_not_nested(role)
    roles.check_role(role)
    check_config_amounts(
        {name: to_double(milli) for name, milli in quota.guarantees.items()},
        {name: to_double(milli) for name, milli in quota.limits.items()},
    )


def guarantees_of(entries: Sequence[Resource]) -> Quantities:
    """The amounts of a guarantee.  Raises RuleViolation for what cannot stand in one."""
    check_guarantee(entries)
    check_amounts_above_zero(entries)
    return Quantities(_amounts(entries))


def limits_of(entries: Sequence[Resource]) -> Limits:
    """The bounds of limits; zero forbids a resource.  Raises RuleViolation for what cannot stand in them."""
    if entries:
        check_guarantee(entries, field="limits")
    return Limits(_amounts(entries))


def _amounts(entries: Sequence[Resource]) -> dict[str, int]:
    return {entry.name: entry.value for entry in entries if isinstance(entry.value, int)}
