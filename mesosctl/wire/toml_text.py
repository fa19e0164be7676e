"""TOML that a person wrote, as the table it is."""

import tomllib
from typing import Any

from mesosctl.core.errors import BadInput


def read(text: str, where: str) -> dict[str, Any]:
    """The table in a text.  Raises BadInput naming `where`, and the line for what is not TOML."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise BadInput(f"{where} is nested too deeply", field=where) from None
    except ValueError as error:  # TOMLDecodeError, and integers of thousands of digits
        raise BadInput(f"{where} is not TOML: {error}", field=where) from None
