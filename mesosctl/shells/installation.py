"""`--install-completion` and `--show-completion`: typer's options, with the scripts of `mesosctl.shells.scripts`.

typer's own scripts evaluate the names that a program answers, or insert them unquoted.
"""

from functools import partial
from typing import Any

import shellingham
import typer

from mesosctl.mesos.errors import UsageError
from mesosctl.shells.scripts import SHELLS, Shell, script, variable_of


def offer_scripts(command: Any, program: str) -> None:
    """Let the two options of a command write the scripts of this project."""
    for option in command.params:
        if option.name in _ACTIONS:
            option.callback = partial(_act, program)


def _act(program: str, ctx: Any, option: Any, value: Any) -> None:
    """Do what an option says, and end.  Raises UsageError for a shell without a script."""
    if not value or ctx.resilient_parsing:
        return
    named = _shell_around() if value is True else str(getattr(value, "value", value))
    shell = next((known for known in SHELLS if known == named), None)
    if shell is None:
        raise UsageError(
            f"there is no completion for {named or 'this shell'}",
            field=max(option.opts, key=len),
            hint="the shells are bash, zsh and fish: run it in one of them",
        )
    _ACTIONS[option.name](program, shell)
    raise typer.Exit


def _shell_around() -> str:
    """The name of the shell in which the program runs; empty if it is unknown."""
    try:
        return str(shellingham.detect_shell()[0])
    except shellingham.ShellDetectionFailure:
        return ""


def _install(program: str, shell: Shell) -> None:
    """Let typer edit the startup files of the shell, and replace the script that it writes."""
    from typer.completion import install  # type: ignore[attr-defined]  # it only passes it on

    _, path = install(shell=shell, prog_name=program, complete_var=variable_of(program))
    path.write_text(script(program, shell), encoding="utf-8")
    typer.secho(f"{shell} completion installed in {path}", fg="green")
    typer.echo("Completion will take effect once you restart the terminal")


def _show(program: str, shell: Shell) -> None:
    typer.echo(script(program, shell), nl=False)


_ACTIONS = {"install_completion": _install, "show_completion": _show}
