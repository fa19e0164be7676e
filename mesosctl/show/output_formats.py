"""The output formats: their names for -o, and how each writes a report.

To add a format, name it in `OutputForm` and in the sets below it, and write it in `write`.
"""

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal, TextIO

from mesosctl.files.redaction import Secrets
from mesosctl.mesos.amounts.amount_text import text_in_words
from mesosctl.mesos.errors import printable, printable_json
from mesosctl.show.report import (
    MOST_LINES,
    NOTHING,
    Report,
    Rows,
    as_table,
    rest_line,
    shown_cells,
    shown_columns,
    shown_rows,
)

if TYPE_CHECKING:
    from pydantic import BaseModel


OutputForm = Literal["table", "wide", "json", "jsonl", "yaml", "csv", "name"]
DOCUMENTS = frozenset({"json", "jsonl", "yaml"})
"""Formats for programs, with JSON on standard error too."""
TABLES = frozenset({"table", "wide"})
"""Formats for people, who may use a terminal."""
ONE_PIECE = frozenset({"json", "yaml", "csv", "name"})
"""Formats that are written once, at the end; the others can be written line by line."""
HAVE_COLUMNS = frozenset({"table", "wide", "csv"})
"""Formats of which --columns chooses the columns."""
ROWS_ALONE = frozenset({"csv", "name"})
"""Formats without the sentences beside a table."""
NARROW = frozenset({"table", "name"})
"""Formats without the wide columns."""


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

    `draws` means that the output is a terminal of `width` columns, `colours` that it may have colours.
    """
    secrets = secrets or Secrets()
    report = redacted(as_table(report) if form in TABLES else report, secrets)
    if form == "json":
        stream.writelines(map(secrets.redact_json, _json_pieces(report, stream.encoding)))
    elif form == "jsonl":
        stream.writelines(secrets.redact_json(json_text(item, stream.encoding)) + "\n" for item in report.lines())
    elif form == "yaml":
        stream.writelines(_yaml_pieces(report, secrets, stream.encoding))
    elif form == "csv":
        import csv

        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([column.key or column.title.lower() for column in report.columns])
        # A program gets names unchanged; a terminal gets no control characters.
        shown = printable if draws else str
        writer.writerows(["" if cell == NOTHING else shown(cell) for cell in row] for row in report.rows)
    elif form == "name":
        stream.writelines((printable(name) if draws else name) + "\n" for name in report.names)
    elif draws:
        from mesosctl.show.terminal import draw

        draw(report, stream, wide=form == "wide", colours=colours, width=width)
    else:
        _write_table(report, stream, wide=form == "wide")


def redacted(report: Report, secrets: Secrets) -> Report:
    """Return it without any of `secrets`, before it is laid out: a table may break a text in two."""
    plain, terminal, table = secrets.redact_data, report.terminal, report.table

    def plain_cell(cell: str) -> str:
        text = plain(cell)
        return cell if text == cell else text  # a cell may be more than its text

    return report._replace(
        rows=Rows(report.rows, lambda row: list(map(plain_cell, row))),
        names=list(map(plain, report.names)),
        remark=[plain(part) if isinstance(part, str) else redacted(part, secrets) for part in report.remark],
        detail=[plain(part) if isinstance(part, str) else redacted(part, secrets) for part in report.detail],
        verdicts=[verdict._replace(sentence=plain(verdict.sentence)) for verdict in report.verdicts],
        table=None if table is None else lambda: redacted(table(), secrets),
        terminal=None if terminal is None else lambda: redacted(terminal(), secrets),
    )


def document_line(report: Report) -> str:
    """The whole document of a report in one line of JSON."""
    return json_text(report.whole_document(), None) + "\n"


def _json_pieces(report: Report, encoding: str | None) -> Iterator[str]:
    """The document, with the elements of its listing."""
    whole = json_text(report.document(), encoding, indent=2)
    before, empty, after = whole.partition(f'\n  "{report.listing}": []') if report.listing else (whole, "", "")
    yield before + empty.removesuffix("]")
    between = ""
    items = iter(report.elements() if empty else ())
    while together := list(itertools.islice(items, _TOGETHER)):
        # No text in JSON contains a line feed.
        yield between + _elements_text(together, encoding).replace("\n", "\n  ")
        between = ","
    yield ("\n  " if between else "") + ("]" if empty else "") + after + "\n"


_TOGETHER = 200
"""Elements of a listing that are written at once."""


def _elements_text(models: "Sequence[BaseModel]", encoding: str | None) -> str:
    """The elements of a list in JSON, each on lines of its own, without the brackets."""
    if _is_utf8(encoding):
        from pydantic_core import to_json

        try:
            return printable_json(to_json(models, indent=2, by_alias=False).decode())[len("[") : -len("\n]")]
        except ValueError:
            pass  # a surrogate in one of them
    return ",".join("\n  " + json_text(model, encoding, indent=2).replace("\n", "\n  ") for model in models)


def _yaml_pieces(report: Report, secrets: Secrets, encoding: str | None) -> Iterator[str]:
    """The document of -o json as YAML, with the elements of its listing."""
    whole = yaml_text(secrets.redact_json(json_text(report.document(), None)), encoding)
    before, empty, after = whole.partition(f"{report.listing}: []\n") if report.listing else (whole, "", "")
    items = iter(report.elements()) if empty else iter(())
    first = next(items, None)
    yield before
    if first is None:
        yield empty
    else:
        yield f"{report.listing}:\n"
        for item in itertools.chain((first,), items):
            # A list below a key is not indented, so that one item after the other makes the list.
            yield yaml_text(f"[{secrets.redact_json(json_text(item, None))}]", encoding)
    yield after


def yaml_text(json_document: str, encoding: str | None = None) -> str:
    """JSON as YAML, without characters that control a terminal; in ASCII if the encoding requires it."""
    import json

    import yaml

    value = json.loads(json_document)
    # The faster of its two writers cannot write half of a surrogate pair.
    is_whole = "\\ud" not in json_document
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper) if is_whole else yaml.SafeDumper
    plain = json.dumps(value, ensure_ascii=False)
    text: str = yaml.dump(
        value,
        Dumper=dumper,
        sort_keys=False,
        allow_unicode=is_whole and _is_utf8(encoding) and plain == printable_json(plain),
        width=_ANY_WIDTH,
    )
    return text


_ANY_WIDTH = 1_000_000
"""No text of a document is folded."""


def _is_utf8(encoding: str | None) -> bool:
    return (encoding or "utf-8").lower().replace("-", "") == "utf8"


def json_text(model: "BaseModel", encoding: str | None, indent: int | None = None) -> str:
    """The model as JSON; in ASCII if the encoding requires it, or a name is not UTF-8."""
    if _is_utf8(encoding):
        try:
            return printable_json(model.model_dump_json(indent=indent))
        except ValueError:
            pass  # a surrogate: JSON can hold it escaped
    import json

    return printable_json(json.dumps(model.model_dump(), indent=indent, separators=None if indent else (",", ":")))


def _write_table(report: Report, stream: TextIO, *, wide: bool) -> None:
    rows = Rows(shown_rows(report, wide=wide), _in_words)
    answers = [verdict.sentence for verdict in report.verdicts if not verdict.on_terminals_only]
    stream.writelines(printable(sentence) + "\n" for sentence in answers)
    remark = list(_remark_lines(report, wide=wide))
    if answers and (rows or (remark and remark[0])):  # a remark may begin with an empty line
        stream.write("\n")
    if rows:
        stream.writelines(plain_lines([column.title for column in shown_columns(report, wide=wide)], rows))
    stream.writelines(printable(line) + "\n" for line in remark)


def _remark_lines(report: Report, *, wide: bool) -> Iterator[str]:
    for part in (*report.remark, *(report.detail if wide else ())):
        if isinstance(part, str):
            yield part
            continue
        titles, cells = shown_cells(part)
        lines = list(plain_lines(titles, list(map(_in_words, cells))))
        most = len(lines) if wide else MOST_LINES
        yield from ("  " + line.removesuffix("\n") for line in lines[:most])
        if len(lines) > most:
            yield rest_line(len(lines) - most)


def _in_words(row: Sequence[str]) -> list[str]:
    """The cells of a row as people read them."""
    return [printable(text_in_words(cell)) for cell in row]


def plain_lines(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Lines of columns padded with spaces, two between them, whatever the width.

    The rows are read twice, because the widest decides.
    """
    widths = [len(title) for title in titles]
    for row in rows:
        widths = [max(width, len(cell)) for width, cell in zip(widths, row, strict=True)]
    for line in itertools.chain((titles,), rows):
        yield "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() + "\n"
