"""The JSON of -o json, as models: what a script may count on.

Every document has `schema_version` and `kind`.  A version only ever gains fields; a field that
changes or goes makes a new version.  Amounts are numbers, exact to three decimals.
"""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from mesosctl.model.quantities import Limits, Quantities, Quota, to_double
from mesosctl.model.quota import status as quota_status


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


class Mirrored(Strict):
    """A part whose fields are those of a value of core, by their names."""

    @classmethod
    def of(cls, value: object) -> Self:
        """Make it from that value.  Raises pydantic's ValidationError for a value of something else."""
        return cls.model_validate(value, from_attributes=True)


class Document(Strict):
    """The JSON of one command."""

    schema_version: Literal[1] = 1


class QuotaValue(Strict):
    """A guarantee and a limit; a resource without a limit is not limited."""

    guarantee: Amounts
    limit: Amounts

    @classmethod
    def of(cls, quota: Quota) -> Self:
        """Make it from the value."""
        return cls(guarantee=amounts(quota.guarantees), limit=amounts(quota.limits))


class Usage(Mirrored):
    """Resources that a role and the roles below it hold; ports by count.  `consumed` is null before Mesos 1.9."""

    consumed: Amounts | None
    allocated: Amounts
    offered: Amounts
    reserved: Amounts
    frameworks: int
    weight: float


class RoleQuota(Strict):
    """A role with quota; `usage` is null if this principal may not see it."""

    role: str
    guarantee: Amounts
    limit: Amounts
    usage: Usage | None

    @classmethod
    def of(cls, entry: quota_status.RoleStatus) -> Self:
        """Make it from the value."""
        return cls(
            role=entry.role,
            guarantee=amounts(entry.quota.guarantees),
            limit=amounts(entry.quota.limits),
            usage=None if entry.usage is None else Usage.of(entry.usage),
        )


class QuotaList(Document):
    """`quota list`; jsonl writes one of `quotas` per line."""

    kind: Literal["quota.list"] = "quota.list"
    quotas: list[RoleQuota]


class QuotaShow(Document):
    """`quota show`."""

    kind: Literal["quota.show"] = "quota.show"
    quota: RoleQuota


class QuotaChange(Strict):
    """One change that was made; null before or after means no quota."""

    role: str
    done: Literal["set", "updated", "removed"]
    before: QuotaValue | None
    after: QuotaValue | None
    confirmed: bool = Field(description="Whether it was read back.")

    @classmethod
    def of(cls, change: quota_status.QuotaChange) -> Self:
        """Make it from the value."""
        return cls(
            role=change.role,
            done=change.done,
            before=None if change.before is None else QuotaValue.of(change.before),
            after=None if change.after is None else QuotaValue.of(change.after),
            confirmed=change.confirmed,
        )


class QuotaChanges(Document):
    """`quota set`, `quota update` and `quota remove`; jsonl writes one of `changes` per line."""

    kind: Literal["quota.changes"] = "quota.changes"
    changes: list[QuotaChange]


class Finding(Strict):
    """One rule; `passed` is null if it could not be checked."""

    rule: str
    passed: bool | None
    message: str
    hint: str | None


class QuotaCheck(Document):
    """`quota check`; jsonl writes one of `findings` per line.  Amounts are null if this principal may not see them."""

    kind: Literal["quota.check"] = "quota.check"
    role: str
    requested: Amounts
    passed: bool
    findings: list[Finding]
    capacity: Amounts | None
    promised: Amounts | None = Field(description="Guarantees of other roles.")
    largest: Amounts | None = Field(description="The largest quota that would be accepted for this role.")

    @classmethod
    def of(cls, check: quota_status.QuotaCheck) -> Self:
        """Make it from the value."""
        return cls(
            role=check.role,
            requested=amounts(check.requested),
            passed=check.passed,
            findings=[Finding(rule=f.rule, passed=f.passed, message=f.sentence, hint=f.hint) for f in check.findings],
            capacity=None if check.capacity is None else amounts(check.capacity),
            promised=None if check.promised is None else amounts(check.promised),
            largest=None if check.largest is None else amounts(check.largest),
        )


class QuotaRoom(Document):
    """`quota room`: the largest quota that would be accepted; `role` is null if you named none."""

    kind: Literal["quota.room"] = "quota.room"
    role: str | None
    guarantee: Amounts | None = Field(description="The present guarantee of the role.")
    capacity: Amounts
    promised: Amounts = Field(description="Guarantees of other roles.")
    largest: Amounts

    @classmethod
    def of(cls, room: quota_status.QuotaRoom) -> Self:
        """Make it from the value."""
        return cls.model_validate(room._asdict())


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
