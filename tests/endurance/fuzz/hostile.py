# ruff: noqa: E501  # lists of odd texts, several to a line
"""A master whose every text would repaint a terminal: the fake one's answers, spoilt on their way."""

import json
import random
import re
from typing import Any

import httpx

EVIL = [
    "\x1b[2J\x1b[31m", "\x1b]0;owned\x07", "\r\x1b[K", "\x08\x08\x08", "\x9b31m", "\x85", "\x7f", "\u202eevil", "\u2066x", "\u200f", "\u2028", "\0", "\ufeff",
    "\n\x1b[1A", "<script>&\"'", "[bold red]x[/]",
]  # fmt: skip
# A role may hold these: Mesos forbids the controls of ASCII alone.
EVIL_ROLES = ["\x9b31m", "\u202eevil", "\u2066", "\ufeff"]
ROLES = {"web", "ads", "dev"}
# Texts that a client must understand; the rest is there to be shown.
KEPT = {"type", "mode", "version", "state", "phase", "pid", "registry", "ip", "allocation_interval"}
_MEANS_SOMETHING = re.compile(r"\[.*|[0-9.]+|true|false|[A-Z_]+|cpus|mem|disk|ports|gpus|\*|.*-S[0-9]+|/.*")
OURS = re.compile(r"\x1b\[[0-9;]*m|\r?\x1b\[K|\x1b\[\?25[hl]|\x1b\[[0-9]*[AB]|\x1b\[2K|\r(?=\x1b|\n)|\x1b\[J|\x1b\[0J")
"""What the tool itself writes on a terminal."""
STEERING = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


def spoilt(value: Any, choice: random.Random, salt: int, key: str = "") -> Any:
    """JSON with evil in many of its texts and some of its names."""
    if isinstance(value, dict):
        return {_name(name, choice): spoilt(part, choice, salt, name) for name, part in value.items()}
    if isinstance(value, list):
        return [spoilt(part, choice, salt, key) for part in value]
    if isinstance(value, str) and key not in KEPT and not _MEANS_SOMETHING.fullmatch(value):
        # The same text is spoilt in the same way wherever it stands, so that answers still fit together.
        own = random.Random(f"{salt}{value}")
        return value + own.choice(EVIL_ROLES if value in ROLES else EVIL) if own.random() < 0.6 else value
    return value


def _name(name: str, choice: random.Random) -> str:
    return name + choice.choice(EVIL) if choice.random() < 0.002 else name


class HostileMaster(httpx.BaseTransport):
    """Answers as `inner` does, and spoils it; now and then an error with an evil body instead."""

    def __init__(self, inner: httpx.BaseTransport, seed: int) -> None:
        self._inner = inner
        self._seed = seed
        self._choice = random.Random(seed)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if self._choice.random() < 0.04:
            status = self._choice.choice([307, 400, 401, 403, 404, 409, 410, 418, 500, 503, 599])
            evil = "".join(self._choice.choices(EVIL, k=4))
            headers = [
                (
                    b"Content-Type",
                    self._choice.choice(["text/plain", "application/json", "te\x9bxt"]).encode("latin-1"),
                ),
                (b"Location", evil.encode(errors="surrogatepass").replace(b"\n", b"").replace(b"\0", b"")),
            ]
            return httpx.Response(status, headers=headers, content=evil.encode(errors="surrogatepass"))
        answer = self._inner.handle_request(request)
        if answer.headers.get("content-type") != "application/json" or (
            isinstance(answer.stream, httpx.SyncByteStream) and not hasattr(answer, "_content")
        ):
            return answer
        value = spoilt(json.loads(answer.content), self._choice, self._seed)
        text = json.dumps(value) if self._choice.random() < 0.5 else json.dumps(value, ensure_ascii=False)
        return httpx.Response(
            answer.status_code,
            headers={"Content-Type": "application/json"},
            content=text.encode(errors="surrogateescape"),
        )


def steering(text: str) -> list[str]:
    """What is left in a text that would steer a terminal, with its surroundings."""
    rest = OURS.sub("", text)
    return [rest[max(0, found.start() - 30) : found.end() + 10] for found in STEERING.finditer(rest)]
