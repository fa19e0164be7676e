"""Updating a quota on a master that can only remove and set: between the two the role has none.

Whatever stops the second step, the first is undone: an error, a deadline, Ctrl-C.
"""

from mesosctl.client.master import Master
from mesosctl.core.errors import MesosctlError, RuleViolation
from mesosctl.core.quota import Quota, quota_of_guarantee
from mesosctl.core.resources import Resource
from mesosctl.core.standing import QuotaChange
from mesosctl.ops.confirm import GRACE
from mesosctl.ops.quota.payload import check_request
from mesosctl.ops.quota.removing import check_path, send_removal
from mesosctl.ops.quota.setting import send_quota
from mesosctl.ops.quota.state import read_quotas
from mesosctl.ops.quota.updating import send_update


def replace_quota(
    master: Master, role: str, before: Quota | None, wanted: Quota, *, force: bool, wait: bool
) -> QuotaChange:
    """Remove the quota of `role` and set `wanted`; the old quota is put back where setting fails.

    Raises the error of the step that failed.
    """
    guarantee = _guarantee(wanted)
    check_request(role, guarantee)
    check_path(role)
    _check_limits(master, wanted)
    if before is not None:
        # Nothing is read in between: the role is without quota for as short as can be.
        send_removal(master, role, wait=False)
    try:
        confirmed = send_quota(master, role, guarantee, wanted, force=force, v1=False, wait=wait)
    except BaseException:
        if before is not None:
            _put_back(master, role, before)
        raise
    return QuotaChange(role, before, wanted, confirmed)


def _guarantee(quota: Quota) -> list[Resource]:
    return [Resource(name, milli) for name, milli in quota.guarantees.items()]


def _check_limits(master: Master, wanted: Quota) -> None:
    """A v0 request makes no limits, or limits equal to the guarantee.  Raises RuleViolation for others."""
    if quota_of_guarantee(_guarantee(wanted), master.profile) != wanted:
        raise RuleViolation(
            "limits other than those that come with a guarantee cannot be set by removing and setting",
            field="limits",
            rule="quota.limits-need-update",
            hint="a master from 1.9 on takes them with --api v1",
        )


def _put_back(master: Master, role: str, before: Quota) -> None:
    """Set the old quota again unless the role has one; tell which it was, and loudly if it failed."""
    master.deadline.extend_to(GRACE)
    try:
        present = read_quotas(master).get(role)
        if present is not None:
            master.notice(f"role '{role}' has quota {present.guarantees}; nothing was put back")
            return
        guarantee = _guarantee(before)
        if quota_of_guarantee(guarantee, master.profile) == before:
            send_quota(master, role, guarantee, before, force=True, v1=False, wait=True)
        else:
            send_update(master, {role: before}, force=True)
    except MesosctlError as error:
        master.alarm(
            f"ROLE '{role}' HAS NO QUOTA NOW: its old one ({before.guarantees}) could not be put back: {error.message}"
        )
    else:
        master.notice(f"the old quota of '{role}' ({before.guarantees}) is in place again")
