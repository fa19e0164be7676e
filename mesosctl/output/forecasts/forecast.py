"""A forecast as a report: the table shows who gains and who loses, and the rest is below it."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from mesosctl.model.amount_text import in_words
from mesosctl.model.errors import printable
from mesosctl.model.notation import counted
from mesosctl.model.quantities import Quantities
from mesosctl.output.forecasts.sentences import (
    answer_text,
    evicted_text,
    fit_text,
    in_service,
    rescinded_texts,
    share_text,
    starving_text,
    unoffered_texts,
    verdict,
)
from mesosctl.output.formats.amounts import amounts_text
from mesosctl.output.formats.report import MOST_LINES, Column, Meaning, Report, Verdict, naturally, rest_line
from mesosctl.output.offers.sentences import names
from mesosctl.output.rate_limits_simulation import simulation
from mesosctl.planning.forecast import (
    Forecast,
    ShareChange,
)

if TYPE_CHECKING:
    from mesosctl.output.json_documents import forecast as forecast_documents

Thing = TypeVar("Thing")

_COLUMNS = (
    Column("KIND"),
    Column("NAME", rank=-1),
    Column("GUARANTEE", kind="amounts", rank=5),
    Column("BEFORE", kind="amounts", rank=3),
    Column("AFTER", kind="amounts", rank=0),
    Column("GAINS", kind="amounts", rank=2, meaning="gained"),
    Column("LOSES", kind="amounts", rank=1, meaning="lost"),
    Column("SHARE", rank=4),
    Column("USED BEFORE", wide=True, kind="amounts"),
    Column("USED AFTER", wide=True, kind="amounts"),
    Column("OFFERED BEFORE", wide=True, kind="amounts"),
    Column("OFFERED AFTER", wide=True, kind="amounts"),
    Column("ID", wide=True),
)


def forecast_report(forecast: Forecast, would: Sequence[Report] = ()) -> Report:
    """Roles and frameworks for which something changes; `would` are the answers that a command would have given."""
    parties = [*forecast.roles, *forecast.frameworks]
    moved = [party for party in _in_order(parties) if party.changes]

    def document(shown: Forecast) -> "forecast_documents.ForecastDocument":
        from mesosctl.output.json_documents import forecast as forecast_documents

        return forecast_documents.ForecastDocument.answering(shown, [report.document() for report in would])

    def rescinded() -> "Iterator[forecast_documents.RescindedOffer]":
        from mesosctl.output.json_documents import forecast as forecast_documents

        return map(forecast_documents.RescindedOffer.of, forecast.rescinded)

    whole = Report(
        _COLUMNS,
        [_row(party) for party in moved],
        [party.name for party in moved],
        lambda: document(replace(forecast, rescinded=())),
        lambda: [document(forecast)],
        empty="no role or framework gains or loses anything",
        listing="rescinded",
        listed=rescinded,
        remark=list(_remark(forecast, would, len(parties) - len(moved))),
        verdicts=[Verdict(verdict(forecast), _meaning(forecast))],
    )
    return whole._replace(terminal=lambda: whole._replace(remark=list(_needed(forecast, would, parties))))


def _in_order(parties: Sequence[ShareChange]) -> Sequence[ShareChange]:
    """Roles, then frameworks, by name."""
    return naturally(parties, lambda one: "" if one.kind == "role" else one.kind, lambda one: one.name)


def _meaning(forecast: Forecast) -> Meaning:
    if not forecast.is_harmless:
        return "not met"
    return "at risk" if any(task.caused for task in forecast.evicted) else "met"


def _row(party: ShareChange) -> list[str]:
    return [
        party.kind,
        party.name,
        amounts_text(party.guarantee),
        amounts_text(party.before.total),
        amounts_text(party.after.total),
        amounts_text(party.gains),
        amounts_text(party.loses),
        share_text(party),
        amounts_text(party.before.used),
        amounts_text(party.after.used),
        amounts_text(party.before.offered),
        amounts_text(party.after.offered),
        party.id,
    ]


def headroom_rows(forecast: Forecast) -> list[tuple[str, Quantities, Quantities]]:
    """Amounts that are left, before and after, each with a title."""
    room = forecast.headroom
    return [
        ("largest guarantee that would be accepted", *room.unpromised),
        ("free: neither held nor offered", *room.free),
        ("of that, kept for guarantees (headroom)", *room.owed),
    ]


_WHAT_COUNTS = "BEFORE and AFTER count tasks and offers, including the offers that the next allocations would make"


def _remark(forecast: Forecast, would: Sequence[Report], others: int) -> Iterator[str | Report]:
    if len(forecast.roles) + len(forecast.frameworks) > others:
        yield _WHAT_COUNTS
    if others:
        which = "1 role or framework does" if others == 1 else f"{others} roles and frameworks do"
        yield f"{which} not gain or lose anything"
    yield from _guarantees(forecast)
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
    yield from _section("starving", [starving_text(one) for one in forecast.starving])
    yield from _section("no longer offered anything (ran nothing before)", unoffered_texts(forecast))
    yield from _section("whether guarantees fit on one agent", [fit_text(fit) for fit in forecast.fits])
    yield from _section(
        "what is left",
        [f"{title}: {in_words(a)} → {in_words(b)}" for title, a, b in headroom_rows(forecast)],
    )
    yield from _section(
        "what a master does not show, and what is assumed",
        [f"{one.what}: {one.assumed}" if one.assumed else one.what for one in forecast.unknowns],
        most=None,
    )
    yield ""
    yield (
        f"Mesos {forecast.version}, {in_service(forecast)}; {counted(forecast.cycles, 'allocation')} after the change"
    )


def _guarantees(forecast: Forecast) -> Iterator[str | Report]:
    found = guarantees(forecast)
    if found.rows:
        yield from ("", f"{guarantees_title(forecast)}:", found)


def _changes_limits(forecast: Forecast) -> bool:
    return any(one.limit != one.limit_before for one in forecast.roles)


def guarantees_title(forecast: Forecast) -> str:
    """The title of `guarantees`."""
    return f"guarantees {'and limits ' if _changes_limits(forecast) else ''}that change"


def guarantees(forecast: Forecast) -> Report:
    """The roles of which the guarantee or the limit changes: both before and after, and what is missing afterwards."""
    changed = [one for one in _in_order(forecast.roles) if one.changes_quota]
    limits = _changes_limits(forecast)

    def document() -> "forecast_documents.ForecastDocument":
        from mesosctl.output.json_documents import forecast as forecast_documents

        return forecast_documents.ForecastDocument.answering(forecast)

    return Report(
        (
            Column("ROLE"),
            Column("BEFORE", kind="amounts", rank=1),
            Column("AFTER", kind="amounts"),
            Column("MISSING", kind="amounts", meaning="not met"),
            *(
                (Column("LIMIT BEFORE", kind="amounts", rank=1), Column("LIMIT AFTER", kind="amounts"))
                if limits
                else ()
            ),
        ),
        [
            [
                one.name,
                *map(amounts_text, (one.guarantee_before, one.guarantee, one.missing)),
                *(map(amounts_text, (one.limit_before, one.limit)) if limits else ()),
            ]
            for one in changed
        ],
        [one.name for one in changed],
        document,
        lambda: [document()],
    )


def _needed(forecast: Forecast, would: Sequence[Report], parties: Sequence[ShareChange]) -> Iterator[str | Report]:
    """Return what a person needs to decide; -o wide has the rest."""
    unchanged = [f"{party.kind} {party.name}" for party in parties if not party.changes]
    if len(unchanged) < len(parties):
        yield _WHAT_COUNTS
    if 0 < len(unchanged) < len(parties):
        yield f"gain and lose nothing: {names(unchanged)}"
    yield from _guarantees(forecast)
    for report in would:
        if report.rows:
            yield from ("", "what would be done:", report)
    if forecast.traffic is not None:
        yield from ("", "recorded messages under the new rate limits:", simulation(forecast.traffic))
    yield from _section("refused", [answer_text(answer) for answer in forecast.answers if not answer.accepted])
    if forecast.lost or forecast.restarted:
        yield from _section("changes", [change.sentence(in_words) for change in forecast.changes])
    yield from _section("starving", [starving_text(one) for one in forecast.starved])
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
        whom = ", ".join(f"{one.kind} {one.name}" for one in forecast.unoffered)
        yield f"no longer offered anything (ran nothing before): {whom}"
    before = len(forecast.starving) - len(forecast.starved)
    if before:
        yield f"already starving before the change, and no worse after it: {before}"
    before_change, after_change = (in_words(amounts) for amounts in forecast.headroom.unpromised)
    is_same = before_change == after_change
    moved = f"{after_change}, as before" if is_same else f"{after_change} (before: {before_change})"
    yield f"largest guarantee that could still be added: {moved}"
    yield (
        f"Mesos {forecast.version}, {in_service(forecast)}; "
        f"{len(forecast.unknowns)} facts are assumed (-o wide lists them)"
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
