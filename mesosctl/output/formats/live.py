"""Output that changes while a command runs, by rich: how far it has come, and a view that is drawn again and again."""

from typing import TYPE_CHECKING, TextIO

from rich.console import Console
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

if TYPE_CHECKING:
    from rich.console import RenderableType


def _console(stream: TextIO, *, colours: bool) -> Console:
    return Console(
        file=stream, force_terminal=True, color_system="standard" if colours else None, highlight=False, markup=False
    )


class ProgressLine:
    """One line on a terminal: a spinner, a sentence and the time so far; a bar and the time left where a part is known.

    It appears with the first sentence.  `stop` removes it, and the next sentence brings it back.
    """

    def __init__(self, stream: TextIO, *, colours: bool) -> None:
        self._console = _console(stream, colours=colours)
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
    """A view that takes the place of the one before it; the last one stays on the screen."""

    def __init__(self, stream: TextIO, *, colours: bool) -> None:
        self._console = _console(stream, colours=colours)
        self._live: Live | None = None

    def show(self, view: "RenderableType", width: int) -> None:
        """Draw `view` where the last one stands, on a terminal of so many columns."""
        self._console.width = width
        if self._live is None:
            self._live = Live(
                view, console=self._console, auto_refresh=False, redirect_stdout=False, redirect_stderr=False
            )
            self._live.start(refresh=True)
        else:
            self._live.update(view, refresh=True)

    def stop(self) -> None:
        """Leave the last view where it is; the next one is drawn below."""
        live, self._live = self._live, None
        if live is not None:
            live.stop()
