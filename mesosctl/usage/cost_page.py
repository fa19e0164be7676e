"""The cost of a cluster as an HTML page: a bar for each key, lines over time, and the table."""

from collections.abc import Iterator

from mesosctl.mesos.amounts.notation import counted
from mesosctl.show.bar_chart import Bar, bar_chart
from mesosctl.show.html_page import ReportOrigin, Tone, html_report, section, sentences, text_table
from mesosctl.show.report import shown_cells
from mesosctl.usage.calculation import WindowUsage
from mesosctl.usage.charts import share_lines
from mesosctl.usage.cost import PARTS, Cost, CostPart
from mesosctl.usage.cost_report import NAMES, cost_table
from mesosctl.usage.cost_sentences import billed, covered_text, facts, left_out_of, money, remarks


def cost_page(cost: Cost, use: WindowUsage, months_of_step: int | None, origin: ReportOrigin) -> str:
    """The page; `use` is the same span in steps, for the lines."""
    titles, rows = shown_cells(cost_table(cost, months_of_step))
    tone: Tone = "no" if cost.unseen else "plain"
    return html_report(
        f"Cost of {cost.cluster.cluster_id} by {cost.options.by}",
        _verdict(cost),
        tone,
        origin.facts(),
        [
            sentences("What was read", [*left_out_of(cost), *facts(cost), *remarks(cost)]),
            section(f"Who pays for what, in {cost.options.prices.currency}", _bars(cost)),
            section("The figures", text_table(titles, rows)),
            section("Used part of the cluster over time", share_lines(use)),
        ],
    )


def _verdict(cost: Cost) -> str:
    """One sentence: what is billed, who pays most, and what is idle."""
    currency = cost.options.prices.currency
    idle = f", {money(cost.idle)} {currency} are idle" if cost.idle else ""
    first = f"{money(billed(cost))} {currency} are billed{idle}"
    sums = {key: sum(parts.values()) for key, parts in cost.by_key().items() if key}
    most = max(sums, key=lambda key: sums[key], default=None)
    if most is None:
        return f"{first}; nobody used anything"
    name = cost.names.get(most, most)
    seen = f"; only {covered_text(cost.covered)} of the span was seen" if cost.unseen else ""
    return f"{first}; {cost.options.by} {name} pays most of {counted(len(sums), cost.options.by)}{seen}"


def _bars(cost: Cost) -> str:
    there = {cell.part for month in cost.months for cell in month.cells} - {"lent"}
    parts = [part for part in PARTS if part in there]
    return bar_chart("Cost by part", [NAMES[part] for part in parts], list(_bars_of(cost, parts)))


def _bars_of(cost: Cost, parts: list[CostPart]) -> Iterator[Bar]:
    for key, sums in cost.by_key().items():
        name = cost.names.get(key, key) if key else "no " + cost.options.by
        total = sum(sums.values())
        shown = {**sums, "reserved_idle": sums.get("reserved_idle", 0) + sums.get("lent", 0)}  # a credit has no length
        amounts = [shown.get(part, 0) / 100 for part in parts]
        if any(amounts):
            yield Bar(name, amounts, money(total))
