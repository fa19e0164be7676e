"""The JSON of `mesosctl offers … -o json`, as models; see `json_documents` for what a script may count on."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from mesosctl.output.json_documents.quota import Amounts, Document, Mirrored, named
from mesosctl.planning import dominant_shares
from mesosctl.planning.offer_account import Cause, Reason

Text = Annotated[str, BeforeValidator(str)]
"""A value of core in the text form that can be typed again."""


Joined = Annotated[str, BeforeValidator(lambda entries: "; ".join(map(str, entries)))]
"""Entries in that form."""


class Placed(Mirrored):
    """Resources that a framework holds, or is offered, on an agent; ports by count."""

    framework_id: str
    framework: str
    role: str
    agent_id: str
    hostname: str
    amounts: Amounts
    resources: Text


class Offer(Placed):
    """One outstanding offer."""

    id: str
    revocability: Literal["regular", "throttleable", "non-throttleable", "mixed"] = Field(
        default="regular", description="Whether it may be taken back: no, as slack of use, or as lent by its owner."
    )


class OfferList(Document):
    """`offers list`; jsonl writes one of `offers` a line."""

    kind: Literal["offers.list"] = "offers.list"
    offers: list[Offer]


class OfferChange(Document):
    """`offers watch -o jsonl`: one line a change."""

    kind: Literal["offers.change"] = "offers.change"
    change: Literal["offered", "gone"]
    offer: Offer


class AccountLine(Mirrored):
    """Some resources and the reason why the role of the framework is not offered them; see `cause`.

    `roles` hold them, have them reserved, or have a guarantee that they are kept for; the framework holds them.
    """

    cause: Cause
    amounts: Amounts
    roles: list[str]
    framework_id: str | None
    framework: str | None
    detail: str | None = Field(description="The capability that is missing, or the state of agents out of service.")
    own: bool = Field(description="Whether the framework itself holds them, in this role.")
    agents: int


class AgentAccount(Mirrored):
    """One agent; its lines add up to all that it has."""

    agent_id: str
    hostname: str
    lines: list[AccountLine]


class Evictable(Mirrored):
    """A task on lent resources that would end if the role used all that it can have on the agent."""

    framework: str
    task_id: str
    agent: str


class Explanation(Mirrored):
    """Why a role of a framework is or is not offered anything; `lines` add up to the resources of all agents."""

    framework_id: Annotated[str, named("account.framework_id")]
    framework: Annotated[str, named("account.framework")]
    role: Annotated[str, named("account.role")]
    offers: int = Field(description="How many it holds now.")
    answer: str
    reason: Reason
    open: Amounts = Field(description="Free, and nothing that the master shows is in the way.")
    refusals: int | None = Field(description="In force in the role, of any framework; null where not shown.")
    lines: Annotated[list[AccountLine], named("account.lines")]
    helps: list[str] = Field(description="What would help.")
    ahead: Annotated[list[str], named("account.ahead")] = Field(
        description="Roles that are served before it when something comes free."
    )
    evictable: Annotated[list[Evictable], named("account.evictable")]
    unknown: list[str]
    agents: Annotated[list[AgentAccount], named("account.agents")]


class OfferExplain(Document):
    """`offers explain`; jsonl writes one of `explanations` a line."""

    schema_version: Literal[2] = 2  # type: ignore[assignment]  # a version of its own
    kind: Literal["offers.explain"] = "offers.explain"
    explanations: list[Explanation]


class OfferCall(Document):
    """`offers reserve` and `offers unreserve`: the call to POST to /api/v1/scheduler."""

    kind: Literal["offers.call"] = "offers.call"
    call: dict[str, Any]


class OfferTaken(Document, Mirrored):
    """`offers take`: what was done upon which offer."""

    kind: Literal["offers.taken"] = "offers.taken"
    operation: Annotated[Literal["RESERVE", "UNRESERVE"], named("operation.deed")]
    resources: Annotated[Joined, named("operation.resources")]
    offer: Offer
    declined: int = Field(description="How many offers were declined.")
    confirmed: bool


class Holding(Mirrored):
    """The holding of a framework; `share` is the part of its dominant resource, from 0 to 1."""

    framework: str
    amounts: Amounts
    dominant: str | None
    share: float
    weight: float = Field(default=1.0, description="Of its role; 1 where it has several.")
    weighted_share: float = Field(
        default=0.0, description="The share divided by the weight, which decides who is next."
    )


class RoleHolding(Mirrored):
    """The holding of a role and of those below it."""

    role: str
    amounts: Amounts
    dominant: str | None
    share: float
    weight: float
    weighted_share: float
    guarantee: Amounts | None = Field(description="Null without quota.")


class Revoked(Mirrored):
    """Something that was taken for a framework of higher priority; `id` is that of the task or the offer."""

    seconds: float
    deed: dominant_shares.RevocationKind
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
    holdings: list[Holding]
    allocated: Amounts
    revoked: list[Revoked] = Field(default=[], description="Since the step before.")
    revocability: Literal["regular", "throttleable", "non-throttleable", "mixed"] = "regular"
    evicted: list[str] = Field(default=[], description="Tasks that had to go for it, as FRAMEWORK/TASK.")
    stage: dominant_shares.AllocationStage = Field(
        default="fair share", description="Whether the role was short of its guarantee."
    )
    roles: list[RoleHolding] = Field(
        default=[], description="Parents; every role where any has a weight or a guarantee."
    )


class OfferSimulation(Document):
    """`offers simulate`; jsonl writes one of `steps` a line."""

    kind: Literal["offers.simulation"] = "offers.simulation"
    totals: Amounts
    frameworks: list[str]
    steps: list[SharingStep]
    tasks: dict[str, int] = Field(description="Running at the end, by framework.")
    ended: bool = Field(description="Whether nobody took an offer any more.")
    revoked_at_end: list[Revoked] = Field(default=[], description="Since the last step.")
    holdings_at_end: list[Holding] = Field(default=[], description="When it is over; tasks may end later.")
    roles_at_end: list[RoleHolding] = Field(default=[], description="As `roles` of a step.")
    assumed: list[str] = Field(default=[], description="What the file does not say, and is taken to be so.")
