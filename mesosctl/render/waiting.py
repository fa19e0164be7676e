"""A waiting that a person watches: a line with a spinner and the time that has passed, on a terminal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO


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
