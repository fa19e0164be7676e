"""The words after can-i, as the command line reads them."""

import shlex
from collections.abc import Sequence

import typer

from mesosctl.can_i.command import reader
from mesosctl.can_i.command_permissions import PermissionQuestion
from mesosctl.can_i.questions import TypedCommand, parse_command
from mesosctl.program.main import app


def typed(words: str, role: str | None = None) -> TypedCommand:
    """The command in these words."""
    root = typer.main.get_command(app)
    with root.make_context("mesosctl", [], resilient_parsing=True) as ctx:
        return parse_command(shlex.split(words), reader(ctx), role)


def asked(words: str) -> Sequence[PermissionQuestion]:
    """The questions in these words."""
    return typed(words).questions
