"""The display of exchanges: a line with -v, also headers and bodies with -vv; JSON lines if data is JSON.

Imported only with -v.
"""

import json
from collections.abc import Iterator

from mesosctl.cli.environment import Environment
from mesosctl.client.response import Trace
from mesosctl.files.redaction import Secrets
from mesosctl.mesos.errors import printable

LONGEST_BODY = 16 * 1024
"""The most characters of a body that are shown; the answers of a large cluster are too long for a terminal."""


def show(exchange: Trace, verbosity: int, environment: Environment) -> None:
    """Write the exchange to standard error."""
    if environment.speaks_json:
        environment.stderr.write(json.dumps(_document(exchange, verbosity, environment.secrets)) + "\n")
        return
    told = _lines(exchange, verbosity, environment.secrets)
    environment.stderr.writelines(f"mesosctl: {printable(line)}\n" for line in told)


def _lines(exchange: Trace, verbosity: int, secrets: Secrets) -> Iterator[str]:
    """The exchange for people, without any of `secrets`."""
    yield secrets.redact(_first_line(exchange))
    if verbosity > 1:
        for name, value in exchange.headers.items():
            yield secrets.redact(f"> {name}: {value}")
        yield from (f"> {line}" for line in _body(exchange.body, secrets).splitlines())
        if exchange.answer is not None:
            yield f"< {exchange.answer.content_type or 'no content type'}"
            yield from (f"< {line}" for line in _body(exchange.answer.body, secrets).splitlines())


def _document(exchange: Trace, verbosity: int, secrets: Secrets) -> dict[str, object]:
    """The exchange for a program (`show.document.ExchangeNote`)."""
    answer = exchange.answer
    told: dict[str, object] = {
        "schema_version": 1,
        "kind": "exchange",
        "method": exchange.method,
        "url": secrets.redact(exchange.url),
        "status": None if answer is None else answer.status,
        "failure": None if exchange.failure is None else secrets.redact(exchange.failure),
        "bytes": None if answer is None else len(answer.body),
        "milliseconds": round(exchange.seconds * 1000, 1),
    }
    if verbosity > 1:
        told["headers"] = {name: secrets.redact(value) for name, value in exchange.headers.items()}
        told["sent"] = _body(exchange.body, secrets)
        told["received"] = None if answer is None else _body(answer.body, secrets)
    return told


def _first_line(exchange: Trace) -> str:
    answer = exchange.answer
    request = f"{exchange.method} {exchange.url}"
    if answer is None:
        if exchange.outcome:
            return f"{request}: {exchange.outcome}, {exchange.seconds * 1000:.0f} ms"
        return f"{request} failed: {exchange.failure}" if exchange.failure else f"{request} opens a stream"
    return f"{request} {answer.status}, {len(answer.body)} bytes, {exchange.seconds * 1000:.0f} ms"


def _body(body: bytes | None, secrets: Secrets) -> str:
    text = (body or b"").decode("utf-8", "replace")
    # Secrets are removed before the text is shortened, which could split a secret.
    text = secrets.redact_body(text)
    if len(text) > LONGEST_BODY:
        text = f"{text[:LONGEST_BODY]} … and {len(text) - LONGEST_BODY} more characters"
    return "\n".join(map(printable, text.splitlines()))
