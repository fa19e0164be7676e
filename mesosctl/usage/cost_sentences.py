"""Sentences about the cost of a cluster, and money as people read it."""

import math
from collections.abc import Iterator

from mesosctl.history.months import month_text
from mesosctl.mesos.amounts.amount_text import percent_text
from mesosctl.mesos.amounts.notation import counted, listed
from mesosctl.usage.cost import Cost, Money
from mesosctl.usage.spans import left_out, minute

PART_MONTHS = "a part of a month is rounded by itself, so the parts of a month that is cut may not add up to it"


def money(cents: Money) -> str:
    """Money for people, to the hundredth."""
    return f"{'-' if cents < 0 else ''}{abs(cents) // 100:,}.{abs(cents) % 100:02}"


def billed(cost: Cost) -> Money:
    """The cost of everything but what is nobody's."""
    return cost.total - cost.idle


def left_out_of(cost: Cost) -> Iterator[str]:
    """Yield what was not seen: of the span, and of its months."""
    yield from left_out(cost.cluster, cost.options.since, cost.options.until, cost.unseen, cost.options.outside)
    partly = [month for month in cost.months if month.covered < 1]
    if partly:
        parts = listed([f"{covered_text(month.covered)} of {month_text(month.number)}" for month in partly])
        are, were = ("is", "was") if len(partly) == 1 else ("are", "were")
        yield f"{counted(len(partly), 'month')} {are} incomplete: {parts} {were} seen"


def covered_text(covered: float) -> str:
    """The share that was seen, in percent; only all of it is 100%."""
    return percent_text(math.floor(covered * 1000) / 1000)


def facts(cost: Cost) -> Iterator[str]:
    """Yield the sums that are not in the table."""
    currency, options = cost.options.prices.currency, cost.options
    yield (
        f"{cost.cluster.cluster_id} from {minute(options.since)} to {minute(options.until)} UTC: all agents in service "
        f"cost {money(cost.total)} {currency}"
    )
    idle = cost.idle
    if idle:
        yield f"{money(idle)} {currency} of it are idle, which is nobody's and not billed"


def remarks(cost: Cost) -> Iterator[str]:
    """Yield sentences about the figures, which every answer has."""
    if cost.unpriced:
        yield f"{listed(cost.unpriced)} without a price in the file cost nothing"
    yield from cost.options.prices.never_used()
    if cost.has_unplaced:
        yield (
            "the recording does not say on which agents tasks ran: these cost what all agents cost on average, or the "
            "price without attributes"
        )
    if any(month.part("idle") < 0 for month in cost.months):
        yield "tasks held more than all agents have, so idle cost is below zero"
    if any(beside.out_of_service for beside in cost.beside.values()):
        yield "what tasks held on agents that were unreachable or had left is out of service and costs nothing"
    if cost.has_unknown_loans:
        yield (
            "revocable resources cost nothing; whether tasks on them used idle reservations that were lent is unknown"
        )
    elif any(beside.revocable for beside in cost.beside.values()):
        yield "revocable resources cost nothing, unless they were idle reservations that were lent"
    if any(month.end - month.start < month.length for month in cost.months):
        yield PART_MONTHS
