"""Calls of custom allocators that have not returned yet, and a watch that reports them.

A call runs in the thread of the master, which does nothing else until it returns, and Python has no safe way to end it
from outside. The watch therefore runs in a separate thread: it reports which call is running, if and for how long,
and it can end the process.
"""

import logging
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from traceback import extract_stack
from typing import NamedTuple

_log = logging.getLogger(__name__)
FIRST_REPORT = 5.0
"""Seconds after which a call is reported; again after twice as long, and so on."""
SECONDS_BETWEEN_LOOKS = 0.25


class Call(NamedTuple):
    """A call of a custom allocator: its name as in `--allocator`, and the method."""

    allocator: str
    what: str


_in_progress: dict[int, Call] = {}
"""The outermost call by the id of its thread: one process may have several masters."""


@contextmanager
def in_progress(allocator: str, what: str) -> Iterator[None]:
    """Record a call of the allocator until it returns or raises."""
    thread = threading.get_ident()
    if thread in _in_progress:  # the allocator called the master, which calls it again
        yield
        return
    _in_progress[thread] = Call(allocator, what)
    try:
        yield
    finally:
        del _in_progress[thread]


class _Seen(NamedTuple):
    call: Call
    since: float
    reports: int


class Watch:
    """Reports calls that take long; with `timeout`, in seconds, one that takes longer is handed to `end`."""

    def __init__(
        self, timeout: float | None, end: Callable[[], object], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._timeout = timeout
        self._end = end
        self._clock = clock
        self._seen: dict[int, _Seen] = {}

    def look(self) -> None:
        """Report each call that is due."""
        now, calls = self._clock(), _in_progress.copy()
        for thread, seen in list(self._seen.items()):
            if calls.get(thread) is not seen.call:
                del self._seen[thread]
                if seen.reports:
                    _log.warning("allocator %s: %s has returned", *seen.call)
        for thread, call in calls.items():
            seen = self._seen.setdefault(thread, _Seen(call, now, 0))
            took = now - seen.since
            if self._timeout is not None and took >= self._timeout:
                _log.error(
                    "allocator %s: %s has not returned for %.3g s%s: the master exits (--allocator-timeout)",
                    *call,
                    took,
                    _place(thread),
                )
                self._end()
            elif took >= FIRST_REPORT * 2**seen.reports:
                self._seen[thread] = seen._replace(reports=seen.reports + 1)
                _log.error(
                    "allocator %s: %s has not returned for %.3g s%s: the master answers no request until it does",
                    *call,
                    took,
                    _place(thread),
                )

    @contextmanager
    def running(self) -> Iterator[None]:
        """Check repeatedly, in a separate thread."""
        over = threading.Event()

        def watch() -> None:
            while not over.wait(SECONDS_BETWEEN_LOOKS):
                self.look()

        thread = threading.Thread(target=watch, name="allocator watch", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


def _place(thread: int) -> str:
    """` (round_robin.py, line 12)`: where a thread is now; nothing if it has ended."""
    frame = sys._current_frames().get(thread)
    if frame is None:
        return ""
    here = extract_stack(frame)[-1]
    return f" ({Path(here.filename).name}, line {here.lineno})"
