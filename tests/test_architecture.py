"""The imports of the project, late ones and those for annotations too, and the names of its classes.

import-linter reads the same imports. It knows layers and forbidden modules, but neither circles nor the end of a
module's name, such as that of `mesosctl.whatif.variants_report`.
"""

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import mesosctl
from tests import ROOT

_PACKAGES = ("mesosctl", "fake_master")


@cache
def _modules() -> dict[str, Path]:
    found = {}
    for package in _PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def _imported(path: Path) -> frozenset[str]:
    """Every name that a file imports anywhere: at its head, in functions, and under TYPE_CHECKING."""
    return frozenset(_names_imported(path))


def _names_imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                yield from (f"{node.module}.{alias.name}", node.module)


@cache
def _arrows() -> dict[str, set[str]]:
    modules = _modules()
    # A package's own file hands names on, and importing a module of the package is no use of them.
    return {
        name: {other for other in _imported(path) if other in modules and modules[other].name != "__init__.py"} - {name}
        for name, path in modules.items()
    }


def _named(*kinds: str) -> list[str]:
    """The modules of a room whose name is one of these words, or ends with one: `report`, `variants_report`."""
    ends = tuple(f"_{kind}" for kind in kinds)
    names = ((name, name.split(".")) for name in _modules())
    return [
        name
        for name, parts in names
        if len(parts) == 3 and parts[0] == "mesosctl" and (parts[-1] in kinds or parts[-1].endswith(ends))
    ]


def _is_in(name: str, rooms: tuple[str, ...]) -> bool:
    return any(name == room or name.startswith(f"{room}.") for room in rooms)


def _reached(start: str) -> set[str]:
    """Every module of the project that a module needs, with itself."""
    reached, left = {start}, [start]
    while left:
        new = _arrows()[left.pop()] - reached
        reached |= new
        left += new
    return reached


def _needed(start: str) -> set[str]:
    """The same, with every other name that one of them imports."""
    reached = _reached(start)
    return reached | {name for module in reached for name in _imported(_modules()[module])}


@pytest.mark.parametrize("name", _named("report", "documents"))
def test_a_report_asks_no_master_and_does_no_work(name: str) -> None:
    rooms = ("mesosctl.client", "mesosctl.cli", "mesosctl.reading", "fake_master", "typer", "httpx")
    doers = {*_named("work", "command")}
    assert [other for other in sorted(_needed(name)) if _is_in(other, rooms) or other in doers] == []


@pytest.mark.parametrize("name", _named("work"))
def test_work_knows_neither_typer_nor_how_an_answer_looks(name: str) -> None:
    own = {name, *_imported(_modules()[name])}
    assert [other for other in sorted(own) if _is_in(other, ("typer", "rich", "mesosctl.show"))] == []
    shown = {*_named("command", "report")}
    assert [other for other in sorted(_reached(name)) if _is_in(other, ("mesosctl.cli",)) or other in shown] == []


def test_only_the_modules_of_commands_and_what_they_are_made_of_import_typer() -> None:
    made_of = ("mesosctl.cli", "mesosctl.program", "mesosctl.shells")
    commands = {*_named("command", "options", "completion")}
    found = [name for name, path in _modules().items() if _is_in_any_import(path, "typer")]
    of_the_tool = [name for name in found if name.startswith("mesosctl.")]
    assert [name for name in of_the_tool if not _is_in(name, made_of) and name not in commands] == []
    # Its program, and the type of its help, which is the same in the man pages.
    assert sorted({*found} - {*of_the_tool}) == ["fake_master", "fake_master.__main__", "fake_master.options"]


def _is_in_any_import(path: Path, package: str) -> bool:
    return any(_is_in(name, (package,)) for name in _imported(path))


@pytest.mark.parametrize("name", mesosctl.__all__)
def test_a_public_name_loads_no_command(name: str) -> None:
    """Neither does what a function of it imports when it is called; only the fake master knows typer."""
    commands = {*_named("command", "options", "completion")}
    needed = _reached(getattr(mesosctl, name).__module__) | {"mesosctl"}
    assert [name for name in sorted(needed) if name in commands or _is_in(name, ("mesosctl.cli",))] == []
    assert [name for name in sorted(needed) if _is_in_any_import(_modules()[name], "typer")] == []


def test_the_fake_master_knows_of_the_tool_the_kernel_files_and_shells_alone() -> None:
    may = ("mesosctl.mesos", "mesosctl.files", "mesosctl.shells")
    found = {
        (name, other)
        for name, path in _modules().items()
        if _is_in(name, ("fake_master",))
        for other in _imported(path)
        if _is_in(other, ("mesosctl",)) and not _is_in(other, may) and other not in ("mesosctl", "mesosctl.__version__")
    }
    assert found == set()


def test_no_module_is_in_a_circle_of_imports() -> None:
    try:
        TopologicalSorter(_arrows()).prepare()
    except CycleError as error:
        raise AssertionError(f"a circle of imports: {' <- '.join(error.args[1])}") from None


@pytest.mark.parametrize("half", _PACKAGES)
def test_the_name_of_a_class_stands_once_in_a_half(half: str) -> None:
    """Documents and public names keep theirs; the value of the kernel or of a room says what it is there."""
    found: dict[str, list[str]] = {}
    for name, path in _modules().items():
        if name.split(".")[0] == half:
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    found.setdefault(node.name, []).append(name)
    assert {name: places for name, places in found.items() if len(places) > 1} == {}
