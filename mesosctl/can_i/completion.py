"""The commands that a shell is offered after can-i."""

import typer

from mesosctl.can_i.command_permissions import VERBS
from mesosctl.cli.completion.callbacks import roles


def permissions(ctx: typer.Context) -> list[str]:
    """The next word of a command about which can-i knows, and then the role that it is about."""
    typed = " ".join(ctx.params.get("words") or ())
    if typed in VERBS:
        return roles(ctx) if VERBS[typed].of == "role" else []
    start = f"{typed} " if typed else ""
    return list(dict.fromkeys(name[len(start) :].split()[0] for name in VERBS if name.startswith(start)))
