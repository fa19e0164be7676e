"""The base of the models of the documented JSON.

One class stands for one message.  A request is built from it and sent as its JSON; a file that a person wrote is
validated by it, strictly: a master ignores a key that it does not know, but here it is refused, because it may be
misspelt.
"""

import math
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Self, get_args, get_origin

from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidationError,
)
from pydantic.fields import FieldInfo

from mesosctl.mesos.errors import BadInput

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from mesosctl.mesos.messages.strict import reading

_QUOTED = re.compile(r"'([^']*)'")
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?")


def number(value: Any) -> Any:
    """A master takes a number in quotes, and no boolean for one."""
    if isinstance(value, bool) or (isinstance(value, str) and not _NUMBER.fullmatch(value)):
        raise ValueError("it should be a number")  # pydantic reports only ValueError
    return float(value) if isinstance(value, str) and not value.lstrip("-").isdigit() else value


def _number_or_infinity(value: Any) -> Any:
    """The same, and the one text that a master takes for a number without end."""
    return math.inf if value == "Infinity" else number(value)


def _boolean(value: Any) -> Any:
    """A master takes a boolean in quotes, and neither yes nor 1."""
    return {"true": True, "false": False}.get(value, value) if isinstance(value, str) else value


Double = Annotated[float, BeforeValidator(number), Field(allow_inf_nan=False)]
DoubleOrInfinity = Annotated[
    float,
    BeforeValidator(_number_or_infinity),
    PlainSerializer(lambda value: "Infinity" if value == math.inf else value),
]
"""A double that may be "Infinity", for fields in which a master takes it."""
Uint64 = Annotated[int, BeforeValidator(number), Field(ge=0, lt=2**64)]
Int64 = Annotated[int, BeforeValidator(number), Field(ge=-(2**63), lt=2**63)]
Bool = Annotated[bool, Field(strict=True), BeforeValidator(_boolean)]


class Mistake(NamedTuple):
    """A place in a JSON value, and what is wrong there."""

    path: "reading.Path"
    sentence: str
    hint: str | None = None


class MesosModel(BaseModel):
    """A message of the documented JSON.  A field that is None is absent."""

    # A command uses a few of these; the others need not be built.
    model_config = ConfigDict(extra="forbid", defer_build=True)

    @classmethod
    def read(cls, value: Any, where: str) -> Self:
        """The message in a JSON value; `where` names the file.  Raises BadInput with the place."""
        try:
            return cls.model_validate(value)
        except ValidationError as error:
            raise _refused(cls, error, where) from None

    @classmethod
    def faults(cls, value: Any) -> list[Mistake]:
        """Everything that keeps a JSON value from being the message, in the order of the fields."""
        try:
            cls.model_validate(value)
        except ValidationError as error:
            return [_mistake(cls, details) for details in error.errors(include_url=False)]
        return []

    def content(self) -> dict[str, Any]:
        """The message as a JSON object without absent fields."""
        return self.model_dump(exclude_none=True, by_alias=True)

    def body(self) -> bytes:
        """The message as it is sent."""
        return self.model_dump_json(exclude_none=True, by_alias=True).encode()


class Scalar(MesosModel):
    """An amount."""

    value: Double


MISSING = "it is missing"
_SENTENCES = {
    "missing": MISSING,
    "string_type": "it should be a string",
    "string_too_short": "it should not be empty",
    "string_unicode": "it should be UTF-8",
    "float_type": "it should be a number",
    "int_type": "it should be a number",
    "int_from_float": "it should be a whole number",
    "greater_than_equal": "it should not be negative",
    "less_than": "it should fit into 64 bits",
    "finite_number": "it should be a finite number",
    "bool_type": "it should be true or false",
    "list_type": "it should be an array",
    "dict_type": "it should be an object",
    "model_type": "it should be an object",
    "model_attributes_type": "it should be an object",
    "value_error": "it should be a number",
}
"""The kind of a mistake, in words that do not depend on pydantic."""


def _refused(model: type[BaseModel], error: ValidationError, where: str) -> BadInput:
    """The first mistake; a misspelt key before the key that is missing for it."""
    mistakes = error.errors(include_url=False)
    first = next((details for details in mistakes if details["type"] == "extra_forbidden"), mistakes[0])
    from mesosctl.mesos.messages.strict import reading  # imported late: most messages are written, not read

    return reading.refused(where, *_mistake(model, first))


def _mistake(model: type[BaseModel], found: "ErrorDetails") -> Mistake:
    path = found["loc"]
    if found["type"] == "extra_forbidden":
        known = _keys(model, path[:-1])
        hint = _likely(str(path[-1]).lower(), known) or f"known: {', '.join(known)}"
        return Mistake(path, f"there is no key '{path[-1]}' here", hint)
    if found["type"] == "literal_error":
        expected = found["ctx"]["expected"]
        return Mistake(
            path, f"it should be {expected}", _likely(str(found["input"]).upper(), _QUOTED.findall(expected))
        )
    return Mistake(path, _SENTENCES.get(found["type"], "it is not a valid value for this key"))


def _likely(word: str, known: Sequence[str]) -> str | None:
    import difflib

    close = difflib.get_close_matches(word, known, 1)
    return f"did you mean {close[0]}?" if close else None


def _keys(model: type[BaseModel], path: "reading.Path") -> list[str]:
    """The keys that the object at a path may have."""
    parts = iter(path)
    for part in parts:
        if isinstance(part, int):
            continue
        annotation = next(field.annotation for name, field in model.model_fields.items() if part in _names(name, field))
        if any(get_origin(kind) is dict for kind in _kinds(annotation)):
            next(parts, None)  # a key of the map
        model = next(kind for kind in _kinds(annotation) if isinstance(kind, type) and issubclass(kind, BaseModel))
    return [_key(name, field) for name, field in model.model_fields.items()]


def _key(name: str, field: FieldInfo) -> str:
    return field.alias or name


def _names(name: str, field: FieldInfo) -> list[Any]:
    """The keys under which a field is read."""
    other = field.validation_alias
    return [_key(name, field), *(other.choices if isinstance(other, AliasChoices) else ())]


def _kinds(annotation: Any) -> Iterator[Any]:
    """The types that make up an annotation."""
    yield annotation
    for part in get_args(annotation):
        yield from _kinds(part)
