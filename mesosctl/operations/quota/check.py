"""`quota check` and `quota room`: the rules of a request, one by one, and how much room there is.  Both only read."""

from collections.abc import Callable, Sequence

from mesosctl.api import responses
from mesosctl.client.leading_master import Master
from mesosctl.model import roles
from mesosctl.model.errors import MesosctlError
from mesosctl.model.quantities import Limits, Quantities, Quota, to_double
from mesosctl.model.quota.capacity import Finding, QuotaCheck, QuotaRoom, check_capacity, total_guarantees, unpromised
from mesosctl.model.quota.desired import DesiredQuota, check_path
from mesosctl.model.quota.rules import (
    check_amounts_above_zero,
    check_config_amounts,
    check_consumption,
    check_guarantee,
    check_limits_fit_request,
    check_no_quota_yet,
    check_not_nested,
    check_role_may_have_quota,
    check_tree,
    quota_of_guarantee,
)
from mesosctl.model.resource import Resource
from mesosctl.model.roles import check_whitelist
from mesosctl.model.version_profile import Profile
from mesosctl.operations.quota.reading import (
    capacity_if_allowed,
    check_names,
    newer_version_named,
    quotas_if_allowed,
    read_capacity,
    read_if_allowed,
    read_quotas,
    usage_if_allowed,
)


def check_quota(
    master: Master,
    role: str,
    guarantee: Sequence[Resource],
    limits: Limits | None = None,
    *,
    allow_new_resource: bool = False,
    by_request: bool = False,
) -> QuotaCheck:
    """Whether `quota set` would set this quota for `role`; `by_request` means with --api v0.

    Raises only the errors of reading.
    """
    profile = master.profile
    quotas = quotas_if_allowed(master)
    available = capacity_if_allowed(master)
    flags = read_if_allowed(
        master, "/flags", lambda answer: (responses.whitelist(answer),), "the whitelist is not checked"
    )
    guarantees = Quantities({entry.name: entry.value for entry in guarantee if isinstance(entry.value, int)})
    by_request = by_request or not profile.knows_update_quota
    desired = DesiredQuota(guarantees, limits)
    target = desired.applied_to(None)
    if by_request and limits is None:
        target = quota_of_guarantee(guarantees, profile)
    after = None if quotas is None else {**quotas, role: target}
    bounds = {name: to_double(milli) for name, milli in (limits or {}).items()}
    amounts = {entry.name: to_double(entry.value) for entry in guarantee if isinstance(entry.value, int)}

    def on_quotas(rule: Callable[[dict[str, Quota]], None]) -> Callable[[], None] | None:
        return None if after is None else lambda: rule(after)

    findings = (
        _finding("role.syntax", "the role name is valid", lambda: roles.check_role(role)),
        _finding("quota.path", "the quota could be removed again", lambda: _path(role)),
        _finding("quota.default-role", "this role can have quota", lambda: _default_role(role, profile)),
        _finding(
            "quota.scalar-only",
            "all amounts are plain, and each resource is named once",
            lambda: check_guarantee(guarantee) if guarantee or not limits else None,
        ),
        _finding("quota.above-zero", "every amount is above zero", lambda: check_amounts_above_zero(guarantee)),
        _finding(
            "quota.too-large",
            "no amount is larger than a master can hold",
            lambda: check_config_amounts(amounts, bounds),
        ),
        _finding(
            "resource.known",
            "every resource has a known name",
            lambda: None if allow_new_resource else check_names(master, desired.fields),
        ),
        _finding(
            "quota.limits-need-update",
            "the master can set these limits",
            lambda: _limits(master, target) if by_request else None,
        ),
        _finding(
            "role.whitelist",
            "the role is on the whitelist" if flags and flags[0] is not None else "every role is allowed",
            None if flags is None else lambda: check_whitelist(role, flags[0]),
        ),
        _finding(
            "quota.already-set",
            "the role has no quota yet",
            None if quotas is None else lambda: check_no_quota_yet(role, quotas),
        ),
        _finding("quota.hierarchy", "parent roles guarantee at least as much as their children", on_quotas(check_tree)),
        _finding("quota.nested", "the role is at the top level", lambda: check_not_nested(role)),
        _finding(
            "quota.capacity",
            "the cluster has room for it",
            None if available is None else on_quotas(lambda quotas_after: check_capacity(quotas_after, available)),
        ),
        *([_consumption(master, role, target.limits)] if target.limits else []),
    )
    others = None if quotas is None else {name: quota for name, quota in quotas.items() if name != role}
    return QuotaCheck(
        role=role,
        requested=target.guarantees,
        limits=target.limits,
        findings=findings,
        capacity=available,
        promised=None if others is None else total_guarantees(others),
        largest=None if others is None or available is None else unpromised(others, available),
    )


def quota_room(master: Master, role: str | None = None) -> QuotaRoom:
    """Return the largest quota that would be accepted for `role`, or for a role without quota.

    Raises RuleViolation for a role that can have none, and what reading raises.
    """
    if role is not None:
        roles.check_role(role)
        check_role_may_have_quota(role, master.profile)
        check_not_nested(role)
    quotas = read_quotas(master)
    if role is not None and role not in quotas:
        check_path(role)
    others = {name: quota for name, quota in quotas.items() if name != role}
    available = read_capacity(master)
    return QuotaRoom(
        role=role,
        guarantee=quotas[role].guarantees if role in quotas else None,
        capacity=available,
        promised=total_guarantees(others),
        largest=unpromised(others, available),
    )


def _path(role: str) -> None:
    """Only the rule on paths, because the default role has its own line."""
    if roles.role_error(role) is None:
        check_path(role)


def _default_role(role: str, profile: Profile) -> None:
    """Only the rule on "*"; other faults of a name have their own lines."""
    if role == roles.DEFAULT_ROLE:
        check_role_may_have_quota(role, profile)


def _limits(master: Master, target: Quota) -> None:
    """The rule on limits that a request for a guarantee cannot make."""
    with newer_version_named(master):
        check_limits_fit_request(target, master.profile)


def _consumption(master: Master, role: str, limits: Limits) -> Finding:
    usage = usage_if_allowed(master)
    consumed = None if usage is None else usage[role].consumed if role in usage else Quantities()
    return _finding(
        "quota.consumption",
        "the role consumes no more than its limits",
        None if consumed is None else lambda: check_consumption(role, limits, consumed),
    )


def _finding(rule: str, kept: str, check: Callable[[], object] | None) -> Finding:
    """One line: `kept` is the sentence if the rule is kept; without `check` it could not be checked.

    A check that covers several rules names the one that was broken.
    """
    if check is None:
        return Finding(rule, None, f"unknown whether {kept}")
    try:
        check()
    except MesosctlError as error:
        return Finding(error.rule or rule, False, error.message, error.hint)
    return Finding(rule, True, kept)
