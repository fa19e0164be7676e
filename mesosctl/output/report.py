"""An answer that can be written in every form, and the writing of it."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Generic, Literal, NamedTuple, TextIO, TypeVar, overload

from mesosctl.model.errors import printable, printable_json
from mesosctl.model.redaction import Secrets

if TYPE_CHECKING:
    from pydantic import BaseModel


Value = TypeVar("Value")
NOTHING = "-"
"""An empty cell of a table; csv leaves it empty.  No role can have this name."""
MOST_LINES = 20
"""The longest section under a table, in lines; -o json is never cut."""


Meaning = Literal["met", "at risk", "not met", "gained", "lost"]
"""The meaning of a colour.  The text of the cell has the same meaning."""
KindOfCells = Literal["text", "number", "amounts", "sentence"]


class Column(NamedTuple):
    """A column of a table; `wide` ones appear with -o wide, and in csv always.

    `kind`, `rank` and `meaning` are for tables on a terminal: numbers stand to the right, amounts have a
    column a resource, sentences are broken between words.
    """

    title: str
    wide: bool = False
    key: str = ""
    """Its name in csv; the title in small letters unless given.  No two of a report are alike."""
    short: Mapping[str, str] | None = None
    """Shorter texts for cells, by cell; -o wide shows the cells as they are."""
    kind: KindOfCells = "text"
    rank: int = 0
    """Where the terminal is too narrow, columns with the highest rank are left out first, among equals the last.

    Those with a rank below zero are never left out.
    """
    meaning: Meaning | Mapping[str, Meaning] | None = None
    """The meaning of every cell that is not empty, or of the texts that it lists."""


class Verdict(NamedTuple):
    """The answer to a question in one sentence, which a terminal shows first."""

    sentence: str
    meaning: Meaning


class Minor(NamedTuple):
    """Rows that a reader rarely needs, and their name before a count: `rules that are kept: 12`."""

    holds: Callable[[Sequence[str]], bool]
    name: str


class Rows(Sequence[Sequence[str]], Generic[Value]):
    """A row for every value, made anew whenever it is looked at: of many thousands none is kept."""

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


class Report(NamedTuple):
    """One answer.

    `rows` has a text for every column; `names` is what -o name writes; `document` and `items`
    make the models of -o json and -o jsonl, and are called only then, as models are slow to load.
    Where `listing` names a list of the document, it is made without the items, which are written there
    one by one.  `remark` stands under a table: lines, and smaller tables, which are indented.
    `done` is the sentence for a change that was made.
    `verdicts` stand above a table on a terminal; elsewhere `conclusion` stands below it instead.
    `minor` are the rows that a terminal shows with -o wide alone.  `verbatim` lines of the remark, such as
    those of a diff, are never broken.
    """

    columns: Sequence[Column]
    rows: Sequence[Sequence[str]]
    names: Sequence[str]
    document: "Callable[[], BaseModel]"
    items: "Callable[[], Iterable[BaseModel]]"
    empty: str = ""
    remark: "Sequence[str | Report]" = ()
    done: str = ""
    listing: str = ""
    verdicts: Sequence[Verdict] = ()
    conclusion: Sequence[str] = ()
    minor: Minor | None = None
    verbatim: bool = False


def write(
    report: Report,
    form: str,
    stream: TextIO,
    secrets: Secrets | None = None,
    *,
    draws: bool,
    colours: bool,
    width: int = 80,
) -> None:
    """Write `report` to `stream`, without any of `secrets`.

    `draws` says that a person looks at a terminal of `width` columns, `colours` that it may show them.
    """
    secrets = secrets or Secrets()
    report = redacted(report, secrets)
    if form == "json":
        stream.writelines(map(secrets.redact_json, _json_pieces(report, stream.encoding)))
    elif form == "jsonl":
        stream.writelines(secrets.redact_json(json_text(item, stream.encoding)) + "\n" for item in report.items())
    elif form == "csv":
        import csv

        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([column.key or column.title.lower() for column in report.columns])
        # A program gets names as they are; a person looking on gets nothing that steers the terminal.
        shown = printable if draws else str
        writer.writerows(["" if cell == NOTHING else shown(cell) for cell in row] for row in report.rows)
    elif form == "name":
        stream.writelines((printable(name) if draws else name) + "\n" for name in report.names)
    elif draws:
        from mesosctl.output.terminal import draw

        draw(report, stream, wide=form == "wide", colours=colours, width=width)
    else:
        _write_table(report, stream, wide=form == "wide")


def redacted(report: Report, secrets: Secrets) -> Report:
    """Return it without any of `secrets`, before it is laid out: a table may break a text in two."""
    plain = secrets.redact_data

    def plain_cell(cell: str) -> str:
        text = plain(cell)
        return cell if text == cell else text  # a cell may be more than its text

    return report._replace(
        rows=Rows(report.rows, lambda row: list(map(plain_cell, row))),
        names=list(map(plain, report.names)),
        remark=[plain(part) if isinstance(part, str) else redacted(part, secrets) for part in report.remark],
        conclusion=list(map(plain, report.conclusion)),
        verdicts=[one._replace(sentence=plain(one.sentence)) for one in report.verdicts],
    )


def _json_pieces(report: Report, encoding: str | None) -> Iterator[str]:
    """The document, with the items where it lists them."""
    whole = json_text(report.document(), encoding, indent=2)
    before, empty, after = whole.partition(f'\n  "{report.listing}": []') if report.listing else (whole, "", "")
    yield before + empty.removesuffix("]")
    between = ""
    for item in report.items() if empty else ():
        # No text in JSON holds the end of a line as it is.
        yield between + "\n    " + json_text(item, encoding, indent=2).replace("\n", "\n    ")
        between = ","
    yield ("\n  " if between else "") + ("]" if empty else "") + after + "\n"


def json_text(model: "BaseModel", encoding: str | None, indent: int | None = None) -> str:
    """The model as JSON; in ASCII where the encoding can hold no more, or a name is no UTF-8."""
    if (encoding or "utf-8").lower().replace("-", "") == "utf8":
        try:
            return printable_json(model.model_dump_json(indent=indent))
        except ValueError:
            pass  # a surrogate: JSON can hold it escaped
    import json

    return printable_json(json.dumps(model.model_dump(), indent=indent, separators=None if indent else (",", ":")))


def _write_table(report: Report, stream: TextIO, *, wide: bool) -> None:
    rows = shown_rows(report, wide=wide)
    if rows:
        stream.writelines(plain_lines([column.title for column in shown_columns(report, wide=wide)], rows))
    stream.writelines(printable(line) + "\n" for line in (*_remark_lines(report), *report.conclusion))


def _remark_lines(report: Report) -> Iterator[str]:
    for part in report.remark:
        if isinstance(part, str):
            yield part
            continue
        lines = list(plain_lines(*shown_cells(part)))
        yield from ("  " + line.removesuffix("\n") for line in lines[:MOST_LINES])
        if len(lines) > MOST_LINES:
            yield f"  … and {len(lines) - MOST_LINES} more, see -o json"


def shown_columns(report: Report, *, wide: bool) -> list[Column]:
    """The columns of a table."""
    return [column for column in report.columns if wide or not column.wide]


def shown_rows(report: Report, *, wide: bool) -> Rows[Sequence[str]]:
    """The cells of those columns, with nothing in them that steers a terminal."""
    shown = [index for index, column in enumerate(report.columns) if wide or not column.wide]
    short = [{} if wide else report.columns[index].short or {} for index in shown]

    def cells(row: Sequence[str]) -> list[str]:
        return [printable(known.get(row[index], row[index])) for index, known in zip(shown, short, strict=True)]

    return Rows(report.rows, cells)


def shown_cells(report: Report) -> tuple[list[str], list[list[str]]]:
    """Titles and rows of a report, without what only -o wide shows."""
    shown = [index for index, column in enumerate(report.columns) if not column.wide]
    return [report.columns[i].title for i in shown], [[row[i] for i in shown] for row in report.rows]


def plain_lines(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Lines of columns padded with blanks, two between them; never cut, whatever the width.

    The rows are looked through twice, as the widest of all decides.
    """
    widths = [len(title) for title in titles]
    for row in rows:
        widths = [max(width, len(cell)) for width, cell in zip(widths, row, strict=True)]
    for line in itertools.chain((titles,), rows):
        yield "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() + "\n"


OutputForm = Literal["table", "wide", "json", "jsonl", "csv", "name"]
JSON = frozenset({"json", "jsonl"})
"""A program reads it, and what is told on standard error beside it."""
TABLES = frozenset({"table", "wide"})
"""For people, who may look at a terminal."""
ONE_PIECE = frozenset({"json", "csv", "name"})
"""Written once all is known; the others can follow what happens, line by line."""
NARROW = frozenset({"table", "name"})
"""Without what only the wide columns show."""
