"""What a shell is offered for the values of options and arguments: callbacks for typer's `autocompletion=`.

Names come from the files that `cli.names` keeps, and where those are too old from the master, which has two seconds.
Whatever fails offers nothing, and says nothing: somebody is in the middle of a line.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from mesosctl.cli.environment import Environment
    from mesosctl.cli.names import Kind
    from mesosctl.cli.options import GlobalOptions
    from mesosctl.cli.settings import Settings

_PATIENCE = 2.0
"""Seconds: somebody is waiting with a finger on the Tab key."""
_PATHS: dict["Kind", str] = {"role": "/roles", "agent": "/slaves", "framework": "/frameworks"}


def roles(ctx: typer.Context) -> list[str]:
    """The names of roles."""
    return _names(ctx, "role")


def agents(ctx: typer.Context) -> list[str]:
    """Host names and ids of agents."""
    return _names(ctx, "agent")


def first_agent(ctx: typer.Context) -> list[str]:
    """The same for an argument whose first word is an agent."""
    return [] if ctx.params.get("words") else agents(ctx)


def frameworks(ctx: typer.Context) -> list[str]:
    """Names and ids of frameworks."""
    return _names(ctx, "framework")


def roles_and_frameworks(ctx: typer.Context) -> list[str]:
    """The names of roles, and names and ids of frameworks."""
    return [*roles(ctx), *frameworks(ctx)]


def contexts(ctx: typer.Context) -> list[str]:
    """The names of contexts."""
    return _names(ctx, "context")


def addresses() -> list[str]:
    """The ways to name a master."""
    return ["fake:", *_begun("http://", "https://", "zk://", "file:///")]


def changes() -> list[str]:
    """The kinds of changes that `whatif` knows."""
    from mesosctl.planning.changes import VERBS

    return list(_begun(*(f"{verb}:" for verb in VERBS)))


def keys() -> list[str]:
    """The settings that a context may hold."""
    from mesosctl.cli.settings import declared

    return [setting.key for setting in declared() if setting.in_contexts]


def keys_with_values() -> list[str]:
    """The same as they are set: a secret is its name alone, as it is asked for."""
    from mesosctl.cli.settings import declared

    kept = [setting for setting in declared() if setting.in_contexts]
    begun = _begun(*(f"{setting.key}=" for setting in kept if not setting.is_secret))
    return [*(setting.key for setting in kept if setting.is_secret), *begun]


def _begun(*words: str) -> Iterator[str]:
    """Words that go on: shells add a blank to the only word there is, so there are two of each."""
    for word in words:
        yield from (word, f"{word}…")


def _names(ctx: typer.Context, kind: "Kind") -> list[str]:
    from mesosctl.cli.command import said
    from mesosctl.cli.names import kept_names
    from mesosctl.cli.settings import declared, resolve
    from mesosctl.model.errors import MesosctlError

    environment: Environment = ctx.find_root().obj
    options = said(ctx)
    # The shell has not replaced the ~ of a word that is still being typed.
    files: dict[str, Any] = {
        one.name: _at_home(getattr(options, one.name), environment) for one in declared() if one.is_file
    }
    options = replace(options, **files)
    # What a master answers is data of a stranger, and may be anything.
    with contextlib.suppress(MesosctlError, OSError, AttributeError, KeyError, TypeError):
        settings = resolve(options, environment.variables, obeys_context=kind != "context")
        names = kept_names(kind, settings, environment.variables)
        if names is None:
            names = _contexts(environment) if kind == "context" else _asked(kind, options, settings, environment)
        return [name for name in names if name.isprintable()]
    return []


def _at_home(path: str | None, environment: "Environment") -> str | None:
    home = environment.variables.get("HOME")
    return f"{home}{path[1:]}" if path is not None and home and path.startswith("~/") else path


def _contexts(environment: "Environment") -> list[str]:
    from mesosctl.cli.configuration import read
    from mesosctl.cli.names import keep_contexts
    from mesosctl.cli.settings import existing_configuration

    path = existing_configuration(environment.variables)
    names = [] if path is None else sorted(read(path).contexts)
    keep_contexts(names, environment.variables)
    return names


def _asked(kind: "Kind", options: "GlobalOptions", settings: "Settings", environment: "Environment") -> list[str]:
    """The names that the master tells, kept for the next time.  Raises MesosctlError."""
    import io

    from mesosctl.cli.names import keep_none, names_in
    from mesosctl.cli.session import Session
    from mesosctl.model.errors import MesosctlError

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
