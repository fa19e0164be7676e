"""The cost of a cluster as reports: a table, csv, JSON."""

from collections.abc import Sequence

from mesosctl.history.months import month_text
from mesosctl.show.report import NOTHING, Column, Report, Verdict
from mesosctl.usage.cost import PARTS, Cost, CostPart, Money, PricedMonth
from mesosctl.usage.cost_documents import cost_document, items_of
from mesosctl.usage.cost_sentences import covered_text, facts, left_out_of, money, remarks

TITLES: dict[CostPart, str] = {
    "used": "USED", "borrowed": "BORROWED", "reserved_idle": "RESERVED IDLE", "lent": "LENT", "kept": "KEPT",
    "idle_share": "IDLE SHARE", "idle": "IDLE",
}  # fmt: skip
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


def cost_table(cost: Cost, months_of_step: int | None) -> Report:
    """The table: a row for each key, or for each of its steps, and rows for what has no key."""
    by, currency = cost.options.by, cost.options.prices.currency
    steps = (
        [cost.months]
        if months_of_step is None
        else [cost.months[first : first + months_of_step] for first in range(0, len(cost.months), months_of_step)]
    )
    shown = [part for part in PARTS if part != "idle" and any(_has(month, part) for month in cost.months)]
    is_split = by == "role"
    columns = [Column(by.upper(), rank=-1)]
    if cost.has_names:
        columns.append(Column("NAME", rank=1))
    if months_of_step is not None:
        columns.append(Column("MONTH", rank=-1))
    if is_split:
        columns += [Column(f"{TITLES[part]} {currency}", kind="number", rank=1) for part in shown]
    columns.append(Column(f"COST {currency}", kind="number", rank=-1))
    has_covered = months_of_step is not None and any(month.covered < 1 for month in cost.months)
    if has_covered:
        columns.append(Column("COVERED", kind="number", rank=-1))
    cells = []
    for months in steps:
        span = [] if months_of_step is None else [_span(months)]
        covered = [covered_text(_covered(months))] if has_covered else []
        for key in cost.keys:
            parts = cost.sums(key, months)
            if not parts and months_of_step is not None:
                continue
            name = [cost.names.get(key, key)] if cost.has_names else []
            figures = [_cell(parts.get(part)) for part in shown] if is_split else []
            cells.append([key, *name, *span, *figures, money(sum(parts.values())), *covered])
        for part, amount in cost.sums("", months).items():
            name = [NOTHING] if cost.has_names else []
            figures = [NOTHING for _ in shown] if is_split else []
            cells.append([NAMES[part], *name, *span, *figures, money(amount), *covered])
        if len(steps) > 1 or not is_split or cost.keys:
            name = [NOTHING] if cost.has_names else []
            sums = [sum(month.part(part) for month in months) for part in shown] if is_split else []
            whole = money(sum(month.total for month in months))
            cells.append(["total", *name, *span, *map(money, sums), whole, *covered])
    return Report(
        columns,
        cells,
        cost.keys,
        lambda: cost_document(cost),
        list,
        remark=["", *facts(cost), *remarks(cost)],
        verdicts=[Verdict(sentence, "at risk") for sentence in left_out_of(cost)],
    )


def _covered(months: Sequence[PricedMonth]) -> float:
    return sum(month.seen for month in months) / sum(month.length for month in months)


def _has(month: PricedMonth, part: CostPart) -> bool:
    return any(cell.part == part for cell in month.cells)


def _cell(amount: Money | None) -> str:
    return NOTHING if amount is None else money(amount)


def _span(months: Sequence[PricedMonth]) -> str:
    first, last = month_text(months[0].number), month_text(months[-1].number)
    return first if first == last else f"{first} to {last}"
