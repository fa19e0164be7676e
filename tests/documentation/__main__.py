"""Bring what documentation pages show up to date, or name the pages that are stale.

    python -m tests.documentation --write [PAGE…]
    python -m tests.documentation --check [PAGE…]

Runs the console sessions of the pages, all of them unless some are named, and makes the drawings.  Exit status 1 if a
session fails, or with --check if a page shows something else than what is printed now.
"""

# ruff: noqa: T201  # a command that says what it does

import argparse
import difflib
import sys
from pathlib import Path

from tests import ROOT
from tests.documentation.console import SessionFailed, blocks, run, written
from tests.documentation.documents import documents
from tests.documentation.drawings import drawings
from tests.documentation.pages import DOCS, pages
from tests.documentation.screens import screens


def difference(page: Path, now: str) -> str:
    """Return how a page has to change to read as it would now, as a diff."""
    before = page.read_text(encoding="utf-8").splitlines(keepends=True)
    name = str(page.relative_to(ROOT))
    return "".join(difflib.unified_diff(before, now.splitlines(keepends=True), name, f"{name}, as it runs now"))


def main() -> int:
    """Run the sessions; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", action="store_true", help="write the pages anew")
    what.add_argument("--check", action="store_true", help="show what would change")
    parser.add_argument("pages", nargs="*", type=Path, metavar="PAGE")
    given = parser.parse_args()
    for path in given.pages:
        if not path.is_file():
            parser.error(f"there is no page {path}; name pages by their paths, such as docs/how-to/drift.md")
    stale = 0
    for path, text in {**drawings(), **screens(), **documents()}.items():
        file = DOCS / path
        if file.exists() and file.read_text(encoding="utf-8") == text:
            continue
        if given.write:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        print(f"{'written' if given.write else 'stale'}: {file.relative_to(ROOT)}")
        stale += given.check
    for page in [path.resolve() for path in given.pages] or pages():
        if not blocks(page):
            continue
        try:
            now = written(page, run(page))
        except SessionFailed as error:
            print(f"{page.relative_to(ROOT)}: {error}", file=sys.stderr)
            stale += 1
            continue
        if now == page.read_text(encoding="utf-8"):
            continue
        if given.write:
            page.write_text(now, encoding="utf-8")
            print(f"written: {page.relative_to(ROOT)}")
        else:
            print(difference(page, now))
            stale += 1
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
