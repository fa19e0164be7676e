"""A forecast as one self-contained HTML page for a change ticket, light or dark like the reader's system.

It loads no script, font or image. Every name is escaped, and a policy in the page forbids loading anything.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Self

from mesosctl.model.amount_text import in_words, percent_text, shown_amount, text_in_words
from mesosctl.model.quantities import Quantities
from mesosctl.output.forecasts.forecast import guarantees, guarantees_title, headroom_rows
from mesosctl.output.forecasts.sentences import (
    agents_text,
    answer_text,
    evicted_text,
    fit_text,
    rescinded_texts,
    share_text,
    starving_text,
    unoffered_texts,
    verdict,
)
from mesosctl.output.formats.html_page import document, escape, scrolling_table
from mesosctl.output.formats.report import NOTHING, Report, shown_cells
from mesosctl.output.rate_limits_simulation import simulation
from mesosctl.planning.forecast import ASSUMPTIONS, Forecast, ShareChange

_BAR, _HIGH, _GAP = 360, 12, 4
_MOST_ROWS = 500
"""The most rows of one table, so that the page stays readable."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The command that made a page, and its cluster."""

    command: str
    """The command line."""
    version: str
    """Of mesosctl."""
    master: str | None = None
    """The address of the live master; None if a file was read."""
    file: str | None = None
    """The snapshot or cluster file."""
    context: str | None = None
    """The context that names the master."""
    principal: str | None = None

    def facts(self) -> Iterator[tuple[str, str]]:
        """Yield each fact with its name."""
        yield "Command", self.command
        if self.context is not None:
            yield "Cluster", f"context {self.context}"
        if self.file is not None:
            yield "Read from", self.file
        elif self.master is not None:
            yield "Master", self.master
            yield "Principal", self.principal or "none"
        yield "Made by", f"mesosctl {self.version}"


def page(forecast: Forecast, would: Sequence[Report] = (), origin: Origin | None = None) -> str:
    """The whole document; `would` are the answers that a command would have given.

    All bars of the page have one scale.
    """
    scale = _Scale.of((*forecast.roles, *forecast.frameworks), forecast.totals_before, forecast.totals)
    parts = [
        _list("What is changed", [change.sentence(in_words) for change in forecast.changes]),
        _done(guarantees_title(forecast).capitalize(), guarantees(forecast)),
        *(_done("What would be done", report) for report in would),
        "" if forecast.traffic is None else _done("Recorded messages", simulation(forecast.traffic)),
        _list("What a master answers", [answer_text(answer) for answer in forecast.answers]),
        _list("Who starves", [starving_text(one) for one in forecast.starving]),
        _list("No longer offered anything (ran nothing before)", unoffered_texts(forecast)),
        _list("At or above a limit", [one.limit_sentence(in_words, would=True) for one in forecast.at_limit]),
        _share_table("Roles", forecast.roles, scale, "each with the roles below it"),
        _share_table("Frameworks", forecast.frameworks, scale, ""),
        _headroom(forecast),
        _list("Whether guarantees fit on one agent", [fit_text(fit) for fit in forecast.fits]),
        _list(f"Offers rescinded: {len(forecast.rescinded)}", rescinded_texts(forecast.rescinded)),
        _list(f"Tasks evicted: {len(forecast.evicted)}", [evicted_text(task) for task in forecast.evicted]),
        _list(
            "What a master does not show, and what is assumed",
            [f"{one.what}: {one.assumed}" if one.assumed else one.what for one in forecast.unknowns],
        ),
    ]
    title = verdict(forecast)
    return document(title, [_header(forecast, title), _facts(forecast, origin), *filter(None, parts)])


def _header(forecast: Forecast, title: str) -> str:
    kind = "yes" if forecast.is_harmless else "no"
    return f'<header class="{kind}"><h1>{escape(title)}</h1></header>'


def _facts(forecast: Forecast, origin: Origin | None) -> str:
    """The cluster, the command and the assumption, as a list of names and values."""
    taken = datetime.fromtimestamp(forecast.taken_at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    allocations = "1 allocation" if forecast.cycles == 1 else f"{forecast.cycles} allocations"
    facts = [
        *(origin.facts() if origin is not None else ()),
        ("Snapshot", f"Mesos {forecast.version}, {agents_text(forecast.agents)} in service, taken {taken}"),
        ("Time", f"{allocations} ({forecast.seconds:g} s) after the change"),
        ("Assumed", ASSUMPTIONS[forecast.assume]),
    ]
    rows = "\n".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in facts)
    return f"<dl>\n{rows}\n</dl>"


