"""Completion for bash, zsh and fish: typer's scripts and answers, corrected for these shells.

bash splits words at : and =, expects quoted answers, and replaces only the part after the last split; fish and zsh
treat `--option=value` as one word.
"""

import contextlib
import io
import os
import re
from collections.abc import MutableMapping
from typing import Any, Literal

from mesosctl.cli.environment import Environment

Shell = Literal["bash", "zsh", "fish"]
_ASKS = "_MESOSCTL_COMPLETE"
"""The variable in which typer's scripts pass their request."""
_CUTS = re.compile(r"[:=]+")
_UNSAFE = re.compile(r"([^\w@%+=:,./~…-])")


def script(program: str, shell: Shell) -> str:
    """Typer's script for a shell, as a separate file."""
    from typer.completion import get_completion_script  # type: ignore[attr-defined]  # it only passes it on

    variable = f"_{program}_COMPLETE".replace("-", "_").upper()
    text: str = get_completion_script(prog_name=program, complete_var=variable, shell=shell) + "\n"
    if shell == "zsh":
        # On fpath, the file is read at the first Tab, which must be answered too.
        function = f"_{program.replace('-', '_')}_completion"
        text += f'\nif [[ $zsh_eval_context[-1] == loadautofunc ]]; then\n  {function} "$@"\nfi\n'
    return text


def is_asked(environment: Environment) -> bool:
    """Whether a shell has started the program to complete a word."""
    return environment.variables.get(_ASKS, "").startswith("complete_")


def complete(command: Any, environment: Environment) -> int:
    """Answer the shell on standard output; failures are silent."""
    shell = os.environ[_ASKS].removeprefix("complete_")
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
