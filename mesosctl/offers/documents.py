"""The JSON of `mesosctl offers … -o json`, as models; see `show.document`."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from mesosctl.mesos.cluster import dominant_shares
from mesosctl.mesos.door.offer_explanation import Cause, Reason
from mesosctl.show.document import Amounts, Document, Mirrored, named
from mesosctl.show.held_resources import OwnedResources

Text = Annotated[str, BeforeValidator(str)]
"""A value of the model as text that commands accept."""


class Placed(Mirrored):
    """Resources that a framework holds, or is offered, on an agent."""

    framework_id: str
    framework: str
    role: str
    agent_id: str
    hostname: str
    resources: OwnedResources


class Offer(Placed):
    """One outstanding offer."""

    id: str
    revocability: Literal["regular", "throttleable", "non-throttleable", "mixed"] = Field(
        default="regular",
        description="`regular` is not revocable, `throttleable` is usage slack, and `non-throttleable` is lent by "
        "its owner.",
    )


class OfferList(Document):
    """`offers list`; jsonl writes one of `offers` per line."""

    schema_version: Literal[2] = 2  # type: ignore[assignment]  # a version of its own
    kind: Literal["offers.list"] = "offers.list"
    offers: list[Offer]


class OfferChange(Document):
    """`offers watch -o jsonl`: one line per change."""

    schema_version: Literal[2] = 2  # type: ignore[assignment]  # a version of its own
    kind: Literal["offers.change"] = "offers.change"
    change: Literal["offered", "gone"]
    offer: Offer


class AccountLine(Mirrored):
    """Some resources and the reason why the framework is not offered them in this role; see `cause`.

    `roles` hold them, have them reserved, or have the guarantee that they are kept for; `framework` holds them.
    """

    cause: Cause
    amounts: Amounts
    roles: list[str]
    framework_id: str | None
    framework: str | None
    detail: str | None = Field(description="The capability that is missing, or the state of agents out of service.")
    own: bool = Field(description="Whether the explained framework itself holds them, in this role.")
    agents: int


class AgentAccount(Mirrored):
    """One agent; its lines add up to all of its resources."""

    agent_id: str
    hostname: str
    lines: list[AccountLine]


class Evictable(Mirrored):
    """A task on lent resources that would end if the role used everything that it can get on the agent."""

    framework: str
    task_id: str
    agent: str


class Explanation(Mirrored):
    """Why a role of a framework is or is not offered anything; `lines` add up to the resources of all agents."""

    framework_id: Annotated[str, named("account.framework_id")]
    framework: Annotated[str, named("account.framework")]
    role: Annotated[str, named("account.role")]
    offers: int = Field(description="The number of offers that it holds now.")
    answer: str
    reason: Reason
    open: Amounts = Field(description="Free resources, with no obstacle that the master shows.")
    refusals: int | None = Field(
        description="Offer filters in force in the role, of any framework; null if the master does not show them."
    )
    lines: Annotated[list[AccountLine], named("account.lines")]
    helps: list[str] = Field(description="What you can do about it.")
    failover_timeout: float | None = Field(
        default=None,
        description="Seconds for which the master waits for a disconnected framework; null of any other.",
    )
    ahead: Annotated[list[str], named("account.ahead")] = Field(
        description="Roles that are served before it when resources become free."
    )
    lacking: Annotated[Amounts, named("account.shortfall")] = Field(
        description="What the guarantee of its top-level role still lacks."
    )
    evictable: Annotated[list[Evictable], named("account.evictable")]
    unknown: list[str]
    agents: Annotated[list[AgentAccount], named("account.agents")]


class OfferExplain(Document):
    """`offers explain`; jsonl writes one of `explanations` per line."""

    schema_version: Literal[2] = 2  # type: ignore[assignment]  # a version of its own
    kind: Literal["offers.explain"] = "offers.explain"
    explanations: list[Explanation]


class OfferCall(Document):
    """`offers reserve` and `offers unreserve`: the call to POST to /api/v1/scheduler."""

    kind: Literal["offers.call"] = "offers.call"
    call: dict[str, Any]


class OfferTaken(Document, Mirrored):
    """`offers take`: what was done with which offer."""

    schema_version: Literal[2] = 2  # type: ignore[assignment]  # a version of its own
    kind: Literal["offers.taken"] = "offers.taken"
    operation: Annotated[Literal["RESERVE", "UNRESERVE"], named("operation.action")]
    resources: Annotated[OwnedResources, named("operation.resources")]
    offer: Offer
    declined: int = Field(description="How many offers were declined.")
    confirmed: bool


class FrameworkHolding(Mirrored):
    """The resources that a framework holds; `share` is its dominant share, from 0 to 1."""

    framework: str
    amounts: Amounts
    dominant: str | None
    share: float
    weight: float = Field(default=1.0, description="The weight of its role; 1 if it has several roles.")
    weighted_share: float = Field(
        default=0.0, description="The share divided by the weight, which decides who is next."
    )


class RoleHolding(Mirrored):
    """The resources that a role and the roles below it hold."""

    role: str
    amounts: Amounts
    dominant: str | None
    share: float
    weight: float
    weighted_share: float
    guarantee: Amounts | None = Field(description="Null without quota.")


class Revoked(Mirrored):
    """A task or offer that was revoked for a framework of higher priority; `id` is its id."""

    seconds: float
    deed: Annotated[dominant_shares.RevocationKind, named("action")]
    framework: str
    agent: str
    id: str
    amounts: Amounts
    wanted_by: str


class SharingStep(Mirrored):
    """One offer that was taken."""

    number: int
    seconds: float
    framework: str
    role: str
    agent: str
    tasks: int
    holdings: list[FrameworkHolding]
    allocated: Amounts
    revoked: list[Revoked] = Field(default=[], description="What was revoked since the previous step.")
    revocability: Literal["regular", "throttleable", "non-throttleable", "mixed"] = "regular"
    evicted: list[str] = Field(default=[], description="Tasks that were evicted for it, as FRAMEWORK/TASK.")
    stage: dominant_shares.AllocationStage = Field(
        default="fair share",
        description="The stage of the allocation, which says whether the role was below its guarantee.",
    )
    roles: list[RoleHolding] = Field(
        default=[], description="Parent roles; all roles if any has a weight or a guarantee."
    )


class OfferSimulation(Document, Mirrored):
    """`offers simulate`; jsonl writes one of `steps` per line."""

    kind: Literal["offers.simulation"] = "offers.simulation"
    totals: Amounts
    frameworks: list[str]
    steps: list[SharingStep]
    tasks: dict[str, int] = Field(description="Tasks that run at the end, by framework.")
    ended: bool = Field(description="Whether it ended because no framework took another offer.")
    revoked_at_end: list[Revoked] = Field(default=[], description="What was revoked since the last step.")
    holdings_at_end: list[FrameworkHolding] = Field(
        default=[], description="The holdings at the end; tasks may have ended since the last step."
    )
    roles_at_end: list[RoleHolding] = Field(default=[], description="Like `roles` of a step.")
    assumed: list[str] = Field(default=[], description="What is assumed because the file does not say it.")
