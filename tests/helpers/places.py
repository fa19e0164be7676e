"""The line `at: field …` of an error: a place in what was given, never a file's path or an option that nobody typed."""

import re
from collections.abc import Sequence

_AT = re.compile(r"^  at: field (.*?)(?:, rule \S+)?$", re.MULTILINE)
_SHORT = {"-f": "--file", "-o": "--output", "-y": "--yes", "-v": "--verbose"}


def assert_place_was_given(told: str, words: Sequence[str]) -> None:
    """Standard error `told` names no option that is not among the words, and no path."""
    for place in _AT.findall(told):
        option = place.partition(" ")[0]
        if option.startswith("--"):
            given = {_SHORT.get(word[:2], word.partition("=")[0]) for word in words if word.startswith("-")}
            assert option in given, (told, words)
        is_path = re.fullmatch(r"(\.{0,2}/\S+|\S+\.(json|toml|csv|sqlite|jsonl))", place)
        # A word that stands where an amount should is named as it was typed, whatever it looks like.
        assert not is_path or "rule resource.text" in told, (told, words)
