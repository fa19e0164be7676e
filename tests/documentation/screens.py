"""Six screens of mesosctl, with colours and without, as SVG: pages show some of them, and tests draw all of them.

    python -m tests.documentation --write     make those that are stale anew
    python -m tests.documentation.screens 80  print what somebody reads on a terminal of 80 columns

They are those of one cluster in virtual time, so that they change with what mesosctl prints and with nothing else.
"""

import html
import io
import re
import sys
import time
from functools import cache

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from fake_master.sources.cluster_file import read_cluster
from mesosctl.client.address import parse_address
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.client.settings import ClientSettings
from mesosctl.mesos.cluster.account import Overview
from mesosctl.reading.overview import OverviewReader
from mesosctl.top.report import ScreenStatus, TopState, large_table, top_screen
from tests.documentation.pages import links, pages
from tests.helpers.lab import CommandLine, Lab

WIDTHS = (60, 80, 200)
NOON = time.mktime((2030, 1, 2, 12, 0, 0, 0, 0, -1))
"""A time of day that reads alike wherever the screens are made."""
HEIGHT = 30
"""Lines of the terminal on which `top` runs."""
CLUSTER = """
mesos_version = "1.11"
weights = { web = 2 }

[[agents]]
resources = "cpus:16;mem:64GiB;disk:1000GiB;ports:[31000-32000]"
hostname = "node"
attributes = { rack = "r1" }
count = 3

[[agents]]
resources = "mem:32GiB;disk:500GiB;gpus:2;ports:[31000-32000];cpus(ads):8;mem(ads):16GiB"
hostname = "gpu"
attributes = { rack = "r2" }
count = 2

[[frameworks]]
name = "marathon"
role = "web"
task = "cpus:3;mem:6GiB"
tasks = 5

[[frameworks]]
name = "adserver"
role = "ads"
task = "cpus:4;mem:8GiB"
tasks = 3

[[frameworks]]
name = "spark"
role = "batch"
task = "cpus:3;mem:8GiB"
after = 5

[[frameworks]]
name = "notebooks"
role = "research"
answer = "hold"
after = 20

[[frameworks]]
name = "trainer"
role = "r3"
task = "cpus:2;mem:4GiB"
after = 60
"""
SETTING_UP = (
    "reserve node-1 disk:100GiB --role db --reserver ops",
    "volumes create node-1 pages disk:50GiB --role db --reserver ops",
    "quota update web cpus:24 mem:64GiB --limit cpus:32;mem:96GiB --create --force",
    "quota update ads cpus:16 mem:32GiB --limit cpus:32;mem:64GiB --create --force",
    "quota update r3 cpus:4 mem:8GiB --limit cpus:8;mem:16GiB --create --force",
)
"""Said after half a minute, when the others hold what they want and r3 has not subscribed yet."""
SCREENS = {
    "quota-list": "quota list",
    "whatif": "whatif quota:web=cpus:12;mem:32GiB --lose-agent node-3",
    "explain": "offers explain r3",
    "reservations": "reservations",
    "agents": "agents",
    "top": "top",
}


@cache
def cluster() -> CommandLine:
    """The cluster that all screens show."""
    spec = read_cluster(CLUSTER, "the cluster of the screens")
    lab = Lab(*spec.agents, version=spec.mesos_version, frameworks=spec.frameworks, initial=spec.initial)
    typed = CommandLine(lab)
    for _ in range(30):
        lab.wait(1.0)
    for words in SETTING_UP:
        ran = typed.run(*words.split(), "--yes")
        assert ran.status == 0, (words, ran.err)
    for _ in range(40):
        lab.wait(1.0)
    return typed


@cache
def overview() -> Overview:
    """What `top` shows of it, a while after its first reading: from then on nothing changes."""
    lab = cluster().lab
    master = LeadingMaster(parse_address("http://127.0.0.1:5050"), ClientSettings(clock=lab.clock), cluster())
    reader = OverviewReader(master, lab.clock, now=lambda: NOON)
    reader.read()
    lab.wait(42.0)
    master.deadline.extend_to(30.0)
    return reader.read()


