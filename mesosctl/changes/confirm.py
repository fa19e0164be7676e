"""A change is sent once and then read back: its result is never guessed.

answer          read back            result
2xx             shown                done
                not shown, unknown   NotConfirmed
                not read (`wait`)    sent, not confirmed: returns False
none            shown                done, with a notice
                not shown            the failure itself, which may still be followed by the change: something on the
                                     way may keep a request; NotConfirmed after a deadline
                unknown              NotConfirmed
                no master answers    NotConfirmed
400, 409        shown now            done, with a notice: something on the way may deliver a request twice, and show
                                     the answer to the second
                not shown, unknown   the refusal
                may not be read      the refusal
                no master answers    NotConfirmed
                not `seen_before`    the refusal, without reading: what is shown may have been there before
401, 403, …     not read             the refusal: who is not let in changes nothing, however often it is delivered

No answer are also a 500, an answer that cannot be read, and a refusal that did not come from a master itself
(`client.response`): after each of these the change may have happened (`MesosctlError.may_have_happened`).
"""

import re
from collections.abc import Callable

from mesosctl.client.leading_master import LeadingMaster
from mesosctl.mesos.errors import Conflict, DeadlinePassed, Denied, MesosctlError, NotConfirmed, Rejected
from mesosctl.mesos.messages import responses
from mesosctl.mesos.roles import did_you_mean
from mesosctl.suggestion import command

_UNKNOWN_ROLE = re.compile(r"Unknown role '([^']*)'|'([^']*)' is not on the roles whitelist")
"""The refusals of Mesos 1.4 to 1.11 for a role that --roles does not list: POST /quota and PUT /weights, and
UPDATE_QUOTA.
"""
GRACE = 5.0
"""Seconds to find out whether a change was made after the deadline has passed."""


def confirm(
    master: LeadingMaster,
    send: Callable[[], None],
    is_shown: Callable[[], bool | None],
    *,
    what: str,
    wait: bool = True,
    shown_by: str | None = None,
    seen_before: bool = True,
) -> bool:
    """Send a change and read it back; return whether it was confirmed.

    `is_shown` returns whether the master shows that it happened, and None if that is unknown. `what` is a phrase for
    sentences ("the new quota of dev"), `shown_by` the command that shows it, by default `quota list`. Without `wait`,
    an accepted change is not read back; one without an answer always is. `seen_before` means that the state before was
    read and was different, so if the change is shown although it was refused, the request was delivered twice.
    """
    shown_by = shown_by or command("quota list")
    accepted, before = False, master.changes_sent
    try:
        try:
            send()
        except MesosctlError as error:
            if isinstance(error, Rejected):
                _suggest_role(master, error)
            if isinstance(error, Rejected | Conflict) and not error.may_have_happened and seen_before:
                _settle_refusal(master, error, is_shown, what, shown_by)
                return True
            if not error.may_have_happened:
                raise
            _settle(master, error, is_shown, what, shown_by)
            return True
        accepted = True
        return wait and _read_back(is_shown, what)
    except KeyboardInterrupt as stopped:
        if master.changes_sent > before:  # no change is sent while it connects
            known = "accepted, but not read back" if accepted else "sent; whether it took effect is unknown"
            stopped.add_note(f"{what} was {known}: check with {shown_by}")
        raise


def _suggest_role(master: LeadingMaster, error: Rejected) -> None:
    """If a master refuses a role that its --roles does not list, add a similar one to the refusal."""
    found = _UNKNOWN_ROLE.search(error.message)
    if found is None or error.hint is not None:
        return
    try:
        known = responses.whitelist(master.get("/flags"))
    except MesosctlError:  # perhaps this principal may not see them
        known = None
    otherwise = "the master accepts only the roles that its --roles lists"
    error.hint = did_you_mean(found[1] or found[2], sorted(known or ()), otherwise)


def _read_back(is_shown: Callable[[], bool | None], what: str) -> bool:
    """Whether an accepted change is shown.  Raises NotConfirmed if it is not."""
    try:
        shown = is_shown()
    except MesosctlError as error:
        raise NotConfirmed(f"{what} was accepted, but could not be read back: {error.message}") from error
    if not shown:
        raise NotConfirmed(
            f"{what} was accepted, but the master does not show it",
            hint="another client may have changed it again, or this principal may not see it",
        )
    return True


def _settle(
    master: LeadingMaster, error: MesosctlError, is_shown: Callable[[], bool | None], what: str, shown_by: str
) -> None:
    """Return if the change happened in spite of `error`; otherwise raise what is known."""
    master.deadline.extend_to(GRACE)
    try:
        shown = is_shown()
    except MesosctlError as unread:
        raise NotConfirmed(
            f"{error.message}; whether {what} took effect is unknown: {unread.message}",
            hint=f"check with {shown_by} when a master answers",
        ) from error
    if shown:
        master.notice(f"{error.message}; the master shows that {what} took effect")
        return
    if isinstance(error, DeadlinePassed):
        raise NotConfirmed(
            f"{error.message}; so far the master does not show that {what} took effect, but it may still happen",
            hint=f"check again with {shown_by}",
        ) from error
    if shown is None:
        raise NotConfirmed(
            f"{error.message}; whether {what} took effect is unknown: this principal may not see it",
            hint=f"check with {shown_by}, as a principal that may see every role",
        ) from error
    error.reword(f"{error.message}; so far the master does not show that {what} took effect")
    error.hint = f"the request may still be on its way: check again with {shown_by} before you repeat it"
    raise error


def _settle_refusal(
    master: LeadingMaster, error: MesosctlError, is_shown: Callable[[], bool | None], what: str, shown_by: str
) -> None:
    """Return if the change happened although it was refused, as for a request that arrives twice; otherwise raise."""
    master.deadline.extend_to(GRACE)
    try:
        shown = is_shown()
    except Denied:
        raise error from None
    except MesosctlError as unread:
        raise NotConfirmed(
            f"{error.message}; whether {what} took effect all the same is unknown: {unread.message}",
            hint=f"check with {shown_by} when a master answers",
        ) from error
    if not shown:
        raise error
    master.notice(f"{error.message}; but the master shows that {what} took effect, as if the request had arrived twice")
