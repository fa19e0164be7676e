"""A list with --watch on the whole terminal: keys scroll it while it refreshes."""

import time
from collections.abc import Callable
from typing import Any, Self

from rich.console import Group
from rich.text import Text

from mesosctl.show.live import FullScreen
from mesosctl.show.report import Report
from mesosctl.show.screen import cut, moved
from mesosctl.show.terminal import text_lines, title_lines, view

KEYS = "q quit   ↑ ↓ j k   PgUp PgDn   Home End"
_FRAME = 0.25
"""Seconds until the size of the terminal is looked at again if no key is pressed."""


class ScrollingList:
    """The list, used with `with`; the screen is taken with the first reading, and the last one stays below it.

    `size` returns the columns and lines of the terminal, and `title` stands in the first line.
    """

    def __init__(
        self,
        screen: FullScreen,
        size: Callable[[], tuple[int, int]],
        title: str,
        *,
        wide: bool,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._screen, self._size, self._title, self._wide, self._clock = screen, size, title, wide, clock
        self._report: Report | None = None
        self._at = ""
        """When the reading was made, in local time."""
        self._drawn: tuple[int, int] = (0, 0)
        """The size for which there are lines."""
        self._titles: list[Text] = []
        self._lines: list[Text] = []
        self._top = 0
        """The number of lines that are scrolled away."""
        self._trouble = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        if self._report is not None:
            self._screen.__exit__(*raised)

    @property
    def is_open(self) -> bool:
        """Whether there was a reading."""
        return self._report is not None

    def tell(self, sentence: str) -> None:
        """Show a sentence at the bottom until the next reading."""
        self._trouble = sentence
        if self._report is not None:
            self._draw()

    def show(self, report: Report) -> None:
        """Show another reading; what is scrolled away stays so."""
        if self._report is None:
            self._screen.__enter__()
        self._report, self._at, self._trouble = report, time.strftime("%H:%M:%S"), ""
        self._drawn = (0, 0)
        self._draw()

    def wait(self, seconds: float) -> bool:
        """Obey keys for this time; False if one of them says to leave."""
        until = self._clock() + seconds
        while (left := until - self._clock()) > 0:
            key = self._screen.key(min(left, _FRAME))
            if key in ("q", "escape", "eof"):
                return False
            page = max(1, self._room - 1)
            self._top = moved(self._top, key, page=page, last=self._last)
            self._draw()
        return True

    @property
    def _room(self) -> int:
        """Lines of the terminal for rows."""
        return max(1, self._drawn[1] - 2 - len(self._titles))

    @property
    def _last(self) -> int:
        """The most lines that can be scrolled away."""
        return max(0, len(self._lines) - self._room)

    def _draw(self) -> None:
        size = width, height = self._size()
        if size != self._drawn:
            self._measure(width)
            self._drawn = size
        self._top = min(self._top, self._last)
        values = (self._report, self._at, self._top, self._trouble)
        if self._screen.shows(values, width, height):
            return
        visible = self.visible
        lines: list[Any] = [Text(cut(f"{self._title}  {self._at}", width).ljust(width), style="bold reverse"), *visible]
        lines += [Text()] * (height - 1 - len(lines))
        below = min(len(self._lines), self._top + self._room)
        place = f"lines {self._top + 1} to {below} of {len(self._lines)}" if self._last else "all lines are shown"
        foot = self._trouble or f"{KEYS}   {place}"
        self._screen.show(
            Group(*lines[: height - 1], Text(cut(foot, width).ljust(width), style="reverse", end="")), values, *size
        )

    def _measure(self, width: int) -> None:
        assert self._report is not None
        lines = text_lines(view(self._report, wide=self._wide, width=width), width)
        for line in lines:
            line.truncate(width, overflow="ellipsis")
        titles = title_lines(self._report, wide=self._wide, width=width)
        self._titles, self._lines = lines[:titles], lines[titles:]

    @property
    def visible(self) -> list[Text]:
        """The lines that are shown: the titles, and the rows that are not scrolled away."""
        return [*self._titles, *self._lines[self._top : self._top + self._room]]
