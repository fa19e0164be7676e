"""The secrets of a run, and the only place that removes them from output and files.

Every secret is added here: from an option, a variable, a file, a context, a prompt or an address.  Every text that is
shown or stored passes through here first. A secret is found in every form in which a master, a proxy or a file may
return it: as it is, escaped as in JSON or HTML, percent-encoded, and in base64, also behind a principal. The user and
password of a URL are removed from any text, whatever the scheme.
"""

import binascii
import itertools
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

REDACTED = "***"
SHORTEST = 4
"""Characters; shorter ones occur in ordinary words, and are easy to guess anyway."""
SHORTEST_IN_DATA = 8
"""Characters; a shorter one may be the name of a role, and data must stay unchanged."""
_SHORTEST_BASE64 = 8
"""Characters of base64; a shorter match may be coincidence."""

_USER_INFO = (
    r"(?<![A-Za-z0-9+.-])(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*:(?:\\{0,15}/){2})"
    r"(?!USER:SECRET@(?:host/path|host1,host2/mesos))"  # the examples in hints
    r"(?P<user_info>(?:[^/\s\"'<>\\@]|\\{1,15}[^/\s\\])(?:[^/\s\"<>\\]|\\{1,15}[^/\s\\])*)@"
)
"""The user info of a URL, up to the last @ of its authority, escaped in JSON or not."""
_NAME = r'[^"\\]{0,64}(?:secret|password|passwd|token|credential)[^"\\]{0,64}'
_VALUE = r"(?P=quote)\s*:\s*(?P=quote)(?P<value>.*?)(?<!\\)(?P=quote)"
_SECRET_FIELDS = (
    rf'(?is)(?P<quote>\\{{0,15}}"){_NAME}{_VALUE}',
    rf'(?is)(?P<quote>\\{{0,15}}")key(?P=quote)\s*:\s*(?P=quote){_NAME}(?P=quote)\s*,\s*(?P=quote)value{_VALUE}',
)
"""Fields of JSON, or of JSON in a text of JSON, whose name says that the value is secret; the second as the modules
of Mesos have it: {"key": "password", "value": "…"}."""
_MOST_LEARNED = 64
_LONGEST_LEARNED = 1024
"""Characters; an untrusted text may have many, and each makes the next search longer."""
_JSON_STRING = r'(?s)"((?:[^"\\]|\\.)*)"'
_IN_HTML = {'"': "&quot;", "&": "&amp;", "<": "&lt;", ">": "&gt;", "'": "&apos;"}
# Expressions are compiled when they are first needed, because that takes milliseconds and most commands never need
# them.


class Secrets:
    """Every secret that this run knows. The repr contains none of them."""

    def __init__(self) -> None:
        self._known: dict[str, None] = {}
        self._patterns: dict[int, re.Pattern[str] | None] = {}

    def add(self, secret: str | None) -> None:
        """Add a text to remove from now on."""
        if secret and secret not in self._known:
            self._known[secret] = None
            self._patterns.clear()

    def add_pair(self, principal: str, secret: str) -> None:
        """Add a secret and its principal, which also appear together in basic authentication."""
        self.add(secret)
        self.add(f"{principal}:{secret}")

    def add_address(self, address: str | None) -> None:
        """Add the secrets in an address, or in a list of them: user info before an @, split as Mesos splits it."""
        for rest in (address or "").split("://")[1:]:
            # One with a slash is refused, but must not be shown in the error.
            for part in (rest.partition("/")[0], rest):
                self._add_user_info(part.rpartition("@")[0])

    def _add_user_info(self, user_info: str) -> None:
        user, colon, secret = user_info.partition(":")
        if colon:
            self.add_pair(user, secret)
        else:
            self.add(user)

    def redact(self, text: str) -> str:
        """A sentence, or any text for people, without a secret."""
        return self._strike(_without_user_info(text), SHORTEST)

    def redact_data(self, text: str) -> str:
        """A text for programs, such as a name: only certain secrets are removed from it."""
        return self._strike(_without_user_info(text), SHORTEST_IN_DATA)

    def redact_json(self, text: str) -> str:
        """JSON, or a part of it with whole strings, which stays JSON: only strings are changed."""
        if self.redact_data(text) == text:
            return text
        return re.sub(_JSON_STRING, lambda found: f'"{self.redact_data(found[1])}"', text)

    def redact_body(self, text: str) -> str:
        """A body that was sent or received, for people. The passwords of URLs in it are secrets from now on."""
        for found in itertools.islice(re.finditer(_USER_INFO, text), _MOST_LEARNED):
            self._add_user_info(_unescaped(found["user_info"][:_LONGEST_LEARNED]))
        for expression in _SECRET_FIELDS:
            text = re.sub(expression, _without_value, text)
        return self.redact(text)

    def redact_all(self, value: Any) -> Any:
        """A JSON value with every text redacted; names of fields stay."""
        if isinstance(value, str):
            return self.redact(value)
        if isinstance(value, dict):
            return {key: self.redact_all(part) for key, part in value.items()}
        if isinstance(value, list | tuple):
            return [self.redact_all(part) for part in value]
        return value

    def _strike(self, text: str, shortest: int) -> str:
        if shortest not in self._patterns:
            self._patterns[shortest] = _pattern([secret for secret in self._known if len(secret) >= shortest])
        pattern = self._patterns[shortest]
        return text if pattern is None else pattern.sub(REDACTED, text)


