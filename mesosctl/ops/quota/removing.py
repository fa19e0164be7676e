"""`quota remove`: always by DELETE /quota/<role>, whatever the version.

The v1 call REMOVE_QUOTA aborts a master when the role has lost its quota a moment before, to
another operator; DELETE answers 400.
"""

from collections.abc import Sequence

from mesosctl.client.master import Master
from mesosctl.core.quota import check_tree
from mesosctl.core.standing import QuotaChange
from mesosctl.ops.confirm import make
from mesosctl.ops.quota.payload import check_path
from mesosctl.ops.quota.state import no_quota, quotas_if_allowed, read_quotas, sees_every_role


def remove_quotas(master: Master, names: Sequence[str], *, wait: bool = True) -> list[QuotaChange]:
    """Remove the quotas of roles, in order, and read each back; none unless every role has one.

    Raises NotFound naming all roles without quota.  Where one of several fails, those removed
    before it stay removed, and a notice says which.
    """
    wanted = list(dict.fromkeys(names))
    for role in wanted:
        check_path(role)
    quotas = quotas_if_allowed(master)
    if quotas is not None:
        missing = [role for role in wanted if role not in quotas]
        if missing:
            raise no_quota(missing, quotas)
        check_tree({role: quota for role, quota in quotas.items() if role not in wanted})
    done: list[QuotaChange] = []
    for role in wanted:
        try:
            confirmed = send_removal(master, role, seen=quotas is not None, wait=wait)
        except BaseException as stopped:
            if done:
                removed = ", ".join(change.role for change in done)
                if isinstance(stopped, KeyboardInterrupt):
                    stopped.add_note(f"{len(done)} of {len(wanted)} are removed: {removed}")
                else:
                    master.notice(f"removed before that: {removed}")
            raise
        done.append(QuotaChange(role, (quotas or {}).get(role), None, confirmed))
    return done


def send_removal(master: Master, role: str, *, seen: bool, wait: bool = True) -> bool:
    """Remove one quota; returns whether it was seen to be gone.

    `seen` says that this principal has seen it, and so would see it still.
    """

    def look() -> bool | None:
        if role in read_quotas(master):
            return False
        return True if seen or sees_every_role(master) else None

    return make(
        master,
        # A master reads the role from the path as it stands, without percent-decoding.
        lambda: master.delete(f"/quota/{role}"),
        look,
        what=f"removing quota of '{role}'",
        wait=wait,
        seen_before=seen,
    )
