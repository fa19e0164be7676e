"""Custom allocators: found by name, imported, and checked before a master uses them.

A name is `package.module:Class`, or that of an entry point in the group `mesosctl.allocators`.  The class is called
with the master's options, its callbacks and the current time.
"""

import inspect
import sys
from collections.abc import Callable
from functools import reduce
from importlib import import_module
from pathlib import Path
from traceback import extract_tb
from typing import TYPE_CHECKING

from fake_master.allocator.custom_watchdog import in_progress
from fake_master.allocator.interface import Allocator, Callbacks
from fake_master.allocator.options import Options
from mesosctl.mesos.amounts.notation import FEW, listed
from mesosctl.mesos.errors import BadInput

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "mesosctl.allocators"
"""The group of entry points in which a package names its allocators."""

CustomAllocator = Callable[[Options, Callbacks, float], Allocator]
"""Makes a new allocator; usually a class."""

METHODS = tuple(sorted(Allocator.__abstractmethods__))


def installed() -> "dict[str, EntryPoint]":
    """Return the entry points of installed packages by name."""
    from importlib.metadata import entry_points  # imported late: it is slow, and most names do not need it

    return {point.name: point for point in entry_points(group=GROUP)}


def is_custom(name: str) -> bool:
    """Whether a name must be that of a custom allocator."""
    return ":" in name or name in installed()


def load(name: str) -> CustomAllocator:
    """Return the class of a name. Raises BadInput, with the reason, if it cannot be used."""
    where = name if ":" in name else installed()[name].value
    module_name, _, path = where.partition(":")
    if not path or not all(part.isidentifier() for part in (*module_name.split("."), *path.split("."))):
        raise _unusable(name, f"'{where}' is not package.module:Class")
    module = _imported(name, module_name)
    try:
        found = reduce(getattr, path.split("."), module)
    except AttributeError:
        raise _unusable(name, f"module {module_name} has no {path}") from None
    if not isinstance(found, type):
        raise _unusable(name, f"{where} is {_article(type(found).__name__)}, not a class")
    check_class(name, found)
    return found


def import_from_current_directory(name: str) -> None:
    """Import the module of a name, `package.module:Class`, which may be in the current directory. Raises BadInput.

    The directory is on the path only meanwhile: later imports, such as optional ones of libraries, must not run files
    that somebody else put there.
    """
    try:
        here = str(Path.cwd())
    except FileNotFoundError:  # it has been removed
        load(name)
        return
    sys.path.append(here)
    try:
        load(name)
    finally:
        sys.path.remove(here)


def make(name: str, allocator: CustomAllocator, options: Options, master: Callbacks, now: float) -> Allocator:
    """Return a new allocator of a class.  Raises BadInput."""
    try:
        with in_progress(name, "__init__"):
            return allocator(options, master, now)
    except Exception as error:  # custom code
        hint = "the class is called with the master's options, its callbacks and the current time"
        raise _unusable(name, f"it cannot be created: {explain(error)}", hint) from error


def check_class(name: str, found: type) -> None:
    """Raise BadInput unless the class has every method of the interface, with its parameters."""
    missing = [
        method
        for method in METHODS
        if not callable(getattr(found, method, None)) or method in getattr(found, "__abstractmethods__", ())
    ]
    hint = "fake_master.allocator.interface.Allocator documents the interface"
    if missing:
        raise _unusable(name, f"{found.__name__} does not implement {listed(missing, FEW)}", hint)
    others = sorted(getattr(found, "__abstractmethods__", ()))
    if others:
        raise _unusable(name, f"{found.__name__} does not implement {', '.join(others)}")
    for method in METHODS:
        expected = inspect.signature(getattr(Allocator, method))
        if not _takes(getattr(found, method), expected):
            raise _unusable(name, f"{found.__name__}.{method} does not take {_names(expected)}", hint)


def _takes(method: Callable[..., object], expected: inspect.Signature) -> bool:
    """Whether a method can be called with all parameters, and with only those that have no default."""
    parameters = list(expected.parameters.values())
    try:
        signature = inspect.signature(method)
        for some in (parameters, [parameter for parameter in parameters if parameter.default is parameter.empty]):
            keywords = {parameter.name: None for parameter in some if parameter.kind is parameter.KEYWORD_ONLY}
            signature.bind(*(None for parameter in some if parameter.kind is not parameter.KEYWORD_ONLY), **keywords)
    except TypeError:
        return False
    except ValueError:  # one without a signature
        return True
    return True


def _names(expected: inspect.Signature) -> str:
    return (
        "(" + ", ".join(str(parameter).partition(":")[0] for parameter in list(expected.parameters.values())[1:]) + ")"
    )


def _imported(name: str, module: str) -> object:
    try:
        with in_progress(name, f"the import of {module}"):
            return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and (module == error.name or module.startswith(error.name + ".")):
            hint = "add its folder to PYTHONPATH; mesos-fake-master --allocator looks in the current directory too"
            raise _unusable(name, f"there is no module {error.name}", hint) from None
        raise _unusable(name, f"module {module} cannot be imported: {explain(error)}") from error
    except (Exception, SystemExit) as error:
        raise _unusable(name, f"module {module} cannot be imported: {explain(error)}") from error


def explain(error: BaseException) -> str:
    """Return an exception of custom code in one line: type, message, and the place where it was raised."""
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {error.msg} ({Path(error.filename or '?').name}, line {error.lineno})"
    frames = [frame for frame in extract_tb(error.__traceback__) if not frame.filename.startswith("<frozen")]
    place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}{': ' if text else ''}{text}{place}"


def _article(word: str) -> str:
    return f"an {word}" if word[0].lower() in "aeiou" else f"a {word}"


def _unusable(name: str, why: str, hint: str | None = None) -> BadInput:
    return BadInput(f"--allocator={name}: {why}", field="allocator", hint=hint)