def _section(title: str, body: str, note: str = "") -> str:
    aside = f" <small>{escape(note)}</small>" if note else ""
    return f"<section>\n<h2>{escape(title)}{aside}</h2>\n{body}\n</section>"


def _list(title: str, lines: Sequence[str]) -> str:
    """Sentences; nothing if there are none."""
    if not lines:
        return ""
    shown = [f"<li>{escape(line)}</li>" for line in lines[:_MOST_ROWS]]
    return _section(title, "\n".join(["<ul>", *shown, *_more(len(lines), "<li>{}</li>"), "</ul>"]))


def _done(title: str, report: Report) -> str:
    """The rows of a report, such as the changes that a command would have made."""
    titles, rows = shown_cells(report)
    table = _table(titles, [[escape(text_in_words(cell)) for cell in row] for row in rows])
    return _section(title, table) if rows else ""


def _more(count: int, form: str) -> Iterable[str]:
    if count > _MOST_ROWS:
        yield form.format(f"… and {count - _MOST_ROWS} more")


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]], note: str = "") -> str:
    """Cells are HTML already."""
    body = "\n".join(_table_row(titles, row) for row in rows)
    foot = f"<p>{escape(note)}</p>" if note else ""
    return scrolling_table(titles, body) + foot


def _table_row(titles: Sequence[str], row: Sequence[str]) -> str:
    """A row; each cell names its column, which is shown next to it on a phone."""
    cells = "".join(
        f'<td data-title="{escape(title)}">{cell}</td>' for title, cell in zip(titles[1:], row[1:], strict=True)
    )
    return f'<tr><th scope="row">{row[0]}</th>{cells}</tr>'


@dataclass(frozen=True, slots=True)
class _Scale:
    """The resources of the cluster before and after, and the part of the larger of both that a full bar is.

    Bars are amounts: a cluster that shrinks must not make what is lost look like a share that is kept.
    """

    before: Quantities
    after: Quantities
    full: float = 1.0

    @classmethod
    def of(cls, parties: Iterable[ShareChange], before: Quantities, after: Quantities) -> Self:
        """The scale on which the longest bar of all is full; those of many small ones would be too short to see."""
        scale = cls(before, after)
        held = [scale.part(one.dominant, held.total) for one in parties for held in (one.before, one.after)]
        return replace(scale, full=max(0.001, *held, 0.001))

    def part(self, name: str | None, amounts: Quantities) -> float:
        """The part that an amount is of the larger cluster."""
        whole = max(self.before.get_amount(name or ""), self.after.get_amount(name or ""))
        return amounts.get_amount(name or "") / max(1, whole)

    def share_text(self, party: ShareChange) -> str:
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


def _share_table(title: str, parties: Sequence[ShareChange], scale: _Scale, note: str) -> str:
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
        for party in ordered[:_MOST_ROWS]
    ]
    left = len(ordered) - len(rows)
    table = _table(
        ("Name", "Before and after", "Share", "Gains", "Loses", "Guarantee"), rows, f"… and {left} more" if left else ""
    )
    legend = (
        '<p class="legend"><i class="used"></i> used <i class="offered"></i> offered <i class="mark"></i> guarantee'
    )
    of = "the cluster" if scale.before == scale.after else "what the larger cluster has, before or after"
    meaning = f"Upper bar: before; lower bar: after. The full width is {percent_text(scale.full)} of {of}."
    return _section(title, f"{legend}. {meaning}</p>\n{table}", note)


def _bars(party: ShareChange, scale: _Scale) -> str:
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
    return "".join([*drawn, "</svg>"])


def _amounts(amounts: Quantities | None) -> str:
    return escape(in_words(amounts) if amounts else NOTHING)


def _headroom(forecast: Forecast) -> str:
    rows = [(escape(title), _amounts(before), _amounts(after)) for title, before, after in headroom_rows(forecast)]
    return _section("What is left", _table(("", "Before", "After"), rows))
