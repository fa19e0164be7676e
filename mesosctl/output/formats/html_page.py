"""A self-contained HTML page: no script, font or image is loaded, every name is escaped."""

from collections.abc import Iterable, Sequence
from html import escape as _escape
from importlib.resources import files

from mesosctl.model.errors import printable


def escape(text: str) -> str:
    """Names as text, whatever they contain."""
    return _escape(printable(text))


def document(title: str, parts: Iterable[str]) -> str:
    """The whole document."""
    style = files("mesosctl.output.formats").joinpath("page_style.css").read_text(encoding="utf-8")
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{escape(title)}</title>",
            f"<style>\n{style}</style>",
            "</head>",
            "<body>",
            "<main>",
            *parts,
            "</main>",
            "</body>",
            "</html>",
            "",
        ]
    )


def html_table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table that scrolls by itself where it is too wide."""
    body = "\n".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return scrolling_table(titles, body)


def scrolling_table(titles: Sequence[str], body: str) -> str:
    """The same with rows that are HTML; the keyboard scrolls it too, so it can be focused, and has a name."""
    head = "".join(f'<th scope="col">{escape(title)}</th>' for title in titles)
    name = escape(", ".join(titles))
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{name}"><table>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table></div>"
    )
