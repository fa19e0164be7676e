"""The page of public names of both packages, made from the names themselves."""

import dataclasses
import inspect
from collections.abc import Iterator
from typing import Any

import fake_master
import mesosctl

_OPENING = """# Public names

Other programs may count on these names, which `from mesosctl import …` and `from fake_master import …` give. Everything
else in the packages may change. [Use mesosctl from Python](../how-to/python.md) and
[Test your scheduler](../how-to/test-your-scheduler.md) show them at work.
Made by `python -m mesosctl.cli.reference --write`."""
_PYTEST = """
## pytest

| name | what it is |
| --- | --- |
| fixture `fake_master` | A `FakeMaster` with the cluster that the marker says; with one agent where there is none. |
| fixture `fake_master_factory` | A function that makes further ones, with the arguments of `FakeMaster`. |
| marker `fake_master(agents, **options)` | The arguments of `FakeMaster`. |
"""


def public_names() -> str:
    """Return docs/reference/python.md."""
    lines = [_OPENING, *_package(mesosctl, mesosctl.Master), *_errors(), *_package(fake_master, fake_master.FakeMaster)]
    return "\n".join(lines) + "\n" + _PYTEST


def _package(package: Any, main: type) -> Iterator[str]:
    name = package.__name__
    yield from ("", f"## {name}", "")
    yield f"`{main.__name__}{_parameters(main)}`"
    yield from ("", *inspect.cleandoc(main.__doc__ or "").splitlines())
    yield from ("", f"| `{main.__name__}` | what it does |", "| --- | --- |")
    for member, value in sorted(vars(main).items()):
        if not member.startswith("_"):
            call = "" if isinstance(value, property) else _parameters(value)
            yield f"| `{member}{call}` | {_sentence(value)} |"
    yield from ("", "| value | what it is | fields |", "| --- | --- | --- |")
    for value in (getattr(package, name) for name in package.__all__):
        if value is not main and not issubclass(value, BaseException):
            yield f"| `{value.__name__}` | {_sentence(value)} | {', '.join(f'`{field}`' for field in _fields(value))} |"


def _errors() -> Iterator[str]:
    yield from ("", "| error | what it means | exit status |", "| --- | --- | --- |")
    errors = [value for value in (getattr(mesosctl, name) for name in mesosctl.__all__) if _is_error(value)]
    for error in sorted(errors, key=lambda error: [kind.__name__ for kind in reversed(error.__mro__)]):
        below = " → ".join(kind.__name__ for kind in reversed(error.__mro__) if _is_error(kind))
        status = "" if error is mesosctl.MesosctlError else int(error.exit_status)
        yield f"| `{below}` | {_sentence(error)} | {status} |"


def _is_error(value: type) -> bool:
    return issubclass(value, mesosctl.MesosctlError)


def _sentence(value: Any) -> str:
    """The first paragraph of a docstring, on one line."""
    return " ".join(inspect.cleandoc(value.__doc__ or "").partition("\n\n")[0].split()).replace("|", "\\|")


def _parameters(function: Any) -> str:
    """The parameters of a call, with their defaults and without types."""
    parameters = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for parameter in inspect.signature(function).parameters.values()
        if parameter.name != "self"
    ]
    return str(inspect.Signature(parameters))


def _fields(value: type) -> list[str]:
    if dataclasses.is_dataclass(value):
        return [field.name for field in dataclasses.fields(value)]
    return list(getattr(value, "model_fields", None) or getattr(value, "__annotations__", {}))
