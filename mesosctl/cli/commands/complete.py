"""`mesosctl complete`: what the completion of a shell asks when the names it has are too old."""

from dataclasses import replace
from typing import Annotated, Literal

import typer

from mesosctl.cli import names
from mesosctl.cli.session import Session
from mesosctl.cli.settings import existing_configuration
from mesosctl.cli.verb import verb
from mesosctl.model.errors import MesosctlError

_PATIENCE = 2.0
"""Seconds: somebody is waiting with a finger on the Tab key."""
_PATHS = {"role": "/roles", "agent": "/slaves", "framework": "/frameworks"}

HIDDEN = True
Kind = Annotated[Literal["role", "agent", "framework", "context"], typer.Argument(help="What to name.")]


@verb((("complete role", "the names of roles"),))
def command(session: Session, kind: Kind) -> None:
    """Name what a word can be completed to, and keep the names for the next time."""
    environment = session.environment
    if kind == "context":
        path = existing_configuration(environment.variables)
        contexts: list[str] = []
        if path is not None:
            from mesosctl.cli.configuration import read

            contexts = sorted(read(path).contexts)
        names.keep_contexts(contexts, environment.variables)
        environment.stdout.writelines(f"{name}\n" for name in contexts)
        return
    patience = min(session.options.timeout or _PATIENCE, _PATIENCE)
    session.options = replace(session.options, timeout=patience)
    try:
        with session.open_master() as master:
            answer = master.get(_PATHS[kind])
    except MesosctlError:
        names.keep_none(kind, session.settings, environment.variables)
        raise
    found = dict(names.names_in(_PATHS[kind], answer))[kind]
    environment.stdout.writelines(f"{name}\n" for name in found if name.isprintable())
