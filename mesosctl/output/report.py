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
"""What a table shows where there is nothing; csv leaves the cell empty.  No role can be called so."""


class Column(NamedTuple):
    """A column of a table; `wide` ones appear with -o wide, and in csv always."""

    title: str
    wide: bool = False
    key: str = ""
    """What csv calls it; the title in small letters unless given.  No two of a report are alike."""
    short: Mapping[str, str] | None = None
    """What a table shows in place of a cell, unless it is -o wide; cells that are not in it are shown as they are."""


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
    one by one.  `remark` stands under a table.  `done` is the sentence for a change that was made.
    """

    columns: Sequence[Column]
    rows: Sequence[Sequence[str]]
    names: Sequence[str]
    document: "Callable[[], BaseModel]"
    items: "Callable[[], Iterable[BaseModel]]"
    empty: str = ""
    remark: Sequence[str] = ()
    done: str = ""
    listing: str = ""


def write(
    report: Report, form: str, stream: TextIO, secrets: Secrets | None = None, *, draws: bool, colours: bool
) -> None:
    """Write `report` to `stream`, without any of `secrets`.

    `draws` says that a person looks at a terminal, `colours` what it may show.
    """
    secrets = secrets or Secrets()
    report = _redacted(report, secrets)
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
    else:
        _write_table(report, stream, wide=form == "wide", draws=draws, colours=colours)


def _redacted(report: Report, secrets: Secrets) -> Report:
    """Its texts without any of `secrets`, before they are laid out: a table may break one in two."""
    plain = secrets.redact_data
    return report._replace(
        rows=Rows(report.rows, lambda row: list(map(plain, row))),
        names=list(map(plain, report.names)),
        remark=list(map(plain, report.remark)),
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


def _write_table(report: Report, stream: TextIO, *, wide: bool, draws: bool, colours: bool) -> None:
    shown = [index for index, column in enumerate(report.columns) if wide or not column.wide]
    titles = [report.columns[index].title for index in shown]
    short = [{} if wide else report.columns[index].short or {} for index in shown]

    def cells(row: Sequence[str]) -> list[str]:
        return [printable(known.get(row[index], row[index])) for index, known in zip(shown, short, strict=True)]

    rows = Rows(report.rows, cells)
    if not rows:
        if draws and report.empty:
            stream.write(printable(report.empty) + "\n")
    elif draws:
        from mesosctl.output.terminal import draw_table

        draw_table(titles, rows, stream, colours=colours)
    else:
        stream.writelines(plain_lines(titles, rows))
    stream.writelines(printable(line) + "\n" for line in report.remark)


def plain_table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns padded with blanks, two between them; never cut, whatever the width."""
    return "".join(plain_lines(titles, rows))


def plain_lines(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """The same, line by line; the rows are looked through twice, as the widest of all decides."""
    widths = [len(title) for title in titles]
    for row in rows:
        widths = [max(width, len(cell)) for width, cell in zip(widths, row, strict=True)]
    for line in itertools.chain((titles,), rows):
        yield "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() + "\n"


OutputForm = Literal["table", "wide", "json", "jsonl", "csv", "name"]
JSON = frozenset({"json", "jsonl"})
"""A program reads it, and what is told on standard error beside it."""
ONE_PIECE = frozenset({"json", "csv", "name"})
"""Written once all is known; the others can follow what happens, line by line."""
NARROW = frozenset({"table", "name"})
"""Without what only the wide columns show."""
