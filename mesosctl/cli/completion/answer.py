"""The answer to a shell that completes a word: typer's, with what typer's own does not do for bash, zsh and fish.

bash splits words at : and =, expects quoted answers, and replaces only the part after the last split; fish and zsh
treat `--option=value` as one word.

The names of roles, agents, frameworks and contexts come from the files that `cli.completion.names` keeps.  If those are
too old, the master is asked and has two seconds.  A failure offers nothing and says nothing: the user is in the middle
of a line.
"""

import contextlib
import io
import os
import re
from collections.abc import MutableMapping
from dataclasses import replace
from typing import Any

import typer

from mesosctl.cli.command import said
from mesosctl.cli.completion.callbacks import ASKS
from mesosctl.cli.completion.names import keep_contexts, keep_none, kept_names, names_in
from mesosctl.cli.configuration.file import read
from mesosctl.cli.configuration.settings import Settings, existing_configuration, resolve
from mesosctl.cli.environment import Environment, Kind
from mesosctl.cli.global_options import GlobalOptions, known_settings
from mesosctl.cli.session import Session
from mesosctl.model.errors import MesosctlError

_TIMEOUT = 2.0
"""Seconds: the user has pressed Tab and is waiting."""
_PATHS: dict[Kind, str] = {"role": "/roles", "agent": "/slaves", "framework": "/frameworks", "task": "/tasks"}
_CUTS = re.compile(r"[:=]+")
_UNSAFE = re.compile(r"([^\w@%+=:,./~…-])")


def complete(command: Any, environment: Environment) -> int:
    """Answer the shell on standard output; failures are silent."""
    environment.find_names = find_names
    shell = os.environ[ASKS].removeprefix("complete_")
    word, cut = _join_words(os.environ) if shell == "bash" else (_last_word(os.environ), 0)
    answer, status = io.StringIO(), 1
    with contextlib.redirect_stdout(answer), contextlib.redirect_stderr(io.StringIO()):
        try:
            command.main([], prog_name="mesosctl", standalone_mode=False, obj=environment)
        except SystemExit as ended:
            status = int(ended.code or 0)
        except (Exception, KeyboardInterrupt):  # noqa: BLE001  # nobody can be told in the middle of a line
            return status
    option = word.partition("=")[0] + "=" if word.startswith("--") and "=" in word else ""
    lines = [line for line in answer.getvalue().splitlines() if line]
    typed = word.removeprefix(option)
    if f"{typed}…" in lines:  # it is all there: what follows is the user's own
        lines = [line for line in lines if line not in (typed, f"{typed}…")]
    if shell == "bash":
        lines = [_UNSAFE.sub(r"\\\1", f"{option}{line}"[cut:]) for line in lines]
    elif shell == "fish":
        lines = [f"{option}{line}" for line in lines]
    elif option:
        lines.insert(0, "compset -P '*=';")
    environment.stdout.writelines(f"{line}\n" for line in lines)
    return status


def _join_words(variables: MutableMapping[str, str]) -> tuple[str, int]:
    """Join words that bash has split: the one at the cursor, and how much of it bash keeps."""
    words: list[str] = []
    place = int(variables["COMP_CWORD"])
    pieces = variables["COMP_WORDS"].split("\n")[: place + 1]
    glued = False
    for index, piece in enumerate(pieces):
        is_cut = _CUTS.fullmatch(piece) is not None
        if index > 1 and (glued or is_cut):
            words[-1] += piece
            glued = is_cut
        else:
            words.append(piece)
            glued = False
    variables["COMP_WORDS"], variables["COMP_CWORD"] = "\n".join(words), str(len(words) - 1)
    last = "" if _CUTS.fullmatch(pieces[-1]) else pieces[-1]
    return words[-1], len(words[-1]) - len(last)


def _last_word(variables: MutableMapping[str, str]) -> str:
    return variables.get("_TYPER_COMPLETE_ARGS", "").rpartition(" ")[2]


# --- Names ------------------------------------------------------------------------------------------


def find_names(ctx: typer.Context, kind: Kind) -> list[str]:
    """Return the names of a kind that are known in the context and by the options so far; none if that fails."""
    environment: Environment = ctx.find_root().obj
    options = said(ctx)
    # The shell has not replaced the ~ of a word that is still being typed.
    files: dict[str, Any] = {
        one.name: _with_home(getattr(options, one.name), environment) for one in known_settings() if one.is_file
    }
    options = options._replace(**files)
    # A master's answer is untrusted data, and may be anything.
    with contextlib.suppress(MesosctlError, OSError, AttributeError, KeyError, TypeError):
        settings = resolve(options, environment.variables, obeys_context=kind != "context")
        names = kept_names(kind, settings, environment.variables)
        if names is None:
            names = _contexts(environment) if kind == "context" else _asked(kind, options, settings, environment)
        return [name for name in names if name.isprintable()]
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
    silent = replace(environment, stdin=io.StringIO(), stderr=io.StringIO())
    session = Session(silent, options)
    session.options = session.options._replace(timeout=timeout)
    try:
        with session.open_master() as master:
            answer = master.get(_PATHS[kind])
    except MesosctlError:
        keep_none(kind, settings, environment.variables)
        raise
    return dict(names_in(_PATHS[kind], answer))[kind]
