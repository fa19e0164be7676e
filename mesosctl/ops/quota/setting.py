"""`quota set`: a quota for a role that has none."""

from collections.abc import Sequence

from mesosctl.client.master import Master
from mesosctl.core.capacity import check_capacity
from mesosctl.core.errors import Conflict
from mesosctl.core.quantities import Quota
from mesosctl.core.quota import check_no_quota_yet, check_role_may_have_quota, check_tree, quota_of_guarantee
from mesosctl.core.resource import Resource
from mesosctl.core.standing import QuotaChange
from mesosctl.ops.confirm import make
from mesosctl.ops.quota.payload import check_path, check_request
from mesosctl.ops.quota.state import capacity_if_allowed, quotas_if_allowed, read_quotas, sees_every_role


def set_quota(
    master: Master,
    role: str,
    guarantee: Sequence[Resource],
    *,
    force: bool = False,
    v1: bool = False,
    wait: bool = True,
) -> QuotaChange:
    """Set the quota and read it back.

    `force` passes the capacity heuristic, here and at the master, and nothing else.  `v1` sends
    SET_QUOTA instead of POST /quota.  Raises RuleViolation, Conflict, NotConfirmed and what
    `client.Master` raises.
    """
    check_request(role, guarantee)
    check_path(role)  # what is set must be removable
    check_role_may_have_quota(role, master.profile)
    wanted = quota_of_guarantee(guarantee, master.profile)
    quotas = quotas_if_allowed(master)
    if quotas is not None:
        check_no_quota_yet(role, quotas)
        check_fits(master, quotas | {role: wanted}, force=force)
    confirmed = send_quota(master, role, wanted, force=force, v1=v1, wait=wait)
    return QuotaChange(role, None, wanted, confirmed)


def check_fits(master: Master, quotas: dict[str, Quota], *, force: bool, answered: int = 409) -> None:
    """The tree, and unless forced the capacity heuristic, over all quotas as they would be.

    `answered` is the status with which a master refuses what does not fit.
    """
    check_tree(quotas)
    available = None if force else capacity_if_allowed(master)
    if available is None:
        return
    try:
        check_capacity(quotas, available)
    except Conflict as error:
        # People know the refusal by the master's number for it, and should know that it was not asked.
        refusal = Conflict(
            f"not sent, as a master answers it with {answered}: {error.message}",
            field=error.field,
            rule=error.rule,
            hint=error.hint,
        )
        refusal.would_answer = answered
        raise refusal from None


def send_quota(
    master: Master, role: str, wanted: Quota, *, force: bool, v1: bool = False, wait: bool, seen: bool = False
) -> bool:
    """Send a checked request for the guarantees of `wanted`; returns whether `wanted` was read back.

    `seen` says that this principal has seen a quota of `role`, and so would see this one.
    """
    from mesosctl.wire.quota import QuotaRequest, SetQuota, SetQuotaCall

    request = QuotaRequest.of(role, wanted.guarantees, force=force)

    def send() -> None:
        if v1:
            master.call(SetQuotaCall(set_quota=SetQuota(quota_request=request)).body())
        else:
            master.post("/quota", request.body())

    def look() -> bool | None:
        shown = read_quotas(master).get(role)
        if shown is None:
            return False if seen or sees_every_role(master) else None
        return shown == wanted

    return make(master, send, look, what=f"setting quota of '{role}'", wait=wait)
