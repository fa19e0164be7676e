"""`python -m mesosctl.program.reference --write|--check [FOLDER]`."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from mesosctl.files.writing import write_atomically
from mesosctl.program.reference.pages import files
from mesosctl.program.reference.schema_changes import breaking_changes

_SCHEMAS = "docs/reference/schemas/*"
_GENERATED = ("man/*.1", "completions/*", _SCHEMAS)


def stale(folder: Path) -> list[str]:
    """The paths under `folder` that are stale, including pages of commands that are gone."""
    wanted = files()
    wrong = [path for path, text in wanted.items() if not _holds(folder / path, text)]
    present = {str(path.relative_to(folder)) for pattern in _GENERATED for path in folder.glob(pattern)}
    return sorted([*wrong, *(present - set(wanted))])


def _holds(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text(encoding="utf-8") == text


def breaking(folder: Path) -> Iterator[str]:
    """Yield the changes of the schemas under `folder` that break scripts; a file that is deleted first may change."""
    wanted = files()
    for path in sorted(folder.glob(_SCHEMAS)):
        name = str(path.relative_to(folder))
        if name in wanted:
            for change in breaking_changes(json.loads(path.read_text(encoding="utf-8")), json.loads(wanted[name])):
                yield f"{name}: {change}"


def write(folder: Path) -> None:
    """Write every file and remove pages of commands that are gone."""
    wanted = files()
    for name in stale(folder):
        path = folder / name
        if name not in wanted:
            path.unlink()
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, wanted[name])


def main(arguments: list[str]) -> int:
    """Write the files unless that breaks scripts, or name those that are stale."""
    if not arguments or arguments[0] not in ("--write", "--check"):
        sys.stderr.write((__doc__ or "") + "\n")
        return 2
    folder = Path(arguments[1] if len(arguments) > 1 else ".")
    if arguments[0] == "--write":
        broken = list(breaking(folder))
        if broken:
            sys.stderr.writelines(f"{change}\n" for change in broken)
            sys.stderr.write("nothing is written: raise schema_version, or delete the files if no release has them\n")
            return 1
        write(folder)
        return 0
    wrong = stale(folder)
    sys.stderr.writelines(f"stale: {path}\n" for path in wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
