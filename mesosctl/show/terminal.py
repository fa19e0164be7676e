"""Reports on a terminal, drawn by rich."""

import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import TextIO, cast

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from mesosctl.mesos.errors import printable
from mesosctl.show.amounts import IN_ASCII
from mesosctl.show.layout import GAP, Shown, columns_of, fit, group_line, spaced, split, widen
from mesosctl.show.report import Meaning, Report, as_table, shown_columns, shown_rows

_STYLES: dict[Meaning, str] = {
    "met": "green",
    "at risk": "yellow",
    "not met": "bold red",
    "gained": "green",
    "lost": "red",
}
_ANY_WIDTH = 1_000_000
"""Columns have the widths of the layout; rich must not wrap them, even if there is too little room."""


def draw(report: Report, stream: TextIO, *, wide: bool, colours: bool, width: int) -> None:
    """Draw `report` on a terminal of `width` columns."""
    console(stream, colours=colours).print(view(report, wide=wide, width=width))


def draw_line(line: str, meaning: Meaning, stream: TextIO) -> None:
    """Write a line in the colour of its meaning."""
    console(stream, colours=True).print(Text(printable(line), style=_STYLES[meaning]))


def draw_told(
    sentence: str, details: Sequence[str], stream: TextIO, *, colours: bool, width: int, is_error: bool
) -> None:
    """Write an error or a note: its first word in colour, and its `details` dim; lines are wrapped between words.

    A command that a hint suggests stays in one line, however long, so that it can be copied.
    """
    first = Text("\n".join(_lines_of(sentence, width)))
    first.stylize("bold red" if is_error else "yellow", 0, len(sentence.partition(" ")[0]))
    to = console(stream, colours=colours)
    to.print(first)
    for detail in details:
        to.print(Text("\n".join(_lines_of(detail, width)), style="dim"))


def _lines_of(sentence: str, width: int) -> list[str]:
    """The lines of a sentence; a part with a command, up to a semicolon, is one of them."""
    indent = " " * (len(sentence) - len(sentence.lstrip(" ")))
    further = indent + " " * GAP
    lines = [indent]
    parts = sentence.lstrip(" ").split("; ")
    for number, part in enumerate(parts):
        text = part + ("; " if number < len(parts) - 1 else "")
        words = [text] if "mesosctl " in part.partition(": ")[2] or part.startswith("mesosctl ") else _words(text)
        for word in words:
            if len(lines[-1]) + len(word.rstrip()) > width and lines[-1].strip():
                lines.append(further)
            lines[-1] += word
    return [line.rstrip() for line in lines]


def _words(text: str) -> list[str]:
    """The words of a text, each with the blanks behind it."""
    return re.findall(r"\S+\s*", text)


def console(stream: TextIO, *, colours: bool, steers: bool = False) -> Console:
    """A rich console that does not wrap; one that `steers` may move the cursor."""
    return Console(
        file=stream if (stream.encoding or "utf-8").lower().startswith("utf") else cast("TextIO", _InAscii(stream)),
        force_terminal=colours or steers,
        color_system="standard" if colours else None,
        highlight=False,
        markup=False,
        width=_ANY_WIDTH,
    )


class _InAscii:
    """A stream whose encoding has no bars, which are replaced with signs."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write it with signs in place of what has none."""
        return self._stream.write(text.translate(IN_ASCII))

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)


def _drawn(report: Report, *, wide: bool) -> Report:
    """The report that a terminal shows."""
    shown = as_table(report)
    return shown if shown.terminal is None or wide else shown.terminal()


def view(report: Report, *, wide: bool, width: int) -> RenderableType:
    """A whole report: the answer, the table and the lines below it."""
    shown = _drawn(report, wide=wide)
    return Group(*_parts(shown, wide=wide, width=width))


def text_lines(shown: RenderableType, width: int) -> list[Text]:
    """The lines of a view, each in its colours."""
    drawn = Console(width=width, highlight=False, markup=False, color_system="standard", force_terminal=True)
    lines = drawn.render_lines(shown, pad=False)
    return [Text.assemble(*((segment.text, segment.style or "") for segment in line)) for line in lines]


