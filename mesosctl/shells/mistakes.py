"""Mistakes that typer finds on a command line, in the words of both programs: typer's own are pydantic's."""

import re
from typing import Any


def sentence_of(error: Any) -> str:
    """The message of an error of typer, in one line without the names of its types."""
    # Of an option that does not exist, typer's own guess is as often wrong as right.
    message = error.message if hasattr(error, "possibilities") else error.format_message()
    line = re.sub(r"\s*\n\s*", " ", message)
    for theirs, ours in _PLAIN_WORDS.items():
        line = re.sub(theirs, ours, line)
    return re.sub(r"argument\(s\)(?= \((.*)\))", lambda found: f"argument{'s' * (' ' in found[1])}", line)


_PLAIN_WORDS = {
    r"Value error, ": "",
    r"Input should be a valid integer.*": "the value is not a whole number",
    r"Input should be a valid number.*": "the value is not a number",
    r"Input should be (less|greater) than": r"the value must be \1 than",
}
"""Patterns of the words that pydantic, which typer asks, has for a value that does not fit; and ours."""
