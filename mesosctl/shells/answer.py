"""The answer of a program to the script of a shell: lines of data, one for each word that may come next.

- bash: the first line is the quote that is open at the cursor; every other is a mark and the end of a word.
- zsh: a mark, a word, a tab, and its help.
- fish: a word, a tab, and its help.

The mark is + for a word that goes on, and a blank for one that a space follows; fish sees that by the last character.
Words are not quoted, which is the business of the shell.  A callback offers no word with a control character, and one
that the locale cannot write is left out.

Nothing else is written, whatever happens: the user is in the middle of a line.  Earlier scripts, and those of typer,
evaluate what they are answered, so their requests get an empty answer, like any that is unknown.
"""

import contextlib
import fcntl
import io
import os
import shlex
import termios
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TextIO

import typer

from mesosctl.shells.scripts import ASKS_FOR_WORDS, GOES_ON, HISTORY, LINE, REPLACED, SHELLS, Shell, variable_of
from mesosctl.shells.typed import Typed, typed_in_bash, typed_in_fish, typed_in_zsh

_PROCESS = "%self"
"""The word that fish reads as the number of its process: it does not quote it when it inserts it.

A name of several kinds is offered with its kind in front (`name:%self`); any other only within quotes.
"""
_ASKS_TYPER = "_MESOSCTL_ASKS_TYPER"


class NextWord(NamedTuple):
    """One word that may come next."""

    word: str
    help: str
    goes_on: bool


def be_silent() -> None:
    """Let this process, which answers a shell, say nothing, and let no library ask for a passphrase."""
    with contextlib.suppress(OSError):
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        os.dup2(nothing, 2)
    if os.getsid(0) == os.getpid():
        return  # it would take the terminal from all others

    with contextlib.suppress(OSError):
        fcntl.ioctl(os.open("/dev/tty", os.O_RDWR), termios.TIOCNOTTY)


def answer(app: typer.Typer, program: str, variables: Mapping[str, str], stdout: TextIO, obj: Any = None) -> int:
    """Write the answer of a program to the request in `variables`; `obj` is for its callbacks.

    Returns 1 for a request that is unknown or fails, which has no answer.
    """
    request = variables.get(variable_of(program), "")
    shell = next((known for known in SHELLS if request == f"{ASKS_FOR_WORDS}{known}"), None)
    if shell is None:
        return 1
    try:
        typed, command = _typed(shell, program, variables), typer.main.get_command(app)
        offers = [
            offered for offered in _offers(command, program, typed, obj, shell) if _is_writable(offered.word, stdout)
        ]
        stdout.writelines(f"{line}\n" for line in _lines(shell, typed, offers))
        stdout.flush()
    except (Exception, KeyboardInterrupt):  # noqa: BLE001  # nobody can be told in the middle of a line
        return 1
    return 0


def _typed(shell: Shell, program: str, variables: Mapping[str, str]) -> Typed:
    line = variables.get(LINE, "")
    if shell == "bash":
        return typed_in_bash(line, variables.get(REPLACED, ""))
    if shell == "zsh":
        return typed_in_zsh(line, variables.get(HISTORY, ""))
    return typed_in_fish(line, program)


def _lines(shell: Shell, typed: Typed, offers: list[NextWord]) -> Iterator[str]:
    if shell == "bash" and offers:
        yield typed.quote
    for word, help_text, goes_on in offers:
        if shell == "fish" and word == _PROCESS and not typed.quote:
            continue
        mark = "+" if goes_on else " "
        if shell == "bash":
            yield f"{mark}{word.removeprefix(typed.kept)}"
        else:
            yield f"{mark if shell == 'zsh' else ''}{word}\t{help_text}"


def _is_writable(word: str, stdout: TextIO) -> bool:
    """Whether a word can be a line of the answer."""
    try:
        word.encode(stdout.encoding or "utf-8")
    except UnicodeError:
        return False
    return True


def _offers(command: Any, program: str, typed: Typed, obj: Any, shell: Shell) -> Iterator[NextWord]:
    """Yield the words that may follow; those for zsh have no `--option=` before them, since it keeps that."""
    words, begun, option = typed.words, typed.begun, ""
    only_arguments = "--" in words
    if not only_arguments and begun.startswith("--") and "=" in begun:
        name, _, begun = begun.partition("=")
        words, option = (*words, name), f"{name}="
    is_value = only_arguments or _takes_value(command, words)
    # typer takes a word that begins with a dash for an option, in every place.
    asked = "" if is_value and begun.startswith("-") else begun
    for line in _asked_of_typer(command, program, (*words, asked), obj, with_help=shell != "bash"):
        word, _, help_text = line.partition("\t")
        goes_on = word.endswith(GOES_ON)
        word = word.removesuffix(GOES_ON)
        is_option_by_chance = word.startswith("-") and not (is_value or begun.startswith("-"))
        is_all_there = goes_on and word == begun  # what follows is the user's own
        if word and word.startswith(begun) and not is_option_by_chance and not is_all_there:
            yield NextWord(word if shell == "zsh" else f"{option}{word}", help_text, goes_on)


def _takes_value(command: Any, words: tuple[str, ...]) -> bool:
    """Whether the last of the words is an option whose value comes next."""
    for word in words:
        below = command.get_command(None, word) if hasattr(command, "get_command") else None
        command = command if below is None else below
    return any(
        parameter.param_type_name == "option" and words[-1:] == (name,) and not (parameter.is_flag or parameter.count)
        for parameter in command.get_params(typer.Context(command))
        for name in parameter.opts
    )


def _asked_of_typer(command: Any, program: str, words: tuple[str, ...], obj: Any, *, with_help: bool) -> list[str]:
    """The lines with which typer answers its own scripts: for fish with help, which takes longer, for bash without."""
    line = shlex.join((program, *words))
    if with_help:
        line = line if words[-1] else line.removesuffix("''")  # in its own scripts, a word has begun after a blank
        asks = {"_TYPER_COMPLETE_FISH_ACTION": "get-args", "_TYPER_COMPLETE_ARGS": line}
    else:
        asks = {"COMP_WORDS": line, "COMP_CWORD": str(len(words))}
    asks[_ASKS_TYPER] = "complete_fish" if with_help else "complete_bash"
    said = io.StringIO()
    silent = contextlib.redirect_stderr(io.StringIO())
    with _variables(asks), contextlib.redirect_stdout(said), silent, contextlib.suppress(SystemExit):
        command.main([], prog_name=program, complete_var=_ASKS_TYPER, standalone_mode=False, obj=obj)
    return said.getvalue().split("\n")


@contextlib.contextmanager
def _variables(added: Mapping[str, str]) -> Iterator[None]:
    """Add variables to those of the process for the duration of a block."""
    before = {name: os.environ.get(name) for name in added}
    os.environ.update(added)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