def title_lines(report: Report, *, wide: bool, width: int) -> int:
    """How many lines at the beginning of a view are titles of its columns; 0 if it is not one table alone."""
    shown = _drawn(report, wide=wide)
    if shown.verdicts or not shown.rows:
        return 0
    rows = _major(shown, list(shown_rows(shown, wide=wide)), wide=wide)
    if not rows:
        return 0
    columns = columns_of(shown_columns(shown, wide=wide), rows, wide=wide)
    tables = list(split(columns, width)) if wide else [fit(columns, width)[0]]
    return 0 if len(tables) > 1 else 2 if group_line(tables[0]) else 1


def _parts(report: Report, *, wide: bool, width: int) -> Iterator[RenderableType]:
    for verdict in report.verdicts:
        yield _wrapped(verdict.sentence, width, _STYLES[verdict.meaning])
    if report.verdicts and (report.rows or report.remark):
        yield Text()
    if report.rows:
        yield from _tables(report, wide=wide, width=width)
    elif report.empty:
        yield Text(printable(report.empty))
    for part in (*report.remark, *(report.detail if wide else ())):
        if isinstance(part, str):
            yield Text(printable(part)) if report.verbatim else _wrapped(part, width)
        else:
            tables = Group(*_tables(part, wide=wide, width=width - GAP))
            yield Padding(tables, (0, 0, 0, GAP), expand=False)


def _tables(report: Report, *, wide: bool, width: int) -> Iterator[RenderableType]:
    """One table, and what it leaves out; with -o wide as many as it takes to show everything."""
    every = list(shown_rows(report, wide=wide))
    rows = _major(report, every, wide=wide)
    shown = columns_of(shown_columns(report, wide=wide), rows, wide=wide)
    if wide:
        for number, columns in enumerate(split(shown, width)):
            if number:
                yield Text()
            yield _table(columns, width)
        return
    if rows:
        kept, left_out = fit(shown, width)
        yield _table(kept, width)
        if left_out:
            yield _wrapped(f"no room for {_names(left_out, kept)}: see -o wide", width, "dim")
    if report.minor is not None and len(rows) < len(every):
        yield _wrapped(report.minor.sentence(len(every) - len(rows)), width, "dim")


def _major(report: Report, every: Sequence[Sequence[str]], *, wide: bool) -> Sequence[Sequence[str]]:
    """The rows without those that only a wide table has."""
    if report.minor is None or wide:
        return every
    return [row for row, whole in zip(every, report.rows, strict=True) if not report.minor.holds(whole)]


def _names(left_out: Sequence[Shown], kept: Sequence[Shown]) -> str:
    """The columns that are left out; a group of which nothing is left has one name."""
    partly = {"", *(drawn.group for drawn in kept)}
    return ", ".join(dict.fromkeys(drawn.name if drawn.group in partly else drawn.group for drawn in left_out))


def _wrapped(sentence: str, width: int, style: str = "") -> RenderableType:
    """A line that is wrapped between words if it is longer than the terminal; further lines are indented."""
    text = spaced(printable(sentence))
    indent = " " * (len(text) - len(text.lstrip(" ")))
    lines = textwrap.wrap(
        text.lstrip(" "),
        width,
        initial_indent=indent,
        subsequent_indent=indent + " " * GAP,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return Text("\n".join(lines), style=style)


def _table(shown: Sequence[Shown], width: int) -> RenderableType:
    groups = group_line(shown)
    widen(shown, width)
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, GAP, 0, 0))
    for drawn in shown:
        table.add_column(
            drawn.title,
            justify="right" if drawn.is_right else "left",
            width=drawn.width,
            no_wrap=not drawn.is_sentence,
            overflow="fold" if drawn.is_sentence else "crop",
        )
    for cells in zip(*(drawn.cells for drawn in shown), strict=True):
        height = max(map(len, cells))
        for line in range(height):
            texts = [cell[line] if line < len(cell) else "" for cell in cells]
            table.add_row(*(_cell(drawn, text) for drawn, text in zip(shown, texts, strict=True)))
    return Group(Text(groups, style="bold"), table) if groups else table


def _cell(shown: Shown, text: str) -> Text:
    meaning = shown.meaning(text)
    return Text(text, style=_STYLES[meaning] if meaning else "")
