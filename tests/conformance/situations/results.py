"""The results that each situation may have on each release: `results.json` keeps them, so that a change of one is seen.

python -m tests.conformance.situations.results    writes the file anew, from what the fake masters offer in all orders
"""

import json
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.conformance.situations.orders import distinct_outcomes
from tests.conformance.situations.playing import Shares, Situation
from tests.conformance.situations.table import of_release

FILE = Path(__file__).with_name("results.json")
RELEASES = ("1.4.3", "1.8.1", "1.11.0")


def listed() -> dict[str, dict[str, list[Shares]]]:
    """By situation and release."""
    found: dict[str, dict[str, list[Shares]]] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def results(release: str, situation: Situation) -> list[Shares]:
    """All of them, in an order that does not depend on chance."""
    with tempfile.TemporaryDirectory(prefix="situations-") as folder:
        return sorted(distinct_outcomes(release, situation, Path(folder)), key=str)


def _results_of(which: tuple[str, str]) -> list[Shares]:
    release, name = which
    return results(release, of_release(release)[name])


def _written(entries: dict[str, dict[str, list[Shares]]]) -> str:
    """One result a line."""
    parts = []
    for name, by_release in sorted(entries.items()):
        releases = [
            f'  "{release}": [\n' + ",\n".join(f"   {json.dumps(shares)}" for shares in found) + "\n  ]"
            for release, found in by_release.items()
        ]
        parts.append(f" {json.dumps(name)}: {{\n" + ",\n".join(releases) + "\n }")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main() -> None:
    """Write the file; words on the command line are parts of the names of the only ones that are made anew."""
    words = sys.argv[1:]
    entries = listed() if FILE.exists() and words else {}
    wanted = [
        (release, name)
        for release in RELEASES
        for name in of_release(release)
        if not words or any(word in name for word in words)
    ]
    with ProcessPoolExecutor() as pool:
        for (release, name), found in zip(wanted, pool.map(_results_of, wanted), strict=True):
            entries.setdefault(name, {})[release] = found
            sys.stdout.write(f"{release}, {name}: {len(found)}\n")
    FILE.write_text(_written(entries), encoding="utf-8")


if __name__ == "__main__":
    main()
