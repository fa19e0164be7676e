"""Every drawing of the pages is what the command makes now."""

from xml.etree import ElementTree as ET

import pytest

from tests.documentation.drawings import drawings
from tests.documentation.pages import DOCS


@pytest.mark.parametrize("path", sorted(drawings()))
def test_a_drawing_is_fresh(path: str) -> None:
    text = drawings()[path]
    assert (DOCS / path).read_text(encoding="utf-8") == text, "run python -m tests.documentation --write"
    assert "<script" not in text
    assert "<!--" not in text, "a comment of the library has the date, which is another tomorrow"


def test_the_worked_example_is_drawn_step_by_step() -> None:
    words = " ".join(text.strip() for text in ET.fromstring(drawings()["images/drf.svg"]).itertext())
    assert "framework 1 (mem)" in words
    assert "framework 2 (cpus)" in words
    assert words.count("67%") >= 2
