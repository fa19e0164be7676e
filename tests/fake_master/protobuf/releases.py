"""Read what each release of Mesos has out of its library, and write the table of what is not the same in all.

    python -m tests.fake_master.protobuf.releases --write FOLDER
    python -m tests.fake_master.protobuf.releases --check FOLDER

FOLDER has one folder for each release, whose name ends with its number, with `libmesos.so` in it.  Exit status 1 if a
library is missing, or with --check if the table would be another.
"""

# ruff: noqa: T201  # a command that says what it does

import argparse
import csv
import io
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from mesosctl.mesos.messages.protobuf_json import releases
from mesosctl.mesos.messages.protobuf_json.releases import MESSAGE, NEWEST
from mesosctl.mesos.rules.version_profile import RELEASES
from tests.fake_master.protobuf.library import Library

TABLE = Path(releases.__file__).parent / releases.TABLE
_OURS = "mesos."


def described(library: Library) -> dict[str, str]:
    """The messages, fields and values of enumerations in a library, by their full names."""
    return {name: text for name, text in _described(library) if name.startswith(_OURS)}


def _described(library: Library) -> Iterator[tuple[str, str]]:
    for name in library.messages:
        if not library.is_entry(name):
            yield name, MESSAGE
            yield from ((f"{name}.{field}", text) for field, text in library.fields(name).items())
    for name, values in library.enumerations.items():
        yield from ((f"{name}={value}", str(number)) for value, number in values.items())


def table(of: Mapping[str, Library]) -> str:
    """The text of the table; `of` has the library of each release."""
    found = [described(of[release]) for release in RELEASES]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("name", "what it is, from which release on"))
    for name in sorted(set[str]().union(*found)):
        every = [one.get(name) for one in found]
        if len(set(every)) > 1:
            writer.writerow((name, releases.spans(every)))
    return text.getvalue()


def libraries(folder: Path) -> dict[str, Path]:
    """The library of each release below a folder.  Raises FileNotFoundError."""
    found = {}
    for release in RELEASES:
        paths = sorted(folder.glob(f"*{release}/libmesos.so"))
        if not paths:
            raise FileNotFoundError(f"there is no libmesos.so in {folder}/*{release}")
        found[release] = paths[0]
    return found


def main() -> int:
    """Write or compare; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", action="store_true", help="write the table anew")
    what.add_argument("--check", action="store_true", help="say whether it would be another")
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    given = parser.parse_args()
    try:
        paths = libraries(given.folder)
    except FileNotFoundError as error:
        print(error, file=sys.stderr)
        return 1
    made = table({release: Library.of_file(path) for release, path in paths.items()})
    if TABLE.exists() and TABLE.read_text(encoding="utf-8") == made:
        print(f"{TABLE.name} is up to date")
        return 0
    if given.write:
        TABLE.write_text(made, encoding="utf-8")
    print(f"{TABLE.name} {'written' if given.write else 'is stale'}; the newest release is {NEWEST}")
    return int(given.check)


if __name__ == "__main__":
    sys.exit(main())
