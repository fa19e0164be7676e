"""Mutate the code of rooms with mutmut, and list the mutants that no test kills.

    pip install --group mutants
    python -m tests.mutants ROOM… [--workers NUMBER] [--sample NUMBER [--seed SEED]]

rooms.toml has the rooms. The tests of the room run first, and the wider tests only for its survivors. What is found is
kept below build/mutants, so an interrupted run goes on where it was, and the next one tries the survivors only if tests
or the mutated function have changed. Not every survivor is a fault: some change nothing that anybody could notice. The
status is 0 if the tests of every room kill at least the share of mutants that rooms.toml asks for, otherwise 1.

mutmut mutates the bodies of functions and of methods, also static and class methods. It leaves out properties,
functions with other decorators, enumerations, and what is evaluated at import, such as tables and their lambdas.
"""

import argparse
import difflib
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tokenize
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tests import ROOT

HERE = Path(__file__).parent
BUILD = ROOT / "build" / "mutants"
SOURCES = ("mesosctl", "fake_master")
NEEDED = (*SOURCES, "tests", "docs", "completions", "man", "README.md", "CHANGELOG.md", "mkdocs.yml", "Containerfile")
"""The parts of the tree that tests read."""
KILLED = {1, 3, 24, -24, 36, 152, 255, -9, -11}
"""Statuses of mutmut for a mutant that failed a test, never ended, or crashed."""
SQL = re.compile(
    r"""[bfr]*["'\s]+(SELECT|INSERT\ INTO|UPDATE\ \S+\ SET|DELETE\ FROM|CREATE\ (TABLE|VIEW|INDEX|UNIQUE)|PRAGMA
    |BEGIN|COMMIT|ROLLBACK|FROM|WHERE|AND|OR|JOIN|LEFT\ JOIN|ORDER\ BY|GROUP\ BY|UNION)\b""",
    re.VERBOSE,
)
"""The beginning of a literal that is a statement of SQL, or goes on with one."""
TEXT_IN_SQL = re.compile(r"(?<=.)'[^']*'(?=.)")
STRICT = re.compile(r",\s*strict=\w+|,\s*(?=\))")
"""The argument of `zip`, and the comma that is left without it."""
CODECS = ("utf-8", "ascii", "latin-1", "utf-16-be")
_RUN = """
import sys
import mutmut.workers.isolation as isolation
from mutmut.__main__ import cli

register = isolation.register_timeout
isolation.register_timeout = lambda pid, timeout_s: register(pid, 20 * timeout_s)
sys.argv[0] = "mutmut"
cli()
"""
"""The command `mutmut`, which stops a mutant after some CPU seconds, or 40 times as many seconds.

It would be half as many seconds, and on a busy machine that is too short for the tests of a mutant that survives.
"""


@dataclass(frozen=True)
class Room:
    """Code, the tests of it, and the wider tests."""

    name: str
    least: float
    """The share of mutants that the tests have to kill, in percent."""
    code: list[str]
    tests: list[str]
    wider: list[str]


def rooms() -> dict[str, Room]:
    """Every room of the table, by name."""
    table = tomllib.loads((HERE / "rooms.toml").read_text(encoding="utf-8"))
    return {name: Room(name, **room) for name, room in table.items()}


@dataclass(frozen=True)
class Mutant:
    """One mutant: its name for mutmut, its function, and the lines that it removes and adds."""

    name: str
    function: str
    removed: str
    added: str

    @cached_property
    def is_wording(self) -> bool:
        """Whether it changes only the text of a sentence, which tables of wording check."""
        return self._changed_strings is not None and all(
            " " in was and not SQL.match(was) for was, _ in self._changed_strings
        )

    @cached_property
    def changes_nothing(self) -> bool:
        """Whether it changes only the case of SQL or of a codec's name, or whether `zip` asserts equal lengths."""
        was, becomes = (STRICT.sub("", text) for text in self._texts)
        return was == becomes or (
            bool(self._changed_strings) and all(map(_differ_in_case, self._changed_strings or ()))
        )

    @cached_property
    def _changed_strings(self) -> list[tuple[str, str]] | None:
        """The literals that it changes, before and after; None if it changes more."""
        try:
            was, becomes = (list(tokenize.generate_tokens(io.StringIO(f"({text}\n)").readline)) for text in self._texts)
        except (tokenize.TokenError, IndentationError):
            return None
        changed = [(a, b) for a, b in zip(was, becomes, strict=False) if a.string != b.string]
        if len(was) != len(becomes) or any(not a.type == b.type == tokenize.STRING for a, b in changed):
            return None
        return [(a.string, b.string) for a, b in changed]

    @property
    def _texts(self) -> tuple[str, str]:
        return self.removed.strip().rstrip(","), self.added.strip().rstrip(",")


