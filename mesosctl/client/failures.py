"""Where the exceptions of httpx end: each becomes one of ours, that tells whether the request may have arrived.

ConnectError, ConnectTimeout, PoolTimeout    certainly not sent
WriteError, ReadError, RemoteProtocolError,
WriteTimeout, ReadTimeout                    may have been sent, whatever broke: TLS too can break late
"""

from mesosctl.client.settings import Deadline
from mesosctl.core.errors import DeadlinePassed, MesosctlError, UnexpectedAnswer, Unreachable


def translate(error: Exception, base: str, deadline: Deadline) -> MesosctlError:
    """An exception of httpx as one of ours."""
    import httpx

    from mesosctl.client import tls
    from mesosctl.client.tls import plain_words

    if isinstance(error, httpx.TimeoutException):
        return _too_late(base, deadline, sent=not isinstance(error, httpx.ConnectTimeout | httpx.PoolTimeout))
    cause = tls.find_cause(error)
    if cause is not None and (isinstance(error, httpx.ConnectError) or tls.refused_by_master(cause)):
        return tls.failure(base, cause)
    if isinstance(error, httpx.ConnectError):
        return Unreachable(f"{base} cannot be reached: {plain_words(error)}", sent=False, hint="check --master")
    if isinstance(error, httpx.InvalidURL | httpx.UnsupportedProtocol | httpx.LocalProtocolError):
        return Unreachable(f"{base} cannot be asked: {plain_words(error)}", sent=False, hint="check --master")
    if isinstance(error, httpx.DecodingError):
        return UnexpectedAnswer(f"{base} answered with a broken content encoding")
    if isinstance(error, httpx.RemoteProtocolError) and "illegal" in str(error):
        return Unreachable(f"{base} answered with something that is not HTTP", sent=True, hint="check --master")
    hint = None if cause is None else "it was TLS that broke; see --cacert, --cert and --key"
    if hint is None and base.startswith("https:"):
        hint = "perhaps it wants a certificate of this client: give --cert and --key"
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
