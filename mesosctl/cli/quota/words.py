"""The words and options that quota commands share."""

from collections.abc import Sequence
from typing import Annotated

import typer

from mesosctl.core.errors import UsageError
from mesosctl.core.resource import Resource
from mesosctl.core.text import parse_entries

Role = Annotated[
    str, typer.Argument(metavar="ROLE", help="A role, as frameworks subscribe with it.", show_default=False)
]
Amounts = Annotated[
    list[str],
    typer.Argument(
        metavar="RESOURCES...",
        help="cpus:12 mem:6GiB, or 'cpus:12;mem:6144'. GB means GiB, as in Mesos.",
        show_default=False,
    ),
]
OptionalRole = Annotated[
    str | None, typer.Argument(metavar="ROLE", help="A role, as frameworks subscribe with it.", show_default=False)
]
OptionalAmounts = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="RESOURCES...",
        help="cpus:12 mem:6GiB, or 'cpus:12;mem:6144'. GB means GiB, as in Mesos.",
        show_default=False,
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Pass the capacity check, and nothing else.", show_default=False)]
PayloadFile = Annotated[
    str | None, typer.Option("--file", "-f", metavar="FILE", help="Read the documented JSON; - is standard input.")
]


def parse_words(words: Sequence[str]) -> list[Resource]:
    """Resources from words such as `cpus:12`, `mem:6GiB` or `cpus:12;mem:6144`.  Raises RuleViolation."""
    return [entry for word in words for entry in parse_entries(word)]


def check_role_of_file(argument: str | None, in_file: Sequence[str]) -> None:
    """A ROLE may repeat the role of a payload file, but not contradict it.  Raises UsageError."""
    if argument is not None and any(role not in ("", argument) for role in in_file):
        raise UsageError(
            f"ROLE '{argument}' contradicts '{', '.join(in_file)}' in the file", field="role", hint="leave ROLE out"
        )
