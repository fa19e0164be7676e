"""A dry run of sharing as a report: the table of the paper, bars for a terminal."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from mesosctl.model.amount_text import percent_text
from mesosctl.model.quantities import SIZED_NAMES, Quantities, format_double, format_milli
from mesosctl.output.formats.report import NOTHING, Column, Report
from mesosctl.planning.dominant_shares import FrameworkShare, Revoked, RoleShare, Sharing, SharingStep

if TYPE_CHECKING:
    from mesosctl.output.json_documents import offers


_SHOWN_FRAMEWORKS = 4
"""The most frameworks with columns; further ones have them only with -o wide and csv."""
_BAR_WIDTH = 40


def offer_simulation(sharing: Sharing) -> Report:
    """Step by step: the framework chosen, the holdings of all, dominant shares, totals.

    The lowest dominant share of a row, which decides who is next among equals, has an asterisk; if roles have weights,
    it is the lowest weighted one.  Sizes are in the largest unit in which all of them are short. If anything was
    revoked before a step, there is a column for it. If tasks ended after the last step, there is a row for the end.
    """

    def items() -> "list[offers.SharingStep]":
        from mesosctl.output.json_documents import offers

        return [offers.SharingStep.of(step) for step in sharing.steps]

    def document() -> "offers.OfferSimulation":
        from mesosctl.output.json_documents import offers

        return offers.OfferSimulation(
            totals={name: milli / 1000 for name, milli in sharing.totals.items()},
            frameworks=list(sharing.frameworks),
            steps=items(),
            tasks=sharing.tasks,
            ended=sharing.ended,
            revoked_at_end=[offers.Revoked.of(entry) for entry in sharing.revoked_at_end],
            holdings_at_end=[offers.Holding.of(holding) for holding in sharing.holdings_at_end],
            roles_at_end=[offers.RoleHolding.of(role) for role in sharing.roles_at_end],
            assumed=list(sharing.assumed),
        )

    return Report(
        _columns(sharing),
        [*(_row(step, sharing) for step in sharing.steps), *_end(sharing)],
        [step.framework for step in sharing.steps],
        document,
        items,
        empty="nobody took an offer",
        remark=_remark(sharing),
        verbatim=True,
    )


def _columns(sharing: Sharing) -> list[Column]:
    columns = [Column("FRAMEWORK CHOSEN"), Column("TASKS", wide=True), Column("AGENT", wide=True)]
    if sharing.has_guarantees:
        columns.append(Column("STAGE"))
    if sharing.revoked:
        columns.append(Column("REVOKED BEFORE"))
    short = _short_fractions(sharing)
    names, keys = [*sharing.frameworks], _distinct(sharing.frameworks)
    roles = [role.role for role in _own_roles(sharing)]
    titles = [(name.upper(), key, number) for number, (name, key) in enumerate(zip(names, keys, strict=True))]
    titles += [(f"ROLE {role}", f"role {role}", number) for number, role in enumerate(roles)]
    for title, key, number in titles:
        wide = number >= _SHOWN_FRAMEWORKS
        columns += [
            Column(f"{title} SHARES", wide, f"{key} shares", short),
            Column("DOMINANT", wide, f"{key} dominant", short, kind="number"),
            Column("%", wide, f"{key} %", kind="number"),
        ]
        if sharing.has_weights:
            columns.append(Column("WEIGHTED", wide, f"{key} weighted", kind="number"))
    columns += [Column(f"{name.upper()} TOTAL", kind="number", rank=1, short=short) for name in sharing.totals]
    return columns + ([Column("OFFERED"), Column("EVICTED")] if _lends(sharing) else [])


def _own_roles(sharing: Sharing) -> list[RoleShare]:
    """The roles that need their own columns: those that do not hold the same as one framework."""
    told = [{end.role: end for end in step.roles} for step in sharing.steps]
    columns = [[step.holdings[index].amounts for step in sharing.steps] for index in range(len(sharing.frameworks))]

    def held(role: str) -> list[Quantities]:
        return [known[role].amounts if role in known else Quantities() for known in told]

    return [role for role in sharing.roles_at_end if held(role.role) not in columns]


def _distinct(names: Sequence[str]) -> list[str]:
    """The names of frameworks, numbered if several have the same name, which Mesos allows."""
    met: list[str] = []
    for name in names:
        numbered = (name, *(f"{name} ({number})" for number in range(2, len(names) + 1)))
        met.append(next(one for one in numbered if one not in met))
    return met


def _lends(sharing: Sharing) -> bool:
    return any(step.revocability != "regular" or step.evicted for step in sharing.steps)


def _lending(step: SharingStep) -> list[str]:
    """The kind of the offer, and the tasks that were evicted."""
    return [step.revocability, ", ".join(step.evicted) or "-"]


def _row(step: SharingStep, sharing: Sharing) -> list[str]:
    cells = [step.framework, str(step.tasks), step.agent]
    if sharing.has_guarantees:
        cells.append(step.stage)
    if sharing.revoked:
        cells.append(Revoked.summed_up(step.revoked) or "-")
    lowest = min(holding.weighted_share for holding in step.holdings)
    cells += _held(sharing, step.holdings, step.roles, step.allocated, lowest)
    return cells + (_lending(step) if _lends(sharing) else [])


def _end(sharing: Sharing) -> list[list[str]]:
    """A row for what is left when tasks have ended; none if the last step says it."""
    if not sharing.moves_on:
        return []
    cells = ["(at the end)", NOTHING, NOTHING]
    if sharing.has_guarantees:
        cells.append(NOTHING)
    if sharing.revoked:
        cells.append(Revoked.summed_up(sharing.revoked_at_end) or NOTHING)
    cells += _held(sharing, sharing.holdings_at_end, sharing.roles_at_end, sharing.allocated_at_end, None)
    return [cells + ([NOTHING, NOTHING] if _lends(sharing) else [])]


def _held(
    sharing: Sharing,
    holdings: Sequence[FrameworkShare],
    roles: Sequence[RoleShare],
    allocated: Quantities,
    lowest: float | None,
) -> Iterator[str]:
    """The holdings of each framework and role, and the sum; the lowest share of a framework has an asterisk."""
    totals = sharing.totals
    # A role may appear later; until then it has nothing.
    known = {role.role: role for role in roles}
    shown: list[FrameworkShare | RoleShare] = [*holdings]
    shown += [known.get(end.role) or replace(end, amounts=Quantities(), share=0.0) for end in _own_roles(sharing)]
    for holding in shown:
        mark = "*" if isinstance(holding, FrameworkShare) and holding.weighted_share == lowest else ""
        weighted = [f"{percent_text(holding.weighted_share)}{mark}"] if sharing.has_weights else []
        yield from (_shares(holding, totals), _dominant(holding, totals))
        yield from (f"{percent_text(holding.share)}{'' if weighted else mark}", *weighted)
    yield from (_fraction(allocated, name, totals) for name in totals)


def _shares(holding: FrameworkShare | RoleShare, totals: Quantities) -> str:
    return ", ".join(_fraction(holding.amounts, name, totals) for name in totals)


def _dominant(holding: FrameworkShare | RoleShare, totals: Quantities) -> str:
    return "-" if holding.dominant is None else _fraction(holding.amounts, holding.dominant, totals)


def _fraction(amounts: Quantities, name: str, totals: Quantities, unit: int = 1) -> str:
    return f"{format_milli(amounts.get_amount(name) // unit)}/{format_milli(totals[name] // unit)}"


_UNITS = {"TiB": 1024**2, "GiB": 1024}
"""In MB, which sizes are counted in."""


def _units(sharing: Sharing) -> dict[str, str]:
    """The largest unit for each size in which the total is whole and every amount has three decimals at most."""
    found = {}
    moments = [step.holdings for step in sharing.steps] + [sharing.holdings_at_end]
    for name in SIZED_NAMES & sharing.totals.keys():
        amounts = {holding.amounts.get_amount(name) for holdings in moments for holding in holdings}
        for unit, size in _UNITS.items():
            if sharing.totals[name] % (size * 1000) == 0 and not any(amount % size for amount in amounts):
                found[name] = unit
                break
    return found


def _short_fractions(sharing: Sharing) -> dict[str, str]:
    """Cells of fractions in MB, and the same in larger units: 1024/18432 is 1/18."""
    units = {name: _UNITS[unit] for name, unit in _units(sharing).items()}
    if not units:
        return {}
    totals = sharing.totals
    found: dict[str, str] = {}
    parts: list[FrameworkShare | RoleShare] = [*sharing.holdings_at_end, *sharing.roles_at_end]
    for step in sharing.steps:
        parts += [*step.holdings, *step.roles]
    for amounts in (
        *(part.amounts for part in parts),
        *(step.allocated for step in sharing.steps),
        sharing.allocated_at_end,
        Quantities(),
    ):
        raw = [_fraction(amounts, name, totals) for name in totals]
        short = [_fraction(amounts, name, totals, units.get(name, 1)) for name in totals]
        for long, brief, name in zip(raw, short, totals, strict=True):
            if name in units:
                found.setdefault(long, brief)
        found[", ".join(raw)] = ", ".join(short)
    return found


def _remark(sharing: Sharing) -> list[str]:
    counts = ", ".join(f"{name}: {count}" for name, count in sharing.tasks.items())
    lines = ["", f"tasks running: {counts}"]
    units = _units(sharing)
    if units:
        lines.append(f"units: {', '.join(f'{name} in {unit}' for name, unit in sorted(units.items()))}")
    if any(not sharing.totals.contains(step.allocated) for step in sharing.steps):
        lines.append("a total above the cluster's contains tasks that are being evicted: they count until they end")
    guarantees = [f"{role.role}: {role.guarantee}" for role in sharing.roles_at_end if role.guarantee is not None]
    if guarantees:
        lines.append(f"guarantees: {', '.join(guarantees)}")
    weights = [f"{role.role}: {format_double(role.weight)}" for role in sharing.roles_at_end if role.weight != 1]
    if weights:
        lines.append(f"weights: {', '.join(weights)}")
    lines += [f"assumed: {sentence}" for sentence in sharing.assumed]
    if sharing.revoked:
        lines.append(f"revoked: {Revoked.summed_up(sharing.revoked)}")
    if not sharing.ended:
        lines.append("stopped early: see --steps")
    if sharing.steps:
        lines += ["", *_bars(sharing.holdings_at_end)]
    return lines


def _bars(holdings: Sequence[FrameworkShare]) -> list[str]:
    """Dominant shares at the end."""
    width = max(len(holding.framework) for holding in holdings)
    return [
        f"{holding.framework.ljust(width)}  {('#' * round(holding.share * _BAR_WIDTH)).ljust(_BAR_WIDTH, '.')}"
        f"  {percent_text(holding.share)} {holding.dominant or ''}".rstrip()
        for holding in holdings
    ]
