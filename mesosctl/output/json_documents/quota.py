"""The JSON of -o json, as models: what a script may count on.

Every document has `schema_version` and `kind`.  A version only ever gains fields; a field that
changes or goes makes a new version.  Amounts are numbers, exact to three decimals.
"""

from typing import Annotated, Any, Literal, Self

from pydantic import AliasPath, BaseModel, BeforeValidator, ConfigDict, Field

from mesosctl.model.quantities import Limits, Quantities, to_double


def amounts(values: Quantities | Limits) -> dict[str, float]:
    """Amounts by resource name; mem and disk in MiB."""
    return {name: to_double(milli) for name, milli in values.items()}


def _in_doubles(value: object) -> object:
    return amounts(value) if isinstance(value, Quantities | Limits) else value


Amounts = Annotated[dict[str, float], BeforeValidator(_in_doubles)]
"""By resource name; a value of core is taken as it is."""


class Strict(BaseModel):
    """A part of a document: exactly these fields."""

    model_config = ConfigDict(extra="forbid")


class _With:
    """A value of core, and fields that it does not have."""

    def __init__(self, value: object, more: dict[str, object]) -> None:
        self._value = value
        self.__dict__.update(more)

    def __getattr__(self, name: str) -> object:
        return getattr(self._value, name)


class Mirrored(Strict):
    """A part that repeats a value of core: its fields have the value's names, or say `named` after which they are."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    @classmethod
    def of(cls, value: object, **more: object) -> Self:
        """Make it from that value, and from the fields that it does not have.

        Raises pydantic's ValidationError for a value of something else.
        """
        return cls.model_validate(_With(value, more) if more else value, from_attributes=True)


def named(path: str) -> Any:
    """A field that has another name in the value of core: `quota.guarantees` is the attribute of an attribute."""
    return Field(validation_alias=AliasPath(*path.split(".")))


class Document(Strict):
    """The JSON of one command."""

    schema_version: Literal[1] = 1


class QuotaValue(Mirrored):
    """A guarantee and a limit; a resource without a limit is not limited."""

    guarantee: Annotated[Amounts, named("guarantees")]
    limit: Annotated[Amounts, named("limits")]


class Usage(Mirrored):
    """Resources that a role and the roles below it hold; ports by count.  `consumed` is null before Mesos 1.9."""

    consumed: Amounts | None
    allocated: Amounts
    offered: Amounts
    reserved: Amounts
    frameworks: int
    weight: float


class RoleQuota(Mirrored):
    """A role with quota; `usage` is null if this principal may not see it."""

    role: str
    guarantee: Annotated[Amounts, named("quota.guarantees")]
    limit: Annotated[Amounts, named("quota.limits")]
    usage: Usage | None


class QuotaList(Document):
    """`quota list`; jsonl writes one of `quotas` per line."""

    kind: Literal["quota.list"] = "quota.list"
    quotas: list[RoleQuota]


class QuotaShow(Document):
    """`quota show`."""

    kind: Literal["quota.show"] = "quota.show"
    quota: RoleQuota


class QuotaChange(Mirrored):
    """One change that was made; null before or after means no quota."""

    role: str
    done: Literal["set", "updated", "removed"]
    before: QuotaValue | None
    after: QuotaValue | None
    confirmed: bool = Field(description="Whether it was read back.")


class QuotaChanges(Document):
    """`quota set`, `quota update` and `quota remove`; jsonl writes one of `changes` per line."""

    kind: Literal["quota.changes"] = "quota.changes"
    changes: list[QuotaChange]


class Finding(Mirrored):
    """One rule; `passed` is null if it could not be checked."""

    rule: str
    passed: bool | None
    message: Annotated[str, named("sentence")]
    hint: str | None


class QuotaCheck(Document, Mirrored):
    """`quota check`; jsonl writes one of `findings` per line.  Amounts are null if this principal may not see them."""

    kind: Literal["quota.check"] = "quota.check"
    role: str
    requested: Amounts
    passed: bool
    findings: list[Finding]
    capacity: Amounts | None
    promised: Amounts | None = Field(description="Guarantees of other roles.")
    largest: Amounts | None = Field(description="The largest quota that would be accepted for this role.")


class QuotaRoom(Document, Mirrored):
    """`quota room`: the largest quota that would be accepted; `role` is null if you named none."""

    kind: Literal["quota.room"] = "quota.room"
    role: str | None
    guarantee: Amounts | None = Field(description="The present guarantee of the role.")
    capacity: Amounts
    promised: Amounts = Field(description="Guarantees of other roles.")
    largest: Amounts


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
