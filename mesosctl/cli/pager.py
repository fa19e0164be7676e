"""Long help in a pager, as git shows it: MESOSCTL_PAGER, PAGER or less, and only on a terminal."""

import contextlib
import shutil
import signal
import subprocess

from mesosctl.cli.environment import Environment

_LESS = "FRX"
"""The options of less unless LESS is set: end at once if all fits, keep colours, and leave the text on the screen."""
_NOT_FOUND = (126, 127)
"""The statuses of a shell for a pager that cannot be run."""


def show(text: str, environment: Environment) -> None:
    """Write `text` to standard output: with a pager if that is a terminal with fewer lines."""
    stdout = environment.stdout
    pager = _pager(environment)
    if not pager or text.count("\n") < environment.height(stdout) or not _ran(pager, text, environment):
        stdout.write(text)


def _pager(environment: Environment) -> str:
    """The command of the pager; empty if there is none, or if it is off, which an empty variable or cat means."""
    if not environment.overwrites(environment.stdout):
        return ""
    variables = environment.variables
    said = variables.get("MESOSCTL_PAGER", variables.get("PAGER"))
    if said is not None:
        return "" if said.strip() == "cat" else said.strip()
    # Without the name of the terminal, less stops at a warning.
    return "less" if variables.get("TERM") and shutil.which("less", path=variables.get("PATH")) else ""


def _ran(pager: str, text: str, environment: Environment) -> bool:
    """Run the pager; False if the text was not shown."""
    environment.stdout.flush()
    surroundings = {"LESS": _LESS, "LV": "-c", **environment.variables}
    try:
        with subprocess.Popen(  # noqa: S602  # a pager is a command line, as in git
            pager,
            shell=True,
            stdin=subprocess.PIPE,
            stdout=environment.stdout,
            env=surroundings,
        ) as process:
            # Ctrl-C is for the pager alone: less goes on, and others end.  It is ignored here only once the pager runs,
            # since a process that is started ignores what its parent does.
            before = signal.signal(signal.SIGINT, signal.SIG_IGN)
            try:
                assert process.stdin is not None
                with contextlib.suppress(BrokenPipeError):  # it was left before the end
                    process.stdin.write(text.encode(errors="backslashreplace"))
                    process.stdin.close()
                return process.wait() not in _NOT_FOUND
            finally:
                signal.signal(signal.SIGINT, before)
    except OSError:  # no shell, or standard output is no file
        return False
