"""Replacing a quota in two requests, on a master without UPDATE_QUOTA: if the second fails, the old one is restored."""

from dataclasses import dataclass

from mesosctl.changes.confirm import GRACE
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.mesos.amounts.quantities import Quota
from mesosctl.mesos.errors import MesosctlError, NotConfirmed
from mesosctl.mesos.rules.quota.rules import quota_of_guarantee
from mesosctl.quota.requests import send_quota, send_removal, send_update
from mesosctl.reading.quotas import read_quotas
from mesosctl.suggestion import command


def replace_quota(
    master: LeadingMaster, role: str, before: Quota, target: Quota, *, force: bool, wait: bool, v1: bool = False
) -> bool:
    """Remove the quota of `role` and set `target`, a checked one; return whether `target` was read back.

    If that fails, the old quota is restored. Raises the error of the step that failed.
    """
    removed = False
    try:
        # Nothing is read in between, so that the role is without quota as briefly as possible.
        send_removal(master, role, seen=True, wait=False)
        removed = True
        confirmed = send_quota(master, role, target, force=force, v1=v1, wait=wait, seen=True)
    except BaseException as stopped:
        untouched = not removed and isinstance(stopped, MesosctlError) and not stopped.may_have_happened
        if isinstance(stopped, KeyboardInterrupt):  # its message says what is unknown; nothing if nothing was sent
            untouched = not removed and not getattr(stopped, "__notes__", None)
        if not untouched and not before.is_default:
            known = _Restoration(master, role, before).run(stopped, removed=removed)
            if isinstance(stopped, KeyboardInterrupt):
                stopped.__notes__ = [known]  # the fate of each request is known by now
        raise
    return confirmed


@dataclass(frozen=True, slots=True)
class _Restoration:
    """Restores `before` if the role has no quota, and always reports what it has now."""

    master: LeadingMaster
    role: str
    before: Quota

    def run(self, stopped: BaseException, *, removed: bool) -> str:
        """Read, restore, and read again if that failed; return what is known then.

        Raises only interruptions, after the warning.
        """
        interrupts = isinstance(stopped, KeyboardInterrupt)
        try:
            if interrupts:
                self.master.notice(
                    f"interrupted while changing the quota of '{self.role}': checking which quota it has now"
                )
            self.master.deadline.extend_to(GRACE)
            known, alarming = self._run(removed=removed)
        except MesosctlError as error:
            known, alarming = self._unknown(error.message), True
        except BaseException as again:
            known = self._unknown("interrupted again")
            self.master.alarm(known)
            again.__notes__ = [known]
            raise
        if alarming:
            self.master.alarm(known)
        elif not interrupts:  # which carry the known facts
            self.master.notice(known)
        return known

    def _run(self, *, removed: bool) -> tuple[str, bool]:
        """Restore the quota; return the known facts as a sentence, and whether it is a warning."""
        present, unread = self._read()
        if present is not None:
            if removed or present != self.before:
                return f"role '{self.role}' has quota {present.guarantees}; nothing was restored", False
            return (
                f"role '{self.role}' still has its old quota ({self.before.guarantees}), and the master may "
                f"still remove it: check again with {command('quota list')}"
            ), True
        try:
            self._put_back(over_unknown=unread is not None)
        except MesosctlError as error:
            present, unread = self._read()
            if present is not None:
                return f"role '{self.role}' has quota {present.guarantees}", False
            if unread is not None:
                raise
            return (
                f"ROLE '{self.role}' HAS NO QUOTA NOW: its old quota ({self.before.guarantees}) could not be "
                f"restored: {error.message}; {self._remedy}"
            ), True
        return f"the old quota of '{self.role}' ({self.before.guarantees}) is restored", False

    def _read(self) -> tuple[Quota | None, MesosctlError | None]:
        """Return the present quota of the role, or the error of reading it."""
        try:
            return read_quotas(self.master).get(self.role), None
        except MesosctlError as error:
            return None, error

    def _put_back(self, *, over_unknown: bool) -> None:
        """Set the old quota.  POST /quota is safe even if nothing is known, because it replaces nothing."""
        if quota_of_guarantee(self.before.guarantees, self.master.profile) == self.before:
            send_quota(self.master, self.role, self.before, force=True, wait=True, seen=True)
        elif over_unknown:
            raise NotConfirmed("its quota cannot be read, and an update could replace a newer one")
        else:
            send_update(self.master, {self.role: self.before}, force=True)

    def _unknown(self, reason: str) -> str:
        return (
            f"ROLE '{self.role}' MAY HAVE NO QUOTA NOW: {reason}; "
            f"its old quota was {self.before.guarantees}; {self._remedy}"
        )

    @property
    def _remedy(self) -> str:
        """The advice for the operator."""
        return f"check with {command('quota list')} when a master answers, and repeat the update with --create"
