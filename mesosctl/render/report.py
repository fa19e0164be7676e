"""An answer that can be written in every form, and the writing of it."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TextIO

from mesosctl.core.printable import printable, printable_json

if TYPE_CHECKING:
    from pydantic import BaseModel

NOTHING = "-"
"""What a table shows where there is nothing; csv leaves the cell empty.  No role can be called so."""


class Column(NamedTuple):
    """A column of a table; `wide` ones appear with -o wide, and in csv always."""

    title: str
    wide: bool = False
    key: str = ""
    """What csv calls it; the title in small letters unless given.  No two of a report are alike."""


class Report(NamedTuple):
    """One answer.

    `rows` has a text for every column; `names` is what -o name writes; `document` and `items`
    make the models of -o json and -o jsonl, and are called only then, as models are slow to load.
    `remark` stands under a table.  `done` is the sentence for a change that was made.
    """

    columns: Sequence[Column]
    rows: Sequence[Sequence[str]]
    names: Sequence[str]
    document: "Callable[[], BaseModel]"
    items: "Callable[[], Sequence[BaseModel]]"
    empty: str = ""
    remark: Sequence[str] = ()
    done: str = ""


def write(report: Report, form: str, stream: TextIO, *, draws: bool, colours: bool) -> None:
    """Write `report` to `stream`.  `draws` says that a person looks at a terminal, `colours` what it may show."""
    if form == "json":
        stream.write(json_text(report.document(), stream.encoding, indent=2) + "\n")
    elif form == "jsonl":
        stream.writelines(json_text(item, stream.encoding) + "\n" for item in report.items())
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
    rows = [[printable(row[index]) for index in shown] for row in report.rows]
    if not rows:
        if draws and report.empty:
            stream.write(printable(report.empty) + "\n")
    elif draws:
        from mesosctl.render.drawn import draw_table

        draw_table(titles, rows, stream, colours=colours)
    else:
        stream.write(plain_table(titles, rows))
    stream.writelines(printable(line) + "\n" for line in report.remark)


def plain_table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns padded with blanks, two between them; never cut, whatever the width."""
    lines = [titles, *rows]
    widths = [max(len(line[index]) for line in lines) for index in range(len(titles))]
    return "".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() + "\n" for line in lines
    )