def printed(name: str, width: int, *, colours: bool) -> str:
    """What a screen prints on a terminal of this width, with its control sequences."""
    overview()
    if name == "top":
        return _top(width, colours=colours)
    variables = {"COLUMNS": str(width), "TERM": "xterm"} | ({} if colours else {"NO_COLOR": "1"})
    ran = cluster().run(*SCREENS[name].split(), terminal=True, **variables)
    assert ran.status in (0, 1), ran.err
    return ran.out


def _top(width: int, *, colours: bool) -> str:
    stream = io.StringIO()
    console = Console(
        file=stream,
        width=width,
        color_system="standard" if colours else None,
        force_terminal=True,
        highlight=False,
    )
    shown, state = overview(), TopState()
    large = large_table(shown, state, None)
    console.print(top_screen(shown, state, ScreenStatus("prod", 2.0, is_live=True), width, HEIGHT, large))
    return stream.getvalue()


def text(name: str, width: int) -> str:
    """What somebody reads on a screen without colours."""
    return Text.from_ansi(printed(name, width, colours=False)).plain


FOLDER = "images/screens"
_FILE = re.compile(rf"{FOLDER}/([a-z-]+?)-(\d+)(-plain)?\.svg$")


def screens() -> dict[str, str]:
    """Return each screen that a page shows or links to as SVG, by its path below docs/."""
    shown = {found[0]: found for page in pages() for link in links(page) if (found := _FILE.search(link))}
    return {path: svg(of[1], int(of[2]), colours=not of[3]) for path, of in sorted(shown.items())}


def svg(name: str, width: int, *, colours: bool) -> str:
    """Draw a screen on a terminal of this width."""
    console = Console(
        file=io.StringIO(), record=True, width=width, color_system="standard", force_terminal=True, highlight=False
    )
    shown = Text.from_ansi(printed(name, width, colours=colours))
    shown.no_wrap, shown.overflow = True, "ignore"
    console.print(shown)
    unique = f"{name}-{width}{'' if colours else '-plain'}"
    drawn = console.export_svg(title=f"mesosctl {SCREENS[name]}", unique_id=unique)
    # A reader's browser loads nothing from elsewhere.
    drawn = re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL)
    drawn = _RUN.sub(_word_by_word, drawn)
    return "\n".join(line.rstrip() for line in drawn.splitlines()) + "\n"


_RUN = re.compile(r'(<text class="[^"]*") x="([0-9.]+)"( y="[0-9.]+") textLength="([0-9.]+)"([^>]*)>([^<]*)</text>')
_WORD = re.compile(r"[▀-▟·]+|[^\s▀-▟·]+(?: [^\s▀-▟·]+)*")
"""A bar, or words with single blanks between them."""


def _word_by_word(run: re.Match[str]) -> str:
    """A run of text, each of its words in its place and as wide as its cells, whatever the font of the reader."""
    head, x, y, length, rest, escaped = run.groups()
    content = html.unescape(escaped).replace("\N{NO-BREAK SPACE}", " ").rstrip("\n")
    cell = float(length) / max(1, cell_len(content))
    words = []
    for word in _WORD.finditer(content):
        at = float(x) + cell * cell_len(content[: word.start()])
        wide = cell * cell_len(word[0])
        shown = html.escape(word[0]).replace(" ", "&#160;")
        words.append(
            f'{head} x="{at:.5g}"{y} textLength="{wide:.5g}" lengthAdjust="spacingAndGlyphs"{rest}>{shown}</text>'
        )
    return "".join(words)


if __name__ == "__main__":
    for screen, words in SCREENS.items():
        print(f"$ mesosctl {words}\n{text(screen, int(sys.argv[1]))}\n")  # noqa: T201  # that is what it is for
