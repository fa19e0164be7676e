"""An answer that any of the output formats can write: its table, its names and its document."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar, overload

from mesosctl.mesos.amounts.notation import and_more, natural
from mesosctl.mesos.errors import UsageError, printable
from mesosctl.mesos.roles import did_you_mean

if TYPE_CHECKING:
    from pydantic import BaseModel
    from typing_extensions import TypeVar as TypeVarWithDefault

    Shown = TypeVarWithDefault("Shown", default=Any)
else:
    Shown = TypeVar("Shown")  # Python has the default from 3.13 on; only a type checker needs it


Value = TypeVar("Value")
NOTHING = "-"
"""An empty cell of a table; csv leaves it empty.  No role can have this name."""
MOST_LINES = 20
"""The longest section under a table, in lines; -o json is never cut."""


def rest_line(left: int) -> str:
    """The last line of a section of which `left` lines are not shown."""
    return f"  … {and_more(left)} (see -o json)"


Meaning = Literal["met", "at risk", "not met", "gained", "lost"]
"""The meaning of a colour.  The text of the cell has the same meaning."""
OF_ANSWERS: Mapping[str, Meaning] = {"yes": "met", "no": "not met", "unknown": "at risk"}
"""The colour of an `Answer`."""
KindOfCells = Literal["text", "number", "amounts", "usage", "sentence"]


class Column(NamedTuple, Generic[Shown]):
    """A column of a table; `wide` ones appear with -o wide, and in csv always.

    `cell` is what it has for each value of a list; see `mesosctl.show.lists`. None in tables whose rows are texts.
    `kind`, `rank` and `meaning` are for tables on a terminal: numbers are right-aligned, amounts have a column for each
    resource, usage too and always below its title, sentences are broken between words.
    """

    title: str
    cell: Callable[[Shown], object] | None = None
    wide: bool = False
    key: str = ""
    """Its name in csv; the title in small letters unless given.  Each is unique in a report."""
    short: Mapping[str, str] | None = None
    """Shorter texts for cells, by cell; -o wide shows the cells as they are."""
    shown: Mapping[str, str] | None = None
    """Other texts for cells, by cell, in every table; csv has the cells as they are."""
    kind: KindOfCells = "text"
    rank: int = 0
    """Where the terminal is too narrow, columns with the highest rank are left out first, among equals the last.

    Those with a rank below zero are never left out.
    """
    rank_of_rare: int | None = None
    """The rank of its columns of resources other than cpus, mem and disk; `rank` unless given."""
    meaning: Meaning | Mapping[str, Meaning] | None = None
    """The meaning of every cell that is not empty, or of the texts that it lists."""


class Verdict(NamedTuple):
    """The answer to a question in one sentence, which is shown first.

    Of a list that nobody asked a question about, only a terminal shows it: elsewhere the first line is the titles.
    """

    sentence: str
    meaning: Meaning
    on_terminals_only: bool = False


class Minor(NamedTuple):
    """Rows that a reader rarely needs, and what they are called after a count: `12 rules hold`, `1 rule holds`."""

    holds: Callable[[Sequence[str]], bool]
    many: str
    one: str

    def sentence(self, count: int) -> str:
        """Return how many there are, and how to see them."""
        return f"1 {self.one} (-o wide shows it)" if count == 1 else f"{count} {self.many} (-o wide shows them)"


class Rows(Sequence[Sequence[str]], Generic[Value]):
    """A row for every value, made again each time it is read, so that none of many thousands is kept."""

    def __init__(self, values: Sequence[Value], make: Callable[[Value], Sequence[str]]) -> None:
        self._values = values
        self._make = make

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[Sequence[str]]:
        return map(self._make, self._values)

    @overload
    def __getitem__(self, index: int) -> Sequence[str]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Sequence[str]]: ...
    def __getitem__(self, index: int | slice) -> Sequence[str] | Sequence[Sequence[str]]:
        if isinstance(index, slice):
            return Rows(self._values[index], self._make)
        return self._make(self._values[index])


def naturally(values: Sequence[Value], *names: Callable[[Value], str], sort: str | None = None) -> Sequence[Value]:
    """The values of a list as tables, csv and -o name have them: agent-2 before agent-10.  JSON keeps its own order.

    `names` are the names of a value, the most important first.  `sort` is what --sort says: an order that it has given
    them stays.
    """
    return values if sort is not None else sorted(values, key=lambda value: [natural(name(value)) for name in names])


def _no_document() -> "BaseModel":
    raise AssertionError("the report that it stands for, or in, has the document")


class Report(NamedTuple):
    """One answer.

    `rows` has a text for every column; `names` is what -o name writes; `document` makes the model of -o json, and is
    called only then, as is `items`, which makes those of -o jsonl: without it, that writes the document on one line.
    If `listing` names a list of the document, it is made without the elements, which are written there one by one:
    those that `listed` makes, or else the items. A table beside another one, or on a terminal alone, has no document.
    `remark` stands under a table: lines, and smaller tables, which are indented; `detail` stands under that with -o
    wide alone. `done` is the sentence for a change that was made. `verdicts` stand above a table. `minor` are the rows
    that a terminal shows with -o wide alone.  `table` makes the report that tables show instead, in a pipe too, if csv
    has other figures. `terminal` makes the report that a terminal shows instead, unless it is wide.  `verbatim` lines
    of the remark, such as those of a diff, are never broken.
    """

    columns: Sequence[Column]
    rows: Sequence[Sequence[str]]
    names: Sequence[str] = ()
    document: "Callable[[], BaseModel]" = _no_document
    items: "Callable[[], Iterable[BaseModel]] | None" = None
    empty: str = ""
    remark: "Sequence[str | Report]" = ()
    detail: "Sequence[str | Report]" = ()
    done: str = ""
    listing: str = ""
    verdicts: Sequence[Verdict] = ()
    minor: Minor | None = None
    verbatim: bool = False
    table: "Callable[[], Report] | None" = None
    terminal: "Callable[[], Report] | None" = None
    listed: "Callable[[], Iterable[BaseModel]] | None" = None

    def whole_document(self) -> "BaseModel":
        """The document, with the elements of its list."""
        document = self.document()
        return document.model_copy(update={self.listing: list(self.elements())}) if self.listing else document

    def elements(self) -> "Iterable[BaseModel]":
        """The elements of the list that `listing` names."""
        return self.lines() if self.listed is None else self.listed()

    def lines(self) -> "Iterable[BaseModel]":
        """The models that -o jsonl writes, one on each line."""
        return [self.whole_document()] if self.items is None else self.items()


def with_columns(report: Report, names: Sequence[str]) -> Report:
    """The same with these columns alone, in this order; every one of them is always shown.

    A name is the title of a column, or its name in csv, in any case.  Raises UsageError for an unknown name.
    """
    known: dict[str, int] = {}
    table = report.table
    for index, column in enumerate(report.columns):
        for name in (column.key, column.title):
            if name:
                known.setdefault(name.lower(), index)
    titles = [column.key or column.title.lower() for column in report.columns]
    for name in names:
        if name.lower() not in known:
            raise UsageError(
                f"there is no column '{name}'",
                field="--columns",
                hint=did_you_mean(name.lower(), list(known), f"the columns are {', '.join(titles)}"),
            )
    chosen = [known[name.lower()] for name in names]
    twice = next((name for number, name in enumerate(names) if chosen.index(chosen[number]) < number), None)
    if twice is not None:
        raise UsageError(f"--columns names '{twice}' twice", field="--columns", hint="name each column once")
    return report._replace(
        columns=[report.columns[index]._replace(wide=False, rank=-1) for index in chosen],
        rows=Rows(report.rows, lambda row: [row[index] for index in chosen]),
        minor=None,
        table=None if table is None else lambda: with_columns(table(), names),
        terminal=None,
    )


def as_table(report: Report) -> Report:
    """The report that tables show."""
    return report if report.table is None else report.table()


def shown_columns(report: Report, *, wide: bool) -> list[Column]:
    """The columns of a table."""
    return [column for column in report.columns if wide or not column.wide]


def shown_rows(report: Report, *, wide: bool) -> Rows[Sequence[str]]:
    """The cells of those columns, without characters that control a terminal."""
    shown = [index for index, column in enumerate(report.columns) if wide or not column.wide]
    columns = [report.columns[index] for index in shown]
    texts = [column.shown or (None if wide else column.short) or {} for column in columns]

    def cells(row: Sequence[str]) -> list[str]:
        return [printable(known.get(row[index], row[index])) for index, known in zip(shown, texts, strict=True)]

    return Rows(report.rows, cells)


def shown_cells(report: Report) -> tuple[list[str], list[list[str]]]:
    """Titles and rows of a report, without what only -o wide shows."""
    shown = [index for index, column in enumerate(report.columns) if not column.wide]
    return [report.columns[i].title for i in shown], [[row[i] for i in shown] for row in report.rows]
