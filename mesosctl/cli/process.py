"""What concerns the process rather than the command: signals, the collector, streams that are closed or full."""

import contextlib
import gc
import io
import os
import signal
import sys
from types import FrameType
from typing import TextIO

from mesosctl.cli.environment import Environment
from mesosctl.cli.streams import ClosedOutput, LenientOutput, no_input
from mesosctl.core.errors import HungUp, Interruption, Terminated

_ENDS = {signal.SIGTERM: Terminated, signal.SIGHUP: HungUp}
"""Signals that end a command as Ctrl-C does."""


def run_as_program(arguments: list[str]) -> int:
    """Run a command in this process, which belongs to it alone."""
    # A command ends before there is garbage worth the search; imports alone would start it often.
    gc.disable()
    for number in _ENDS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup has it
            signal.signal(number, _interrupt)
    from mesosctl.cli.run import run

    # A stream that was closed before the program began is None, whatever its type says.
    stdin: TextIO | None = sys.stdin
    stdout: TextIO | None = None if sys.stdout is None else _whole(sys.stdout)
    environment = Environment(
        stdin=no_input() if stdin is None else stdin,
        stdout=ClosedOutput() if stdout is None else stdout,
        stderr=LenientOutput(sys.stderr if sys.stderr is None else _escaping(sys.stderr)),
    )
    try:
        return run(arguments, environment)
    finally:
        _settle(stdout)
        gc.freeze()  # the interpreter searches for garbage once more as it ends; the process takes it all along


def _whole(stream: TextIO) -> TextIO:
    """The stream, escaping, and with a buffer where PYTHONUNBUFFERED took it away.

    Without one, Python drops what a single write to a pipe or a full disk could not take, and says nothing.
    """
    raw = getattr(stream, "buffer", None)
    if not isinstance(raw, io.RawIOBase):
        return _escaping(stream)
    buffered = io.BufferedWriter(raw)
    return io.TextIOWrapper(buffered, stream.encoding, errors="backslashreplace", write_through=True)


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


def _interrupt(signum: int, frame: FrameType | None) -> None:
    """End as for Ctrl-C: what has to be put back is put back."""
    del frame
    # Service managers send it right after SIGTERM; it must not stop what is being put back.
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    raise Interruption(_ENDS[signal.Signals(signum)])
