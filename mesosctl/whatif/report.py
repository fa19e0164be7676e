"""A forecast as a report: the table shows who gains and who loses, and the rest is below it."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from mesosctl.mesos.amounts.amount_text import in_words
from mesosctl.mesos.amounts.notation import counted
from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.mesos.door.forecast import (
    Forecast,
    HolderChange,
)
from mesosctl.mesos.errors import printable
from mesosctl.mesos.names import Spell, framework_names
from mesosctl.offers.sentences import names
from mesosctl.quota.report import GUARANTEE_IS, GUARANTEE_STATES
from mesosctl.ratelimit.simulation_report import simulation
from mesosctl.show.lists import rows_of
from mesosctl.show.report import MOST_LINES, Column, Meaning, Report, Verdict, naturally, rest_line
from mesosctl.whatif import documents, upgrade_report
from mesosctl.whatif.sentences import (
    answer_text,
    evicted_text,
    fit_text,
    in_service,
    rescinded_texts,
    share_text,
    starving_text,
    unoffered_texts,
)

Thing = TypeVar("Thing")


def forecast_report(forecast: Forecast, would: Sequence[Report] = ()) -> Report:
    """Roles and frameworks for which something changes; `would` are the answers that a command would have given."""
    parties = [*forecast.roles, *forecast.frameworks]
    moved = [party for party in _in_order(parties) if party.changes]
    spell = framework_names({change.id: change.name for change in forecast.frameworks}).speller()

    def document(shown: Forecast) -> documents.ForecastDocument:
        return documents.ForecastDocument.answering(shown, [report.whole_document() for report in would])

    def rescinded() -> Iterator[documents.RescindedOffer]:
        return map(documents.RescindedOffer.of, forecast.rescinded)

    columns: Sequence[Column[HolderChange]] = (
        Column("KIND", lambda change: change.kind),
        Column("NAME", lambda change: _name(change, spell), rank=-1),
        Column("GUARANTEE", lambda change: change.guarantee, kind="amounts", rank=5),
        Column("BEFORE", lambda change: change.before.total, kind="amounts", rank=3),
        Column("AFTER", lambda change: change.after.total, kind="amounts", rank=0),
        Column("GAINS", lambda change: change.gains, kind="amounts", rank=2, meaning="gained"),
        Column("LOSES", lambda change: change.loses, kind="amounts", rank=1, meaning="lost"),
        Column("SHARE", share_text, rank=4),
        Column("USED BEFORE", lambda change: change.before.used, wide=True, kind="amounts"),
        Column("USED AFTER", lambda change: change.after.used, wide=True, kind="amounts"),
        Column("OFFERED BEFORE", lambda change: change.before.offered, wide=True, kind="amounts"),
        Column("OFFERED AFTER", lambda change: change.after.offered, wide=True, kind="amounts"),
        Column("ID", lambda change: change.id if change.kind == "role" else spell("id", change.id), wide=True),
    )
    whole = Report(
        columns,
        rows_of(columns, moved),
        [_name(party, spell) for party in moved],
        lambda: document(replace(forecast, rescinded=())),
        lambda: [document(forecast)],
        empty="no role or framework gains or loses anything",
        listing="rescinded",
        listed=rescinded,
        remark=list(_remark(forecast, would, len(parties) - len(moved))),
        verdicts=[Verdict(forecast.verdict, _meaning(forecast))],
    )
    return whole._replace(terminal=lambda: whole._replace(remark=list(_needed(forecast, would, parties))))


def _in_order(parties: Sequence[HolderChange]) -> Sequence[HolderChange]:
    """Roles, then frameworks, by name."""
    return naturally(parties, lambda change: "" if change.kind == "role" else change.kind, lambda change: change.name)


def _meaning(forecast: Forecast) -> Meaning:
    if not forecast.is_harmless:
        return "not met"
    return "at risk" if any(task.caused for task in forecast.evicted) else "met"


def _name(party: HolderChange, spell: Spell) -> str:
    """The name of a role, or that of a framework as it is typed."""
    return party.name if party.kind == "role" else spell("name", party.name)


def headroom_rows(forecast: Forecast) -> list[tuple[str, Quantities, Quantities]]:
    """Amounts that are left, before and after, each with a title."""
    room = forecast.headroom
    return [
        ("largest guarantee that would be accepted", *room.unpromised),
        ("free: neither held nor offered", *room.free),
        ("of that, kept for guarantees (headroom)", *room.kept),
    ]


_WHAT_COUNTS = "BEFORE and AFTER count tasks and offers, including the offers that the next allocations would make"


def _remark(forecast: Forecast, would: Sequence[Report], others: int) -> Iterator[str | Report]:
    if len(forecast.roles) + len(forecast.frameworks) > others:
        yield _WHAT_COUNTS
    if others:
        which = "1 role or framework does" if others == 1 else f"{others} roles and frameworks do"
        yield f"{which} not gain or lose anything"
    yield from _guarantees(forecast)
    yield from _upgrade(forecast)
    for report in would:
        if report.rows:
            yield from ("", "what would be done:", report)
    if forecast.traffic is not None:
        yield from ("", "recorded messages under the new rate limits:", simulation(forecast.traffic))
    if forecast.lost or len(forecast.changes) > len(forecast.answers):  # some changes are not requests
        yield from _section("changes", [change.sentence(in_words) for change in forecast.changes])
    yield from _section("answers", [answer_text(answer) for answer in forecast.answers])
    yield from _section(f"offers rescinded: {len(forecast.rescinded)}", rescinded_texts(forecast.rescinded))
    yield from _section(f"tasks evicted: {len(forecast.evicted)}", forecast.evicted, evicted_text)
    yield from _section("starving", [starving_text(starvation) for starvation in forecast.starving])
    yield from _section("no longer offered anything (ran nothing before)", unoffered_texts(forecast))
    yield from _section("whether guarantees fit on one agent", [fit_text(fit) for fit in forecast.fits])
    yield from _section(
        "what is left",
        [f"{title}: {in_words(a)} → {in_words(b)}" for title, a, b in headroom_rows(forecast)],
    )
    yield from _section(
        "what a master does not show, and what is assumed",
        [f"{unknown.what}: {unknown.assumed}" if unknown.assumed else unknown.what for unknown in forecast.unknowns],
        most=None,
    )
    yield ""
    yield (f"{forecast.master}, {in_service(forecast)}; {counted(forecast.cycles, 'allocation')} after the change")


def _guarantees(forecast: Forecast) -> Iterator[str | Report]:
    found = guarantees(forecast)
    if found.rows:
        yield from ("", f"{guarantees_title(forecast)}:", found)


def _upgrade(forecast: Forecast) -> Iterator[str | Report]:
    if forecast.upgrade is None:
        return
    for title, report in upgrade_report.sections(forecast.upgrade):
        yield from ("", f"{title}:", report)
    for title, lines in upgrade_report.commands(forecast.upgrade):
        yield from _section(title, lines, most=None)


def _changes_limits(forecast: Forecast) -> bool:
    return any(change.limit != change.limit_before for change in forecast.roles)


def guarantees_title(forecast: Forecast) -> str:
    """The title of `guarantees`."""
    return f"guarantees {'and limits ' if _changes_limits(forecast) else ''}that change"


def guarantees(forecast: Forecast) -> Report:
    """The roles of which the guarantee or the limit changes: before and after, and how far it is met afterwards."""
    changed = [change for change in _in_order(forecast.roles) if change.changes_quota]
    columns: list[Column[HolderChange]] = [
        Column("ROLE", lambda change: change.name),
        Column("BEFORE", lambda change: change.guarantee_before, kind="amounts", rank=1),
        Column("AFTER", lambda change: change.guarantee, kind="amounts"),
        Column(GUARANTEE_IS, lambda change: change.guarantee_state, meaning=GUARANTEE_STATES),
        Column("KEPT", lambda change: change.kept, kind="amounts", rank=2),
        Column("UNMET", lambda change: change.unmet, kind="amounts", meaning="not met"),
    ]
    if _changes_limits(forecast):
        columns += [
            Column("LIMIT BEFORE", lambda change: change.limit_before, kind="amounts", rank=1),
            Column("LIMIT AFTER", lambda change: change.limit, kind="amounts"),
        ]
    return Report(columns, rows_of(columns, changed))


def _needed(forecast: Forecast, would: Sequence[Report], parties: Sequence[HolderChange]) -> Iterator[str | Report]:
    """Return what a person needs to decide; -o wide has the rest."""
    unchanged = [f"{party.kind} {party.name}" for party in parties if not party.changes]
    if len(unchanged) < len(parties):
        yield _WHAT_COUNTS
    if 0 < len(unchanged) < len(parties):
        yield f"gain and lose nothing: {names(unchanged)}"
    yield from _guarantees(forecast)
    yield from _upgrade(forecast)
    for report in would:
        if report.rows:
            yield from ("", "what would be done:", report)
    if forecast.traffic is not None:
        yield from ("", "recorded messages under the new rate limits:", simulation(forecast.traffic))
    yield from _section("refused", [answer_text(answer) for answer in forecast.answers if not answer.accepted])
    if forecast.lost or forecast.restarted:
        yield from _section("changes", [change.sentence(in_words) for change in forecast.changes])
    yield from _section("starving", [starving_text(starvation) for starvation in forecast.starved])
    evicted = [evicted_text(task) for task in forecast.evicted if task.caused]
    yield from _section(f"tasks evicted: {len(evicted)}", evicted, most=_MOST_TASKS)
    yield ""
    yield from _in_short(forecast)


_MOST_TASKS = 5


def _in_short(forecast: Forecast) -> Iterator[str]:
    """A line for each thing that -o wide has in full."""
    out = [offer for offer in forecast.rescinded if offer.out_now]
    if out:
        holders = Counter(f"{offer.framework or offer.framework_id} (role {offer.role})" for offer in out)
        whose = names([f"{count} of {holder}" for holder, count in holders.most_common()])
        yield f"unanswered offers that would be rescinded: {whose}"
    if forecast.unoffered:
        whom = ", ".join(f"{change.kind} {change.name}" for change in forecast.unoffered)
        yield f"no longer offered anything (ran nothing before): {whom}"
    before = len(forecast.starving) - len(forecast.starved)
    if before:
        yield f"already starving before the change, and no worse after it: {before}"
    before_change, after_change = (in_words(amounts) for amounts in forecast.headroom.unpromised)
    is_same = before_change == after_change
    moved = f"{after_change}, as before" if is_same else f"{after_change} (before: {before_change})"
    yield f"largest guarantee that could still be added: {moved}"
    yield (
        f"{forecast.master}, {in_service(forecast)}; {len(forecast.unknowns)} facts are assumed (-o wide lists them)"
    )


def _section(
    title: str, things: Sequence[Thing], text: Callable[[Thing], str] = str, most: int | None = MOST_LINES
) -> Iterator[str]:
    """A title and a line for each thing, if there are any; `text` writes only the lines that are shown."""
    if not things:
        return
    yield ""
    yield f"{title}:"
    shown = things if most is None else things[:most]
    yield from (f"  {printable(text(thing))}" for thing in shown)
    if len(things) > len(shown):
        yield rest_line(len(things) - len(shown))
