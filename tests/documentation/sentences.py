"""Every sentence that a person can meet: help, errors, hints, notes, table headings, and the pages.

    python -m tests.documentation.sentences [FOLDER…]

Prints one a line, after the place where it stands, for reading aloud.  Without folders, all of them.  A string of the
source counts if it has at least two words and is no docstring; what it inserts stands as {…}.  Helps are read from the
commands, and descriptions of JSON from its schemas.  The style test reads the same sentences.
"""

# ruff: noqa: T201  # a command that prints sentences

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mesosctl.program.documents import schemas
from mesosctl.program.reference.command_tree import commands, serving
from tests import ROOT
from tests.documentation.pages import pages, tokens

_SOURCES = ("mesosctl", "fake_master")
_WORDS = re.compile(r"[A-Za-z']{2,}.*\s.*[A-Za-z']{2,}", re.DOTALL)
_NO_SENTENCE = re.compile(r"^[\w./{}$-]+$|^[A-Z_ ]+ (FROM|INTO|TABLE) |PRAGMA|CREATE TABLE|SELECT ")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A text of one or more sentences, and where it stands."""

    place: str
    text: str


def of_source(path: Path) -> Iterator[Sentence]:
    """Yield the texts of a module that can be shown."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    skipped = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            skipped |= {id(part) for part in ast.walk(node)} - {id(node)}
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        text = _text(node)
        if text is not None and _WORDS.search(text) and not _NO_SENTENCE.search(text):
            yield Sentence(f"{path.relative_to(ROOT)}:{node.lineno}", " ".join(text.split()))  # type: ignore[attr-defined]


def _text(node: ast.AST) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_part(part) for part in node.values)
    return None


def _part(part: ast.expr) -> str:
    if isinstance(part, ast.Constant):
        return str(part.value)
    return "{" + ast.unparse(part.value if isinstance(part, ast.FormattedValue) else part) + "}"


def of_help() -> Iterator[Sentence]:
    """Yield what `--help` and the man pages say of each command."""
    for node in (node for root in (commands(), serving()) for node in root.walk()):
        texts = [node.summary, *node.text.split("\n\n")]
        texts += [argument.help for argument in node.arguments]
        texts += [option.help for option in node.options if not option.shared or len(node.path) == 1]
        texts += [meaning for _, meaning in node.examples]
        yield from (Sentence(f"{node.words} --help", " ".join(text.split())) for text in texts if text)


def of_schemas() -> Iterator[Sentence]:
    """Yield what the JSON Schemas say of documents and fields, each text once."""
    told: dict[str, str] = {}
    for kind, schema in schemas().items():
        for text in _descriptions(schema):
            told.setdefault(" ".join(text.split()), kind)
    yield from (Sentence(f"schemas/{kind}.json", text) for text, kind in told.items())


def _descriptions(node: object) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(node.get("description"), str):
            yield node["description"]
        for inner in node.values():
            yield from _descriptions(inner)
    elif isinstance(node, list):
        for inner in node:
            yield from _descriptions(inner)


def of_page(page: Path) -> Iterator[Sentence]:
    """Yield the headings, paragraphs and cells of a page."""
    line = 1
    for token in tokens(page):
        if token.map is not None:
            line = token.map[0] + 1
        if token.type == "inline" and token.content.strip():
            yield Sentence(f"{page.relative_to(ROOT)}:{line}", " ".join(token.content.split()))


def sentences() -> Iterator[Sentence]:
    """Yield all of them."""
    yield from of_help()
    yield from of_schemas()
    for source in _SOURCES:
        for path in sorted((ROOT / source).rglob("*.py")):
            yield from of_source(path)
    for page in pages():
        if "reference/commands" not in str(page) and page.name != "CHANGELOG.md":
            yield from of_page(page)


def main() -> None:
    """Print them."""
    folders = tuple(sys.argv[1:])
    for sentence in sentences():
        if not folders or sentence.place.startswith(folders):
            print(f"{sentence.place}: {sentence.text}")


if __name__ == "__main__":
    main()
