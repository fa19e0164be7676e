"""The frame of all HTML reports: who was asked what and when, the verdict first, and then sections.

A report is one file. No script, font or image is loaded, a policy in the page forbids it, and every name is escaped.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape as _escape
from importlib.resources import files
from typing import Literal

from mesosctl.mesos.amounts.notation import and_more, utc_second
from mesosctl.mesos.errors import printable
from mesosctl.mesos.exit_status import Answer

MOST_ROWS = 500
"""The most rows of one table, and sentences of one list, so that a page stays readable."""

Tone = Literal["yes", "no", "plain"]
"""Whether the verdict of a report is good, bad, or neither."""
TONE_OF_ANSWERS: Mapping[Answer, Tone] = {"yes": "yes", "no": "no", "unknown": "plain"}
"""The tone of a report that answers a question."""


@dataclass(frozen=True, slots=True)
class ReportOrigin:
    """The command that made a report, its cluster, and when."""

    command: str
    """The command line."""
    version: str
    """Of mesosctl."""
    at: float
    """When the report was made, in seconds since 1970."""
    master: str | None = None
    """The address of the live master, or of the one that the file is a recording of; None if it is not known."""
    file: str | None = None
    """The snapshot, cluster file or recording that was read."""
    context: str | None = None
    """The context that names the master."""
    principal: str | None = None
    """The principal that asked the live master."""

    def facts(self) -> Iterator[tuple[str, str]]:
        """Yield each fact with its name."""
        yield "Command", self.command
        if self.context is not None:
            yield "Cluster", f"context {self.context}"
        if self.file is not None:
            yield "Read from", self.file
        if self.master is not None:
            yield "Master" if self.file is None else "Recorded from", self.master
        if self.file is None:
            yield "Principal", self.principal or "none"
        yield "Made by", f"mesosctl {self.version}"
        yield "Made at", f"{utc_second(self.at)} UTC"


def escape(text: str) -> str:
    """Names as text, whatever they contain."""
    return _escape(printable(text))


def html_report(
    kind: str,
    verdict: str,
    tone: Tone,
    facts: Iterable[tuple[str, str]],
    parts: Iterable[str],
) -> str:
    """The whole document: the verdict, the kind of report, the facts, those of its origin first, and its parts."""
    style = files("mesosctl.show").joinpath("page_style.css").read_text(encoding="utf-8")
    listed = "\n".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in facts)
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{escape(verdict)}</title>",
            f"<style>\n{style}</style>",
            "</head>",
            "<body>",
            "<main>",
            f'<header class="{tone}"><h1>{escape(verdict)}</h1><p>{escape(kind)}</p></header>',
            f"<dl>\n{listed}\n</dl>",
            *filter(None, parts),
            "</main>",
            "</body>",
            "</html>",
            "",
        ]
    )


def section(title: str, body: str, note: str = "") -> str:
    """A part of a report; nothing if its body is empty."""
    if not body:
        return ""
    aside = f" <small>{escape(note)}</small>" if note else ""
    return f"<section>\n<h2>{escape(title)}{aside}</h2>\n{body}\n</section>"


def sentences(title: str, lines: Iterable[str]) -> str:
    """A section of sentences; nothing if there are none."""
    stripped = [line.strip() for line in lines]
    kept = [line for line in stripped if line]
    shown = [f"<li>{escape(line)}</li>" for line in kept[:MOST_ROWS]]
    more = [f"<li>{_more(len(kept))}</li>"] if len(kept) > MOST_ROWS else []
    return section(title, "\n".join(["<ul>", *shown, *more, "</ul>"]) if shown else "")


def _more(count: int) -> str:
    return f"… {and_more(count - MOST_ROWS)}"


def text_table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of texts; nothing if it has no rows."""
    return html_table(titles, [[escape(cell) for cell in row] for row in rows])


def html_table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of cells that are HTML already; nothing if it has no rows.

    One that is wider than a sheet of paper is folded into several, each of which begins with the first column.
    """
    if not rows:
        return ""
    return "\n".join(
        _one_table([titles[index] for index in columns], [[row[index] for index in columns] for row in rows])
        for columns in _folded(titles, rows)
    )


_LETTERS_A_LINE = 92
"""How many letters a line of a table has on A4."""
_GAP = 3
_WIDEST = 30
"""Letters, from which on a cell is broken between words."""
_TAG = re.compile(r"<[^>]*>")


def _folded(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[list[int]]:
    """Yield the columns of each part of a table that fits on a line."""
    widths = [
        max(
            max(map(len, title.split()), default=0),
            *(min(_WIDEST, len(_TAG.sub("", row[index]))) for row in rows[:MOST_ROWS]),
        )
        + _GAP
        for index, title in enumerate(titles)
    ]
    part, left = [0], _LETTERS_A_LINE - widths[0]
    for index in range(1, len(titles)):
        if widths[index] > left and len(part) > 1:
            yield part
            part, left = [0], _LETTERS_A_LINE - widths[0]
        part.append(index)
        left -= widths[index]
    yield part


def _one_table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """One table.

    It scrolls by itself where it is too wide. The keyboard scrolls it too, so it can be focused, and has a name. Each
    cell names its column, which is shown next to it on a phone.
    """
    head = "".join(f'<th scope="col">{escape(title)}</th>' for title in titles)
    body = "\n".join(_row(titles, row) for row in rows[:MOST_ROWS])
    name = escape(", ".join(titles))
    foot = f"<p>{_more(len(rows))}</p>" if len(rows) > MOST_ROWS else ""
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{name}"><table>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table></div>{foot}"
    )


def _row(titles: Sequence[str], row: Sequence[str]) -> str:
    cells = "".join(
        f'<td data-title="{escape(title)}"{_breaking(cell)}>{cell}</td>'
        for title, cell in zip(titles[1:], row[1:], strict=True)
    )
    return f'<tr><th scope="row"{_breaking(row[0])}>{row[0]}</th>{cells}</tr>'


def _breaking(cell: str) -> str:
    """The attribute of a cell with a word so long that it breaks anywhere on paper; others break between words."""
    is_long = any(len(word) > _WIDEST for word in _TAG.sub("", cell).split())
    return ' class="long"' if is_long else ""
