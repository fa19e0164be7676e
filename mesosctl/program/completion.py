"""The words that mesosctl offers to a shell: it answers as `mesosctl.shells.answer` says, with names of the cluster.

The names of roles, agents, frameworks and contexts come from the files that `cli.completion.names` keeps.  If those are
too old, the master is asked and has two seconds.  A failure offers nothing and says nothing: the user is in the middle
of a line.
"""

import contextlib
import io
from dataclasses import replace
from typing import Any, NoReturn

import typer

from mesosctl.cli.command import said
from mesosctl.cli.completion.names import keep_contexts, keep_none, kept_names, names_in
from mesosctl.cli.configuration.file import read
from mesosctl.cli.configuration.settings import Settings, existing_configuration, resolve
from mesosctl.cli.environment import Environment, Kind
from mesosctl.cli.global_options import GlobalOptions, known_settings
from mesosctl.cli.session import Session
from mesosctl.mesos.errors import MesosctlError, steers
from mesosctl.program.main import app
from mesosctl.shells.answer import answer

_TIMEOUT = 2.0
"""Seconds: the user has pressed Tab and is waiting."""
_PATHS: dict[Kind, str] = {
    "role": "/roles", "agent": "/slaves", "attribute": "/slaves", "framework": "/frameworks", "task": "/tasks",
}  # fmt: skip


def complete(environment: Environment) -> int:
    """Answer the shell on standard output; nothing else is said, and nobody is asked."""
    silent = replace(
        environment, stdin=io.StringIO(), stderr=io.StringIO(), notes=[], ask_secret=_ask_nobody, find_names=find_names
    )
    return answer(app, "mesosctl", environment.variables, environment.stdout, silent)


def _ask_nobody(prompt: str) -> NoReturn:
    raise OSError(prompt)


# --- Names ------------------------------------------------------------------------------------------


def find_names(ctx: typer.Context, kind: Kind) -> list[str]:
    """Return the names of a kind that are known in the context and by the options so far; none if that fails."""
    environment: Environment = ctx.find_root().obj
    options = said(ctx)
    # The shell has not replaced the ~ of a word that is still being typed.
    files: dict[str, Any] = {
        setting.name: _with_home(getattr(options, setting.name), environment)
        for setting in known_settings()
        if setting.is_file
    }
    options = options._replace(**files)
    # A master's answer is untrusted data, and may be anything.
    with contextlib.suppress(MesosctlError, OSError, AttributeError, KeyError, TypeError):
        settings = resolve(options, environment.variables, obeys_context=kind != "context")
        names = kept_names(kind, settings, environment.variables)
        if names is None:
            names = _contexts(environment) if kind == "context" else _asked(kind, options, settings, environment)
        return [name for name in names if not steers(name)]
    return []


def _with_home(path: str | None, environment: Environment) -> str | None:
    home = environment.variables.get("HOME")
    return f"{home}{path[1:]}" if path is not None and home and path.startswith("~/") else path


def _contexts(environment: Environment) -> list[str]:
    path = existing_configuration(environment.variables)
    names = [] if path is None else sorted(read(path).contexts)
    keep_contexts(names, environment.variables)
    return names


def _asked(kind: Kind, options: GlobalOptions, settings: Settings, environment: Environment) -> list[str]:
    """The names that the master shows, kept for the next time.  Raises MesosctlError."""
    timeout = min(settings.options.timeout or _TIMEOUT, _TIMEOUT)
    session = Session(environment, options)
    session.options = session.options._replace(timeout=timeout)
    try:
        with session.open_master() as master:
            answer = master.get(_PATHS[kind])
    except MesosctlError:
        keep_none(kind, settings, environment.variables)
        raise
    return dict(names_in(_PATHS[kind], answer))[kind]
