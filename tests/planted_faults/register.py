"""The planted faults, and the places in the code where they are planted.

A fault replaces one short text. `where` is a module, or a package if the text may be anywhere below it, with the
qualified name of a class or function after a colon if the module is too wide. The text must be there exactly once, so
that a fault is found again wherever its line moves in that place, and missed as soon as the line is written otherwise.
"""

import ast
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from tests import ROOT

SENTENCES = ROOT / "tests" / "seeds" / "sentences.toml"
FURTHER = Path(__file__).with_name("faults.toml")
CODE = ("mesosctl", "fake_master")


class Misplaced(Exception):
    """The text of a fault is not in its place exactly once; the message says what to edit."""


class Fault(NamedTuple):
    """One fault, and the tests of which one has to fail."""

    says: str
    """The sentence that it breaks."""
    where: str
    text: str
    becomes: str
    tests: tuple[str, ...]
    register: Path
    """The file that describes it."""

    @property
    def in_check(self) -> bool:
        """Whether a test of the default run has to catch it, not only one that needs more than Python."""
        return self.register == FURTHER


class Planted(NamedTuple):
    """A file, relative to the root, and its text with the fault."""

    path: Path
    text: str


def faults() -> list[Fault]:
    """Return every fault that can be planted, those of the sentences first."""
    sentences = [entry for entry in read(SENTENCES, "sentences") if "fault" in entry]
    return [
        *(
            _fault(entry | entry["fault"], SENTENCES, f"{entry['document']}, {entry['section']}: ")
            for entry in sentences
        ),
        *(_fault(entry, FURTHER) for entry in read(FURTHER, "faults")),
    ]


def read(register: Path, key: str) -> list[dict[str, Any]]:
    """Return the entries of a register."""
    return list(tomllib.loads(register.read_text(encoding="utf-8"))[key])


def _fault(entry: dict[str, Any], register: Path, before: str = "") -> Fault:
    said = f"{before}{entry['says']}"
    return Fault(said, entry["where"], entry["text"], entry["becomes"], tuple(entry["tests"]), register)


def plant(fault: Fault, root: Path = ROOT) -> Planted:
    """Return the file with the fault in it. Raises Misplaced, and SyntaxError if it is then no Python."""
    module, _, name = fault.where.partition(":")
    found = [
        (path, start + at)
        for path in _files(module, root)
        for start, part in _parts(path, name)
        for at in _occurrences(part, fault.text)
    ]
    if len(found) != 1:
        raise Misplaced(_advice(fault, len(found), root))
    path, at = found[0]
    source = _source(path)
    planted = source[:at] + fault.becomes + source[at + len(fault.text) :]
    ast.parse(planted)
    return Planted(path.relative_to(root), planted)


def elsewhere(fault: Fault, root: Path = ROOT) -> list[str]:
    """Return the other places with the text of a fault, as they are written in `where`."""
    return [
        f"{'.'.join(path.relative_to(root).with_suffix('').parts).removesuffix('.__init__')}:{name}".rstrip(":")
        for package in CODE
        for path in _files(package, root)
        for at in _occurrences(_source(path), fault.text)
        for name in [_name_at(path, at)]
    ]


def _advice(fault: Fault, count: int, root: Path) -> str:
    place = f"{fault.register.relative_to(ROOT)}: the fault of {fault.says!r}: {fault.where}"
    if count:
        return f"{place} has {fault.text!r} {count} times: write more of the line, or name the function"
    others = elsewhere(fault, root)
    if len(others) == 1:
        return f'{place} has no {fault.text!r}, but {others[0]} has: write `where = "{others[0]}"`'
    return (
        f"{place} has no {fault.text!r}: find the code that decides it now, and write its line in `text` and `becomes`"
    )


def _files(module: str, root: Path) -> list[Path]:
    place = root.joinpath(*module.split("."))
    if place.is_dir():
        return sorted(place.rglob("*.py"))
    return [path] if (path := place.with_suffix(".py")).is_file() else []


def _source(path: Path) -> str:
    return _read(path, path.stat().st_mtime_ns)


@cache
def _read(path: Path, _changed: int) -> str:
    return path.read_text(encoding="utf-8")


def _parts(path: Path, name: str) -> Iterator[tuple[int, str]]:
    """Yield the texts of the classes and functions of this name with their offsets; without a name, the whole."""
    source = _source(path)
    if not name:
        yield 0, source
        return
    lines = _line_starts(source)
    for found, node in _definitions(source):
        if found == name:
            assert node.end_lineno is not None
            start = lines[node.lineno - 1]
            yield start, source[start : lines[node.end_lineno]]


@cache
def _line_starts(source: str) -> list[int]:
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return starts


Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@cache
def _definitions(source: str) -> list[tuple[str, Definition]]:
    return list(_below(ast.parse(source), ""))


def _below(node: ast.AST, name: str) -> Iterator[tuple[str, Definition]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Definition):
            qualified = f"{name}.{child.name}".lstrip(".")
            yield qualified, child
            yield from _below(child, qualified)
        else:
            yield from _below(child, name)


def _occurrences(source: str, text: str) -> Iterator[int]:
    at = source.find(text)
    while at >= 0:
        yield at
        at = source.find(text, at + 1)


def _name_at(path: Path, at: int) -> str:
    """Return the name of the innermost class or function around an offset, or nothing."""
    source = _source(path)
    line = source.count("\n", 0, at) + 1
    around = [name for name, node in _definitions(source) if node.end_lineno and node.lineno <= line <= node.end_lineno]
    return around[-1] if around else ""
