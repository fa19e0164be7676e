"""The part of the terminal that changes while a command runs: progress, and a view that is drawn anew."""

from typing import TYPE_CHECKING

from mesosctl.cli.environment import Environment
from mesosctl.model.errors import printable
from mesosctl.output.report import Report, redacted

if TYPE_CHECKING:
    from mesosctl.output.live import LiveView, ProgressLine


class Display:
    """The part of the terminal that a command writes over.  rich is loaded when something is shown, and not before.

    Whatever else is written to the terminal is written after `pause`.
    """

    def __init__(self, environment: Environment, *, quiet: bool) -> None:
        self._environment = environment
        self._quiet = quiet
        self._progress: ProgressLine | None = None
        self._view: LiveView | None = None

    def progress(self, sentence: str, part: float | None = None) -> None:
        """Show how far the command has come, in one line of standard error, with a bar for `part` from 0 to 1.

        Only on a terminal that can overwrite a line, and not with --quiet.
        """
        environment = self._environment
        if self._quiet or not environment.overwrites(environment.stderr):
            return
        if self._progress is None:
            from mesosctl.output.live import ProgressLine

            self._progress = ProgressLine(environment.stderr, colours=environment.colours_on(environment.stderr))
        self._progress.show(printable(environment.secrets.redact(sentence)), part)

    def redraw(self, report: Report, *, wide: bool) -> None:
        """Draw `report` on standard output, in place of the one before it."""
        from mesosctl.output.live import LiveView
        from mesosctl.output.terminal import view

        environment = self._environment
        if self._view is None:
            self._view = LiveView(environment.stdout, colours=environment.colours)
        width = environment.width(environment.stdout)
        self._view.show(view(redacted(report, environment.secrets), wide=wide, width=width), width)

    def pause(self) -> None:
        """Remove the line of `progress`, and leave the view where it is: the next one is drawn below."""
        if self._progress is not None:
            self._progress.stop()
        if self._view is not None:
            self._view.stop()
