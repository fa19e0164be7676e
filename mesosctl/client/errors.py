"""The errors of httpx as errors for people, with whether the request may have arrived.

ConnectError, ConnectTimeout, PoolTimeout, LocalProtocolError                      certainly not sent
ReadError, WriteError, RemoteProtocolError, ReadTimeout, WriteTimeout              may have been, whatever broke:
                                                                                   TLS too can break late
DecodingError                                                                      answered, in a broken encoding
"""

from urllib.parse import urlsplit

import httpx

from mesosctl.client import tls
from mesosctl.client.deadline import Deadline
from mesosctl.client.response import asked_in_clear
from mesosctl.model.errors import DeadlinePassed, MesosctlError, UnexpectedAnswer, Unreachable

BROKEN = (httpx.HTTPError, httpx.StreamError)
"""Every error of an exchange."""


def translate(error: Exception, base: str, deadline: Deadline) -> MesosctlError:
    """One of `BROKEN` as an error for people."""
    # Late: it loads httpcore, which a fake master in this process does not need.
    from mesosctl.client.transport import AnsweredInTls, Unanswered

    if isinstance(error, httpx.TimeoutException):
        return _too_late(base, deadline, sent=not isinstance(error, httpx.ConnectTimeout | httpx.PoolTimeout))
    cause = tls.find_cause(error)
    if cause is not None and (isinstance(error, httpx.ConnectError) or tls.refused_by_master(cause)):
        return tls.failure(base, cause)
    words = tls.plain_reason(error)
    if isinstance(error, httpx.ConnectError):
        if base.startswith("https:") and tls.was_hung_up_on(error):
            return tls.without_tls(base)
        is_fake = urlsplit(base).hostname == "fake"
        colon = "; the built-in fake master is fake:, with a colon" if is_fake else ""
        return Unreachable(f"{base} cannot be reached: {words}", sent=False, hint=f"check --master{colon}")
    if isinstance(error, httpx.LocalProtocolError | httpx.UnsupportedProtocol):
        return Unreachable(f"no request can be sent to {base}: {words}", sent=False, hint="check --master")
    if isinstance(error, httpx.DecodingError):
        return UnexpectedAnswer(f"{base} answered with a broken content encoding")
    if isinstance(error.__cause__, AnsweredInTls):
        return asked_in_clear(base)
    if isinstance(error, httpx.RemoteProtocolError) and "illegal" in str(error):
        return Unreachable(f"{base} answered with something that is not HTTP", sent=True, hint="check --master")
    hint = None if cause is None else "the TLS connection broke; see --cacert, --cert and --key"
    if hint is None and isinstance(error.__cause__, Unanswered):  # it never spoke as it was spoken to
        hint = (
            "it may require a client certificate: give --cert and --key"
            if base.startswith("https:")
            else "it may speak https: write https:// in --master"
        )
    return Unreachable(
        f"the connection to {base} broke after the request was sent: {words or 'no reason given'}", sent=True, hint=hint
    )


def _too_late(base: str, deadline: Deadline, *, sent: bool) -> MesosctlError:
    if not deadline.others or deadline.remaining() <= 0:
        return deadline_passed(deadline, base, sent=sent)
    what = "accepted a connection, but did not answer" if sent else "did not accept a connection"
    return Unreachable(
        f"{base} {what} in {deadline.waited:.1f} s, its share of {deadline.seconds:g} s",
        sent=sent,
        hint="check --master, or allow more time with --timeout",
    )


def deadline_passed(deadline: Deadline, url: str, *, sent: bool) -> DeadlinePassed:
    """The error where the time of all attempts together is up."""
    return DeadlinePassed(
        f"{url} did not answer within {deadline.seconds:g} s", sent=sent, hint="allow more time with --timeout"
    )
