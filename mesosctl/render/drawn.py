"""Tables for a terminal, by rich."""

from collections.abc import Sequence
from typing import TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text


def draw_table(titles: Sequence[str], rows: Sequence[Sequence[str]], stream: TextIO, *, colours: bool) -> None:
    """Draw a table as wide as the terminal; long cells wrap, nothing is cut."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in titles:
        table.add_column(title, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell, style=_STYLES.get(cell, "")) for cell in row))
    console = Console(file=stream, force_terminal=colours, no_color=not colours, highlight=False, soft_wrap=False)
    console.print(table)


_STYLES = {"pass": "green", "FAIL": "bold red", "unknown": "yellow"}
