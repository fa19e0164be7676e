"""Every link leads somewhere.  `mkdocs build --strict` looks at those between the pages of the site."""

from pathlib import Path

import pytest

from tests import ROOT
from tests.documentation.pages import DOCS, OUTSIDE, anchors, links, pages


def broken(page: Path) -> list[str]:
    found = []
    for link in links(page):
        path, _, anchor = link.partition("#")
        if path.startswith(("http://", "https://", "mailto:")):
            continue
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            found.append(link)
    return found


@pytest.mark.parametrize("page", OUTSIDE, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_outside_of_the_site_lead_somewhere(page: Path) -> None:
    assert broken(page) == []


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# One, two\n\n[a](#one-two) [b](#three) ![c](gone.svg) [d](page.md#one-two) [e](https://mesos.apache.org)\n"
    )
    assert broken(page) == ["#three", "gone.svg"]


def test_the_home_page_leads_to_the_readme_and_back() -> None:
    """A reader of one finds the other."""
    assert "docs/index.md" in set(links(ROOT / "README.md"))
    assert set(pages()) >= {DOCS / "index.md", DOCS / "tutorial.md"}
