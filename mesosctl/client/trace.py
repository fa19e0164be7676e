"""One exchange as -v shows it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from mesosctl.client.response import Response
from mesosctl.model.redaction import REDACTED

_SECRET_HEADERS = frozenset({"authorization", "cookie", "proxy-authorization"})


@dataclass(frozen=True, slots=True)
class Trace:
    """One request and its answer, or `failure`, the sentence for why there is none.

    `headers` are those that were sent, with secrets removed.
    """

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None = field(repr=False)
    seconds: float
    answer: Response | None = None
    failure: str | None = None
    outcome: str = ""
    """The result in a sentence, if the exchange was not HTTP."""


def presentable(headers: Mapping[str, str]) -> dict[str, str]:
    """Headers that may be shown: only the scheme of secret ones is left."""
    return {name: _struck_out(value) if name.lower() in _SECRET_HEADERS else value for name, value in headers.items()}


def _struck_out(value: str) -> str:
    scheme, sign, _ = value.partition(" " if " " in value else "=")
    return f"{scheme}{sign}{REDACTED}" if sign else REDACTED
