"""The names of roles, agents, frameworks and contexts for the completion of a shell.

They come from the files that `cli.completion.names` keeps.  If those are too old, mesosctl asks the master and waits
two seconds. A failure is silent and offers nothing, because the user is in the middle of a line.
"""

import contextlib
import io
from dataclasses import replace
from typing import Any

import typer

from mesosctl.cli.command import said
from mesosctl.cli.completion.names import keep_contexts, keep_none, kept_names, names_in
from mesosctl.cli.configuration.file import read
from mesosctl.cli.configuration.settings import Settings, existing_configuration, resolve
from mesosctl.cli.environment import Environment, Kind
from mesosctl.cli.options import GlobalOptions, known_settings
from mesosctl.cli.session import Session
from mesosctl.model.errors import MesosctlError

_PATIENCE = 2.0
"""Seconds: the user has pressed Tab and is waiting."""
_PATHS: dict[Kind, str] = {"role": "/roles", "agent": "/slaves", "framework": "/frameworks"}


def find_names(ctx: typer.Context, kind: Kind) -> list[str]:
    """Return the names of a kind that are known in the context and by the options so far; none if that fails."""
    environment: Environment = ctx.find_root().obj
    options = said(ctx)
    # The shell has not replaced the ~ of a word that is still being typed.
    files: dict[str, Any] = {
        one.name: _at_home(getattr(options, one.name), environment) for one in known_settings() if one.is_file
    }
    options = replace(options, **files)
    # A master's answer is untrusted data, and may be anything.
    with contextlib.suppress(MesosctlError, OSError, AttributeError, KeyError, TypeError):
        settings = resolve(options, environment.variables, obeys_context=kind != "context")
        names = kept_names(kind, settings, environment.variables)
        if names is None:
            names = _contexts(environment) if kind == "context" else _asked(kind, options, settings, environment)
        return [name for name in names if name.isprintable()]
    return []


def _at_home(path: str | None, environment: Environment) -> str | None:
    home = environment.variables.get("HOME")
    return f"{home}{path[1:]}" if path is not None and home and path.startswith("~/") else path


def _contexts(environment: Environment) -> list[str]:
    path = existing_configuration(environment.variables)
    names = [] if path is None else sorted(read(path).contexts)
    keep_contexts(names, environment.variables)
    return names


def _asked(kind: Kind, options: GlobalOptions, settings: Settings, environment: Environment) -> list[str]:
    """The names that the master shows, kept for the next time.  Raises MesosctlError."""
    patience = min(settings.options.timeout or _PATIENCE, _PATIENCE)
    silent = replace(environment, stdin=io.StringIO(), stderr=io.StringIO())
    session = Session(silent, options)
    session.options = replace(session.options, timeout=patience)
    try:
        with session.open_master() as master:
            answer = master.get(_PATHS[kind])
    except MesosctlError:
        keep_none(kind, settings, environment.variables)
        raise
    return dict(names_in(_PATHS[kind], answer))[kind]