def _differ_in_case(literals: tuple[str, str]) -> bool:
    """Whether two literals are the same SQL, or name the same codec; the case of a text in SQL counts."""
    was, becomes = literals
    is_sql = bool(SQL.match(was)) and TEXT_IN_SQL.findall(was) == TEXT_IN_SQL.findall(becomes)
    return was.lower() == becomes.lower() and (is_sql or was.strip("\"'") in CODECS)


class Workspace:
    """A folder in which mutmut runs some tests on the mutants of a room; it keeps what it found."""

    def __init__(self, room: Room, stage: str, tests: Sequence[str]) -> None:
        self._folder = BUILD / room.name / stage
        self._mutants = self._folder / "mutants"
        self._room = room
        self._tests = list(tests)
        self._folder.mkdir(parents=True, exist_ok=True)
        for name in NEEDED:
            link = self._folder / name
            if not link.is_symlink():
                link.symlink_to(ROOT / name)
        # mutmut does not remove a file from its copy that the tree no longer has.
        shutil.rmtree(self._mutants / "tests", ignore_errors=True)
        (self._folder / "pyproject.toml").write_text(self._settings(), encoding="utf-8")

    def _settings(self) -> str:
        patterns = [path if path.endswith(".py") else f"{path}/*" for path in self._room.code]
        settings: dict[str, Any] = {
            "source_paths": SOURCES,
            "only_mutate": patterns,
            "also_copy": [name for name in NEEDED if name not in SOURCES],
            "pytest_add_cli_args_test_selection": self._tests,
            "pytest_add_cli_args": ["-p", "no:cacheprovider", "--hypothesis-seed=1", "--hypothesis-profile=mutants"],
            "timeout_multiplier": 1,  # and twice as many CPU seconds: see `_RUN`
            "use_git_change_detection": False,
            "on_dependency_change": "ignore",
        }
        # These values are spelled alike in JSON and TOML.
        lines = [f"{name} = {json.dumps(value)}\n" for name, value in settings.items()]
        return (ROOT / "pyproject.toml").read_text(encoding="utf-8") + "\n[tool.mutmut]\n" + "".join(lines)

    def _metas(self) -> Iterator[Path]:
        for path in self._room.code:
            yield from sorted(self._mutants.glob(f"{path}.meta" if path.endswith(".py") else f"{path}/**/*.py.meta"))

    def statuses(self) -> dict[str, int | None]:
        """The status of mutmut for each mutant; None for one that has not been tried."""
        return {
            name: status
            for meta in self._metas()
            for name, status in json.loads(meta.read_text(encoding="utf-8"))["exit_code_by_key"].items()
        }

    def generate(self) -> None:
        """Write the mutants without trying any.  Raises SystemExit if mutmut cannot."""
        # mutmut has no command for this.
        steps = "copy_src_dir(), mutmut.copy_also_copy_files(), mutmut.create_mutants(1)"
        self._call([sys.executable, "-c", f"import mutmut.__main__ as mutmut; mutmut.{steps}"])

    def run(self, names: Sequence[str] | None, workers: int) -> None:
        """Try what has not been tried: of these mutants, or all.  Raises SystemExit if mutmut cannot."""
        self._forget_if_tests_changed()
        if names is None:
            self._mutmut([], workers)
            return
        statuses = self.statuses()
        untried = [name for name in names if statuses.get(name) is None]
        if untried:
            self._mutmut(untried, workers)

    def _forget_if_tests_changed(self) -> None:
        """Forget who survived, and which tests call what, if other tests would run now."""
        digest = hashlib.sha256()
        for path in sorted(file for test in self._tests for file in (ROOT / test, *(ROOT / test).rglob("*.py"))):
            digest.update(path.read_bytes() if path.is_file() else b"")
        kept = self._folder / "tests.sha256"
        if kept.exists() and kept.read_text(encoding="ascii") != digest.hexdigest():
            (self._mutants / "mutmut-stats.json").unlink(missing_ok=True)
            for meta in self._metas():
                found = json.loads(meta.read_text(encoding="utf-8"))
                statuses = found["exit_code_by_key"]
                found["exit_code_by_key"] = {
                    name: status if status in KILLED else None for name, status in statuses.items()
                }
                meta.write_text(json.dumps(found), encoding="utf-8")
        kept.write_text(digest.hexdigest(), encoding="ascii")

    def _mutmut(self, names: Sequence[str], workers: int) -> None:
        self._call([sys.executable, "-c", _RUN, "run", "--max-children", str(workers), *names])

    def _call(self, command: Sequence[str]) -> None:
        output = self._folder / "output.txt"
        with output.open("w") as file:
            status = subprocess.run(command, cwd=self._folder, stdout=file, stderr=file, check=False).returncode
        if status:
            sys.exit(f"mutmut failed; {output.relative_to(ROOT)} says why")

    def mutants(self) -> Iterator[Mutant]:
        """Each mutant of the room with what it changes."""
        for meta in self._metas():
            lines = meta.with_suffix("").read_text(encoding="utf-8").splitlines()
            spans = json.loads(meta.with_suffix(".spans").read_text(encoding="utf-8"))["spans"]
            module = str(meta.relative_to(self._mutants)).removesuffix(".py.meta").replace(os.sep, ".")
            for name in json.loads(meta.read_text(encoding="utf-8"))["exit_code_by_key"]:
                mangled = name.rpartition(".")[2]
                original = mangled.partition("__mutmut_")[0]
                was, becomes = (
                    lines[spans[key][0] - 1 : spans[key][1]] for key in (f"{original}__mutmut_orig", mangled)
                )
                differences = [line for line in difflib.ndiff(was, becomes) if original not in line]
                removed, added = (
                    " ".join(line[2:].strip() for line in differences if line[0] == sign) for sign in "-+"
                )
                function = original[2:].replace("ǁ", ".")  # x_name, or xǁClassǁname
                yield Mutant(name, f"{module}:{function}", removed, added)


