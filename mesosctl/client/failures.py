"""What can break on the way to a master, and the error that each failure becomes.

That error tells whether the request may have arrived:

NotConnected, ConnectedTooLate, Unaskable    certainly not sent
TooLate, Broken, NotHttp, Undecodable        may have been sent, whatever broke: TLS too can break late
"""

from mesosctl.client.conversation import Deadline
from mesosctl.core.errors import DeadlinePassed, MesosctlError, UnexpectedAnswer, Unreachable


class Failure(Exception):
    """Something broke, as its words and its cause say."""


class NotConnected(Failure):
    """There is no such host, or nobody listens there, or TLS was not agreed upon."""


class ConnectedTooLate(Failure):
    """A connection took longer than it may."""


class TooLate(Failure):
    """A connection was made, and what belongs on it took longer than it may."""


class Unaskable(Failure):
    """The request cannot be written in HTTP."""


class Broken(Failure):
    """The connection ended before the answer did."""


class Unanswered(Broken):
    """It ended before anything was heard on it: perhaps nobody meant to take requests of this client."""


class NotHttp(Failure):
    """What came back is not HTTP."""


class Undecodable(Failure):
    """The answer is not packed as it says."""


def translate(error: Failure, base: str, deadline: Deadline) -> MesosctlError:
    """A failure as an error for people."""
    if isinstance(error, TooLate | ConnectedTooLate):
        return _too_late(base, deadline, sent=isinstance(error, TooLate))
    from mesosctl.client import tls
    from mesosctl.client.tls import plain_words

    cause = tls.find_cause(error)
    if cause is not None and (isinstance(error, NotConnected) or tls.refused_by_master(cause)):
        return tls.failure(base, cause)
    if isinstance(error, NotConnected):
        return Unreachable(f"{base} cannot be reached: {plain_words(error)}", sent=False, hint="check --master")
    if isinstance(error, Unaskable):
        return Unreachable(f"{base} cannot be asked: {plain_words(error)}", sent=False, hint="check --master")
    if isinstance(error, Undecodable):
        return UnexpectedAnswer(f"{base} answered with a broken content encoding")
    if isinstance(error, NotHttp):
        return Unreachable(f"{base} answered with something that is not HTTP", sent=True, hint="check --master")
    hint = None if cause is None else "it was TLS that broke; see --cacert, --cert and --key"
    if hint is None and isinstance(error, Unanswered):  # it never spoke as it was spoken to
        hint = (
            "perhaps it wants a certificate of this client: give --cert and --key"
            if base.startswith("https:")
            else "perhaps it speaks https: write https:// in --master"
        )
    return Unreachable(
        f"the connection to {base} broke after the request left: {plain_words(error) or 'no reason given'}",
        sent=True,
        hint=hint,
    )


def _too_late(base: str, deadline: Deadline, *, sent: bool) -> MesosctlError:
    if not deadline.others or deadline.remaining() <= 0:
        return deadline_passed(deadline, base, sent=sent)
    what = "takes a connection, and gave no answer" if sent else "takes no connection"
    return Unreachable(
        f"{base} {what} in {deadline.waited:.1f} s, its part of {deadline.seconds:g} s",
        sent=sent,
        hint="check --master, or give it longer with --timeout",
    )


def deadline_passed(deadline: Deadline, url: str, *, sent: bool) -> DeadlinePassed:
    """The error where the time of all attempts together is up."""
    return DeadlinePassed(
        f"{url} did not answer within {deadline.seconds:g} s", sent=sent, hint="give it longer with --timeout"
    )
