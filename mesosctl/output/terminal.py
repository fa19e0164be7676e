"""Tables for a terminal, by rich."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text


def draw_table(titles: Sequence[str], rows: Sequence[Sequence[str]], stream: TextIO, *, colours: bool) -> None:
    """Draw a table as wide as the terminal; long cells wrap, nothing is cut.

    On a terminal too narrow to tell words apart it is wider, and the terminal wraps its lines.
    """
    table = Table(box=None, pad_edge=False, header_style="bold")
    least = [min(_NARROWEST, max(map(len, column))) for column in zip(titles, *rows, strict=True)]
    for title, width in zip(titles, least, strict=True):
        table.add_column(title, overflow="fold", min_width=width)
    for row in rows:
        table.add_row(*(Text(cell, style=_STYLES.get(cell, "")) for cell in row))
    console = Console(file=stream, force_terminal=colours, no_color=not colours, highlight=False, soft_wrap=False)
    console.width = max(console.width, sum(least) + _GAP * (len(least) - 1))
    console.print(table)


_NARROWEST = 3
"""Characters that a column keeps: fewer would stand one below the other, or vanish."""
_GAP = 2
_STYLES = {"pass": "green", "FAIL": "bold red", "unknown": "yellow"}


@contextmanager
def waiting(stream: TextIO, *, colours: bool) -> Iterator[Callable[[str], None]]:
    """What it gives changes the sentence; the line is taken away in the end."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(file=stream, force_terminal=True, no_color=not colours)
    columns = (SpinnerColumn(), TextColumn("mesosctl: {task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=None)
        yield lambda sentence: progress.update(task, description=sentence)
