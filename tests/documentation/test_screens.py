"""The screens of the documentation are what mesosctl prints, and stand on a terminal of their width."""

import re
import xml.etree.ElementTree as ET

import pytest
from rich.cells import cell_len

from tests.documentation.pages import DOCS
from tests.documentation.screens import FOLDER, SCREENS, WIDTHS, printed, screens, svg, text


def test_every_screen_of_a_page_is_what_is_printed_now():
    made = screens()
    assert {f"{FOLDER}/{name}-80.svg" for name in SCREENS} <= made.keys()
    stale = [path for path, drawn in made.items() if (DOCS / path).read_text(encoding="utf-8") != drawn]
    assert stale == [], "run python -m tests.documentation --write"


def test_no_screen_is_kept_that_no_page_shows():
    assert {str(path.relative_to(DOCS)) for path in (DOCS / FOLDER).iterdir()} == screens().keys()


@pytest.mark.parametrize("colours", [True, False])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", sorted(SCREENS))
def test_a_drawing_of_any_width_is_whole_and_loads_nothing_from_elsewhere(name, width, colours):
    drawn = svg(name, width, colours=colours)
    assert "http" not in drawn.replace("http://www.w3.org/2000/svg", "").replace("https://www.textualize.io", "")
    ET.fromstring(drawn)


CELL = 12.2
"""The width of a cell in a drawing."""


@pytest.mark.parametrize("name", sorted(SCREENS))
def test_each_word_of_a_drawing_has_its_place_and_width_whatever_the_font(name):
    lines = text(name, 80).splitlines()
    drawn = ET.fromstring(svg(name, 80, colours=False))
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
