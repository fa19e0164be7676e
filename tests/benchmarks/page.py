"""Measure everything and write the page of benchmarks.

    python -m tests.benchmarks.page [--small] [--only PART,…] [--no-measuring] [--into FOLDER]

Runs each part in a process of its own, keeps its figures in FOLDER/measured, and writes
FOLDER/index.md with its pictures.  What is not measured now stands there with the figures that
were kept.  A part that fails, or takes longer than its bound, is named on the page; the others are measured anyway.
FOLDER is docs/benchmarks, or a temporary one with --small.

Exit status: 0 if every part was measured and no figure is above its limit, 1 if a part failed, 2 if none failed but a
figure is above its limit.
"""

# ruff: noqa: T201  # a command that shows its progress

import argparse
import json
import os
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from tests import ROOT
from tests.benchmarks.reporting.charts import picture
from tests.benchmarks.reporting.environment import environment
from tests.benchmarks.reporting.page_text import Environment, Measured, page
from tests.benchmarks.reporting.parts import Ended, Part, run_within
from tests.benchmarks.reporting.report import ABOVE_LIMIT

PARTS = {
    "allocation": Part(1800),
    "lending": Part(600),
    "serving": Part(900),
    "startup": Part(600, ("--runs", "3")),
    "memory": Part(900),
    "subscriber": Part(900),
    "whatif": Part(900),
    "cluster_file": Part(900),
    "live_snapshot": Part(900),
    "recording": Part(900),
    "replay": Part(3600),
    "tuning": Part(1800),
}
"""In the order of the page."""
PAGE_FOLDER = ROOT / "docs" / "benchmarks"
FAILED = "failed.json"
"""In the folder of figures: how each part ended that has none of the last run."""


def measure(part: str, *, small: bool, on: Environment, measured: Path) -> Ended:
    """Run one part, and keep its figures if there are any."""
    taken_at, load = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC", os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "figures.json"
        words = [sys.executable, "-m", f"tests.benchmarks.{part}", "--json", str(file)]
        ended = run_within(PARTS[part].seconds, [*words, *(PARTS[part].small if small else ())])
        if ended.failure is None and not file.exists():
            ended = Ended(ended.status, "wrote no figures")
        if ended.failure is not None:
            return ended
        report = json.loads(file.read_text(encoding="utf-8"))
    figures = {"part": part, "environment": on, "taken_at": taken_at, "load": load, "report": report}
    (measured / f"{part}.json").write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return ended


def write(into: Path) -> Path:
    """The page and its pictures from the figures that are kept; the page's path."""
    measured = into / "measured"
    files = {part: measured / f"{part}.json" for part in PARTS}
    kept = [file for file in files.values() if file.exists()]
    parts = [Measured.from_json(json.loads(file.read_text(encoding="utf-8"))) for file in kept]
    for old in measured.glob("*.svg"):
        old.unlink()
    for part in parts:
        for chart in part.report.charts:
            (measured / f"{chart.name}.svg").write_text(picture(chart), encoding="utf-8")
    written = into / "index.md"
    missing = [part for part, file in files.items() if not file.exists()]
    written.write_text(page(parts, missing, measured.name, _failed(measured)), encoding="utf-8")
    return written


def _failed(measured: Path) -> dict[str, str]:
    file = measured / FAILED
    return dict(json.loads(file.read_text(encoding="utf-8"))) if file.exists() else {}


def _keep_failed(measured: Path, ended: dict[str, Ended]) -> None:
    """Keep how parts failed beside the figures, and forget those that have figures again."""
    failed = {part: how for part, how in _failed(measured).items() if part not in ended}
    failed |= {part: how.failure for part, how in ended.items() if how.failure is not None}
    if failed:
        (measured / FAILED).write_text(json.dumps(failed, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    else:
        (measured / FAILED).unlink(missing_ok=True)


def main() -> int:
    """Measure, keep, write; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true", help="small clusters, into a temporary folder")
    parser.add_argument("--only", default=",".join(PARTS), metavar="PART,…", help="parts to measure now")
    parser.add_argument("--no-measuring", action="store_true", help="write the page from the figures that were kept")
    parser.add_argument("--into", type=Path, metavar="FOLDER", help="where the page is written")
    given = parser.parse_args()
    wanted = given.only.split(",")
    if unknown := [part for part in wanted if part not in PARTS]:
        parser.error(f"there is no part {', '.join(unknown)}; there are {', '.join(PARTS)}")
    with tempfile.TemporaryDirectory(prefix="benchmarks-") as temporary:
        return _make(wanted, given, given.into or (Path(temporary) if given.small else PAGE_FOLDER))


def _make(wanted: list[str], given: argparse.Namespace, into: Path) -> int:
    measured = into / "measured"
    measured.mkdir(parents=True, exist_ok=True)
    ended: dict[str, Ended] = {}
    if not given.no_measuring:
        on = environment()
        for name, value in on.items():
            print(f"{name}: {value}")
        present = [part for part in PARTS if part in wanted]
        for number, part in enumerate(present, 1):
            print(f"\n=== {number} of {len(present)}: {part}", flush=True)
            ended[part] = measure(part, small=given.small, on=on, measured=measured)
            _keep_failed(measured, ended)
            write(into)  # whatever comes of the next one
    print(f"\nwritten: {write(into)}")
    failed = {part: how.failure for part, how in ended.items() if how.failure is not None}
    above = [part for part, how in ended.items() if how.failure is None and how.status == ABOVE_LIMIT]
    for part, failure in failed.items():
        print(f"failed: {part} {failure}; what is kept of it is older", file=sys.stderr)
    if above:
        print(f"above a limit: {', '.join(above)}", file=sys.stderr)
    if failed:
        return 1
    return ABOVE_LIMIT if above else 0


if __name__ == "__main__":
    sys.exit(main())
