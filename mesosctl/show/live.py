"""Output that changes while a command runs, by rich: progress, and a view that refreshes."""

import os
import re
import select
import signal
import termios
import time
import tty
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self, TextIO

from rich.console import Console, ConsoleDimensions
from rich.live import Live
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from mesosctl.show.terminal import console

if TYPE_CHECKING:
    from rich.console import RenderableType


class ProgressLine:
    """One line on a terminal: a spinner, a sentence and the time so far; a bar and the time left if a part is known.

    It appears with the first sentence.  `stop` removes it, and the next sentence brings it back.
    """

    def __init__(self, stream: TextIO, *, colours: bool) -> None:
        self._console = Console(
            file=stream,
            force_terminal=True,
            color_system="standard" if colours else None,
            highlight=False,
            markup=False,
        )
        self._progress: Progress | None = None
        self._is_measured = False

    def show(self, sentence: str, part: float | None = None) -> None:
        """Show `sentence`, and `part`, from 0 to 1, as a bar."""
        is_measured = part is not None
        if self._progress is not None and is_measured != self._is_measured:
            self.stop()
        if self._progress is None:
            self._is_measured = is_measured
            self._progress = Progress(
                *_columns(is_measured=is_measured),
                console=self._console,
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._progress.add_task(sentence, total=1.0 if is_measured else None)
            self._progress.update(self._progress.task_ids[0], completed=part)
            self._progress.start()
        else:
            self._progress.update(self._progress.task_ids[0], description=sentence, completed=part)

    def stop(self) -> None:
        """Remove the line."""
        progress, self._progress = self._progress, None
        if progress is not None:
            progress.stop()


def _columns(*, is_measured: bool) -> tuple[ProgressColumn, ...]:
    sentence = TextColumn("mesosctl: {task.description}", markup=False)
    if is_measured:
        return SpinnerColumn(), sentence, BarColumn(), TaskProgressColumn(), TimeRemainingColumn()
    return SpinnerColumn(), sentence, TimeElapsedColumn()


class LiveView:
    """A view that replaces the previous one; the last one stays on the screen."""

    def __init__(self, stream: TextIO, *, colours: bool) -> None:
        self._console = console(stream, colours=colours, steers=True)
        self._live: Live | None = None

    def show(self, view: "RenderableType", width: int) -> None:
        """Draw `view` in place of the last one, on a terminal of this width."""
        self._console.width = width
        if self._live is None:
            self._live = Live(
                view, console=self._console, auto_refresh=False, redirect_stdout=False, redirect_stderr=False
            )
            self._live.start(refresh=True)
        else:
            self._live.update(view, refresh=True)

    def stop(self) -> None:
        """Leave the last view in place; the next one is drawn below."""
        live, self._live = self._live, None
        if live is not None:
            live.stop()


class FullScreen:
    """A full-screen view, and the keys that are pressed; used with `with`.

    Whatever ends it, an exception or a signal, the terminal is restored: its modes, its cursor and its text. Ctrl-Z
    restores it while the program is suspended.
    """

    def __init__(self, stream: TextIO, keys: TextIO | None, *, colours: bool) -> None:
        self._stream, self._keys = stream, keys
        self._colours = colours
        self._live: Live | None = None
        self._modes: list[Any] | None = None
        self._handlers: dict[int, Any] = {}
        self._rests = False
        self._shown: object = None
        """The values that the view on the screen was made of."""
        self._pressed: list[str] = []
        """Keys that were pressed and are not taken yet."""

    def __enter__(self) -> Self:
        for number, handler in ((signal.SIGTSTP, self._rest), (signal.SIGQUIT, _quit)):
            self._handlers[number] = signal.signal(number, handler)
        try:
            self._take()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        # A second Ctrl-C must not leave the terminal half restored.
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            self._give_back()
        finally:
            for number, handler in self._handlers.items():
                signal.signal(number, handler)
            signal.signal(signal.SIGINT, before)

    def _take(self) -> None:
        if self._keys is not None:
            self._modes = termios.tcgetattr(self._keys)
            tty.setcbreak(self._keys, termios.TCSANOW)
        self._live = Live(
            console=console(self._stream, colours=self._colours, steers=True),
            screen=True,
            auto_refresh=False,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._live.start()

    def _give_back(self) -> None:
        live, self._live = self._live, None
        with suppress(OSError, ValueError):  # the terminal may be gone
            if live is not None:
                live.stop()
            self._stream.flush()
        modes, self._modes = self._modes, None
        if modes is not None and self._keys is not None:
            with suppress(OSError, ValueError, termios.error):
                termios.tcsetattr(self._keys, termios.TCSANOW, modes)
                termios.tcflush(self._keys, termios.TCIFLUSH)  # discard keys that were meant for the screen

    def _rest(self, *_: object) -> None:
        self._rests = True

    def shows(self, values: tuple[object, ...], width: int, height: int) -> bool:
        """Whether the screen still has the view that `show` made of these values, for a terminal of this size."""
        return not self._rests and self._shown == (values, width, height)

    def show(self, view: "RenderableType", values: tuple[object, ...], width: int, height: int) -> None:
        """Draw `view`, which was made of these values, on the whole terminal.

        After a suspension, open the screen again.
        """
        if self._rests:
            self._rests = False
            self._give_back()
            os.kill(os.getpid(), signal.SIGSTOP)
            self._take()
        assert self._live is not None
        self._live.console.size = ConsoleDimensions(width, height)
        self._live.update(view, refresh=True)
        self._shown = values, width, height

    def key(self, seconds: float) -> str:
        """Wait for a key, at most this many seconds; empty if there was none, and "eof" at the end of the input."""
        if self._pressed:
            return self._pressed.pop(0)
        if self._keys is None:
            time.sleep(seconds)
            return ""
        descriptor = self._keys.fileno()
        if not select.select([descriptor], [], [], seconds)[0]:
            return ""
        pressed = os.read(descriptor, 64).decode(errors="replace")
        keys = [_NAMED_KEYS.get(found[0], found[0]) for found in _KEY.finditer(pressed)]
        self._pressed = keys[1:]
        return keys[0] if keys else "eof"


_NAMED_KEYS = {
    "\x1b[A": "up",
    "\x1bOA": "up",
    "\x1b[B": "down",
    "\x1bOB": "down",
    "\x1b[5~": "page up",
    "\x1b[6~": "page down",
    **dict.fromkeys(("\x1b[H", "\x1bOH", "\x1b[1~", "\x1b[7~"), "home"),
    **dict.fromkeys(("\x1b[F", "\x1bOF", "\x1b[4~", "\x1b[8~"), "end"),
    "\x1b": "escape",
    "\t": "tab",
    "\r": "enter",
    "\n": "enter",
    "\x7f": "backspace",
    "\x08": "backspace",
}
_KEY = re.compile(r"\x1b(?:\[[0-9;]*[A-Za-z~]|O[A-Za-z])?|.", re.DOTALL)
"""One key: a sequence that begins with Esc, or a character."""


def _quit(*_: object) -> None:
    raise KeyboardInterrupt
