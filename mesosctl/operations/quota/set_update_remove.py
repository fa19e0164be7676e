"""`quota set`, `quota update` and `quota remove`: what each checks before it changes anything."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from mesosctl.client.master import Master
from mesosctl.model.errors import Conflict, RuleViolation, UsageError
from mesosctl.model.quantities import Limits, Quantities, Quota
from mesosctl.model.quota.rules import (
    DesiredQuota,
    check_consumption,
    check_limits_fit_request,
    check_no_quota_yet,
    check_role_may_have_quota,
    check_tree,
    quota_of_guarantee,
)
from mesosctl.model.quota.status import QuotaChange
from mesosctl.model.resource import Resource
from mesosctl.operations.confirm import confirm
from mesosctl.operations.quota.requests import replace_quota, send_quota, send_removal, send_update
from mesosctl.operations.quota.state import (
    OF_POST_QUOTA,
    OF_UPDATE_QUOTA,
    QuotaOptions,
    check_config,
    check_fits,
    check_names,
    check_path,
    check_request,
    fields_of_quota,
    names_of_quota,
    no_quota,
    quotas_if_allowed,
    read_quotas,
    sees_every_role,
    usage_if_allowed,
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


def update_quotas(
    master: Master, desired: Sequence[tuple[str, DesiredQuota]], options: QuotaOptions
) -> list[QuotaChange]:
    """Change quotas: all of them in one call, or by remove and set if a master is older (one role only).

    Raises RuleViolation, Conflict, NotFound, NotConfirmed and what `client.Master` raises.
    """
    _check_desired(desired)
    at_once = options.api == "v1" or (options.api == "auto" and master.profile.knows_update_quota)
    stored = quotas_if_allowed(master)
    if stored is None:
        raise RuleViolation(
            "the quotas cannot be read, but an update must know what it replaces", field="role", rule="quota.readable"
        )
    missing = [role for role, _ in desired if role not in stored]
    if options.only_new:
        for role, _ in desired:
            check_no_quota_yet(role, stored)
    if missing and not options.create:
        refusal = no_quota(missing, stored)
        refusal.would_answer = 200 if at_once else 400  # UPDATE_QUOTA makes what is not there
        raise refusal
    for role in missing:
        check_path(role)  # what is made must be removable
    if not options.allow_new_resource:
        for role, quota in desired:
            with of_role(role):
                check_names(master, fields_of_quota(*quota), names_of_quota(stored.get(role)))
    target = {role: quota.applied_to(stored.get(role), master.profile) for role, quota in desired}
    _check_targets(master, stored, target, options, at_once=at_once)
    _agree(master, desired, stored, target, options)
    unsaid = {role for role, quota in desired if quota.limits is None}
    if at_once:
        changes = _update_at_once(master, stored, target, options)
        return [change._replace(limit_given=change.role not in unsaid) for change in changes]

    if len(target) != 1:
        raise UsageError(
            "this command changes the quota of one role at a time",
            field="--file",
            hint="put one configuration in each file",
        )
    [(role, whole)] = target.items()
    change = replace_quota(master, role, stored.get(role), whole, force=options.force, wait=options.wait)
    return [change._replace(limit_given=role not in unsaid)]


@contextmanager
def of_role(role: str) -> Iterator[None]:
    """A rule that is broken in here says whose entry it is."""
    try:
        yield
    except RuleViolation as error:
        error.role = role
        raise


def _check_desired(desired: Sequence[tuple[str, DesiredQuota]]) -> None:
    """The rules that need no master."""
    if not desired:
        raise RuleViolation("there is nothing to update", field="quota_configs", rule="quota.empty")
    seen: set[str] = set()
    for role, quota in desired:
        with of_role(role):
            # An absent part is checked again when what it becomes is known.
            check_config(role, Quota(quota.guarantees or Quantities(), quota.limits or Limits()))
        if role in seen:
            raise RuleViolation(
                f"role '{role}' is configured twice", field="quota_configs", rule="quota.duplicate-role"
            )
        seen.add(role)


def _agree(
    master: Master,
    desired: Sequence[tuple[str, DesiredQuota]],
    stored: Mapping[str, Quota],
    target: Mapping[str, Quota],
    options: QuotaOptions,
) -> None:
    """Ask for agreement to losses that were not named.  Raises Conflict if another changed the quotas meanwhile."""
    losses = {role: quota.implicit_losses(stored.get(role), target[role]) for role, quota in desired}
    told = [f"role '{role}' loses its {' and its '.join(lost)}" for role, lost in losses.items() if lost]
    if not told:
        return
    options.agree("; ".join(told))
    now = read_quotas(master)  # a person may have thought for long
    if any(now.get(role) != stored.get(role) for role in losses):
        raise Conflict(
            "the quota has changed since you were asked; nothing was done",
            field="role",
            rule="quota.unchanged",
            hint="run it again, and read the question",
        )


def _check_targets(
    master: Master, stored: Mapping[str, Quota], target: Mapping[str, Quota], options: QuotaOptions, *, at_once: bool
) -> None:
    """The rules on what the quotas would become."""
    for role, quota in target.items():
        with of_role(role):
            check_role_may_have_quota(role, master.profile)
            check_config(role, quota)
        if quota.is_default:
            # A 1.11 master keeps an empty entry then, which blocks a later quota set.
            refusal = RuleViolation(
                f"that would leave role '{role}' without a guarantee or a limit",
                field="guarantees",
                rule="quota.empty",
                hint=f"use quota remove {role}",
            )
            refusal.role = role
            raise refusal
    if not options.force and any(quota.limits for quota in target.values()):
        usage = usage_if_allowed(master) or {}
        for role, quota in target.items():
            consumed = usage[role].consumed if role in usage else None
            if consumed is not None:
                with of_role(role):
                    check_consumption(role, quota.limits, consumed)
    # Of UPDATE_QUOTA even this is a 400 (Mesos operator API, UPDATE_QUOTA).
    check_fits(master, {**stored, **target}, options, answered=OF_UPDATE_QUOTA if at_once else OF_POST_QUOTA)


def _update_at_once(
    master: Master, stored: Mapping[str, Quota], target: Mapping[str, Quota], options: QuotaOptions
) -> list[QuotaChange]:
    def is_shown() -> bool | None:
        shown = read_quotas(master)
        if all(shown.get(role) == quota for role, quota in target.items()):
            return True
        # All are taken or none, so one that should be seen and is not as desired decides for all.
        told = any(role in stored or role in shown for role, quota in target.items() if shown.get(role) != quota)
        return False if told or sees_every_role(master) else None

    confirmed = confirm(
        master,
        lambda: send_update(master, target, force=options.force),
        is_shown,
        what="the new quota of " + ", ".join(f"'{role}'" for role in target),
        wait=options.wait,
    )
    return [QuotaChange(role, stored.get(role), quota, confirmed) for role, quota in target.items()]
