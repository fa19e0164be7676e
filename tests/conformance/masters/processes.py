"""Masters that are processes: starting them, waiting until they are ready, ending them."""

import contextlib
import os
import socket
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tests.helpers.waiting import wait_until

STOP_SECONDS = 60
LOG_LINES = 15


class Process:
    """A child process whose standard error is kept in a file; ended by its own pid alone."""

    def __init__(self, command: Sequence[str], log: Path, *, environment: Mapping[str, str] | None = None) -> None:
        self._log = log
        with log.open("wb") as errors:
            self._child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                env={**os.environ, **(environment or {})},
            )

    def first_line(self) -> str:
        """The first line of standard output; empty if the process ended without one."""
        assert self._child.stdout is not None
        return self._child.stdout.readline().decode().strip()

    @property
    def pid(self) -> int:
        return self._child.pid

    def running(self) -> bool:
        return self._child.poll() is None

    def last_words(self) -> str:
        """How it ended, if it did, and the end of its log."""
        with contextlib.suppress(subprocess.TimeoutExpired):  # a broken connection may be seen before the exit
            self._child.wait(timeout=5)
        lines = self._log.read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join([f"exit status {self._child.returncode}", *lines[-LOG_LINES:]])

    def kill(self) -> None:
        """SIGKILL: no goodbye."""
        self._child.kill()
        self._child.wait(timeout=STOP_SECONDS)
        assert self._child.stdout is not None
        self._child.stdout.close()

    def stop(self) -> None:
        self._child.terminate()
        try:
            self._child.wait(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait(timeout=STOP_SECONDS)
        assert self._child.stdout is not None
        self._child.stdout.close()


def hold_port(number: int = 0) -> socket.socket:
    """A port of the loopback interface, any free one by default, until this is closed.

    The system gives it to nobody who wants any port, and takes nobody's connection out through it; whoever asks for
    it by its number and reuses addresses, as a real master and Java do, listens there.
    """
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind(("127.0.0.1", number))
    return held


def wait_until_ready(ready: Callable[[], bool], process: Process, seconds: float) -> None:
    """Wait until `ready`, or fail with the process's last words when it ends or the time is up."""

    def ready_or_ended() -> bool:
        if ready():
            return True
        assert process.running(), f"ended before it was ready: {process.last_words()}"
        return False

    wait_until(ready_or_ended, process.last_words, seconds)
