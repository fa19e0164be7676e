"""The screens of the documentation are what mesosctl prints, and stand on a terminal of their width."""

import re
import xml.etree.ElementTree as ET

import pytest
from rich.cells import cell_len

from tests.documentation.pages import DOCS
from tests.documentation.screens import SCREENS, WIDTHS, printed, screens, text


@pytest.mark.slow
def test_every_screen_is_what_is_printed_now():
    made = screens()
    assert len(made) == len(SCREENS) * len(WIDTHS) * 2
    stale = [path for path, svg in made.items() if (DOCS / path).read_text(encoding="utf-8") != svg]
    assert stale == [], "run python -m tests.documentation --write"
    for svg in made.values():
        assert "http" not in svg.replace("http://www.w3.org/2000/svg", "").replace("https://www.textualize.io", "")
        ET.fromstring(svg)


CELL = 12.2
"""The width of a cell in a drawing."""


@pytest.mark.parametrize("name", sorted(SCREENS))
def test_each_word_of_a_drawing_has_its_place_and_width_whatever_the_font(name):
    lines = text(name, 80).splitlines()
    drawn = ET.fromstring((DOCS / f"images/screens/{name}-80-plain.svg").read_text(encoding="utf-8"))
    found = [one for one in drawn.iter("{http://www.w3.org/2000/svg}text") if "textLength" in one.attrib]
    assert len(found) > len(lines)
    for one in found:
        word = (one.text or "").replace("\N{NO-BREAK SPACE}", " ")
        assert one.attrib["lengthAdjust"] == "spacingAndGlyphs"
        assert "  " not in word
        assert float(one.attrib["textLength"]) == pytest.approx(CELL * cell_len(word), abs=0.1)
        line = lines[round((float(one.attrib["y"]) - 20) / 24.4)]
        column = round(float(one.attrib["x"]) / CELL)
        assert line[column : column + len(word)] == word


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", sorted(SCREENS))
def test_no_line_is_wider_than_its_terminal(name, width):
    assert max(map(cell_len, text(name, width).splitlines())) <= width


@pytest.mark.parametrize("name", sorted(SCREENS))
def test_colours_are_never_the_only_sign(name):
    plain = re.sub(r"\x1b\[[0-9;]*m", "", printed(name, 80, colours=True))
    assert plain.split() == printed(name, 80, colours=False).split()
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]m", printed(name, 80, colours=False))
