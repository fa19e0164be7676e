"""A dry run of sharing as a report: the table of the paper, bars for a terminal."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mesosctl.core.quantities import Quantities
from mesosctl.core.scalars import format_milli
from mesosctl.core.sharing import FrameworkHolding, Revoked, Sharing, SharingStep
from mesosctl.render.report import NOTHING, Column, Report

if TYPE_CHECKING:
    from mesosctl.render import offer_documents

_SHOWN_FRAMEWORKS = 4
"""More have their columns in -o wide and csv only."""
_BAR_WIDTH = 40


def offer_simulation(sharing: Sharing) -> Report:
    """Step by step: the framework chosen, what everybody holds, dominant shares, totals.

    The lowest dominant share of a row, which decides who is next among equals, has an asterisk.
    What was revoked before a step has a column where anything was.  A row for the end stands under the steps where
    tasks ended after the last of them.
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
            revoked_at_end=[offer_documents.Revoked.of(entry) for entry in sharing.revoked_at_end],
            holdings_at_end=[offer_documents.Holding.of(holding) for holding in sharing.holdings_at_end],
        )

    return Report(
        _columns(sharing),
        [*(_row(step, sharing) for step in sharing.steps), *_end(sharing)],
        [step.framework for step in sharing.steps],
        document,
        items,
        empty="nobody took anything",
        remark=_remark(sharing),
    )


def _columns(sharing: Sharing) -> list[Column]:
    columns = [Column("FRAMEWORK CHOSEN"), Column("TASKS", wide=True), Column("AGENT", wide=True)]
    if sharing.revoked:
        columns.append(Column("REVOKED BEFORE"))
    for number, (name, key) in enumerate(zip(sharing.frameworks, _distinct(sharing.frameworks), strict=True)):
        wide = number >= _SHOWN_FRAMEWORKS
        columns += [
            Column(f"{name.upper()} SHARES", wide, f"{key} shares"),
            Column("DOMINANT", wide, f"{key} dominant"),
            Column("%", wide, f"{key} %"),
        ]
    columns += [Column(f"{name.upper()} TOTAL") for name in sharing.totals]
    return columns + ([Column("OFFERED"), Column("EVICTED")] if _lends(sharing) else [])


def _distinct(names: Sequence[str]) -> list[str]:
    """The names of frameworks, a number behind those that are there several times: Mesos lets them be alike."""
    met: list[str] = []
    for name in names:
        numbered = (name, *(f"{name} ({number})" for number in range(2, len(names) + 1)))
        met.append(next(one for one in numbered if one not in met))
    return met


def _lends(sharing: Sharing) -> bool:
    return any(step.revocability != "regular" or step.evicted for step in sharing.steps)


def _lending(step: SharingStep) -> list[str]:
    """Of which kind the offer was, and who had to go."""
    return [step.revocability, ", ".join(step.evicted) or "-"]


def _row(step: SharingStep, sharing: Sharing) -> list[str]:
    lowest = min(holding.share for holding in step.holdings)
    cells = [step.framework, str(step.tasks), step.agent]
    if sharing.revoked:
        cells.append(Revoked.summed_up(step.revoked) or "-")
    cells += _held(step.holdings, step.allocated, sharing.totals, lowest)
    return cells + (_lending(step) if _lends(sharing) else [])


def _end(sharing: Sharing) -> list[list[str]]:
    """A row for what is left when tasks have ended; none where the last step says it."""
    if not sharing.moves_on:
        return []
    cells = ["(at the end)", NOTHING, NOTHING]
    if sharing.revoked:
        cells.append(Revoked.summed_up(sharing.revoked_at_end) or NOTHING)
    cells += _held(sharing.holdings_at_end, sharing.allocated_at_end, sharing.totals, None)
    return [cells + ([NOTHING, NOTHING] if _lends(sharing) else [])]


def _held(
    holdings: Sequence[FrameworkHolding], allocated: Quantities, totals: Quantities, lowest: float | None
) -> Iterator[str]:
    """What each holds, and all together; the lowest share has an asterisk."""
    for holding in holdings:
        yield from (_shares(holding, totals), _dominant(holding, totals))
        yield f"{holding.share * 100:.0f}%{'*' if holding.share == lowest else ''}"
    yield from (_fraction(allocated, name, totals) for name in totals)


def _shares(holding: FrameworkHolding, totals: Quantities) -> str:
    return ", ".join(_fraction(holding.amounts, name, totals) for name in totals)


def _dominant(holding: FrameworkHolding, totals: Quantities) -> str:
    return "-" if holding.dominant is None else _fraction(holding.amounts, holding.dominant, totals)


def _fraction(amounts: Quantities, name: str, totals: Quantities) -> str:
    return f"{format_milli(amounts.get_amount(name))}/{format_milli(totals[name])}"


def _remark(sharing: Sharing) -> list[str]:
    counts = ", ".join(f"{name}: {count}" for name, count in sharing.tasks.items())
    lines = ["", f"tasks running: {counts}"]
    if sharing.revoked:
        lines.append(f"revoked: {Revoked.summed_up(sharing.revoked)}")
    if not sharing.ended:
        lines.append("stopped before it was over: see --steps")
    if sharing.steps:
        lines += ["", *_bars(sharing.holdings_at_end)]
    return lines


def _bars(holdings: Sequence[FrameworkHolding]) -> list[str]:
    """Dominant shares at the end."""
    width = max(len(holding.framework) for holding in holdings)
    return [
        f"{holding.framework.ljust(width)}  {('#' * round(holding.share * _BAR_WIDTH)).ljust(_BAR_WIDTH, '.')}"
        f"  {holding.share * 100:.0f}% {holding.dominant or ''}".rstrip()
        for holding in holdings
    ]
