"""The page of a forecast: parsed strictly, and opened in a real browser where there is one."""

import json
import re
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from mesosctl.show.report import Column, Report
from mesosctl.whatif.page import page
from tests.mesosctl.whatif.forecasts import HOSTILE, ORIGIN, whole_forecast

_VOID = {"meta", "br", "wbr"}
_LOADING = {"src", "href", "srcset", "data", "action", "background", "poster", "xlink:href"}


class Strict(HTMLParser):
    """Every tag is closed in order, and nothing is loaded from anywhere."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.seen: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        assert not {name for name, _ in attrs} & _LOADING, (tag, attrs)
        assert not any(name.startswith("on") for name, _ in attrs), (tag, attrs)
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, tag
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_it_is_well_formed_and_loads_nothing():
    parser = Strict()
    parser.feed(page(whole_forecast(), [], ORIGIN))
    parser.close()
    assert parser.open == []
    assert not {"script", "link", "img", "iframe", "object", "embed", "form"} & set(parser.seen)
    assert "url(" not in page(whole_forecast(), [], ORIGIN)
    assert "@import" not in page(whole_forecast(), [], ORIGIN)


def test_what_a_command_would_have_told_is_in_it():
    columns = [Column("ROLE"), Column("ID", wide=True)]
    would = Report(columns, [["<b>web</b>", "1"]], [], lambda: pytest.fail("a page asks for no document"), list)
    html = page(whole_forecast(), [would], ORIGIN)
    assert '<th scope="row">&lt;b&gt;web&lt;/b&gt;</th>' in html
    assert "What would be done" in html


def test_it_names_where_it_comes_from():
    origin = replace(ORIGIN, command="mesosctl whatif 'quota:web=cpus:12'")
    parser = Strict()
    parser.feed(page(whole_forecast(), (), origin))
    text = "".join(parser.text)
    for fact in (
        "mesosctl whatif 'quota:web=cpus:12'",
        "mesosctl 1.2.3",
        "http://master:5050",
        "context prod",
        "2027-01-15 08:00:00 UTC",
    ):
        assert fact in text
    assert re.search(r"Principal\s*op", text)


def test_of_a_file_it_names_the_file_and_whose_recording_it_is():
    origin = replace(ORIGIN, file="h.sqlite", context=None, principal=None)
    recorded = page(whole_forecast(), (), origin)
    assert "<dt>Read from</dt><dd>h.sqlite</dd>" in recorded
    assert "<dt>Recorded from</dt><dd>http://master:5050</dd>" in recorded
    assert "<dt>Master</dt>" not in recorded
    assert "Recorded from" not in page(whole_forecast(), (), replace(origin, master=None))


def test_one_agent_is_not_several():
    html = page(replace(whole_forecast(), agents=1, cycles=1), [], ORIGIN)
    assert "1 agent in service" in html
    assert "1 allocation (" in html


def test_a_hostile_name_is_text_and_cannot_turn_the_line():
    html = page(whole_forecast(), [], ORIGIN)
    parser = Strict()
    parser.feed(html)
    shown = HOSTILE.replace("\u202e", "\\u202e")
    assert "".join(parser.text).count(shown) > 3
    assert "<script" not in html
    assert "\u202e" not in html


_PROBE = """
<script>
const style = element => getComputedStyle(element);
function ground(element) {
  for (; element; element = element.parentElement) {
    const colour = style(element).backgroundColor;
    if (colour !== 'rgba(0, 0, 0, 0)') return colour;
  }
  return 'rgb(255, 255, 255)';
}
function light(colour) {
  const [r, g, b] = colour.match(/[\\d.]+/g).map(part => part / 255)
    .map(part => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function contrast(element) {
  const [a, b] = [light(style(element).color), light(ground(element))];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}
const worded = [...document.querySelectorAll('h1,h2,p,li,th,td,small')].filter(e => e.textContent.trim());
const bars = [...document.querySelectorAll('svg')];
document.title = JSON.stringify({
  title: document.title,
  contrast: Math.min(...worded.map(contrast)),
  ground: ground(document.body),
  loaded: performance.getEntriesByType('resource').length,
  overflow: document.documentElement.scrollWidth - innerWidth,
  clipped: worded.filter(e => e.tagName !== 'TH' && e.tagName !== 'TD' && e.scrollWidth > e.clientWidth + 1).length,
  scales: [...new Set(bars.map(svg => Math.round(svg.getBoundingClientRect().width)))].length,
  header: getComputedStyle(document.querySelector('thead')).display,
  bars: bars.map(svg => svg.getBoundingClientRect()).filter(box => box.width > 100 && box.height > 20).length,
  drawn: [...document.querySelectorAll('svg rect.used')].map(rect => Math.round(rect.getBoundingClientRect().width)),
});
</script>
"""


def opened(browser: list[str], html: str, folder: Path, *, width: int = 1000, dark: bool = False) -> dict[str, Any]:
    """What the browser says of the page, by a script that the page itself would forbid."""
    file = folder / "page.html"
    policy = html[html.index("<meta http-equiv") : html.index(">", html.index("<meta http-equiv")) + 1]
    file.write_text(html.replace(policy, "").replace("</body>", f"{_PROBE}</body>"), encoding="utf-8")
    scheme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
    words = [*browser, scheme, f"--window-size={width},900", "--dump-dom", file.as_uri()]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=120, check=True)
    title = ran.stdout[ran.stdout.index("<title>") + 7 : ran.stdout.index("</title>")]
    return json.loads(title.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [500, 1200])
def test_in_a_real_browser(browser: list[str], tmp_path: Path, dark: bool, width: int):
    forecast = whole_forecast()
    seen = opened(browser, page(forecast, [], ORIGIN), tmp_path, width=width, dark=dark)
    assert seen["title"] == "NO: it would be refused"
    assert seen["contrast"] >= 4.5
    assert seen["loaded"] == 0
    assert seen["overflow"] <= 0
    assert seen["clipped"] == 0
    assert seen["bars"] == len(forecast.roles) + len(forecast.frameworks)
    assert (seen["ground"] == "rgb(255, 255, 255)") is not dark
    assert max(seen["drawn"]) > 10
    assert seen["scales"] == 1, "all bars are as long for the same share"
    assert (seen["header"] == "none") is (width < 640), "a phone shows the title of a column beside each cell"


def test_on_paper(browser: list[str], tmp_path: Path):
    file, printed = tmp_path / "page.html", tmp_path / "page.pdf"
    file.write_text(page(whole_forecast(), [], ORIGIN), encoding="utf-8")
    subprocess.run([*browser, f"--print-to-pdf={printed}", file.as_uri()], timeout=120, check=True, capture_output=True)
    pages = re.findall(rb"/Type\s*/Page\b", printed.read_bytes())
    assert 1 <= len(pages) <= 4


def test_the_page_forbids_scripts_in_a_real_browser(browser: list[str], tmp_path: Path):
    file = tmp_path / "page.html"
    script = "<script>document.title = 'a script ran'</script>"
    file.write_text(page(whole_forecast(), [], ORIGIN).replace("</body>", f"{script}</body>"), encoding="utf-8")
    ran = subprocess.run(
        [*browser, "--dump-dom", file.as_uri()], capture_output=True, text=True, timeout=120, check=True
    )
    assert "<title>NO: it would be refused</title>" in ran.stdout
