"""Text that is safe to show: role names and a master's sentences must not steer a terminal."""

import re

# Every control beyond ASCII's first 32, which JSON escapes itself, and every mark that turns the direction of text.
_STEERING = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


def printable(text: str) -> str:
    """`text` with everything that is not printable escaped, control characters and direction marks included."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def printable_json(text: str) -> str:
    """The same JSON, or TOML, without any character that would steer a terminal: both can hold each of them escaped."""
    return _STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
