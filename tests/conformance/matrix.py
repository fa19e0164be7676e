"""Every release of Mesos beside the fake master of its number: how much was compared, and how much differs.

    python -m tests.conformance.matrix [--release RELEASE] [--steps NUMBER] [--seed NUMBER] [--write]

It runs the judges that take any release, and prints a table, or writes it into the page of releases.  What differs is
asked once more, alone, as masters share the processors with all that runs beside them.  The status is 1 if anything
differs then.  Needs MESOS_RUNNER.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from mesosctl.mesos.rules.version_profile import RELEASES
from tests import ROOT
from tests.conformance.commands.test_verbs_of_releases import LINES
from tests.conformance.masters.real import RELEASE

FOLDER = Path("tests/conformance")
PAGE = ROOT / "docs" / "explanation" / "releases.md"
BEGIN, END = "<!-- python -m tests.conformance.matrix --write -->\n", "<!-- end -->\n"
"""The lines of the page between which the table stands."""


class Judge(NamedTuple):
    """Tests that compare a real master with the fake one of its release."""

    name: str
    files: tuple[str, ...]
    counts: str = "cases"
    """The unit of its figure: cases are counted; steps and rounds are as many as were asked for, lines all of them."""


JUDGES = (
    Judge("facts of the profile", ("facts/test_facts.py",)),
    Judge(
        "requests, members of answers, messages and numbers",
        tuple(f"answers/test_{of}_of_releases.py" for of in ("requests", "answers", "messages", "numbers")),
    ),
    Judge(
        "calls and tasks of frameworks",
        ("frameworks/test_calls_of_releases.py", "frameworks/test_tasks_of_releases.py"),
    ),
    Judge("lines of mesosctl", ("commands/test_verbs_of_releases.py",), "lines"),
    Judge("histories of operators", ("histories/test_histories.py",), "steps"),
    Judge("histories of maintenance", ("histories/test_maintenance_histories.py",), "steps"),
    Judge("histories of reservations", ("histories/test_reservations_alike.py",), "steps"),
    Judge("histories of agents", ("histories/test_agents_alike.py",), "steps"),
    Judge("random tasks", ("histories/test_tasks_alike.py",), "steps"),
    Judge("random situations that are shared out", ("situations/test_random_sharing.py",), "rounds"),
    Judge("forecasts of a live master", ("forecasts/test_forecasts_of_releases.py",)),
)


class Found(NamedTuple):
    """The number of tests that a judge ran for a release, and how many of them failed."""

    ran: int
    failed: int


def read(report: str) -> Found:
    """The counts in a JUnit report."""
    suites = list(ET.fromstring(report).iter("testsuite"))
    count = {
        name: sum(int(suite.get(name, 0)) for suite in suites) for name in ("tests", "skipped", "failures", "errors")
    }
    return Found(count["tests"] - count["skipped"], count["failures"] + count["errors"])


def judged(judge: Judge, release: str, asked: argparse.Namespace) -> Found:
    """Run a judge on a release."""
    environment = {
        **os.environ,
        RELEASE: release,
        "CONFORMANCE_SEED": str(asked.seed),
        "MESOS_CONFORMANCE_STEPS": str(asked.steps),
        "CONFORMANCE_SITUATIONS": str(asked.rounds),
    }
    with tempfile.NamedTemporaryFile(suffix=".xml") as report:
        files = [str(FOLDER / name) for name in judge.files]
        words = ["--all", "-q", "-m", "real_master", "-p", "no:cacheprovider", f"--junitxml={report.name}"]
        subprocess.run(
            [sys.executable, "-m", "pytest", *words, *files], cwd=ROOT, env=environment, stdout=sys.stderr, check=False
        )
        return read(Path(report.name).read_text(encoding="utf-8"))


def cell(judge: Judge, found: Found, asked: argparse.Namespace) -> str:
    """The figure of a judge and a release: `61`, or `2 of 61 differ`; `none` if the release has nothing of it."""
    if not found.ran:
        return "none"
    if found.failed:
        return f"{found.failed} of {found.ran} differ"
    lines = len(LINES.strip().splitlines())
    return str({"cases": found.ran, "steps": asked.steps, "rounds": asked.rounds, "lines": lines}[judge.counts])


def table(cells: Mapping[str, Sequence[str]], releases: Iterable[str], asked: argparse.Namespace) -> str:
    """The table, in Markdown."""
    rows = [
        ["judge", *releases],
        ["---"] * (1 + len(next(iter(cells.values())))),
        *([name, *of] for name, of in cells.items()),
    ]
    today = datetime.now(UTC).date()
    told = f"Run on {today}, with seed {asked.seed}. A figure is how many cases, steps or situations agree."
    return "\n".join([told, "", *(f"| {' | '.join(row)} |" for row in rows)])


def put(page: str, table: str) -> str:
    """The page with another table."""
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    return f"{before}{BEGIN}{table}\n{END}{after}"


def main(words: Sequence[str]) -> int:
    """Run the judges; 1 if anything differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--release", choices=RELEASES, action="append", help="only this one; may be repeated")
    parser.add_argument("--steps", type=int, default=300, help="of each random history")
    parser.add_argument("--rounds", type=int, default=3, help="random situations")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="judges that run side by side")
    parser.add_argument("--write", action="store_true", help="into the page of releases, for all of them")
    asked = parser.parse_args(words)
    if asked.write and asked.release:
        parser.error("the page has all releases: leave out --release")
    releases = asked.release or RELEASES
    pairs = [(judge, release) for release in releases for judge in JUDGES]
    with ThreadPoolExecutor(asked.jobs) as pool:
        found = dict(zip(pairs, pool.map(lambda pair: judged(pair[0], pair[1], asked), pairs), strict=True))
    for pair in [pair for pair, one in found.items() if one.failed]:
        sys.stderr.write(f"Asked once more, alone: {pair[0].name}, {pair[1]}\n")
        found[pair] = judged(pair[0], pair[1], asked)
    cells = {judge.name: [cell(judge, found[judge, release], asked) for release in releases] for judge in JUDGES}
    found_text = table(cells, releases, asked)
    if asked.write:
        PAGE.write_text(put(PAGE.read_text(encoding="utf-8"), found_text), encoding="utf-8")
    else:
        sys.stdout.write(found_text + "\n")
    return int(any(one.failed for one in found.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
