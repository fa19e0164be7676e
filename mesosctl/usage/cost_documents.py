"""The JSON about cost."""

from collections.abc import Mapping
from typing import Literal

from mesosctl.history.months import month_text
from mesosctl.history.records import to_seconds
from mesosctl.mesos.amounts.notation import utc_text
from mesosctl.show.document import Document, Strict
from mesosctl.usage.cost import PARTS, Cost, CostPart, Money, cost_by_key
from mesosctl.usage.cost_sentences import billed, left_out_of, remarks
from mesosctl.usage.figures import hours_by_name


class CostParts(Strict):
    """Cost by part; 0 for what there is none of.

    `used` is what tasks and executors hold, `borrowed` what they hold of idle reservations that were lent,
    `reserved_idle` what is reserved and not used, `lent` the credit for what of that was lent (below zero), `kept` what
    is kept free for a guarantee, and `idle_share` the share of what is nobody's, if that is shared.
    """

    used: float
    borrowed: float
    reserved_idle: float
    lent: float
    kept: float
    idle_share: float


class CostOfMonth(Strict):
    """The cost of one key in one month."""

    month: str
    cost: float
    parts: CostParts


class CostKey(Strict):
    """The cost of one role, framework, principal or agent: the sum of its months.

    The row without any of these has what belongs to no such key: with `by` other than role what is reserved and idle or
    kept, which roles have.
    """

    role: str | None = None
    framework: str | None = None
    principal: str | None = None
    agent: str | None = None
    name: str | None
    cost: float
    parts: CostParts
    months: list[CostOfMonth]
    revocable_hours: dict[str, float]
    """Of tasks on revocable resources, which cost nothing unless they were lent."""
    out_of_service_hours: dict[str, float]
    """Of tasks on agents that were unreachable or had left, which cost nothing."""


class CostMonth(Strict):
    """A calendar month, or the part of it that was asked for."""

    month: str
    since: str
    until: str
    seen_seconds: float
    unseen_seconds: float
    covered: float
    """The share of the whole calendar month that was seen."""
    total: float
    """The cost of all agents in service."""
    idle: float
    """The part of it that is nobody's, and is not billed."""


class CostReport(Document):
    """`usage --prices`: money has two decimals, and every figure is the sum of those of which it is made."""

    kind: Literal["cost"] = "cost"
    cluster_id: str
    by: Literal["role", "framework", "principal", "agent"]
    since: str
    until: str
    timezone: str
    """Of months, and of the days from which prices count."""
    seen_seconds: float
    unseen_seconds: float
    """The part of the span that was asked for which was not seen: in gaps, or outside of the recording."""
    currency: str
    idle_shared_by: Literal["use", "guarantee", "evenly"] | None
    total: float
    """The cost of all agents in service."""
    billed: float
    idle: float
    """The part of the total that is nobody's, and is not billed."""
    remarks: list[str]
    months: list[CostMonth]
    rows: list[CostKey]


# --- Filled ------------------------------------------------------------------------------------------


def cost_document(cost: Cost) -> CostReport:
    """The JSON of the whole answer."""
    options = cost.options
    return CostReport(
        cluster_id=cost.cluster.cluster_id,
        by=options.by,
        since=utc_text(to_seconds(options.since)),
        until=utc_text(to_seconds(options.until)),
        timezone=str(options.zone),
        seen_seconds=to_seconds(cost.seen),
        unseen_seconds=to_seconds(cost.unseen),
        currency=options.prices.currency,
        idle_shared_by=options.sharing,
        total=_number(cost.total),
        billed=_number(billed(cost)),
        idle=_number(cost.idle),
        remarks=[*left_out_of(cost), *remarks(cost)],
        months=[
            CostMonth(
                month=month_text(month.number),
                since=utc_text(to_seconds(month.start)),
                until=utc_text(to_seconds(month.end)),
                seen_seconds=to_seconds(month.seen),
                unseen_seconds=to_seconds(month.end - month.start - month.seen),
                covered=month.covered,
                total=_number(month.total),
                idle=_number(month.part("idle")),
            )
            for month in cost.months
        ],
        rows=items_of(cost),
    )


def items_of(cost: Cost) -> list[CostKey]:
    """Every key; last, what has none."""
    months: dict[str, list[CostOfMonth]] = {}
    for month in cost.months:
        for key, parts in cost_by_key([month]).items():
            of_month = CostOfMonth(month=month_text(month.number), cost=_billed(parts), parts=_parts(parts))
            months.setdefault(key, []).append(of_month)
    return [_key(cost, key, parts, months.get(key, [])) for key, parts in cost.by_key().items()]


def _key(cost: Cost, key: str, parts: Mapping[CostPart, Money], months: list[CostOfMonth]) -> CostKey:
    beside = cost.beside.get(key)
    return CostKey.model_validate(
        {
            **({cost.options.by: key} if key else {}),
            "name": cost.names.get(key, key) if key and cost.has_names else None,
            "cost": _billed(parts),
            "parts": _parts(parts),
            "months": months,
            "revocable_hours": hours_by_name(beside.revocable) if beside else {},
            "out_of_service_hours": hours_by_name(beside.out_of_service) if beside else {},
        }
    )


def _billed(parts: Mapping[CostPart, Money]) -> float:
    return _number(sum(amount for part, amount in parts.items() if part != "idle"))


def _parts(parts: Mapping[CostPart, Money]) -> CostParts:
    return CostParts(**{part: _number(parts.get(part, 0)) for part in PARTS if part != "idle"})


def _number(cents: Money) -> float:
    """Money in JSON: the double that is nearest, which is written with its two decimals."""
    return cents / 100
