"""How an exchange is shown: a line with -v, headers and bodies too with -vv; JSON lines where data is JSON.

Imported only where somebody wants to see.
"""

import base64
import json
import re
from collections.abc import Iterator, Sequence

from mesosctl.client.trace import STRUCK_OUT, Trace
from mesosctl.core.printable import printable

LONGEST_BODY = 16 * 1024
"""Characters of a body that are shown; the answers of a large cluster fill no terminal usefully."""

_SECRET_FIELD = re.compile(r'("[^"]*(?:secret|password|token|credential)[^"]*"\s*:\s*)"(?:[^"\\]|\\.)*"', re.IGNORECASE)


def lines(exchange: Trace, verbosity: int, secrets: Sequence[str]) -> Iterator[str]:
    """The exchange for a person; none of `secrets` is in it, wherever it came from."""
    yield _strike_out(_first_line(exchange), secrets)
    if verbosity > 1:
        for name, value in exchange.headers.items():
            yield _strike_out(f"> {name}: {value}", secrets)
        yield from (f"> {line}" for line in _body(exchange.body, secrets).splitlines())
        if exchange.answer is not None:
            yield f"< {exchange.answer.content_type or 'no content type'}"
            yield from (f"< {line}" for line in _body(exchange.answer.body, secrets).splitlines())


def document(exchange: Trace, verbosity: int, secrets: Sequence[str]) -> dict[str, object]:
    """The exchange for a program (`render.documents.ExchangeNote`)."""
    answer = exchange.answer
    told: dict[str, object] = {
        "schema_version": 1,
        "kind": "exchange",
        "method": exchange.method,
        "url": _strike_out(exchange.url, secrets),
        "status": None if answer is None else answer.status,
        "failure": None if exchange.failure is None else _strike_out(exchange.failure, secrets),
        "bytes": None if answer is None else len(answer.body),
        "milliseconds": round(exchange.seconds * 1000, 1),
    }
    if verbosity > 1:
        told["headers"] = {name: _strike_out(value, secrets) for name, value in exchange.headers.items()}
        told["sent"] = _body(exchange.body, secrets)
        told["received"] = None if answer is None else _body(answer.body, secrets)
    return told


def write_json(told: dict[str, object]) -> str:
    """One line."""
    return json.dumps(told) + "\n"


def _first_line(exchange: Trace) -> str:
    answer = exchange.answer
    request = f"{exchange.method} {exchange.url}"
    if answer is None:
        if exchange.outcome:
            return f"{request}: {exchange.outcome}, {exchange.seconds * 1000:.0f} ms"
        return f"{request} failed: {exchange.failure}" if exchange.failure else f"{request} opens a stream"
    return f"{request} {answer.status}, {len(answer.body)} bytes, {exchange.seconds * 1000:.0f} ms"


def _body(body: bytes | None, secrets: Sequence[str]) -> str:
    text = (body or b"").decode("utf-8", "replace")
    # What is struck out is struck out of the whole: a secret may stand where the text is cut.
    text = _SECRET_FIELD.sub(rf'\1"{STRUCK_OUT}"', _strike_out(text, secrets))
    if len(text) > LONGEST_BODY:
        text = f"{text[:LONGEST_BODY]} … and {len(text) - LONGEST_BODY} more characters"
    return "\n".join(map(printable, text.splitlines()))


def _strike_out(text: str, secrets: Sequence[str]) -> str:
    for secret in secrets:
        if secret:
            encoded = base64.b64encode(secret.encode(errors="surrogateescape")).decode()
            text = text.replace(secret, STRUCK_OUT).replace(encoded, STRUCK_OUT)
    return text
