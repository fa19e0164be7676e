"""No module imports another one that imports it, be it late or for annotations alone.

import-linter reads the same imports, but knows layers, not circles.
"""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from tests import ROOT

_PACKAGES = ("mesosctl", "fake_master")


def _modules() -> dict[str, Path]:
    found = {}
    for package in _PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def _imported(path: Path) -> Iterator[str]:
    """Every name that a file imports anywhere: at its head, in functions, and under TYPE_CHECKING."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                yield from (f"{node.module}.{alias.name}", node.module)


def _arrows() -> dict[str, set[str]]:
    modules = _modules()
    # A package's own file hands names on, and importing a module of the package is no use of them.
    return {
        name: {other for other in _imported(path) if other in modules and modules[other].name != "__init__.py"} - {name}
        for name, path in modules.items()
    }


def test_no_module_is_in_a_circle_of_imports() -> None:
    try:
        TopologicalSorter(_arrows()).prepare()
    except CycleError as error:
        raise AssertionError(f"a circle of imports: {' <- '.join(error.args[1])}") from None
