"""The JSON of a forecast, and of several in one answer, as models; see `show.document`."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, Field

from mesosctl.mesos.door import forecast as values
from mesosctl.mesos.door.upgrade import Upgrade
from mesosctl.mesos.exit_status import Answer
from mesosctl.offers.documents import Placed, Text
from mesosctl.quota.documents import OfGuarantee
from mesosctl.ratelimit.documents import Outcome
from mesosctl.show.document import Amount, Amounts, Document, Mirrored, Strict, named
from mesosctl.whatif import variants as whatif_variants
from mesosctl.whatif.upgrade import commands_after, commands_before


class ChangeAnswer(Mirrored):
    """The answer to one request; `status` is null if mesosctl refuses what a master would accept."""

    change: str
    accepted: bool
    status: int | None
    message: str
    rule: str | None
    by: Literal["master", "mesosctl"]


class RescindedOffer(Placed):
    """An offer that would be rescinded; `out_now` is false if it was only made while the snapshot settled."""

    offer_id: str
    revocability: Literal["regular", "throttleable", "non-throttleable", "mixed"]
    out_now: bool


class EvictedTask(Placed):
    """A task that would have to end for another role or framework.

    `happens` is false if it would end only once the regular offers on its agent are used; `caused` is false if that was
    so before; `runs_now` is false if it was only assumed to run while the snapshot settled.
    """

    task_id: str
    grace_seconds: float = Field(description="How long it may take to end.")
    happens: bool
    caused: bool
    runs_now: bool


class Holding(Mirrored):
    """Resources of a role or framework: used, offered, and the dominant share of both (0 to 1, without weights)."""

    used: Amounts
    offered: Amounts
    share: float


class ShareChange(Mirrored):
    """A role with the roles below it, or a framework; before and after."""

    name: str
    id: str
    guarantee: Amounts | None
    guarantee_state: OfGuarantee = None
    kept: Amounts = Field(
        default={}, description="The part of a guarantee that it lacks after the change, and that lies free for it."
    )
    unmet: Amounts = Field(default={}, description="The part of a guarantee that it lacks, and that is not kept.")
    before: Holding
    after: Holding
    gains: Amounts
    loses: Amounts
    dominant: str | None = Field(description="The dominant resource, before or after, whichever share is larger.")

    @classmethod
    def with_shares(cls, party: values.HolderChange) -> Self:
        """Make it from the value, in which the shares are next to the holdings."""
        return cls.of(
            party,
            before=Holding.of(party.before, share=party.share_before),
            after=Holding.of(party.after, share=party.share_after),
        )


class Starving(Mirrored):
    """A role below its guarantee, or a role or framework with nothing; `caused` is false if it was no better before."""

    kind: Literal["role", "framework"]
    name: str
    reason: Literal["guarantee", "nothing"]
    short: Amounts
    caused: bool
    message: str


class QuotaFit(Mirrored):
    """The number of agents on which a guarantee fits: if they were empty, and alongside the present tasks."""

    role: str
    guarantee: Amounts
    agents_whole: int
    agents_now: int
    largest: Amounts


class BeforeAfter(Mirrored):
    """An amount before and after."""

    before: Amounts
    after: Amounts


class Headroom(Mirrored):
    """Amounts that are left: the largest guarantee that would be accepted, and what is free."""

    unpromised: BeforeAfter
    free: BeforeAfter
    owed: BeforeAfter = Field(description="What guarantees lack, whether it is free or not.")
    kept: BeforeAfter = Field(description="The part of `free` that is kept back for guarantees.")


class LostAgent(Mirrored):
    """An agent that the change removes."""

    hostname: str
    id: str


class Traffic(Mirrored):
    """Recorded messages of each principal, as `ratelimit simulate` has them."""

    principals: Annotated[list[Outcome], named("outcomes")]
    before: list[Outcome] = Field(description="Under the present limits; empty if they are unknown.")


class DifferentThere(Mirrored):
    """A setting of the cluster that means something else under the other release, or a name that is gone."""

    subject: Literal["quota", "capacity", "suppression", "flag", "metric"]
    name: str = Field(description="Of the role, framework, resource, flag or metric.")
    today: str
    there: str


class RequestThere(Mirrored):
    """A request that the two masters answer differently."""

    request: str
    times: int
    today: Annotated[int, Field(description="The status of the present master's answer.")]
    there: Annotated[int, Field(description="That of the other master's.")]
    message: str
    members_gone: list[str] = Field(description="Members of the present answer that the other one does not have.")


class UpgradeThere(Mirrored):
    """A master of another release of Mesos, and what is different for this cluster there."""

    mesos_version: Annotated[str, named("version")]
    mesos_profile: str
    starts: bool = Field(description="Whether it starts on the registry of the present master.")
    why_not: str
    differences: list[DifferentThere]
    tried: int = Field(description="The number of requests of --requests that were tried.")
    requests: list[RequestThere] = Field(description="Those of them that are answered differently.")
    before: list[str] = Field(description="Commands that keep today's meaning, before the new master starts.")
    after: list[str] = Field(description="Commands that keep today's meaning, when it leads.")

    @classmethod
    def telling(cls, upgrade: Upgrade) -> Self:
        """Make it from the value."""
        return cls.of(upgrade, before=commands_before(upgrade), after=commands_after(upgrade))


class ForecastDocument(Document, Mirrored):
    """`whatif`, and every command with --dry-run: what changes would do."""

    schema_version: Literal[2] = 2  # type: ignore[assignment]  # a version of its own
    kind: Literal["forecast"] = "forecast"
    accepted: bool = Field(description="Whether everything would be accepted.")
    harmless: Annotated[bool, named("is_harmless")] = Field(
        description="Whether it would be accepted, starve nobody, and refuse no more messages than before: exit "
        "status 0."
    )
    answer: Answer = Field(description="yes if it is harmless, no if not.")
    verdict: str = Field(description="The answer in a sentence.")
    mesos_version: Annotated[str, named("version")]
    mesos_profile: str = Field(description="Whose rules decide: documents, or a minor release of Mesos.")
    taken_at: float = Field(description="When the snapshot was taken, in seconds since the epoch.")
    agents: int = Field(description="Agents in service before the change.")
    assume: Literal["hold", "accept"]
    cycles: int = Field(description="Allocations after the change.")
    seconds: float = Field(description="Seconds of virtual time after the change.")
    offers_suspended: float = Field(default=0.0, description="Seconds without offers after a failover.")
    changes: list[Text] = Field(description="The changes, in order.")
    agents_lost: Annotated[list[LostAgent], named("lost")] = Field(
        default=[], description="Agents that the changes remove."
    )
    tasks_lost: int = Field(default=0, description="Tasks that end with these agents.")
    answers: list[ChangeAnswer]
    rescinded: list[RescindedOffer]
    evicted: list[EvictedTask] = Field(
        default=[], description="Tasks that would be evicted; a master that never evicts tasks has none."
    )
    roles: list[ShareChange]
    frameworks: list[ShareChange]
    starving: list[Starving]
    fits: list[QuotaFit]
    headroom: Headroom
    totals_before: Amounts
    totals: Amounts = Field(description="Resources of the agents in service after the change.")
    unknowns: list[values.Unknown]
    traffic: Traffic | None = Field(
        default=None, description="Recorded messages under other rate limits; null if none are changed."
    )
    upgrade: UpgradeThere | None = Field(
        default=None, description="The master of another release that leads after it; null if it is the same."
    )
    would: list[dict[str, Any]] = Field(description="The answer that the command itself would give.")

    @classmethod
    def answering(cls, forecast: values.Forecast, would: Sequence[BaseModel] = ()) -> Self:
        """Make it from the value, and from what the command would have answered."""
        return cls.of(
            forecast,
            answer="yes" if forecast.is_harmless else "no",
            roles=[ShareChange.with_shares(party) for party in forecast.roles],
            frameworks=[ShareChange.with_shares(party) for party in forecast.frameworks],
            upgrade=None if forecast.upgrade is None else UpgradeThere.telling(forecast.upgrade),
            would=[document.model_dump(mode="json") for document in would],
        )


class Alternative(Strict):
    """One change, and what it would do."""

    change: str
    forecast: ForecastDocument

    @classmethod
    def answering(cls, value: whatif_variants.Variant[values.Forecast]) -> Self:
        """Make it from the value."""
        return cls(change=value.change, forecast=ForecastDocument.answering(value.answer))


class Alternatives(Document):
    """`whatif --each`."""

    schema_version: Literal[2] = 2  # type: ignore[assignment]  # a version of its own
    kind: Literal["alternatives"] = "alternatives"
    answer: Answer = Field(description="yes if one of them is harmless, no if none is.")
    alternatives: list[Alternative]


class LostAgents(Mirrored):
    """One loss, and who would starve for it."""

    lost: Annotated[str, named("name")] = Field(description="The agent, or the attribute with its value.")
    agents: int = Field(description="The number of agents that are lost together.")
    alike: list[str] = Field(description="Other agents of which each is like this one; only one of them was tried.")
    harmless: Annotated[bool, named("is_harmless")]
    starved: list[Starving] = Field(description="Those that would starve because of it.")
    tasks: int = Field(description="Tasks that end with the agents.")
    amounts: Annotated[Amounts, named("lost")] = Field(description="The resources of the agents.")
    severity: float = Field(
        description="The order: the sum of what roles lack because of it, as shares of the cluster."
    )


class LossRanking(Document):
    """`whatif --lose-each`; jsonl writes one of `losses` per line, the worst first."""

    kind: Literal["losses"] = "losses"
    answer: Answer = Field(description="yes if each loss is harmless, no if one is not, unknown if not all were tried.")
    assume: Literal["hold", "accept"]
    by: list[str] = Field(description="agent, and the attributes of whose values each is lost.")
    not_tried: int = Field(description="Kinds of agents, or values, that hold less, and were not tried.")
    losses: list[LostAgents]


class LargestChange(Document, Mirrored):
    """`whatif --find-largest`."""

    schema_version: Literal[2] = 2  # type: ignore[assignment]  # a version of its own
    kind: Literal["largest-change"] = "largest-change"
    answer: Answer = Field(description="yes if there is such an amount, no if there is none.")
    question: Annotated[str, named("template.word")]
    resource: Annotated[str, named("template.resource")]
    largest: Amount | None = Field(
        description="The amount; null if even the smallest is refused or starves anybody, or if no agent has the "
        "resource."
    )
    precision: Amount = Field(description="The step between amounts that were tried.")
    tried: int = Field(description="Forecasts that were made.")
    best: Alternative | None = Field(description="The forecast of the largest amount.")
    beyond: Alternative | None = Field(
        description="The forecast of the next larger amount; null if the largest is everything that the agents have."
    )

    @classmethod
    def answering(cls, found: whatif_variants.LargestVariant[values.Forecast]) -> Self:
        """Make it from the value, in which amounts are thousandths."""
        return cls.of(
            found,
            answer="no" if found.best is None else "yes",
            best=None if found.best is None else Alternative.answering(found.best),
            beyond=None if found.beyond is None else Alternative.answering(found.beyond),
        )
