"""The columns of a table for people, and the choice of those that a terminal has room for."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from rich.cells import cell_len

from mesosctl.mesos.amounts.amount_text import KNOWN_NAMES, text_in_words
from mesosctl.mesos.errors import printable
from mesosctl.show.amounts import OTHER, AmountsText, CellPart
from mesosctl.show.report import NOTHING, Column, Meaning

GAP = 2
"""Blanks between two columns."""
_NARROWEST_SENTENCE = 16
_OWNER = "FOR"
_SPREAD = ("amounts", "usage")
"""Kinds of cells that have a column for each resource."""


@dataclass(eq=False)
class Shown:
    """A column as it is drawn.  A cell is a list of lines; the cells of a row are next to each other.

    `group` is the title over several columns that belong together.
    """

    title: str
    source: Column
    cells: list[list[str]] = field(default_factory=list)
    group: str = ""
    is_right: bool = False
    width: int = 0
    natural_width: int = 0
    meanings: dict[str, Meaning] = field(default_factory=dict)
    """The meanings of cells that have their own, by text."""

    @property
    def name(self) -> str:
        """Its name in a sentence."""
        return f"{self.group} {self.title}".lstrip()

    @property
    def is_sentence(self) -> bool:
        """Whether lines in its cells may break between words."""
        return self.source.kind == "sentence"

    @property
    def order(self) -> tuple[bool, int]:
        """The order in which columns are left out: the largest first, which is an empty column."""
        return all(line == NOTHING for cell in self.cells for line in cell), self.source.rank

    def meaning(self, cell: str) -> Meaning | None:
        """The meaning of a cell, which is shown as its colour."""
        meaning = self.source.meaning
        if cell in self.meanings:
            return self.meanings[cell]
        if cell == NOTHING or meaning is None:
            return None
        return meaning if isinstance(meaning, str) else meaning.get(cell)

    def measure(self) -> None:
        """Set the width in which no line breaks, and in sentences no word."""
        lines = [self.title, *(line for cell in self.cells for line in cell)]
        self.natural_width = max(map(cell_len, lines))
        self.width = self.natural_width
        if self.is_sentence:
            longest_word = max((cell_len(word) for line in lines for word in line.split()), default=0)
            self.width = min(self.natural_width, max(longest_word, _NARROWEST_SENTENCE))


def columns_of(columns: Sequence[Column], rows: Sequence[Sequence[str]], *, wide: bool) -> list[Shown]:
    """Lay the cells out: amounts get a column for each resource, and a line for each owner if anything is reserved."""
    shown: list[Shown] = []
    is_alone = sum(column.kind in _SPREAD for column in columns) == 1
    for index, column in enumerate(columns):
        cells = [row[index] for row in rows]
        if column.kind in _SPREAD and any(isinstance(cell, AmountsText) for cell in cells):
            group = "" if is_alone and column.kind == "amounts" else column.title
            shown += _amount_columns(column, cells, group, wide=wide)
        else:
            words = map(text_in_words, cells)
            texts = [[spaced(cell) if column.kind == "sentence" else cell] for cell in words]
            shown.append(Shown(column.title, column, texts, is_right=column.kind in ("number", *_SPREAD)))
    for drawn in shown:
        drawn.measure()
    return shown


def spaced(sentence: str) -> str:
    """Amounts in it with blanks between them, so that it can be broken there: `cpus:2; mem:1024`."""
    return re.sub(r";(?=\S)", "; ", sentence)


def _amount_columns(column: Column, cells: Sequence[str], group: str, *, wide: bool) -> Iterator[Shown]:
    tables = [_lines_by_owner(cell, wide=wide) for cell in cells]
    names = {name for table in tables for line in table.values() for name in line}
    if any(owner for table in tables for owner in table):
        yield Shown(_OWNER, column, [[owner or NOTHING for owner in table] or [NOTHING] for table in tables], group)
    for name in sorted(names, key=_place):
        texts = [[line.get(name, NOTHING) for line in table.values()] or [NOTHING] for table in tables]
        source = column
        if column.rank_of_rare is not None and name not in KNOWN_NAMES[:3]:
            source = column._replace(rank=column.rank_of_rare)
        yield Shown(name.upper(), source, texts, group, is_right=name in KNOWN_NAMES, meanings=_meanings(cells, name))


def _meanings(cells: Sequence[str], name: str) -> dict[str, Meaning]:
    """The meanings of the values of one name, by text."""
    parts = (part for cell in cells if isinstance(cell, AmountsText) for part in cell.parts() if part.name == name)
    return {part.shown: part.meaning for part in parts if part.meaning is not None}


def _lines_by_owner(cell: str, *, wide: bool) -> dict[str, dict[str, str]]:
    """The texts of a cell by owner and name, unreserved ones first; several of one name are joined."""
    found: dict[str, dict[str, str]] = {}
    parts = cell.parts() if isinstance(cell, AmountsText) else _unreadable(cell)
    for part in sorted(parts, key=lambda part: part.owner):
        line = found.setdefault(printable(part.owner), {})
        name, text = printable(part.name), printable(part.whole if wide else part.shown)
        line[name] = f"{line[name]} + {text}" if name in line else text
    return found


def _unreadable(cell: str) -> Iterator[CellPart]:
    """A cell from which a secret was removed is shown as its text."""
    if cell != NOTHING:
        yield CellPart(OTHER, "", cell, cell)


def _place(name: str) -> tuple[bool, int, bool, str]:
    is_known = name in KNOWN_NAMES
    return not is_known, KNOWN_NAMES.index(name) if is_known else 0, name == OTHER, name


def _groups(shown: Sequence[Shown]) -> Iterator[list[Shown]]:
    """Yield the columns that have a title together; a column without such a title is alone."""
    group: list[Shown] = []
    for drawn in shown:
        if group and not (drawn.group and drawn.group == group[0].group):
            yield group
            group = []
        group.append(drawn)
    if group:
        yield group


def _side_by_side(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def _lacking(group: Sequence[Shown]) -> int:
    """How much narrower a group is than its title."""
    return max(0, cell_len(group[0].group) - _side_by_side([drawn.width for drawn in group]))


def _needed(shown: Sequence[Shown]) -> int:
    return _side_by_side([drawn.width for drawn in shown]) + sum(map(_lacking, _groups(shown)))


def fit(shown: Sequence[Shown], width: int) -> tuple[list[Shown], list[Shown]]:
    """Return the columns that there is room for, and those that are left out.

    The first column, and those with a rank below zero, stay even if a single name is longer than a line.
    """
    kept, left_out = list(shown), []
    while _needed(kept) > width:
        candidates = [index for index in range(1, len(kept)) if kept[index].source.rank >= 0]
        if not candidates:
            break
        left_out.append(kept.pop(max(candidates, key=lambda index: (*kept[index].order, index))))
    return kept, [drawn for drawn in shown if drawn in left_out]


def split(shown: Sequence[Shown], width: int) -> list[list[Shown]]:
    """All columns, in as many tables as are needed; each begins with the first column."""
    tables: list[list[Shown]] = []
    for drawn in shown[1:]:
        if tables and _needed([*tables[-1], drawn]) <= width:
            tables[-1].append(drawn)
        else:
            tables.append([shown[0], drawn])
    return tables or [list(shown)]


def widen(shown: Sequence[Shown], width: int) -> None:
    """Give sentences the remaining room, those with the most line breaks first."""
    for _ in range(width - _needed(shown)):
        broken = [drawn for drawn in shown if drawn.width < drawn.natural_width]
        if not broken:
            return
        max(broken, key=lambda drawn: drawn.natural_width / drawn.width).width += 1


def group_line(shown: Sequence[Shown]) -> str:
    """Return the titles over columns that belong together; a group that is narrower than its title becomes wider."""
    line = ""
    for group in _groups(shown):
        group[-1].width += _lacking(group)
        title = group[0].group
        line += title + " " * (_needed(group) - cell_len(title) + GAP)
    return line.rstrip()
