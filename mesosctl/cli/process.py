"""What concerns the process rather than the command: signals, the collector, streams that are closed or full."""

import contextlib
import gc
import os
import signal
import sys
from types import FrameType
from typing import TextIO

from mesosctl.cli.environment import Environment
from mesosctl.cli.streams import ClosedOutput, LenientOutput, no_input
from mesosctl.core.errors import ExitStatus


def run_as_program(arguments: list[str]) -> int:
    """Run a command in this process, which belongs to it alone."""
    # A command ends before there is garbage worth the search; imports alone would start it often.
    gc.disable()
    signal.signal(signal.SIGTERM, _terminate)
    # httpx loads a command line of its own where click is installed, and rich with it.
    sys.modules.setdefault("click", None)  # type: ignore[arg-type]
    from mesosctl.cli.run import run

    # A stream that was closed before the program began is None, whatever its type says.
    stdin: TextIO | None = sys.stdin
    stdout: TextIO | None = sys.stdout
    environment = Environment(
        stdin=no_input() if stdin is None else stdin,
        stdout=ClosedOutput() if stdout is None else _escaping(stdout),
        stderr=LenientOutput(sys.stderr if sys.stderr is None else _escaping(sys.stderr)),
    )
    try:
        return run(arguments, environment)
    finally:
        _settle(stdout)


def _escaping(stream: TextIO) -> TextIO:
    """The stream, escaping what its encoding cannot hold: a role may have any name."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
    return stream


def _settle(stdout: TextIO | None) -> None:
    """Drop what could not be written: the interpreter would try once more, complain, and change the status."""
    if stdout is None:
        return
    try:
        stdout.flush()
    except (OSError, ValueError):
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stdout.fileno())


def _terminate(signum: int, frame: FrameType | None) -> None:
    """End as for Ctrl-C: what has to be put back is put back."""
    del signum, frame
    raise SystemExit(int(ExitStatus.TERMINATED))