def sample(mutants: Sequence[Mutant], number: int, seed: int) -> list[Mutant]:
    """So many of the mutants, chosen at random, without those of wording; all if there are not more.

    A larger sample with the same seed contains the smaller one, and a changed function changes only its own share.
    """
    judged = [mutant for mutant in mutants if not mutant.is_wording]
    return sorted(judged, key=lambda mutant: hashlib.sha256(f"{seed} {mutant.name}".encode()).digest())[:number]


def judge(room: Room, workers: int, number: int | None, seed: int) -> bool:
    """Run the tests on the mutants of a room, print what survives, and return whether they kill enough.

    If a number is given, only a sample of so many mutants is tried.
    """
    own, wider = Workspace(room, "own", room.tests), Workspace(room, "wider", room.wider)
    if number is None:
        own.run(None, workers)
        mutants = list(own.mutants())
    else:
        own.generate()
        every = list(own.mutants())
        mutants = sample(every, number, seed)
        own.run([mutant.name for mutant in mutants], workers)
        print(f"{room.name}: a sample of {len(mutants)} of {len(every)} mutants, seed {seed}")
    statuses = own.statuses()
    left = [mutant for mutant in mutants if statuses[mutant.name] not in KILLED]
    by_own = len(mutants) - len(left)
    wording = [mutant for mutant in left if mutant.is_wording]
    nothing = [mutant for mutant in left if mutant.changes_nothing]
    left = [mutant for mutant in left if mutant not in (*wording, *nothing)]
    wider.run([mutant.name for mutant in left], workers)
    statuses = wider.statuses()
    survivors = [mutant for mutant in left if statuses.get(mutant.name) not in KILLED]
    for mutant in survivors:
        print(f"{mutant.function}\n  - {mutant.removed}\n  + {mutant.added}")
    judged = len(mutants) - len(wording) - len(nothing)
    share = 100 * (1 - len(survivors) / max(judged, 1))
    print(
        f"{room.name}: {judged - len(survivors)} of {judged} mutants killed ({share:.1f}%), {by_own} by its own tests; "
        f"{room.least:g}% are asked for. {len(wording)} more change only the text of a sentence, "
        f"and {len(nothing)} only the case of SQL or an assertion of zip."
    )
    return share >= room.least


def main() -> int:
    """Run the command."""
    table = rooms()
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutants", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rooms", nargs="+", choices=table, metavar="ROOM", help=f"one of {', '.join(table)}")
    parser.add_argument("--workers", type=int, default=1, metavar="NUMBER", help="processes (default: 1)")
    parser.add_argument("--sample", type=int, metavar="NUMBER", help="try only a random sample of each room")
    parser.add_argument("--seed", type=int, default=1, help="choose another sample (default: 1)")
    chosen = parser.parse_args()
    if not (Path(sys.executable).parent / "mutmut").exists():
        parser.error("mutmut is not installed beside this Python: pip install --group mutants")
    verdicts = [judge(table[name], chosen.workers, chosen.sample, chosen.seed) for name in chosen.rooms]
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
