"""The meaning of the value of an argument or option, beside its type: typer does not ask for it, but some code does.

It stands in the annotation, as in `Annotated[str, typer.Option(...), Meaning.AMOUNTS]`.
"""

import inspect
from collections.abc import Callable
from enum import Enum
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints


class Meaning(Enum):
    """The meaning of a value."""

    AMOUNTS = "amounts of resources, or words that have some in them"
    FILE = "a file"
    SPAN = "a time, which may have a unit on the command line; a file holds the number of seconds"


@cache
def parameters_of(function: Callable[..., Any], meaning: Meaning) -> tuple[str, ...]:
    """The parameters of a command whose value means that."""
    hints = get_type_hints(inspect.unwrap(function), include_extras=True)
    return tuple(name for name, hint in hints.items() if meaning in _beside_type(hint))


def _beside_type(hint: Any) -> tuple[Any, ...]:
    """Everything that an annotation says beside the type; an optional one may be inside a union."""
    inside = (found for part in get_args(hint) for found in _beside_type(part)) if get_origin(hint) is not None else ()
    return (*getattr(hint, "__metadata__", ()), *inside)
