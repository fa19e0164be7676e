"""The pages that people read, and what stands in them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests import ROOT

DOCS = ROOT / "docs"
OUTSIDE = (ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "fake_master" / "allocator" / "README.md")
"""The pages that are no part of the site."""


@dataclass(frozen=True, slots=True)
class Fence:
    """A fenced block of a page."""

    language: str
    title: str | None
    """What `title="…"` says."""
    text: str
    line: int
    """The line of its opening fence, from 1."""


def pages() -> list[Path]:
    """Return every page, those of the site first."""
    return [*sorted(DOCS.rglob("*.md")), *OUTSIDE]


def tokens(page: Path) -> Iterator[Token]:
    """Yield the tokens of a page, inline ones after the block that holds them."""
    for token in MarkdownIt("commonmark").enable("table").parse(page.read_text(encoding="utf-8")):
        yield token
        yield from token.children or ()


def fences(page: Path) -> Iterator[Fence]:
    """Yield the fenced blocks of a page in their order."""
    for token in tokens(page):
        if token.type == "fence":
            language, _, rest = token.info.strip().partition(" ")
            title = re.search(r'title="([^"]*)"', rest)
            assert token.map is not None
            yield Fence(language, title and title[1], token.content, token.map[0] + 1)


def links(page: Path) -> Iterator[str]:
    """Yield the targets of the links and pictures of a page."""
    for token in tokens(page):
        for name in ("href", "src"):
            target = token.attrGet(name) if token.type in ("link_open", "image") else None
            if target is not None:
                yield str(target)


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as hosts and the site make them."""
    found = set()
    before = None
    for token in tokens(page):
        if before is not None and before.type == "heading_open":
            words = re.sub(r"[^\w\- ]", "", token.content.lower()).strip()
            found.add(re.sub(r"\s", "-", words))
        before = token
    return found
