"""`quota update`: another quota for roles that have one.

A master that knows UPDATE_QUOTA changes it at once; for others see `replacing`.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from mesosctl.client.master import Master
from mesosctl.model.errors import Conflict, MesosctlError, NotConfirmed, Rejected, RuleViolation, UsageError
from mesosctl.model.quantities import Limits, Quantities, Quota
from mesosctl.model.quota.rules import (
    DesiredQuota,
    QuotaChange,
    check_consumption,
    check_limits_fit_request,
    check_no_quota_yet,
    check_role_may_have_quota,
    quota_of_guarantee,
)
from mesosctl.model.resource import Resource
from mesosctl.operations.confirm import GRACE, make
from mesosctl.operations.quota.change import send_quota, send_removal
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

_OVERCOMMITTED = ("exceed cluster capacity", "not enough capacity")
"""What a master says of UPDATE_QUOTA where the capacity heuristic refuses it: Mesos 1.9 to 1.11, and the fake one."""


def update_quotas(
    master: Master, desired: Sequence[tuple[str, DesiredQuota]], options: QuotaOptions
) -> list[QuotaChange]:
    """Change quotas: all of them in one call, or by remove and set where a master is older (one role only).

    Raises RuleViolation, Conflict, NotFound, NotConfirmed and what `client.Master` raises.
    """
    _check_desired(desired)
    at_once = options.api == "v1" or (options.api == "auto" and master.profile.knows_update_quota)
    stored = quotas_if_allowed(master)
    if stored is None:
        raise RuleViolation(
            "the quotas cannot be read, and an update must know what it replaces", field="role", rule="quota.readable"
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
    wanted = {role: quota.over(stored.get(role), master.profile) for role, quota in desired}
    _check_wanted(master, stored, wanted, options, at_once=at_once)
    _agree(desired, stored, wanted, options)
    unsaid = {role for role, quota in desired if quota.limits is None}
    if at_once:
        changes = _update_at_once(master, stored, wanted, options)
        return [change._replace(limit_was_said=change.role not in unsaid) for change in changes]

    if len(wanted) != 1:
        raise UsageError(
            "this way, quotas are changed one role at a time", field="--file", hint="give one configuration a file"
        )
    [(role, whole)] = wanted.items()
    change = replace_quota(master, role, stored.get(role), whole, force=options.force, wait=options.wait)
    return [change._replace(limit_was_said=role not in unsaid)]


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
    desired: Sequence[tuple[str, DesiredQuota]],
    stored: Mapping[str, Quota],
    wanted: Mapping[str, Quota],
    options: QuotaOptions,
) -> None:
    """Have it agreed to that roles lose what nobody named."""
    losses = {role: quota.unnamed_losses(stored.get(role), wanted[role]) for role, quota in desired}
    told = [f"role '{role}' loses its {' and its '.join(lost)}" for role, lost in losses.items() if lost]
    if told:
        options.agree("; ".join(told))


def _check_wanted(
    master: Master, stored: Mapping[str, Quota], wanted: Mapping[str, Quota], options: QuotaOptions, *, at_once: bool
) -> None:
    """The rules on what the quotas would become."""
    for role, quota in wanted.items():
        with of_role(role):
            check_role_may_have_quota(role, master.profile)
            check_config(role, quota)
        if quota.is_default:
            # A 1.11 master keeps an empty entry then, which blocks a later quota set.
            refusal = RuleViolation(
                f"that leaves role '{role}' neither guarantee nor limit",
                field="guarantees",
                rule="quota.empty",
                hint=f"use quota remove {role}",
            )
            refusal.role = role
            raise refusal
    if not options.force and any(quota.limits for quota in wanted.values()):
        usage = usage_if_allowed(master) or {}
        for role, quota in wanted.items():
            consumed = usage[role].consumed if role in usage else None
            if consumed is not None:
                with of_role(role):
                    check_consumption(role, quota.limits, consumed)
    # Of UPDATE_QUOTA even this is a 400 (spec/quota.md §8).
    check_fits(
        master, {**stored, **wanted}, force=options.force, answered=OF_UPDATE_QUOTA if at_once else OF_POST_QUOTA
    )


def _update_at_once(
    master: Master, stored: Mapping[str, Quota], wanted: Mapping[str, Quota], options: QuotaOptions
) -> list[QuotaChange]:
    def look() -> bool | None:
        shown = read_quotas(master)
        if all(shown.get(role) == quota for role, quota in wanted.items()):
            return True
        # All are taken or none, so one that should be seen and is not as wanted tells of all.
        told = any(role in stored or role in shown for role, quota in wanted.items() if shown.get(role) != quota)
        return False if told or sees_every_role(master) else None

    confirmed = make(
        master,
        lambda: send_update(master, wanted, force=options.force),
        look,
        what="updating quota of " + ", ".join(f"'{role}'" for role in wanted),
        wait=options.wait,
    )
    return [QuotaChange(role, stored.get(role), quota, confirmed) for role, quota in wanted.items()]


def send_update(master: Master, wanted: Mapping[str, Quota], *, force: bool) -> None:
    """One UPDATE_QUOTA of checked configurations.

    Raises Conflict for want of capacity, as POST /quota does: that this call answers it with 400
    and not with 409 is a difference between two calls of Mesos, and no other condition.
    """
    from mesosctl.api.quota import UpdateQuotaCall

    try:
        master.call(UpdateQuotaCall.of(wanted, force=force).body())
    except Rejected as error:
        if not any(said in error.message for said in _OVERCOMMITTED):
            raise
        conflict = Conflict(
            error.message,
            field="guarantee",
            rule="quota.capacity",
            hint="ask for less, or wait for agents that are on their way",
            status=error.status,
            override="--force",
        )
        conflict.sent = error.sent
        raise conflict from error


def replace_quota(
    master: Master, role: str, before: Quota | None, wanted: Quota, *, force: bool, wait: bool
) -> QuotaChange:
    """Remove the quota of `role` and set `wanted`; the old quota is put back where that does not come to its end.

    Raises the error of the step that failed.
    """
    check_request(role, _guarantee(wanted))
    check_path(role)
    check_limits_fit_request(_guarantee(wanted), wanted, master.profile)
    if before is None:
        return QuotaChange(role, None, wanted, send_quota(master, role, wanted, force=force, wait=wait))
    removed = False
    try:
        # Nothing is read in between: the role is without quota for as short as can be.
        send_removal(master, role, seen=True, wait=False)
        removed = True
        confirmed = send_quota(master, role, wanted, force=force, wait=wait, seen=True)
    except BaseException as stopped:
        untouched = not removed and isinstance(stopped, MesosctlError) and not stopped.sent
        if not untouched and not before.is_default:
            known = _Undo(master, role, before).make(stopped, removed=removed)
            if isinstance(stopped, KeyboardInterrupt):
                stopped.__notes__ = [known]  # what each of the requests left open is known by now
        raise
    return QuotaChange(role, before, wanted, confirmed)


def _guarantee(quota: Quota) -> list[Resource]:
    return [Resource(name, milli) for name, milli in quota.guarantees.items()]


@dataclass(frozen=True, slots=True)
class _Undo:
    """Puts `before` back where the role has no quota, and tells in every case what it has now."""

    master: Master
    role: str
    before: Quota

    def make(self, stopped: BaseException, *, removed: bool) -> str:
        """Look, put back, and look again where that failed; returns what is known then.

        Raises only what interrupts it, after the alarm.
        """
        interrupts = isinstance(stopped, KeyboardInterrupt)
        try:
            if interrupts:
                self.master.notice(f"interrupted while changing the quota of '{self.role}': looking what it has now")
            self.master.deadline.extend_to(GRACE)
            known, alarming = self._make(removed=removed)
        except MesosctlError as error:
            known, alarming = self._doubt(error.message), True
        except BaseException as again:
            known = self._doubt("interrupted again")
            self.master.alarm(known)
            again.__notes__ = [known]
            raise
        if alarming:
            self.master.alarm(known)
        elif not interrupts:  # which are told with what they know
            self.master.notice(known)
        return known

    def _make(self, *, removed: bool) -> tuple[str, bool]:
        """What is known in the end, and whether it must not be missed."""
        present, unread = self._look()
        if present is not None:
            if removed or present != self.before:
                return f"role '{self.role}' has quota {present.guarantees}; nothing was put back", False
            return (
                f"role '{self.role}' still has its old quota ({self.before.guarantees}), and the master may "
                "still remove it: look again with mesosctl quota list"
            ), True
        try:
            self._put_back(over_unknown=unread is not None)
        except MesosctlError as error:
            present, unread = self._look()
            if present is not None:
                return f"role '{self.role}' has quota {present.guarantees}", False
            if unread is not None:
                raise
            return (
                f"ROLE '{self.role}' HAS NO QUOTA NOW: its old one ({self.before.guarantees}) could not be put "
                f"back: {error.message}; {self._remedy}"
            ), True
        return f"the old quota of '{self.role}' ({self.before.guarantees}) is in place again", False

    def _look(self) -> tuple[Quota | None, MesosctlError | None]:
        """What the role has now, and why that could not be read."""
        try:
            return read_quotas(self.master).get(self.role), None
        except MesosctlError as error:
            return None, error

    def _put_back(self, *, over_unknown: bool) -> None:
        """Set the old quota.  A request of POST /quota is safe where nothing is known: it replaces nothing."""
        if quota_of_guarantee(_guarantee(self.before), self.master.profile) == self.before:
            send_quota(self.master, self.role, self.before, force=True, wait=True, seen=True)
        elif over_unknown:
            raise NotConfirmed("its quota cannot be read, and an update could replace another one")
        else:
            send_update(self.master, {self.role: self.before}, force=True)

    def _doubt(self, reason: str) -> str:
        return (
            f"ROLE '{self.role}' MAY HAVE NO QUOTA NOW, it cannot be told; its old one was {self.before.guarantees}: "
            f"{reason}; {self._remedy}"
        )

    @property
    def _remedy(self) -> str:
        """What to do about it."""
        return "look with mesosctl quota list when a master answers, and repeat the update with --create"
