"""The settings that flags, the environment and contexts can give, as their options declare them."""

from dataclasses import fields
from types import NoneType
from typing import Literal, NamedTuple, get_args, get_origin

from mesosctl.cli.options import NOT_IN_CONTEXTS, GlobalOptions
from mesosctl.model.errors import BadInput, UsageError

Value = str | float | int | bool


_SWITCHES = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}


class Setting(NamedTuple):
    """One setting, as its option is declared."""

    name: str
    """The field of GlobalOptions; of a secret, what it is called."""
    option: str | None
    """How it is typed; None for a secret."""
    kind: type
    """str, float, int or bool."""
    choices: tuple[str, ...] = ()
    is_file: bool = False
    least: float | None = None
    is_span: bool = False
    """Whether it counts seconds, and may be typed with a unit; a file holds the plain number."""

    @property
    def key(self) -> str:
        """Its name in a context."""
        return self.name.replace("_", "-")

    @property
    def variable(self) -> str:
        """Its name in the environment."""
        return f"MESOSCTL_{self.name.upper()}"

    @property
    def is_secret(self) -> bool:
        """Whether its value must not be shown."""
        return self.option is None

    @property
    def in_contexts(self) -> bool:
        """Whether a context may hold it."""
        return self.name not in NOT_IN_CONTEXTS

    def check(self, value: object) -> str:
        """Return the fault of a value in a context; empty for none."""
        wanted = (int, float) if self.kind is float else (self.kind,)
        if not isinstance(value, wanted) or (isinstance(value, bool) and self.kind is not bool):
            return f"must be {_KINDS[self.kind]}" + (" of seconds" if self.is_span else "")
        if self.choices and value not in self.choices:
            return f"must be one of {', '.join(self.choices)}"
        if self.least is not None and isinstance(value, int | float) and not self.least <= value < float("inf"):
            return f"must be at least {self.least:g}"
        if isinstance(value, str) and any(char < " " for char in value) and not self.is_secret:
            return "must be a text in one line"
        if self.is_file and value == "-":
            return "cannot be standard input: name a file, or /dev/stdin"
        return "is empty" if value == "" else ""

    def parse(self, text: str, where: str) -> Value:
        """A value from a word or a variable, which `where` names in errors.  Raises BadInput."""
        value: Value = text
        if self.kind is bool:
            value = _SWITCHES.get(text.lower(), text)
        elif self.is_span:
            from mesosctl.model.text import parse_seconds

            try:
                return parse_seconds(text, where, self.least or 0.0)
            except UsageError as error:
                raise BadInput(error.message, field=where, hint=error.hint) from None
        elif self.kind in (int, float):
            try:
                value = self.kind(text)
            except ValueError:
                value = text
        wrong = self.check(value)
        if wrong:
            raise BadInput(f"{where} {wrong}", field=where)
        return value


_KINDS = {str: "a text", float: "a number", int: "a whole number", bool: "true or false"}


def declared() -> tuple[Setting, ...]:
    """Every setting in the order of the options, a secret before the file that may hold it."""
    found: list[Setting] = []
    for option in fields(GlobalOptions):
        annotation, info = get_args(option.type)[:2]
        kinds = [kind for kind in get_args(annotation) or (annotation,) if kind is not NoneType]
        choices = get_args(kinds[0]) if get_origin(kinds[0]) is Literal else ()
        if option.name.endswith("_file"):
            found.append(Setting(option.name.removesuffix("_file"), None, str))
        found.append(
            Setting(
                option.name,
                option=(info.default, *info.param_decls)[0] if isinstance(info.default, str) else info.param_decls[0],
                kind=str if choices else kinds[0],
                choices=choices,
                is_file=info.metavar == "FILE",
                least=info.min,
                is_span=info.metavar == "SPAN",
            )
        )
    return tuple(found)
