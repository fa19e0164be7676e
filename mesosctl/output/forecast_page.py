"""A forecast as one page for a change ticket: HTML that needs nothing but itself.

No script, no network, no font or snapshot from elsewhere; light and dark as the reader's system is.
Every name is escaped, and a policy in the page forbids whatever would be loaded all the same.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from html import escape as _escape

from mesosctl.model.errors import printable
from mesosctl.model.quantities import Quantities
from mesosctl.output.forecast import (
    answer_text,
    evicted_text,
    fit_text,
    headroom_rows,
    percent,
    rescinded_text,
    share_text,
    unoffered_texts,
    verdict,
)
from mesosctl.output.formats.amounts import amounts_text
from mesosctl.output.formats.report import Report, shown_cells
from mesosctl.planning.forecast import ASSUMPTIONS, Forecast, ShareChange

_BAR, _HIGH, _GAP = 360, 12, 4
_MOST_ROWS = 500
"""Of one table; a page is for reading."""


def escape(text: str) -> str:
    """Names as text, whatever they hold."""
    return _escape(printable(text))


def page(forecast: Forecast, would: Sequence[Report] = ()) -> str:
    """The whole document; `would` are the answers that a command would have given."""
    parts = [
        _list("What is changed", forecast.changes),
        *(_done(report) for report in would),
        _list("What a master answers", [answer_text(answer) for answer in forecast.answers]),
        _list("Who starves", [("" if o.caused else "(was so before) ") + o.sentence for o in forecast.starving]),
        _list("No longer offered anything, and running nothing before", unoffered_texts(forecast)),
        _parties("Roles", forecast.roles, (forecast.totals_before, forecast.totals), "each with the roles below it"),
        _parties("Frameworks", forecast.frameworks, (forecast.totals_before, forecast.totals), ""),
        _headroom(forecast),
        _list("Guarantees that fit on one agent", [fit_text(fit) for fit in forecast.fits]),
        _list(f"Offers rescinded: {len(forecast.rescinded)}", [rescinded_text(offer) for offer in forecast.rescinded]),
        _list(f"Tasks evicted: {len(forecast.evicted)}", [evicted_text(task) for task in forecast.evicted]),
        _list(
            "What a master does not show, and what is assumed",
            [f"{one.what}: {one.assumed}" if one.assumed else one.what for one in forecast.unknowns],
        ),
    ]
    title = verdict(forecast)
    return _document(title, [_header(forecast, title), *filter(None, parts)])


def _header(forecast: Forecast, title: str) -> str:
    taken = datetime.fromtimestamp(forecast.taken_at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    facts = (
        f"Mesos {forecast.version}, {forecast.agents} agents in service; snapshot taken {taken}; "
        f"{forecast.cycles} allocations ({forecast.seconds:g} s) after the change; "
        f"assumed: {ASSUMPTIONS[forecast.assume]}"
    )
    kind = "yes" if forecast.is_harmless else "no"
    return f'<header class="{kind}"><h1>{escape(title)}</h1><p>{escape(facts)}</p></header>'


def _document(title: str, parts: Iterable[str]) -> str:
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{escape(title)}</title>",
            f"<style>{STYLE}</style>",
            "</head>",
            "<body>",
            "<main>",
            *parts,
            "</main>",
            "</body>",
            "</html>",
            "",
        ]
    )


def _section(title: str, body: str, note: str = "") -> str:
    aside = f" <small>{escape(note)}</small>" if note else ""
    return f"<section>\n<h2>{escape(title)}{aside}</h2>\n{body}\n</section>"


def _list(title: str, lines: Sequence[str]) -> str:
    """Sentences; nothing where there are none."""
    if not lines:
        return ""
    shown = [f"<li>{escape(line)}</li>" for line in lines[:_MOST_ROWS]]
    return _section(title, "\n".join(["<ul>", *shown, *_more(len(lines), "<li>{}</li>"), "</ul>"]))


def _done(report: Report) -> str:
    """The changes that the command would have reported."""
    titles, rows = shown_cells(report)
    table = _table(titles, [[escape(cell) for cell in row] for row in rows])
    return _section("What would be done", table) if rows else ""


def _more(count: int, form: str) -> Iterable[str]:
    if count > _MOST_ROWS:
        yield form.format(f"… and {count - _MOST_ROWS} more")


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]], note: str = "") -> str:
    """Cells are HTML already."""
    head = "".join(f'<th scope="col">{escape(title)}</th>' for title in titles)
    body = "\n".join(
        "<tr>" + f'<th scope="row">{row[0]}</th>' + "".join(f"<td>{cell}</td>" for cell in row[1:]) + "</tr>"
        for row in rows
    )
    foot = f"<p>{escape(note)}</p>" if note else ""
    return f'<div class="wide"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table></div>{foot}'


def _parties(title: str, parties: Sequence[ShareChange], totals: tuple[Quantities, Quantities], note: str) -> str:
    """A table of roles or frameworks: those that change first, then by share; bars show the dominant resource."""
    if not parties:
        return ""
    ordered = sorted(parties, key=lambda party: (not party.changes, -max(party.share_before, party.share_after)))
    # On the scale of the whole cluster, the bars of many small ones would be too short to see.
    full = max(0.001, *(max(party.share_before, party.share_after) for party in parties))
    rows = [
        (
            escape(party.name) + ("" if party.name == party.id else f"<br><small>{escape(party.id)}</small>"),
            _bars(party, totals, full),
            escape(share_text(party)),
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
    scale = f"a full bar is {percent(full)} of the cluster; the upper one is before, the lower one after"
    return _section(title, f"{legend}; {scale}</p>\n{table}", note)


def _bars(party: ShareChange, totals: tuple[Quantities, Quantities], full: float) -> str:
    """Two stacked bars of which `full` of the cluster is the whole width, and where the guarantee is."""
    name = party.dominant
    if name is None:
        return "<small>nothing</small>"

    def width(amounts: Quantities, whole: Quantities) -> float:
        part = amounts.get_amount(name) / max(1, whole.get_amount(name))
        return min(1.0, part / full) * _BAR

    high = 2 * _HIGH + _GAP
    words = f"{name}: before {amounts_text(party.before.total)}, after {amounts_text(party.after.total)}"
    drawn = [
        f'<svg role="img" viewBox="0 0 {_BAR} {high}" preserveAspectRatio="none">',
        f"<title>{escape(words)}</title>",
    ]
    for row, (held, whole) in enumerate(zip((party.before, party.after), totals, strict=True)):
        y = row * (_HIGH + _GAP)
        used, total = width(held.used, whole), width(held.total, whole)
        drawn.append(f'<rect class="all" x="0" y="{y}" width="{_BAR}" height="{_HIGH}"/>')
        drawn.append(f'<rect class="used" x="0" y="{y}" width="{used:.1f}" height="{_HIGH}"/>')
        drawn.append(f'<rect class="offered" x="{used:.1f}" y="{y}" width="{total - used:.1f}" height="{_HIGH}"/>')
    if party.guarantee is not None and party.guarantee.get_amount(name):
        x = width(party.guarantee, totals[1])
        drawn.append(f'<line class="mark" x1="{x:.1f}" y1="0" x2="{x:.1f}" y2="{high}"/>')
    return "".join([*drawn, "</svg>"])


def _amounts(amounts: Quantities | None) -> str:
    """Amounts that may be broken between two of them, and nowhere else."""
    return ";<wbr>".join(map(escape, amounts_text(amounts).split(";")))


def _headroom(forecast: Forecast) -> str:
    rows = [(escape(title), _amounts(before), _amounts(after)) for title, before, after in headroom_rows(forecast)]
    return _section("What is left", _table(("", "Before", "After"), rows))


STYLE = """
:root { color-scheme: light dark; --ground: #ffffff; --text: #1b1f24; --faint: #57606a; --line: #d0d7de;
  --all: #eaeef2; --used: #0072b2; --offered: #7fc3ea; --mark: #a33b00; --yes: #0b6b3a; --no: #a40e26; }
@media (prefers-color-scheme: dark) { :root { --ground: #14181d; --text: #e6edf3; --faint: #9aa7b4; --line: #39424d;
  --all: #262d36; --used: #3f9fdc; --offered: #1f5c85; --mark: #ffa657; --yes: #1a7f4b; --no: #b3203a; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 1120px; margin: 0 auto; padding: 1rem; }
header { padding: 1rem 1.25rem; border-radius: 6px; color: #ffffff; }
header.yes { background: var(--yes); }
header.no { background: var(--no); }
header p { margin: .25rem 0 0; }
h1 { margin: 0; font-size: 1.35rem; overflow-wrap: anywhere; }
h2 { margin: 1.75rem 0 .5rem; font-size: 1.1rem; border-bottom: 1px solid var(--line); }
small, .legend { color: var(--faint); font-size: .85rem; font-weight: normal; }
ul { margin: 0; padding-left: 1.25rem; }
li { overflow-wrap: anywhere; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
td:nth-child(3) { white-space: nowrap; }
th, td { padding: .35rem .75rem .35rem 0; border-bottom: 1px solid var(--line); text-align: left;
  vertical-align: top; }
tbody th { overflow-wrap: anywhere; min-width: 8rem; }
thead th { white-space: nowrap; color: var(--faint); font-size: .85rem; }
tbody th { font-weight: 600; }
svg { display: block; width: 100%; min-width: 180px; max-width: 360px; height: 28px; }
td:has(svg) { width: 30%; }
rect.all { fill: var(--all); }
rect.used { fill: var(--used); }
rect.offered { fill: var(--offered); }
line.mark { stroke: var(--mark); stroke-width: 2; stroke-dasharray: 4 2; }
.legend i { display: inline-block; width: .8rem; height: .8rem; vertical-align: -1px; margin-left: .5rem; }
.legend i.used { background: var(--used); }
.legend i.offered { background: var(--offered); }
.legend i.mark { width: .2rem; background: var(--mark); }
@media print { body { font-size: 11px; } header { border: 2px solid var(--text); color: var(--text); } }
"""
