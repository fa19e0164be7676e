"""A dry run of sharing as a report: the table of the paper, bars for a terminal."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mesosctl.core.quantities import Quantities
from mesosctl.core.scalars import format_milli
from mesosctl.core.sharing import Holding, Sharing, SharingStep
from mesosctl.render.report import Column, Report

if TYPE_CHECKING:
    from mesosctl.render import offer_documents

_SHOWN_FRAMEWORKS = 4
"""More have their columns in -o wide and csv only."""
_BAR_WIDTH = 40


def offer_simulation(sharing: Sharing) -> Report:
    """Step by step: the framework chosen, what everybody holds, dominant shares, totals.

    The lowest dominant share of a row, which decides who is next, has an asterisk.
    """

    def items() -> "list[offer_documents.SharingStep]":
        from mesosctl.render import offer_documents

        return [offer_documents.SharingStep.of(step) for step in sharing.steps]

    def document() -> "offer_documents.OfferSimulation":
        from mesosctl.render import offer_documents

        return offer_documents.OfferSimulation(
            totals={name: milli / 1000 for name, milli in sharing.totals.items()},
            frameworks=list(sharing.frameworks),
            steps=items(),
            tasks=sharing.tasks,
            ended=sharing.ended,
        )

    return Report(
        _columns(sharing),
        [_row(step, sharing.totals) for step in sharing.steps],
        [step.framework for step in sharing.steps],
        document,
        items,
        empty="nobody took anything",
        remark=_remark(sharing),
    )


def _columns(sharing: Sharing) -> list[Column]:
    columns = [Column("FRAMEWORK CHOSEN"), Column("TASKS", wide=True), Column("AGENT", wide=True)]
    for number, name in enumerate(sharing.frameworks):
        wide = number >= _SHOWN_FRAMEWORKS
        columns += [Column(f"{name.upper()} SHARES", wide), Column("DOMINANT", wide), Column("%", wide)]
    return columns + [Column(f"{name.upper()} TOTAL") for name in sharing.totals]


def _row(step: SharingStep, totals: Quantities) -> list[str]:
    lowest = min(holding.share for holding in step.holdings)
    cells = [step.framework, str(step.tasks), step.agent]
    for holding in step.holdings:
        cells += [_shares(holding, totals), _dominant(holding, totals)]
        cells.append(f"{holding.share * 100:.0f}%{'*' if holding.share == lowest else ''}")
    return cells + [_fraction(step.allocated, name, totals) for name in totals]


def _shares(holding: Holding, totals: Quantities) -> str:
    return ", ".join(_fraction(holding.amounts, name, totals) for name in totals)


def _dominant(holding: Holding, totals: Quantities) -> str:
    return "-" if holding.dominant is None else _fraction(holding.amounts, holding.dominant, totals)


def _fraction(amounts: Quantities, name: str, totals: Quantities) -> str:
    return f"{format_milli(amounts.get_amount(name))}/{format_milli(totals[name])}"


def _remark(sharing: Sharing) -> list[str]:
    counts = ", ".join(f"{name}: {count}" for name, count in sharing.tasks.items())
    lines = ["", f"tasks running: {counts}"]
    if not sharing.ended:
        lines.append("stopped before it was over: see --steps")
    if sharing.steps:
        lines += ["", *_bars(sharing.steps[-1].holdings)]
    return lines


def _bars(holdings: Sequence[Holding]) -> list[str]:
    """Dominant shares at the end."""
    width = max(len(holding.framework) for holding in holdings)
    return [
        f"{holding.framework.ljust(width)}  {('#' * round(holding.share * _BAR_WIDTH)).ljust(_BAR_WIDTH, '.')}"
        f"  {holding.share * 100:.0f}% {holding.dominant or ''}".rstrip()
        for holding in holdings
    ]
