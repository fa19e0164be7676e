"""The settings of a client: transport, timeouts, TLS, credentials and callbacks."""

import base64
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from mesosctl.client.proxies import NO_PROXIES, Proxies

if TYPE_CHECKING:
    import httpx

    Transport = httpx.BaseTransport
    from mesosctl.client.response import Trace


class Tls(NamedTuple):
    """Files: the authorities to trust instead of the system's, and a client's certificate and key."""

    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None

    def __bool__(self) -> bool:
        """Whether any is given."""
        return self.ca_file is not None or self.cert_file is not None


NO_TLS_FILES = Tls()


def _ignore(*_: Any) -> None:
    return None


def _by_chance() -> float:
    import random

    return random.random()  # noqa: S311  # spreads clients out, and hides nothing


class ClientSettings(NamedTuple):
    """Everything about a client but the address.

    `changing` is called with the name of each change, such as `POST /quota`, before it is sent. Without `may_change`,
    the client only reads, as a dry run promises. `timeout` is in seconds, for all requests together. `notice` gets the
    notes for the operator, `alarm` the warnings, `trace` (if given) every exchange, and `learn` each path that was read
    with its JSON; the clock, the pause and the jitter (a factor between 0 and 1) are replaced in tests.
    """

    credentials: "Credentials | Token | None" = None
    tls: Tls = NO_TLS_FILES
    proxies: Proxies = NO_PROXIES
    timeout: float = 30.0
    notice: Callable[[str], None] = _ignore
    alarm: Callable[[str], None] = _ignore
    trace: "Callable[[Trace], None] | None" = None
    learn: Callable[[str, Any], None] = _ignore
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    jitter: Callable[[], float] = _by_chance
    may_change: bool = True
    changing: Callable[[str], None] = _ignore


class Credentials(NamedTuple):
    """A principal and its secret; the secret is never part of the repr."""

    principal: str
    secret: str

    def __repr__(self) -> str:
        """Without the secret."""
        return f"Credentials(principal={self.principal!r})"

    @property
    def proof(self) -> str:
        """The kind of credentials, in one word."""
        return "secret"

    def header(self) -> str:
        """The value of `Authorization` for Basic authentication."""
        return "Basic " + base64.b64encode(f"{self.principal}:{self.secret}".encode(errors="surrogateescape")).decode()


class Token(NamedTuple):
    """A token, its scheme (one of `TOKEN_SCHEMES`), and its principal, if known; the repr hides the token."""

    token: str
    scheme: str = "bearer"
    principal: str | None = None

    def __repr__(self) -> str:
        """Without the token."""
        return f"Token(scheme={self.scheme!r}, principal={self.principal!r})"

    @property
    def proof(self) -> str:
        """The kind of credentials, in one word."""
        return "token"

    def header(self) -> str:
        """The value of `Authorization`."""
        return TOKEN_SCHEMES[self.scheme] + self.token


TOKEN_SCHEMES = {"bearer": "Bearer ", "dcos": "token="}
"""The forms of a token in `Authorization`: that of RFC 6750, and that of the Admin Router of every DC/OS."""
