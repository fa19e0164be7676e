"""The bases of the documents of -o json, and the documents that every command may write on standard error.

Every document has `schema_version` and `kind`.  Within a version, fields are only added; changing or removing a field
needs a new version.  Amounts are numbers, exact to three decimals.
"""

from typing import Annotated, Any, Literal, Self

from pydantic import AliasPath, BaseModel, BeforeValidator, ConfigDict, Field

from mesosctl.mesos.amounts.notation import utc_text
from mesosctl.mesos.amounts.quantities import Limits, Quantities, to_number


def amounts(values: Quantities | Limits) -> dict[str, float]:
    """Amounts by resource name; mem and disk in MiB."""
    return {name: to_number(milli) for name, milli in values.items()}


def _in_doubles(value: object) -> object:
    return amounts(value) if isinstance(value, Quantities | Limits) else value


Amounts = Annotated[dict[str, float], BeforeValidator(_in_doubles)]
"""By resource name; made from `Quantities` or `Limits`, if those are given."""


def _in_double(value: object) -> object:
    return to_number(value) if isinstance(value, int) else value


Amount = Annotated[float, BeforeValidator(_in_double)]
"""One amount; made from whole thousandths, if those are given."""


def _in_utc(seconds: object) -> object:
    return utc_text(seconds) if isinstance(seconds, int | float) else seconds


UtcTime = Annotated[str, BeforeValidator(_in_utc)]
"""A time in ISO 8601; made from seconds since 1970, if those are given."""


class Strict(BaseModel):
    """A part of a document: exactly these fields."""

    model_config = ConfigDict(extra="forbid", ser_json_inf_nan="strings")


class _With:
    """A value, and fields that it does not have."""

    def __init__(self, value: object, more: dict[str, object]) -> None:
        self._value = value
        self._more = more

    def __getattr__(self, name: str) -> object:
        return self._more[name] if name in self._more else getattr(self._value, name)


class Mirrored(Strict):
    """A part that is made from a value of the program: each field from the attribute of its name, or of `named`."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True, ser_json_inf_nan="strings")

    @classmethod
    def of(cls, value: object, **more: object) -> Self:
        """Make it from that value, and from the fields that it does not have.

        Raises pydantic's ValidationError for a value of something else.
        """
        return cls.model_validate(_With(value, more) if more else value, from_attributes=True)


def named(path: str) -> Any:
    """A field that is made from an attribute of another name; `quota.guarantees` is the attribute of an attribute."""
    return Field(validation_alias=AliasPath(*path.split(".")))


class Document(Strict):
    """The JSON of one command."""

    schema_version: Literal[1] = 1


class Error(Strict):
    """The failure of a command.  `field`, `rule`, `hint` and the HTTP `status` are null if there is none."""

    kind: str
    exit_status: int
    message: str
    field: str | None
    rule: str | None
    hint: str | None
    status: int | None


class ErrorDocument(Document):
    """An error, on standard error; `notes` are the sentences that come before it in other formats."""

    notes: list[str]
    error: Error
    contexts: list[str] | None = Field(
        default=None, description="The contexts in which it happened; only if the command works on several."
    )


class Note(Document):
    """A sentence on standard error with JSON output, one per line, unless an error includes it."""

    kind: Literal["note"] = "note"
    level: Literal["note", "warning"]
    message: str


class ExchangeNote(Document):
    """An HTTP exchange, on standard error with -v and JSON output; -vv adds `headers`, `sent` and `received`."""

    kind: Literal["exchange"] = "exchange"
    method: str
    url: str
    status: int | None
    failure: str | None
    bytes: int | None
    milliseconds: float
    headers: dict[str, str] | None = None
    sent: str | None = None
    received: str | None = None
