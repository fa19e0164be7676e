"""Every citation in the code leads to a page that this repository has or lists."""

import re
from functools import cache
from pathlib import Path

import pytest

from tests import ROOT
from tests.documentation.documents import PAGES_OF_MESOS

_OF_MESOS = re.compile(r'Mesos documentation((?:(?:[,;]| and) "[^"]+")+)')
_HERE = re.compile(r'(docs/[\w/-]+\.md)((?:(?:,| and) "[^"]+")*)')
_NOWHERE = re.compile(r"§|\b(?:spec|seeds)/[\w-]+\.(?:md|txt)|Mesos (?:[a-z]+ )+documentation|Mesos source")


def _text(path: Path) -> str:
    """The text of a file with its line ends, and the signs of comments after them, as spaces."""
    return re.sub(r"\s*\n\s*(?:# ?)?", " ", path.read_text(encoding="utf-8"))


FILES = sorted(
    path
    for folder in ("mesosctl", "fake_master", "tests")
    for path in (ROOT / folder).rglob("*.py")
    if path != Path(__file__)
)
TEXTS = {str(path.relative_to(ROOT)): _text(path) for path in FILES}


@cache
def _headings(page: str) -> set[str]:
    return {line.lstrip("# ") for line in (ROOT / page).read_text(encoding="utf-8").splitlines() if line[:1] == "#"}


def _cited(pattern: re.Pattern[str]) -> list[tuple[str, str]]:
    return [(file, found[0]) for file, text in TEXTS.items() for found in pattern.finditer(text)]


@pytest.mark.parametrize(("file", "citation"), _cited(_OF_MESOS))
def test_a_cited_page_of_mesos_is_listed(file, citation):
    for page in citation.removeprefix("Mesos documentation, ").split("; "):
        assert page.split('"')[1] in PAGES_OF_MESOS


@pytest.mark.parametrize(("file", "citation"), _cited(_HERE))
def test_a_cited_section_is_on_its_page(file, citation):
    page, *titles = re.split(r'(?:,| and) "', citation)
    for title in titles:
        assert any(heading.startswith(title.rstrip('"')) for heading in _headings(page))


def test_nothing_cites_what_is_not_in_this_repository():
    assert _cited(_NOWHERE) == []
