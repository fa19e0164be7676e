"""Pages and messages install mesosctl as the README does: from a checkout, since no index of packages has it yet."""

import re

import pytest

from tests import ROOT
from tests.documentation.pages import pages

FROM_AN_INDEX = re.compile(r"\b(?:pip|pipx|uv|tool) install\s[^`\n]*(?<![\w/])'?mesosctl\b")


@pytest.mark.parametrize("line", ["pip install mesosctl", "pipx install 'mesosctl[dask]'", "pip install -U mesosctl"])
def test_a_line_that_asks_an_index_is_found(line):
    assert FROM_AN_INDEX.search(line)


def test_every_page_installs_from_a_checkout():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "pipx install ." in readme
    texts = {page: page.read_text(encoding="utf-8") for page in pages()}
    assert [page.name for page, text in texts.items() if FROM_AN_INDEX.search(text)] == []


def test_every_message_installs_from_a_checkout():
    sources = [path for room in ("mesosctl", "fake_master") for path in (ROOT / room).rglob("*.py")]
    assert sources
    assert [path.name for path in sources if re.search(r"install '?mesosctl\b", path.read_text(encoding="utf-8"))] == []
