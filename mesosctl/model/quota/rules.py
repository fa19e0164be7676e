"""The rules of a quota request and of the tree of quotas; `capacity` has the capacity heuristic, `desired` a change.

Source: Mesos quota documentation, "Operator HTTP Endpoint".

Every rule is a function that returns nothing or raises; the command line runs them before it sends a request, and the
fake master when it receives one.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from mesosctl.model import roles
from mesosctl.model.amount_text import in_words, shown_amount
from mesosctl.model.errors import RuleViolation
from mesosctl.model.quantities import SIZED_NAMES, Limits, Quantities, Quota, to_milli, to_sent_milli
from mesosctl.model.suggestion import command
from mesosctl.model.version_profile import Profile

if TYPE_CHECKING:
    from mesosctl.model.resource import Resource  # imported late: a command that only reads quota does not need it


# Mesos operator API, UPDATE_QUOTA: mem and disk are counted in MB, so this is an exabyte.
LARGEST_SIZE = 1_099_511_627_776
LARGEST_AMOUNT = 1_000_000_000_000
_SMALLEST_NORMAL = 2.2250738585072014e-308

# --- One v0 request (POST /quota, SET_QUOTA), in the order in which Mesos checks it -----------------


def check_role_may_have_quota(role: str, profile: Profile) -> None:
    """Role syntax, and "*" if the master does not allow it.  Raises RuleViolation."""
    roles.check_role(role)
    if role == roles.DEFAULT_ROLE and not profile.default_role_may_have_quota:
        raise RuleViolation(
            "the default role '*' cannot have a quota",
            field="role",
            rule="quota.default-role",
            hint="set quota for the roles that frameworks subscribe with",
        )


def check_guarantee(guarantee: Sequence["Resource"], field: str = "guarantee") -> None:
    """The entries of a guarantee: some, and each a plain scalar named once.  Raises RuleViolation naming `field`."""
    if not guarantee:
        raise RuleViolation(f"the {field} is empty", field=field, rule="quota.empty", hint="name at least one resource")
    seen: set[str] = set()
    for index, resource in enumerate(guarantee):
        where = f"{field}[{index}]"
        if resource.is_reserved:
            raise RuleViolation(
                f"{resource.name} carries a reservation, but quota is for unreserved resources only",
                field=f"{where}.role",
                rule="quota.unreserved-only",
            )
        if resource.disk is not None:
            raise RuleViolation(
                f"{resource.name} carries DiskInfo, but quota counts plain amounts only",
                field=f"{where}.disk",
                rule="quota.no-disk-info",
            )
        if resource.revocable:
            raise RuleViolation(
                f"{resource.name} carries RevocableInfo, but quota is never revocable",
                field=f"{where}.revocable",
                rule="quota.not-revocable",
            )
        if not resource.is_scalar:
            raise RuleViolation(
                f"{resource.name} is non-scalar, but quota is for amounts only",
                field=f"{where}.type",
                rule="quota.scalar-only",
            )
        if resource.name in seen:
            raise RuleViolation(
                f"duplicate resource name '{resource.name}'",
                field=f"{where}.name",
                rule="quota.duplicate-name",
                hint=f"give {resource.name} once",
            )
        seen.add(resource.name)


def check_amounts_above_zero(guarantee: Sequence["Resource"]) -> None:
    """A zero guarantees nothing, and by POST /quota a 1.11 master makes it a limit of zero that starves the role.

    Masters accept a zero; this rule is the tool's own.  Raises RuleViolation.
    """
    for index, resource in enumerate(guarantee):
        if isinstance(resource.value, int) and resource.value <= 0:
            raise RuleViolation(
                f"{resource.name} is zero, which guarantees nothing",
                field=f"guarantee[{index}].scalar.value",
                rule="quota.above-zero",
                hint=f"leave {resource.name} out; from Mesos 1.9 on, --limit {resource.name}:0 forbids it",
            )


def quota_of_guarantee(guarantees: Quantities, profile: Profile) -> Quota:
    """The quota that a v0 request stores: guarantees, and equal limits if the master makes them."""
    return Quota(guarantees, Limits(guarantees if profile.quota_sets_limits else None))


def check_limits_fit_request(quota: Quota, profile: Profile) -> None:
    """A v0 request makes no limits, or limits equal to the guarantee.  Raises RuleViolation for others."""
    if quota_of_guarantee(quota.guarantees, profile) == quota:
        return
    if profile.knows_update_quota:
        raise RuleViolation(
            "POST /quota makes the limit equal to the guarantee, and cannot set another one",
            field="limits",
            rule="quota.limits-need-update",
            hint="leave out --api v0: UPDATE_QUOTA sets every limit",
        )
    raise RuleViolation(
        "this master does not support limits, which came with Mesos 1.9",
        field="limits",
        rule="quota.limits-need-update",
        hint="leave the limits out, or set them to none",
    )


def check_no_quota_yet(role: str, stored: Collection[str]) -> None:
    """A v0 request cannot change a quota, not even with force.  Raises RuleViolation."""
    if role in stored:
        raise RuleViolation(
            f"role '{role}' already has quota",
            field="role",
            rule="quota.already-set",
            hint=f"use {command('quota update', role)}, or {command('quota remove', role)} first",
        )


def check_quota_is_set(role: str, stored: Collection[str]) -> None:
    """Only an existing quota can be removed.  Raises RuleViolation."""
    if role not in stored:
        raise RuleViolation(f"role '{role}' has no quota set", field="role", rule="quota.not-set")


def check_tree(quotas: Mapping[str, Quota]) -> None:
    """Every role guarantees at least the sum of what its children guarantee.  Raises RuleViolation.

    A role between two others that has no entry guarantees nothing.
    """
    nodes = set(quotas)
    for role in quotas:
        nodes.update(roles.ancestors(role))
    children: dict[str, list[str]] = {}
    for role in nodes:
        if "/" in role:
            children.setdefault(role.rpartition("/")[0], []).append(role)
    for parent in sorted(children):
        own = quotas[parent].guarantees if parent in quotas else Quantities()
        needed = Quantities.total(quotas[child].guarantees for child in children[parent] if child in quotas)
        if not own.contains(needed):
            raise RuleViolation(
                f"Parent role '{parent}' with guarantees ({in_words(own)}) does not contain "
                f"the sum of its children's guarantees ({in_words(needed)})",
                field="role",
                rule="quota.hierarchy",
            )


def check_not_nested(role: str) -> None:
    """Only top-level roles can have quota.  Raises RuleViolation."""
    if "/" in role:
        raise RuleViolation(
            f"quota on nested role '{role}' is not supported yet",
            field="role",
            rule="quota.nested",
            hint=f"set it for '{roles.top_level(role)}', which covers the roles below it",
        )


# --- One entry of UPDATE_QUOTA (Mesos operator API, UPDATE_QUOTA) ---------------------------------------------------


def check_config_amounts(guarantees: Mapping[str, float], limits: Mapping[str, float]) -> None:
    """Sizes, then signs, then guarantee against limit; amounts are doubles as sent.  Raises RuleViolation."""
    for which, amounts in (("guarantees", guarantees), ("limits", limits)):
        for name in sorted(amounts):
            largest, words = (LARGEST_SIZE, "1 exabyte") if name in SIZED_NAMES else (LARGEST_AMOUNT, "1 trillion")
            if amounts[name] > largest:
                raise RuleViolation(
                    f"{name}: {amounts[name]:g} is more than {words} ({largest})",
                    field=which,
                    rule="quota.too-large",
                )
    for which, amounts in (("guarantee", guarantees), ("limit", limits)):
        for name in sorted(amounts):
            problem = _unusable(amounts[name])
            if problem is not None:
                raise RuleViolation(
                    f"{which} of {name}: {problem} values are not supported", field=f"{which}s", rule="quota.number"
                )
    for name, bound in sorted(limits.items()):
        if to_milli(guarantees.get(name, 0.0)) > to_milli(bound):
            guarantee, limit = (shown_amount(name, to_milli(value)) for value in (guarantees[name], bound))
            raise RuleViolation(
                f"the guarantee of {name} ({guarantee}) is above its limit ({limit})",
                field="limits",
                rule="quota.guarantee-within-limit",
                hint="raise the limit too, or guarantee less",
            )


def _unusable(value: float) -> str | None:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinite"
    if value != 0 and abs(value) < _SMALLEST_NORMAL:
        return "Subnormal"
    return "Negative" if value < 0 else None


def quota_of_config(guarantees: Mapping[str, float], limits: Mapping[str, float]) -> Quota:
    """The quota that one checked entry stores."""
    return Quota(
        Quantities({name: to_sent_milli(value) for name, value in guarantees.items()}),
        Limits({name: to_sent_milli(value) for name, value in limits.items()}),
    )


def check_consumption(role: str, limits: Limits, consumed: Quantities) -> None:
    """A limit may not be below what the role already consumes, unless forced.  Raises RuleViolation."""
    if not limits.contains(consumed):
        violation = RuleViolation(
            f"role '{role}' already consumes {in_words(consumed)}, more than its limits of {in_words(limits)}",
            field="limits",
            rule="quota.consumption",
            hint="raise the limits, or free what the role holds",
            override="--force",
        )
        violation.role = role
        raise violation
