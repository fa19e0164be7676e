"""The cost of a cluster as reports: a table, csv, JSON."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from mesosctl.history.months import month_text
from mesosctl.show.lists import rows_of
from mesosctl.show.report import NOTHING, Column, Report, Verdict
from mesosctl.usage.cost import PARTS, Cost, CostPart, Money, PricedMonth, cost_by_key
from mesosctl.usage.cost_documents import cost_document, items_of
from mesosctl.usage.cost_sentences import covered_text, facts, left_out_of, money, remarks

NAMES: dict[CostPart, str] = {
    "used": "used", "borrowed": "borrowed", "reserved_idle": "reserved and idle", "lent": "lent", "kept": "kept",
    "idle_share": "share of idle", "idle": "idle",
}  # fmt: skip
"""The parts in sentences, and in the rows of what has no key."""


def plain_money(cents: Money) -> str:
    """Money for programs."""
    return money(cents).replace(",", "")


def cost_report(cost: Cost, months_of_step: int | None = None) -> Report:
    """The cost of each key; in csv a row for each of its months and parts."""
    rows = [
        [cell.key or NOTHING, *([cost.names.get(cell.key, NOTHING)] if cost.has_names else []),
         month_text(month.number), cell.part, plain_money(cell.cost), cost.options.prices.currency,
         f"{month.covered:.6g}"]
        for month in cost.months
        for cell in month.cells
    ]  # fmt: skip
    names = [Column("NAME")] if cost.has_names else []
    titles = ("MONTH", "PART", "COST", "CURRENCY", "COVERED")
    return Report(
        [Column(cost.options.by.upper()), *names, *map(Column, titles)],
        rows,
        cost.keys,
        lambda: cost_document(cost),
        lambda: items_of(cost),
        table=lambda: cost_table(cost, months_of_step),
    )


class _Row(NamedTuple):
    """A row of the table: a key, what has none, or the total, in one step."""

    key: str
    name: str
    months: Sequence[PricedMonth]
    parts: Mapping[CostPart, Money]
    """Empty for what has no key."""
    cost: Money


def cost_table(cost: Cost, months_of_step: int | None) -> Report:
    """The table: a row for each key, or for each of its steps, and rows for what has no key."""
    length = months_of_step or len(cost.months)
    steps = [cost.months[first : first + length] for first in range(0, len(cost.months), length)]
    columns = list(_columns(cost, is_stepped=months_of_step is not None))
    return Report(
        columns,
        rows_of(columns, [row for months in steps for row in _rows(cost, months, is_only=len(steps) == 1)]),
        cost.keys,
        lambda: cost_document(cost),
        list,
        remark=["", *facts(cost), *remarks(cost)],
        verdicts=[Verdict(sentence, "at risk") for sentence in left_out_of(cost)],
    )


def _columns(cost: Cost, *, is_stepped: bool) -> Iterator[Column[_Row]]:
    by, currency = cost.options.by, cost.options.prices.currency
    yield Column(by.upper(), lambda row: row.key, rank=-1)
    if cost.has_names:
        yield Column("NAME", lambda row: row.name, rank=1)
    if is_stepped:
        yield Column("MONTH", lambda row: _span(row.months), rank=-1)
    for part in PARTS if by == "role" else ():
        if part != "idle" and any(cell.part == part for month in cost.months for cell in month.cells):
            title = f"{part.replace('_', ' ').upper()} {currency}"
            yield Column(title, partial(_money_of, part), kind="number", rank=1)
    yield Column(f"COST {currency}", lambda row: money(row.cost), kind="number", rank=-1)
    if is_stepped and any(month.covered < 1 for month in cost.months):
        yield Column("COVERED", lambda row: covered_text(_covered(row.months)), kind="number", rank=-1)


def _money_of(part: CostPart, row: _Row) -> str | None:
    return None if (amount := row.parts.get(part)) is None else money(amount)


def _rows(cost: Cost, months: Sequence[PricedMonth], *, is_only: bool) -> Iterator[_Row]:
    """Yield the rows of a step; those of keys that cost nothing in it only if it is the only one."""
    by_key = cost_by_key(months)
    for key in cost.keys:
        parts = by_key.get(key, {})
        if parts or is_only:
            yield _Row(key, cost.names.get(key, key), months, parts, sum(parts.values()))
    for part, amount in by_key.get("", {}).items():
        yield _Row(NAMES[part], "", months, {}, amount)
    if not is_only or cost.options.by != "role" or cost.keys:
        sums = {part: sum(month.part(part) for month in months) for part in PARTS}
        yield _Row("total", "", months, sums, sum(month.total for month in months))


def _covered(months: Sequence[PricedMonth]) -> float:
    return sum(month.seen for month in months) / sum(month.length for month in months)


def _span(months: Sequence[PricedMonth]) -> str:
    first, last = month_text(months[0].number), month_text(months[-1].number)
    return first if first == last else f"{first} to {last}"
