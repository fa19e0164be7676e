"""Reading what an operator names: a payload, a secret."""

from pathlib import Path
from typing import TextIO

from mesosctl.core.errors import BadInput
from mesosctl.core.reading import why_unreadable


def read_text(path: str, field: str, stdin: TextIO | None = None) -> str:
    """The text of a file, or of `stdin` for "-" where that is given.  Raises BadInput naming the option `field`."""
    try:
        if path == "-" and stdin is not None:
            return stdin.read()
        return Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise BadInput(f"{path} cannot be read: {why_unreadable(error)}", field=field) from None
