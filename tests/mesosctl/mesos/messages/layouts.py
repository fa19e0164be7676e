"""The same JSON in other layouts: as long as the answers that are read from their text, and as no master writes it."""

import re

_STRING_OR_BRACE = re.compile(r'"(?:[^"\\]|\\.)*"?|\{', re.DOTALL)
_BLANKS = " " * 20_000


def long(text):
    """The same JSON, or the same mistake, so long that its elements are read from their text."""
    return text + _BLANKS


def in_another_layout(text):
    """The same JSON, or the same mistake, in which no object begins as a master writes it."""
    return _STRING_OR_BRACE.sub(lambda found: found[0] + " " * (found[0] == "{"), text)
