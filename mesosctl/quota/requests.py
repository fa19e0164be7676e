"""The requests that change quotas, and how a change is read back."""

from collections.abc import Mapping

from mesosctl.changes.confirm import confirm
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.mesos.amounts.quantities import Quota
from mesosctl.mesos.errors import Conflict, Rejected
from mesosctl.mesos.messages.quota.calls import SetQuota, SetQuotaCall, UpdateQuotaCall
from mesosctl.mesos.messages.quota.request import QuotaRequest
from mesosctl.reading.quotas import read_quotas, sees_every_role


def send_quota(
    master: LeadingMaster, role: str, target: Quota, *, force: bool, v1: bool = False, wait: bool, seen: bool = False
) -> bool:
    """Send a checked request for the guarantees of `target`; return whether `target` was read back.

    `seen` means that this principal has seen a quota of `role`, and so would see this one.
    """
    request = QuotaRequest.of(role, target.guarantees, force=force)

    def send() -> None:
        if v1:
            master.call(SetQuotaCall(set_quota=SetQuota(quota_request=request)).body())
        else:
            master.post("/quota", request.body())

    def is_shown() -> bool | None:
        shown = read_quotas(master).get(role)
        if shown is None:
            return False if seen or sees_every_role(master) else None
        return shown == target

    return confirm(master, send, is_shown, what=f"the new quota of '{role}'", wait=wait)


def send_removal(master: LeadingMaster, role: str, *, seen: bool, wait: bool = True) -> bool:
    """Remove one quota; return whether that was confirmed.

    `seen` means that this principal has seen it, and so would still see it.
    """

    def is_shown() -> bool | None:
        if role in read_quotas(master):
            return False
        return True if seen or sees_every_role(master) else None

    return confirm(
        master,
        # A master reads the role from the path literally, without percent-decoding.
        lambda: master.delete(f"/quota/{role}"),
        is_shown,
        what=f"the removal of the quota of '{role}'",
        wait=wait,
        seen_before=seen,
    )


_OVERCOMMITTED = ("exceed cluster capacity", "not enough capacity")
"""Parts of the 400 to UPDATE_QUOTA from the capacity heuristic: of Mesos 1.9 to 1.11, and of the fake master."""


def send_update(master: LeadingMaster, target: Mapping[str, Quota], *, force: bool) -> None:
    """One UPDATE_QUOTA of checked configurations.

    Raises Conflict for lack of capacity, as POST /quota does: this call answers 400 instead of 409 for the same
    condition.
    """
    try:
        master.call(UpdateQuotaCall.of(target, force=force).body())
    except Rejected as error:
        if not any(said in error.message for said in _OVERCOMMITTED):
            raise
        conflict = Conflict(
            error.message,
            field="guarantee",
            rule="quota.capacity",
            hint="ask for less, or wait until more agents have registered",
            status=error.status,
            override="force",
        )
        conflict.may_have_happened = error.may_have_happened
        raise conflict from error
