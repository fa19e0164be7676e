"""What concerns the process rather than the command: signals, the collector, closed pipes."""

import gc
import os
import signal
import sys
from types import FrameType

from mesosctl.cli.environment import Environment
from mesosctl.core.errors import ExitStatus


def run_as_program(arguments: list[str]) -> int:
    """Run a command in this process, which belongs to it alone."""
    # A command ends before there is garbage worth the search; imports alone would start it often.
    gc.disable()
    signal.signal(signal.SIGTERM, _terminate)
    # httpx loads a command line of its own where click is installed, and rich with it.
    sys.modules.setdefault("click", None)  # type: ignore[arg-type]
    from mesosctl.cli.exit_statuses import BROKEN_PIPE
    from mesosctl.cli.run import run

    status = run(arguments, Environment())
    if status == BROKEN_PIPE:
        # The interpreter would try to flush once more, and complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return status


def _terminate(signum: int, frame: FrameType | None) -> None:
    """End as for Ctrl-C: what has to be put back is put back."""
    del signum, frame
    raise SystemExit(int(ExitStatus.TERMINATED))
