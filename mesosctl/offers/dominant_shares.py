"""A dry run of sharing as a report: the table of the paper, bars for a terminal."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

from mesosctl.mesos.amounts.amount_text import in_words, percent_text
from mesosctl.mesos.amounts.quantities import SIZED_NAMES, Quantities, format_double, format_milli
from mesosctl.mesos.cluster.dominant_shares import AcceptedOffer, FrameworkShare, Revocation, RoleShare, Sharing
from mesosctl.offers import documents
from mesosctl.show.lists import rows_of
from mesosctl.show.report import Column, Report

_SHOWN_FRAMEWORKS = 4
"""The most frameworks with columns; further ones have them only with -o wide and csv."""
_BAR_WIDTH = 40


def offer_simulation(sharing: Sharing) -> Report:
    """Step by step: the framework chosen, the holdings of all, dominant shares, totals.

    The lowest dominant share of a row, which decides who is next among equals, has an asterisk; if roles have weights,
    it is the lowest weighted one.  Sizes are in the largest unit in which all of them are short. If anything was
    revoked before a step, there is a column for it. If tasks ended after the last step, there is a row for the end.
    """
    rows = list(_moments(sharing))
    columns = list(_columns(sharing))
    return Report(
        columns,
        rows_of(columns, rows),
        [step.framework for step in sharing.steps],
        lambda: documents.OfferSimulation.of(sharing),
        lambda: map(documents.SharingStep.of, sharing.steps),
        empty="nobody took an offer",
        remark=_remark(sharing),
        verbatim=True,
    )


@dataclass(frozen=True)
class _Moment:
    """A row: the step after which everybody holds this, or the end."""

    chosen: str
    holdings: Sequence[FrameworkShare]
    roles: Sequence[RoleShare]
    allocated: Quantities
    revoked: Sequence[Revocation]
    step: AcceptedOffer | None = None

    @cached_property
    def _lowest(self) -> float | None:
        of_frameworks = self.holdings if self.step else ()
        return min((framework.weighted_share for framework in of_frameworks), default=None)

    @cached_property
    def role(self) -> Mapping[str, RoleShare]:
        """The holdings of roles by name."""
        return {role.role: role for role in self.roles}

    def is_next(self, holding: FrameworkShare | RoleShare) -> bool:
        """Whether it has the lowest share of a framework after a step."""
        return isinstance(holding, FrameworkShare) and holding.weighted_share == self._lowest


def _moments(sharing: Sharing) -> Iterator[_Moment]:
    """Every step, and what is left when tasks have ended, unless the last step says it."""
    for step in sharing.steps:
        yield _Moment(step.framework, step.holdings, step.roles, step.allocated, step.revoked, step)
    if sharing.moves_on:
        left = sharing.allocated_at_end
        yield _Moment("(at the end)", sharing.holdings_at_end, sharing.roles_at_end, left, sharing.revoked_at_end)


def _columns(sharing: Sharing) -> Iterator[Column[_Moment]]:
    yield Column("FRAMEWORK CHOSEN", lambda row: row.chosen)
    yield Column("TASKS", lambda row: row.step and row.step.tasks, wide=True)
    yield Column("AGENT", lambda row: row.step and row.step.agent, wide=True)
    if sharing.has_guarantees:
        yield Column("STAGE", lambda row: row.step and row.step.stage)
    if sharing.revoked:
        yield Column("REVOKED BEFORE", lambda row: Revocation.summed_up(row.revoked))
    shown = _fractions_in_units(sharing)
    for place, (name, key) in enumerate(zip(sharing.frameworks, _distinct(sharing.frameworks), strict=True)):
        of_framework = partial(_holding_of_framework, place)
        yield from _holder_columns(sharing, name.upper(), key, of_framework, shown, wide=place >= _SHOWN_FRAMEWORKS)
    for place, role in enumerate(_own_roles(sharing)):
        title, of_role = f"role {role.role}", partial(_holding_of_role, role)
        heading = f"ROLE {role.role}"
        yield from _holder_columns(sharing, heading, title, of_role, shown, wide=place >= _SHOWN_FRAMEWORKS)
    for name in sharing.totals:
        total = partial(_total, name, sharing.totals)
        yield Column(f"{name.upper()} TOTAL", total, kind="number", rank=1, shown=shown)
    if any(step.revocability != "regular" or step.evicted for step in sharing.steps):
        yield Column("OFFERED", lambda row: row.step and row.step.revocability)
        yield Column("EVICTED", lambda row: row.step and ", ".join(row.step.evicted))


def _holding_of_framework(place: int, row: _Moment) -> FrameworkShare:
    return row.holdings[place]


def _holding_of_role(at_end: RoleShare, row: _Moment) -> RoleShare:
    """The holding of a role at that moment; it may appear later, and until then it has nothing."""
    return row.role.get(at_end.role) or replace(at_end, amounts=Quantities(), share=0.0)


def _total(name: str, totals: Quantities, row: _Moment) -> str:
    return _fraction(row.allocated, name, totals)


def _holder_columns(
    sharing: Sharing,
    title: str,
    key: str,
    holder: Callable[[_Moment], FrameworkShare | RoleShare],
    shown: Mapping[str, str],
    *,
    wide: bool,
) -> Iterator[Column[_Moment]]:
    """The holdings of a framework or a role; the lowest share of a framework has an asterisk."""
    totals, weighs = sharing.totals, sharing.has_weights

    def shares(row: _Moment) -> str:
        return ", ".join(_fraction(holder(row).amounts, name, totals) for name in totals)

    def dominant(row: _Moment) -> str | None:
        holding = holder(row)
        return holding.dominant and _fraction(holding.amounts, holding.dominant, totals)

    def percent(row: _Moment, *, weighted: bool) -> str:
        holding = holder(row)
        share = holding.weighted_share if weighted else holding.share
        return percent_text(share) + "*" * (weighted == weighs and row.is_next(holding))

    yield Column(f"{title} SHARES", shares, wide=wide, key=f"{key} shares", shown=shown)
    yield Column("DOMINANT", dominant, wide=wide, key=f"{key} dominant", shown=shown, kind="number")
    yield Column("%", partial(percent, weighted=False), wide=wide, key=f"{key} %", kind="number")
    if weighs:
        yield Column("WEIGHTED", partial(percent, weighted=True), wide=wide, key=f"{key} weighted", kind="number")


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
        met.append(next(candidate for candidate in numbered if candidate not in met))
    return met


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


def _fractions_in_units(sharing: Sharing) -> dict[str, str]:
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
    guarantees = [
        f"{role.role}: {in_words(role.guarantee)}" for role in sharing.roles_at_end if role.guarantee is not None
    ]
    if guarantees:
        lines.append(f"guarantees: {'; '.join(guarantees)}")
    weights = [f"{role.role}: {format_double(role.weight)}" for role in sharing.roles_at_end if role.weight != 1]
    if weights:
        lines.append(f"weights: {', '.join(weights)}")
    lines += [f"assumed: {sentence}" for sentence in sharing.assumed]
    if sharing.revoked:
        lines.append(f"revoked: {Revocation.summed_up(sharing.revoked)}")
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
