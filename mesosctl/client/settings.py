"""The settings of a client: how a master is spoken to, how long that may take, who is told."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import httpx

    from mesosctl.client.credentials import Credentials, Token
    from mesosctl.client.trace import Trace

    Transport = httpx.BaseTransport


class Tls(NamedTuple):
    """Files: the authorities to trust instead of the system's, and a client's certificate and key."""

    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None

    def __bool__(self) -> bool:
        """Whether any is given, as somebody does who means TLS."""
        return self.ca_file is not None or self.cert_file is not None


NO_TLS_FILES = Tls()


def _nobody(*_: Any) -> None:
    return None


def _by_chance() -> float:
    import random

    return random.random()  # noqa: S311  # spreads clients out, and hides nothing


class ClientSettings(NamedTuple):
    """Everything about a client but the address.

    Without `may_change` a master is only read, whatever else is asked for: the promise of a dry run.
    `timeout` is in seconds, over everything that is asked.  `notice` gets sentences an operator should
    see, `alarm` those that must not be missed, `trace` every exchange where it is given, `learn` each
    path that was read with its JSON; the clock, the pause and the jitter (a factor between 0 and 1) are
    replaced in tests.
    """

    credentials: "Credentials | Token | None" = None
    tls: Tls = NO_TLS_FILES
    timeout: float = 30.0
    notice: Callable[[str], None] = _nobody
    alarm: Callable[[str], None] = _nobody
    trace: "Callable[[Trace], None] | None" = None
    learn: Callable[[str, Any], None] = _nobody
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    jitter: Callable[[], float] = _by_chance
    may_change: bool = True
