"""A forecast as an HTML report for a change ticket."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

from mesosctl.mesos.amounts.amount_text import in_words, percent_text, shown_amount, text_in_words
from mesosctl.mesos.amounts.notation import utc_second
from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.mesos.door.forecast import ASSUMPTIONS, Forecast, HolderChange
from mesosctl.ratelimit.simulation_report import simulation
from mesosctl.show.html_page import (
    ReportOrigin,
    Tone,
    escape,
    html_report,
    html_table,
    section,
    sentences,
    text_table,
)
from mesosctl.show.report import NOTHING, Report, shown_cells
from mesosctl.whatif import upgrade_report
from mesosctl.whatif.report import guarantees, guarantees_title, headroom_rows
from mesosctl.whatif.sentences import (
    agents_text,
    answer_text,
    evicted_text,
    fit_text,
    rescinded_texts,
    share_text,
    starving_text,
    unoffered_texts,
)

_BAR, _HIGH, _GAP = 360, 12, 4


def page(forecast: Forecast, would: Sequence[Report], origin: ReportOrigin) -> str:
    """The whole document; `would` are the answers that a command would have given.

    All bars of the page have one scale.
    """
    scale = _Scale.of((*forecast.roles, *forecast.frameworks), forecast.totals_before, forecast.totals)
    parts = [
        sentences("What is changed", [change.sentence(in_words) for change in forecast.changes]),
        _done(guarantees_title(forecast).capitalize(), guarantees(forecast)),
        *_upgraded(forecast),
        *(_done("What would be done", report) for report in would),
        "" if forecast.traffic is None else _done("Recorded messages", simulation(forecast.traffic)),
        sentences("What a master answers", [answer_text(answer) for answer in forecast.answers]),
        sentences("Who starves", [starving_text(starvation) for starvation in forecast.starving]),
        sentences("No longer offered anything (ran nothing before)", unoffered_texts(forecast)),
        sentences("At or above a limit", [status.limit_sentence(in_words, would=True) for status in forecast.at_limit]),
        _share_table("Roles", forecast.roles, scale, "each with the roles below it"),
        _share_table("Frameworks", forecast.frameworks, scale, ""),
        _headroom(forecast),
        sentences("Whether guarantees fit on one agent", [fit_text(fit) for fit in forecast.fits]),
        sentences(f"Offers rescinded: {len(forecast.rescinded)}", rescinded_texts(forecast.rescinded)),
        sentences(f"Tasks evicted: {len(forecast.evicted)}", [evicted_text(task) for task in forecast.evicted]),
        sentences(
            "What a master does not show, and what is assumed",
            [
                f"{unknown.what}: {unknown.assumed}" if unknown.assumed else unknown.what
                for unknown in forecast.unknowns
            ],
        ),
    ]
    tone: Tone = "yes" if forecast.is_harmless else "no"
    return html_report("Forecast", forecast.verdict, tone, _facts(forecast, origin), parts)


def _facts(forecast: Forecast, origin: ReportOrigin) -> Iterator[tuple[str, str]]:
    """The cluster, the command and the assumption."""
    allocations = "1 allocation" if forecast.cycles == 1 else f"{forecast.cycles} allocations"
    agents = f"{agents_text(forecast.agents)} in service"
    yield from origin.facts()
    yield "Snapshot", f"{forecast.master}, {agents}, taken {utc_second(forecast.taken_at)} UTC"
    yield "Time", f"{allocations} ({forecast.seconds:g} s) after the change"
    yield "Assumed", ASSUMPTIONS[forecast.assume]


def _upgraded(forecast: Forecast) -> Iterator[str]:
    if forecast.upgrade is None:
        return
    for title, report in upgrade_report.sections(forecast.upgrade):
        yield _done(title.capitalize(), report)
    for title, lines in upgrade_report.commands(forecast.upgrade):
        yield sentences(title.capitalize(), lines)


def _done(title: str, report: Report) -> str:
    """The rows of a report, such as the changes that a command would have made."""
    titles, rows = shown_cells(report)
    return section(title, text_table(titles, [[text_in_words(cell) for cell in row] for row in rows]))


@dataclass(frozen=True, slots=True)
class _Scale:
    """The resources of the cluster before and after, and the part of the larger of both that a full bar is.

    Bars are amounts: a cluster that shrinks must not make what is lost look like a share that is kept.
    """

    before: Quantities
    after: Quantities
    full: float = 1.0

    @classmethod
    def of(cls, parties: Iterable[HolderChange], before: Quantities, after: Quantities) -> Self:
        """The scale on which the longest bar of all is full; those of many small ones would be too short to see."""
        scale = cls(before, after)
        held = [scale.part(change.dominant, held.total) for change in parties for held in (change.before, change.after)]
        return replace(scale, full=max(0.001, *held, 0.001))

    def part(self, name: str | None, amounts: Quantities) -> float:
        """The part that an amount is of the larger cluster."""
        whole = max(self.before.get_amount(name or ""), self.after.get_amount(name or ""))
        return amounts.get_amount(name or "") / max(1, whole)

    def share_text(self, party: HolderChange) -> str:
        """The dominant share before and after; with the amounts, if they are of different totals."""
        name = party.dominant or ""
        totals = (self.before.get_amount(name), self.after.get_amount(name))
        if totals[0] == totals[1]:
            return share_text(party)
        sides = zip((party.before, party.after), totals, (party.share_before, party.share_after), strict=True)
        texts = [
            f"{percent_text(share)} ({shown_amount(name, held.total.get_amount(name))} of {shown_amount(name, total)})"
            for held, total, share in sides
        ]
        return f"{' → '.join(texts)} {name}".rstrip()


def _share_table(title: str, parties: Sequence[HolderChange], scale: _Scale, note: str) -> str:
    """A table of roles or frameworks: those that change first, then by share; bars show the dominant resource."""
    if not parties:
        return ""
    ordered = sorted(parties, key=lambda party: (not party.changes, -max(party.share_before, party.share_after)))
    rows = [
        (
            escape(party.name) + ("" if party.name == party.id else f"<br><small>{escape(party.id)}</small>"),
            _bars(party, scale),
            escape(scale.share_text(party)),
            _amounts(party.gains),
            _amounts(party.loses),
            _amounts(party.guarantee),
        )
        for party in ordered
    ]
    table = html_table(("Name", "Before and after", "Share", "Gains", "Loses", "Guarantee"), rows)
    legend = (
        '<p class="legend"><i class="used"></i> used <i class="offered"></i> offered <i class="mark"></i> guarantee'
    )
    of = "the cluster" if scale.before == scale.after else "what the larger cluster has, before or after"
    meaning = f"Upper bar: before; lower bar: after. The full width is {percent_text(scale.full)} of {of}."
    return section(title, f"{legend}. {meaning}</p>\n{table}", note)


def _bars(party: HolderChange, scale: _Scale) -> str:
    """Two stacked bars, before and after, and where the guarantee is."""
    name = party.dominant
    if name is None:
        return "<small>nothing</small>"

    def width(amounts: Quantities) -> float:
        return min(1.0, scale.part(name, amounts) / scale.full) * _BAR

    high = 2 * _HIGH + _GAP
    words = f"{name}: before {in_words(party.before.total)}, after {in_words(party.after.total)}"
    drawn = [
        f'<svg role="img" viewBox="0 0 {_BAR} {high}" preserveAspectRatio="none">',
        f"<title>{escape(words)}</title>",
    ]
    for row, held in enumerate((party.before, party.after)):
        y = row * (_HIGH + _GAP)
        used, total = width(held.used), width(held.total)
        drawn.append(f'<rect class="all" x="0" y="{y}" width="{_BAR}" height="{_HIGH}"/>')
        drawn.append(f'<rect class="used" x="0" y="{y}" width="{used:.1f}" height="{_HIGH}"/>')
        drawn.append(f'<rect class="offered" x="{used:.1f}" y="{y}" width="{total - used:.1f}" height="{_HIGH}"/>')
    if party.guarantee is not None and party.guarantee.get_amount(name):
        x = width(party.guarantee)
        drawn.append(f'<line class="mark" x1="{x:.1f}" y1="0" x2="{x:.1f}" y2="{high}"/>')
    return "".join([*drawn, "</svg>", f"<small>{escape(_bar_text(party, name))}</small>"])


def _bar_text(party: HolderChange, name: str) -> str:
    """The figures of the bars: what is used, what is offered, and the guarantee, of the resource that they show."""

    def pair(title: str, before: Quantities, after: Quantities) -> str:
        sides = [shown_amount(name, held.get_amount(name)) for held in (before, after)]
        return f"{title} {sides[0]}" if sides[0] == sides[1] else f"{title} {' → '.join(sides)}"

    texts = [
        pair("used", party.before.used, party.after.used),
        pair("offered", party.before.total - party.before.used, party.after.total - party.after.used),
    ]
    if party.guarantee is not None and party.guarantee.get_amount(name):
        texts.append(f"guarantee {shown_amount(name, party.guarantee.get_amount(name))}")
    return f"{name}: {', '.join(texts)}"


def _amounts(amounts: Quantities | None) -> str:
    return escape(in_words(amounts) if amounts else NOTHING)


def _headroom(forecast: Forecast) -> str:
    rows = [(escape(title), _amounts(before), _amounts(after)) for title, before, after in headroom_rows(forecast)]
    return section("What is left", html_table(("Amount", "Before", "After"), rows))
