"""Measure everything and write the page of benchmarks.

    python -m tests.benchmarks.page [--small] [--only PART,…] [--no-measuring] [--into FOLDER]

Runs each part in a process of its own, keeps its figures in FOLDER/measured, and writes
FOLDER/index.md with its pictures.  What is not measured now stands there with the figures that
were kept.  FOLDER is docs/benchmarks, or a temporary one with --small.  Exit status 1 if a part failed,
or found something above its limit.
"""

# ruff: noqa: T201  # a command that shows its progress

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from tests import ROOT
from tests.benchmarks.reporting.charts import picture
from tests.benchmarks.reporting.environment import environment
from tests.benchmarks.reporting.page_text import Environment, Measured, page
from tests.benchmarks.reporting.report import ABOVE_LIMIT

PARTS = {
    "allocation": ("--small",),
    "lending": ("--small",),
    "serving": ("--small",),
    "startup": ("--runs", "3"),
    "memory": ("--small",),
    "subscriber": ("--small",),
    "whatif": ("--small",),
}
"""In the order of the page, with what makes each of them quick."""
PAGE_FOLDER = ROOT / "docs" / "benchmarks"


def measure(part: str, *, small: bool, on: Environment, measured: Path) -> int:
    """Run one part and keep its figures; its exit status, with 0 and ABOVE_LIMIT of which there are figures."""
    taken_at, load = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC", os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "figures.json"
        words = [sys.executable, "-m", f"tests.benchmarks.{part}", "--json", str(file), *(PARTS[part] if small else ())]
        started = time.monotonic()
        status = subprocess.run(words, check=False).returncode
        if status not in (0, ABOVE_LIMIT) or not file.exists():
            return status or 1
        report = json.loads(file.read_text(encoding="utf-8"))
    report.setdefault("took_seconds", round(time.monotonic() - started, 1))
    figures = {"part": part, "environment": on, "taken_at": taken_at, "load": load, "report": report}
    (measured / f"{part}.json").write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return status


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
    written.write_text(page(parts, missing, measured.name), encoding="utf-8")
    return written


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
    (into / "measured").mkdir(parents=True, exist_ok=True)
    statuses: dict[str, int] = {}
    if not given.no_measuring:
        on = environment()
        for name, value in on.items():
            print(f"{name}: {value}")
        present = [part for part in PARTS if part in wanted]
        for number, part in enumerate(present, 1):
            print(f"\n=== {number} of {len(present)}: {part}", flush=True)
            statuses[part] = measure(part, small=given.small, on=on, measured=into / "measured")
    print(f"\nwritten: {write(into)}")
    failed = [part for part, status in statuses.items() if status not in (0, ABOVE_LIMIT)]
    above = [part for part, status in statuses.items() if status == ABOVE_LIMIT]
    if failed:
        print(f"failed: {', '.join(failed)}; what is kept of them is older", file=sys.stderr)
    if above:
        print(f"above a limit: {', '.join(above)}", file=sys.stderr)
    return 1 if failed or above else 0


if __name__ == "__main__":
    sys.exit(main())
