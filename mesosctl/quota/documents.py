"""The JSON of `mesosctl quota`, as models; see `show.document`."""

from typing import Annotated, Literal

from pydantic import Field

from mesosctl.mesos.cluster.guarantees import GuaranteeState
from mesosctl.mesos.exit_status import Answer
from mesosctl.show.document import Amounts, Document, Mirrored, named

OfGuarantee = Annotated[
    GuaranteeState | None,
    Field(
        description="Whether the guarantee is `met` by what the role has or is offered, or what it lacks is `kept`: it "
        "lies free until the role asks for offers; otherwise `unmet`. Null without a guarantee, and if that is unknown."
    ),
]


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
    guarantee_state: OfGuarantee = None
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
    done: Literal["set", "updated", "removed", "unchanged"]
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
    """`quota check`: whether a quota would be accepted; jsonl writes one of `findings` per line.

    Amounts are null if this principal may not see them.
    """

    kind: Literal["quota.check"] = "quota.check"
    role: str
    requested: Amounts
    passed: bool = Field(description="Whether no rule is broken; also true if the answer is unknown.")
    answer: Answer = Field(
        description="Whether it would be accepted; unknown if what this principal may not see could refuse it. Exit "
        "status 0 means yes."
    )
    verdict: str = Field(description="The answer in a sentence.")
    findings: list[Finding]
    capacity: Amounts | None
    promised: Amounts | None = Field(description="Guarantees of other roles.")
    largest: Amounts | None = Field(description="The largest quota that would be accepted for this role.")


class TaskRoom(Mirrored):
    """How many tasks of one size a guarantee holds."""

    task: Amounts
    guarantee: Amounts = Field(description="The present guarantee of the role, or the largest that it could have.")
    by_amounts: int = Field(description="How many tasks the guarantee contains, wherever they would run.")
    now: int = Field(description="How many more the guarantee holds today, on the agents as they are.")
    agents: int = Field(description="The number of agents that these are on.")
    not_guaranteed: list[str] = Field(description="Resources of the task that the guarantee does not name.")


class QuotaRoom(Document, Mirrored):
    """`quota room`: the largest quota that would be accepted; `role` is null if you named none."""

    kind: Literal["quota.room"] = "quota.room"
    role: str | None
    guarantee: Amounts | None = Field(description="The present guarantee of the role.")
    capacity: Amounts
    promised: Amounts = Field(description="Guarantees of other roles.")
    limits: Amounts = Field(description="The present limits of the role, which no guarantee may exceed.")
    largest: Amounts
    tasks: TaskRoom | None = Field(description="The answer for --task; null without it.")
