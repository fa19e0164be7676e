"""One run: arguments in, exit status out. A mistake causes no traceback, and standard output has only data."""

import contextlib
import gc
import io
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any, TextIO

from mesosctl.cli.environment import ClosedOutput, Environment, LenientOutput, is_unwritable, no_input
from mesosctl.files.user_folders import edits_told
from mesosctl.hints import hint_of
from mesosctl.mesos.errors import (
    BadInput,
    Bug,
    HungUp,
    Interrupted,
    Interruption,
    MesosctlError,
    Terminated,
    UsageError,
    interrupted,
    too_little_memory,
)
from mesosctl.mesos.exit_status import ExitStatus
from mesosctl.shells.scripts import is_asked

if TYPE_CHECKING:
    from mesosctl.cli.global_options import GlobalOptions


def run(arguments: Sequence[str], environment: Environment) -> int:
    """Run a command and return its exit status."""
    if is_asked("mesosctl", environment.variables):
        from mesosctl.program.completion import complete

        return complete(environment)
    environment.words = tuple(arguments)
    status = None
    try:
        status = _invoke(arguments, environment)
        environment.stdout.flush()
    except MesosctlError as error:
        _report(error, arguments, environment)
        return int(error.exit_status)
    except BrokenPipeError:
        return int(ExitStatus.BROKEN_PIPE)
    except (KeyboardInterrupt, Exception) as error:
        stopped = environment.interruption_behind(error)
        if stopped is not None:
            told = "no change was sent" if status is None else "the command is done, but its output may be incomplete"
            ended = interrupted(stopped, told)
            _report(ended, arguments, environment)
            return int(ended.exit_status)
        explained = _explain(error)
        if explained is None and _said(arguments).verbose >= 2:
            raise
        explained = explained or _bug(error)
        _report(explained, arguments, environment)
        return int(explained.exit_status)
    finally:
        environment.tell_notes()
    return status


def _report(error: MesosctlError, arguments: Sequence[str], environment: Environment) -> None:
    """Report an error in the output format that was given, even if the command line is invalid."""
    if environment.form is None:
        environment.form = _said(arguments).output or environment.variables.get("MESOSCTL_OUTPUT")
    error.hint = hint_of(error)
    environment.tell_error(error)


def _said(arguments: Sequence[str]) -> "GlobalOptions":
    from mesosctl.cli.command import said_among

    return said_among(arguments)


def _explain(error: BaseException) -> MesosctlError | None:
    """The error for an ordinary condition of the environment; None for a bug."""
    if isinstance(error, OSError) and is_unwritable(error):
        return cannot_write(error)
    if isinstance(error, OSError) and isinstance(error.filename, str):  # of --install-completion, which is typer's
        return BadInput(f"{error.filename} cannot be used: {error.strerror}")
    if isinstance(error, RecursionError):  # a hostile file or answer
        return BadInput("the input is nested too deeply", hint="nest it less deeply")
    return too_little_memory(error)


def cannot_write(error: OSError) -> MesosctlError:
    """The error if standard output accepts no more."""
    return BadInput(f"standard output cannot be written to: {error.strerror}")


def _check_arguments(arguments: Sequence[str]) -> None:
    for word in arguments:
        if any("\ud800" <= character <= "\udfff" for character in word):
            raise UsageError(f"'{word}' is not UTF-8", hint="roles and principals are written in UTF-8")


def _invoke(arguments: Sequence[str], environment: Environment) -> int:
    import typer

    from mesosctl.program.main import app
    from mesosctl.shells.installation import offer_scripts

    command = typer.main.get_command(app)
    offer_scripts(command, "mesosctl")
    _check_arguments(arguments)
    try:
        with _streams(environment), edits_told(arguments, "--install-completion", environment.note):
            returned: Any = command.main(list(arguments), prog_name="mesosctl", standalone_mode=False, obj=environment)
    except typer.TyperException as error:
        from mesosctl.cli.command import usage_error

        raise usage_error(error, arguments, command) from None
    except SystemExit as ended:
        # typer turns a closed pipe into status 1.
        if isinstance(ended.__context__, BrokenPipeError):
            raise ended.__context__ from None
        return int(ended.code or 0)  # of --show-completion
    except typer.Abort as aborted:
        raise aborted.__cause__ or KeyboardInterrupt from None
    if returned == ExitStatus.INTERRUPTED:
        raise KeyboardInterrupt
    return int(returned or 0)


@contextlib.contextmanager
def _streams(environment: Environment) -> Iterator[None]:
    """Help and versions are printed by typer, which knows only the process's own streams."""
    with contextlib.redirect_stdout(environment.stdout), contextlib.redirect_stderr(environment.stderr):
        yield


def _bug(error: BaseException) -> Bug:
    """One sentence for a bug; its values may be secret, so only the type of the exception is named."""
    return Bug(
        f"this is a bug ({type(error).__name__})",
        hint="run the same command again with -vv, and open an issue with the output",
    )


def run_as_program(arguments: list[str]) -> int:
    """Run a command in this process, which belongs to it alone."""
    # A command ends before garbage collection is worthwhile, but imports alone would trigger it often.
    gc.disable()
    # pydantic would look for plugins in every installed package.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # A stream that was closed before the program started is None, despite its type.
    stdin: TextIO | None = sys.stdin
    stdout: TextIO | None = None if sys.stdout is None else _whole(sys.stdout)
    environment = Environment(
        stdin=no_input() if stdin is None else stdin,
        stdout=ClosedOutput() if stdout is None else stdout,
        stderr=LenientOutput(sys.stderr if sys.stderr is None else _escaping(sys.stderr)),
    )
    try:
        if is_asked("mesosctl", environment.variables):
            from mesosctl.shells.answer import be_silent

            be_silent()
        obey_signals(environment)
        return run(arguments, environment)
    finally:
        _settle(stdout)
        gc.freeze()  # the interpreter would collect garbage once more at its end, which is pointless


def _whole(stream: TextIO) -> TextIO:
    """The stream, which escapes, and has a buffer even with PYTHONUNBUFFERED.

    Without a buffer, Python silently drops what a single write to a pipe or a full disk could not accept.
    """
    raw = getattr(stream, "buffer", None)
    if not isinstance(raw, io.RawIOBase):
        return _escaping(stream)
    buffered = io.BufferedWriter(raw)
    return io.TextIOWrapper(buffered, stream.encoding, errors="backslashreplace", write_through=True)


def _escaping(stream: TextIO) -> TextIO:
    """The stream, which escapes characters outside its encoding: a role may have any name."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
    return stream


def _settle(stdout: TextIO | None) -> None:
    """Drop the unwritten rest: the interpreter would try again, print an error, and change the status."""
    if stdout is None:
        return
    try:
        stdout.flush()
    except (OSError, ValueError):
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stdout.fileno())


_ENDS = {signal.SIGINT: Interrupted, signal.SIGTERM: Terminated, signal.SIGHUP: HungUp}
"""Signals that end a command: changes that must be restored are restored."""


def obey_signals(environment: Environment) -> None:
    """End the command at a signal, and note it: a library may make another exception of the one that is raised."""

    def end(signum: int, frame: FrameType | None) -> None:
        del frame
        if signum != signal.SIGINT:
            # Service managers send it right after SIGTERM; it must not interrupt the restoring.
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
        environment.signals.append(Interruption(_ENDS[signal.Signals(signum)]))
        raise environment.signals[-1]

    for number in _ENDS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as with nohup
            signal.signal(number, end)
