"""A change is sent once, and then looked for: what came of it is never guessed.

answered 2xx, and shown           done
answered 2xx, and not shown       NotConfirmed
no answer, and shown              done, with a notice
no answer, and not shown          the failure itself; NotConfirmed where it may still come
no answer, and nothing to see     NotConfirmed
"""

from collections.abc import Callable

from mesosctl.client.master import Master, may_have_happened
from mesosctl.core.errors import DeadlinePassed, MasterFailed, MesosctlError, NotConfirmed, Unreachable

LOOK = "mesosctl quota list"
GRACE = 5.0
"""Seconds to find out what became of a change after the deadline has passed."""


def make(
    master: Master,
    send: Callable[[], None],
    is_shown: Callable[[], bool],
    *,
    what: str,
    wait: bool = True,
    look: str = LOOK,
) -> bool:
    """Send a change and read it back; returns whether it was seen to have happened.

    `what` is a phrase for sentences ("setting quota of dev"), `look` the command that shows it.
    Without `wait` an accepted change is not read back; one that got no answer always is.
    """
    try:
        send()
    except MesosctlError as error:
        if not may_have_happened(error):
            raise
        _settle(master, error, is_shown, what, look)
        return True
    if not wait:
        return False
    try:
        shown = is_shown()
    except MesosctlError as error:
        raise NotConfirmed(f"{what} was accepted, and could not be read back: {error.message}") from error
    if not shown:
        raise NotConfirmed(
            f"{what} was accepted, and the master does not show it",
            hint="it may have been changed again at once, or this principal may not see it",
        )
    return True


def _settle(master: Master, error: MesosctlError, is_shown: Callable[[], bool], what: str, look: str) -> None:
    """Nothing if the change happened in spite of `error`; raises what is known otherwise."""
    master.deadline.extend_to(GRACE)
    try:
        shown = is_shown()
    except MesosctlError as unread:
        raise NotConfirmed(
            f"{error.message}; whether {what} happened cannot be told: {unread.message}",
            hint=f"look at it with {look} when a master answers",
        ) from error
    if shown:
        master.notice(f"{error.message}; the master shows that {what} happened")
        return
    if isinstance(error, DeadlinePassed):
        raise NotConfirmed(
            f"{error.message}; the master does not show {what} so far, and may still do it",
            hint=f"look again with {look}",
        ) from error
    sentence = f"{error.message}; read back: {what} did not happen"
    if isinstance(error, MasterFailed):
        raise type(error)(sentence, hint=error.hint, status=error.status) from error
    raise Unreachable(sentence, sent=False, hint="it may be sent again") from error