def _without_user_info(text: str) -> str:
    # Looking for a scheme takes time, and each agent of a snapshot has an @.
    if "@" not in text or ("://" not in text and "\\" not in text):
        return text
    return re.sub(_USER_INFO, rf"\g<scheme>{REDACTED}@", text)


def _unescaped(text: str) -> str:
    """A part of a JSON string, unescaped; of any other text, unchanged."""
    try:
        return str(json.loads(f'"{text}"'))
    except ValueError:
        return text


def _without_value(found: re.Match[str]) -> str:
    start, end = found.span("value")
    return f"{found.string[found.start() : start]}{REDACTED}{found.string[end : found.end()]}"


def _pattern(secrets: Iterable[str]) -> re.Pattern[str] | None:
    """All of them in all forms, the longest first, because one may be part of another."""
    spellings = [spelling for secret in sorted(secrets, key=len, reverse=True) for spelling in _spellings(secret)]
    return re.compile("|".join(spellings)) if spellings else None


def _spellings(secret: str) -> Iterator[str]:
    """Expressions for a secret, plain or with any character escaped in any way, and in base64."""
    yield "".join(_run(character, length) for character, length in _runs(secret))
    raw = secret.encode(errors="surrogateescape")
    for encoded in _in_base64(raw):
        yield re.escape(encoded)
        if "+" in encoded or "/" in encoded:
            yield re.escape(encoded.translate(str.maketrans("+/", "-_")))


def _runs(text: str) -> Iterator[tuple[str, int]]:
    """Each character, and the length of each run of backslashes, because escaping doubles them."""
    for found in re.finditer(r"\\+|.", text, re.DOTALL):
        yield found[0][0], len(found[0])


def _run(character: str, length: int) -> str:
    if character == "\\":
        # Once escaped there are twice as many, twice escaped four times, and so on.
        return rf"(?:\\{{{length},{8 * length}}}|(?:\\{{1,15}}u005[cC]|%5[cC]|&#92;|&#[xX]5[cC];){{{length}}})"
    if character.isascii() and (character.isalnum() or character in "-._~"):
        return re.escape(character)  # which is never escaped
    # Itself last: it may be the beginning of the others, as % and & are.
    return f"(?:{'|'.join((*_escapes(character), re.escape(character)))})"


def _escapes(character: str) -> Iterator[str]:
    """Expressions for the ways to write one character other than itself."""
    raw = character.encode(errors="surrogateescape")
    yield "".join(f"%{_any_case(f'{byte:02x}')}" for byte in raw)
    # Of JSON: \u with four digits, two of them beyond 16 bits, and short ones; escaped again with more backslashes.
    units = character.encode("utf-16-be", errors="surrogatepass")
    pairs = [units[index : index + 2].hex() for index in range(0, len(units), 2)]
    yield "".join(rf"\\{{1,15}}u{_any_case(pair)}" for pair in pairs)
    short = json.dumps(character)[1:-1]
    if len(short) == 2:
        yield rf"\\{{1,15}}{re.escape(short[1])}"
    if character == "/":
        yield r"\\{1,15}/"
    yield f"&#0*{ord(character)};"
    yield f"&#[xX]0*{_any_case(f'{ord(character):x}')};"
    if character in _IN_HTML:
        yield rf"\\{{0,15}}{_IN_HTML[character]}"
    if character == " ":
        yield r"\+"


def _any_case(digits: str) -> str:
    return f"(?i:{digits})"


def _in_base64(raw: bytes) -> Iterator[str]:
    """The secret in base64, and the part of it that does not depend on the text around it."""
    whole = _base64(raw)
    if len(whole) >= _SHORTEST_BASE64:
        yield whole
        yield whole.rstrip("=")
    for before in range(3):
        encoded = _base64(bytes(before) + raw)
        # A character depends only on the secret if all six of its bits do.
        first, last = -(-8 * before // 6), 8 * (before + len(raw)) // 6
        if last - first >= _SHORTEST_BASE64:
            yield encoded[first:last]


def _base64(raw: bytes) -> str:
    return binascii.b2a_base64(raw, newline=False).decode()
