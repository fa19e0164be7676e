"""`quota set`: a quota for a role that has none."""

from collections.abc import Sequence

from mesosctl.client.master import Master
from mesosctl.model.quantities import Limits, Quota
from mesosctl.model.quota.rules import (
    DesiredQuota,
    check_limits_fit_request,
    check_no_quota_yet,
    check_role_may_have_quota,
    check_tree,
    quota_of_guarantee,
)
from mesosctl.model.quota.status import QuotaChange
from mesosctl.model.resource import Resource
from mesosctl.operations.quota.send import send_quota, send_removal
from mesosctl.operations.quota.state import (
    QuotaOptions,
    check_config,
    check_fits,
    check_names,
    check_path,
    check_request,
    no_quota,
    quotas_if_allowed,
)


def set_quota(
    master: Master,
    role: str,
    guarantee: Sequence[Resource],
    limits: Limits | None = None,
    options: QuotaOptions = QuotaOptions(),  # noqa: B008  # a named tuple, which cannot change
) -> QuotaChange:
    """Set the quota and read it back.

    Without `limits` the master decides what they are (`DesiredQuota`).  With --api v1 SET_QUOTA is
    sent instead of POST /quota; limits that neither of them makes are set by UPDATE_QUOTA.  Raises
    RuleViolation, Conflict, NotConfirmed and what `client.Master` raises.
    """
    check_request(role, guarantee)
    check_path(role)  # what is set must be removable
    check_role_may_have_quota(role, master.profile)
    target = quota_of_guarantee(guarantee, master.profile)
    if limits is not None and limits != target.limits:
        return _set_with_limits(master, role, Quota(target.guarantees, limits), options)
    if not options.allow_new_resource:
        check_names(master, {entry.name: f"guarantee[{index}].name" for index, entry in enumerate(guarantee)})
    quotas = quotas_if_allowed(master)
    if quotas is not None:
        check_no_quota_yet(role, quotas)
        check_fits(master, quotas | {role: target}, options)
    confirmed = send_quota(master, role, target, force=options.force, v1=options.api == "v1", wait=options.wait)
    return QuotaChange(role, None, target, confirmed, limit_given=limits is not None)


def _set_with_limits(master: Master, role: str, target: Quota, options: QuotaOptions) -> QuotaChange:
    """A quota with limits that no v0 request makes."""
    from mesosctl.operations.quota.update import update_quotas

    check_config(role, target)
    if options.api == "v0" or not master.profile.knows_update_quota:
        guarantee = [Resource(name, milli) for name, milli in target.guarantees.items()]
        check_limits_fit_request(guarantee, target, master.profile)
    how = options._replace(create=True, only_new=True)
    (change,) = update_quotas(master, [(role, DesiredQuota(*target))], how)
    return change


def remove_quotas(master: Master, names: Sequence[str], *, wait: bool = True) -> list[QuotaChange]:
    """Remove the quotas of roles, in order, and read each back; none unless every role has one.

    Raises NotFound naming all roles without quota.  Where one of several fails, those removed
    before it stay removed, and a notice says which.
    """
    target = list(dict.fromkeys(names))
    for role in target:
        check_path(role)
    quotas = quotas_if_allowed(master)
    if quotas is not None:
        missing = [role for role in target if role not in quotas]
        if missing:
            raise no_quota(missing, quotas)
        check_tree({role: quota for role, quota in quotas.items() if role not in target})
    done: list[QuotaChange] = []
    for role in target:
        try:
            confirmed = send_removal(master, role, seen=quotas is not None, wait=wait)
        except BaseException as stopped:
            if done:
                removed = ", ".join(change.role for change in done)
                if isinstance(stopped, KeyboardInterrupt):
                    stopped.add_note(f"{len(done)} of {len(target)} are removed: {removed}")
                else:
                    master.notice(f"removed before that: {removed}")
            raise
        done.append(QuotaChange(role, (quotas or {}).get(role), None, confirmed))
    return done
