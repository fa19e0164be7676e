"""What is told of one exchange to whoever wants to see it (-v): never a secret."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from mesosctl.client.answer import Answer

STRUCK_OUT = "***"
_SECRET_HEADERS = frozenset({"authorization", "cookie", "proxy-authorization"})


@dataclass(frozen=True, slots=True)
class Trace:
    """One request and its answer, or `failure`, the sentence for why there is none.

    `headers` are those that were sent, with what is secret in them struck out.
    """

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None = field(repr=False)
    seconds: float
    answer: Answer | None = None
    failure: str | None = None
    outcome: str = ""
    """What came of it, where it was no HTTP."""


def presentable(headers: Mapping[str, str]) -> dict[str, str]:
    """Headers that may be shown: of a secret one only its scheme is left."""
    return {name: _struck_out(value) if name.lower() in _SECRET_HEADERS else value for name, value in headers.items()}


def _struck_out(value: str) -> str:
    scheme, sign, _ = value.partition(" " if " " in value else "=")
    return f"{scheme}{sign}{STRUCK_OUT}" if sign else STRUCK_OUT
