"""Standard output and standard error: reports, questions, progress, and a view that refreshes."""

import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from mesosctl.cli.environment import Environment
from mesosctl.mesos.errors import printable, printable_json
from mesosctl.show.output_formats import TABLES, document_line, redacted, write
from mesosctl.show.report import Meaning, Report

if TYPE_CHECKING:
    from mesosctl.show.live import LiveView, ProgressLine
    from mesosctl.show.scrolling import ScrollingList


class Display:
    """Writes the reports of a command, and shows how far it has come.  rich is loaded only for a terminal.

    Call `pause` before you write to the stream directly.
    """

    def __init__(self, environment: Environment, *, quiet: bool) -> None:
        self._environment = environment
        self._quiet = quiet
        self._progress: ProgressLine | None = None
        self._view: LiveView | None = None
        self._list: ScrollingList | None = None
        self._last = ""

    def progress(self, sentence: str, part: float | None = None) -> None:
        """Show progress in one line of standard error, with a bar for `part` from 0 to 1.

        Only on a terminal that can overwrite a line, and not with --quiet.
        """
        environment = self._environment
        is_hidden = self._list is not None and self._list.is_open
        if self._quiet or is_hidden or not environment.overwrites(environment.stderr):
            return
        if self._progress is None:
            from mesosctl.show.live import ProgressLine

            self._progress = ProgressLine(environment.stderr, colours=environment.colours_on(environment.stderr))
        self._progress.show(printable(environment.secrets.redact(sentence)), part)

    def write(self, report: Report, form: str) -> None:
        """Write `report` to standard output."""
        self.pause()
        environment = self._environment
        stdout, draws, colours = environment.stdout, environment.draws, environment.colours
        width = environment.width(stdout)
        write(report, form, stdout, environment.secrets, draws=draws, colours=colours, width=width)
        stdout.flush()

    def write_line(self, line: str, form: str, meaning: Meaning) -> None:
        """Write a line of a growing list, on a terminal in the colour of its meaning."""
        environment = self._environment
        if environment.colours and form in TABLES:
            from mesosctl.show.terminal import draw_line

            draw_line(line, meaning, environment.stdout)
        else:
            environment.stdout.write(line + "\n")
        environment.stdout.flush()

    def write_aside(self, report: Report) -> None:
        """Write a table to standard error."""
        self.pause()
        environment, stderr = self._environment, self._environment.stderr
        draws, colours = stderr.isatty(), environment.colours_on(stderr)
        width = environment.width(stderr)
        write(report, "table", stderr, environment.secrets, draws=draws, colours=colours, width=width)

    def write_pieces(self, pieces: Iterable[str]) -> None:
        """Write a document that comes in pieces to standard output, in UTF-8 whatever the encoding of the terminal."""
        self.pause()
        stdout = self._environment.stdout
        raw = getattr(stdout, "buffer", None)
        stdout.flush()
        for piece in map(printable_json, pieces):
            if raw is None:  # kept in memory
                stdout.write(piece)
            else:
                raw.write(piece.encode(errors="surrogateescape"))
        stdout.flush()

    def agrees(self, question: str) -> bool:
        """Ask the user on the terminal; anything but y and yes means no."""
        self.pause()
        environment = self._environment
        environment.stderr.write(f"{printable(environment.secrets.redact(question))} [y/N] ")
        environment.stderr.flush()
        return environment.stdin.readline().strip().lower() in ("y", "yes")

    def redraw(self, report: Report, form: str) -> None:
        """On a terminal, draw a table in place of the previous one; elsewhere write `report` below it."""
        environment = self._environment
        if form not in TABLES or not environment.overwrites(environment.stdout):
            self.write(report, form)
            return
        from mesosctl.show.live import LiveView
        from mesosctl.show.terminal import view

        if self._view is None:
            self._view = LiveView(environment.stdout, colours=environment.colours)
        width = environment.width(environment.stdout)
        self._view.show(view(redacted(report, environment.secrets), wide=form == "wide", width=width), width)

    @contextmanager
    def scrolling(self, form: str, title: str) -> "Iterator[ScrollingList | None]":
        """Let `follow` fill the terminal with a list that keys scroll, and leave what was shown last below it.

        None without a terminal, or without a keyboard.
        """
        environment = self._environment
        stdin, stdout = environment.stdin, environment.stdout
        if form not in TABLES or not environment.overwrites(stdout) or not stdin.isatty():
            yield None
            return
        from mesosctl.show.live import FullScreen
        from mesosctl.show.scrolling import ScrollingList
        from mesosctl.show.terminal import console

        screen = FullScreen(stdout, stdin, colours=environment.colours)
        shown = ScrollingList(
            screen, lambda: (environment.width(stdout), environment.height(stdout)), title, wide=form == "wide"
        )
        try:
            with shown:
                self._list = shown
                yield shown
        finally:
            self._list = None
            for line in shown.visible:
                console(stdout, colours=environment.colours).print(line)

    def follow(self, report: Report, form: str) -> None:
        """Draw a table in place of the previous one; without a terminal, write it if it changed, JSON in one line."""
        environment = self._environment
        if self._list is not None:
            self.pause()
            self._list.show(redacted(report, environment.secrets))
            return
        if form in TABLES and environment.overwrites(environment.stdout):
            self.redraw(report, form)
            return
        text = io.StringIO()
        if form in TABLES:
            write(report, form, text, environment.secrets, draws=False, colours=False)
        else:
            text.write(environment.secrets.redact_json(document_line(report)))
        if text.getvalue() == self._last:
            return
        if self._last and form in TABLES:
            environment.stdout.write("\n")
        self._last = text.getvalue()
        environment.stdout.write(self._last)
        environment.stdout.flush()

    def pause(self) -> None:
        """Remove the line of `progress`, and leave the view in place: the next one is drawn below."""
        if self._progress is not None:
            self._progress.stop()
        if self._view is not None:
            self._view.stop()
