"""TOML that a person wrote, as the table it is."""

import re
import tomllib
from typing import Any

from mesosctl.core.errors import BadInput

LONGEST = 64 * 1024 * 1024
"""Characters: a file of 100,000 agents is shorter."""
_DEEPEST = 64
# Parts of a dotted key, more than are read in a time that anybody waits.
_LONG_KEY = re.compile(r"""(?:(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){1000}""")


def read(text: str, where: str) -> dict[str, Any]:
    """The table in a text.  Raises BadInput naming `where`, and the line for what is not TOML."""
    if len(text) > LONGEST:
        raise BadInput(f"{where} is longer than {LONGEST} characters", field=where)
    if _LONG_KEY.search(text):
        raise BadInput(f"{where} is nested too deeply", field=where)
    try:
        table = tomllib.loads(text)
    except RecursionError:
        raise BadInput(f"{where} is nested too deeply", field=where) from None
    except ValueError as error:  # TOMLDecodeError, and integers of thousands of digits
        raise BadInput(f"{where} is not TOML: {error}", field=where) from None
    if _is_too_deep(table):
        raise BadInput(f"{where} is nested too deeply", field=where)
    return table


def _is_too_deep(table: dict[str, Any]) -> bool:
    """Whether something lies in more than so many tables and arrays."""
    level: list[Any] = [table]
    for _ in range(_DEEPEST):
        level = [
            part
            for value in level
            for part in (value.values() if isinstance(value, dict) else value)
            if isinstance(part, dict | list)
        ]
        if not level:
            return False
    return True
