"""A forecast as a report: the table shows who gains and who loses, and the rest is below it."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mesosctl.model.errors import printable
from mesosctl.model.quantities import Quantities
from mesosctl.output.formats.amounts import amounts_text, in_words, resources_text, shown_amount
from mesosctl.output.formats.report import MOST_LINES, Column, Meaning, Report, Verdict
from mesosctl.output.offers.sentences import names
from mesosctl.output.rate_limits_simulation import overflow_texts, simulation
from mesosctl.planning.forecast import (
    ChangeAnswer,
    EvictedTask,
    Forecast,
    QuotaFit,
    RescindedOffer,
    ShareChange,
    Starving,
)

if TYPE_CHECKING:
    from mesosctl.output.json_documents import forecast as forecast_documents

_COLUMNS = (
    Column("KIND"),
    Column("NAME", rank=-1),
    Column("GUARANTEE", kind="amounts", rank=3),
    Column("BEFORE", kind="amounts", rank=2),
    Column("AFTER", kind="amounts", rank=2),
    Column("GAINS", kind="amounts", meaning="gained"),
    Column("LOSES", kind="amounts", meaning="lost"),
    Column("SHARE", rank=1),
    Column("USED BEFORE", wide=True, kind="amounts"),
    Column("USED AFTER", wide=True, kind="amounts"),
    Column("OFFERED BEFORE", wide=True, kind="amounts"),
    Column("OFFERED AFTER", wide=True, kind="amounts"),
    Column("ID", wide=True),
)


def forecast_report(forecast: Forecast, would: Sequence[Report] = ()) -> Report:
    """Roles and frameworks for which something changes; `would` are the answers that a command would have given."""
    parties = [*forecast.roles, *forecast.frameworks]
    moved = [party for party in parties if party.changes]

    def document() -> "forecast_documents.ForecastDocument":
        from mesosctl.output.json_documents import forecast as forecast_documents

        return forecast_documents.ForecastDocument.answering(forecast, [report.document() for report in would])

    whole = Report(
        _COLUMNS,
        [_row(party) for party in moved],
        [party.name for party in moved],
        document,
        lambda: [document()],
        empty="no role or framework gains or loses anything",
        remark=list(_remark(forecast, would, len(parties) - len(moved))),
        verdicts=[Verdict(verdict(forecast), _meaning(forecast))],
    )
    return whole._replace(terminal=whole._replace(remark=list(_needed(forecast, would, parties))))


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


def share_text(party: ShareChange) -> str:
    """`12% → 30% cpus`: the dominant share before and after."""
    before, after = percent(party.share_before), percent(party.share_after)
    moved = before if before == after else f"{before} → {after}"
    return f"{moved} {party.dominant or ''}".rstrip()


def percent(part: float) -> str:
    """`58%`, or `0.9%` if whole numbers are too coarse."""
    return f"{part * 100:.1f}%" if 0 < part < 0.1 else f"{part * 100:.0f}%"


def answer_text(answer: ChangeAnswer) -> str:
    """One request, and its answer."""
    verdict = "accepted" if answer.accepted else "REFUSED"
    status = "" if answer.status is None else f" ({answer.status})"
    by = ""
    if answer.by == "mesosctl":
        by = " by mesosctl, before anything is sent"
        status = "" if answer.status is None else f" (a master would answer {answer.status})"
    rule = f" [{answer.rule}]" if answer.rule else ""
    why = f": {answer.message}" if answer.message else ""
    todo = f" ({answer.hint})" if answer.hint else ""
    return f"{answer.change}: {verdict}{by}{status}{rule}{why}{todo}"


def verdict(forecast: Forecast) -> str:
    """The whole answer in one sentence."""
    if not forecast.accepted:
        return "NO: it would be refused"
    # Only a request can be accepted: the loss of agents and a restart are none.
    asked = bool(forecast.answers)
    harms = [*(_harm(one) for one in forecast.starved), *overflow_texts(forecast.traffic)]
    if harms:
        return f"NO: {'it would be accepted, but ' if asked else ''}{names(harms)}"
    going = sum(task.caused for task in forecast.evicted)
    evicted = f"; {going} task{'' if going == 1 else 's'} would be evicted" if going else ""
    return f"YES: {'it would be accepted, and ' if asked else ''}nobody would starve{evicted}"


def _harm(one: Starving) -> str:
    """`role r3 would be 2 cpus below its guarantee (1 before)`."""
    if one.reason == "nothing":
        return f"{one.kind} {one.name} would have nothing left"
    if one.is_raised:
        until = " until other roles release enough" if one.can_be_met else ""
        return f"role {one.name} would be {in_words(one.short)} below its new guarantee{until}"
    # Of what was missing before, show the resources that are missing now, if any of them were.
    before = Quantities({name: milli for name, milli in one.before.items() if name in one.short}) or one.before
    if not before:
        was = "met before"
    elif list(before) == list(one.short) and len(before) == 1:
        was = f"{shown_amount(*next(iter(before.items())))} before"
    else:
        was = f"{in_words(before)} before"
    return f"role {one.name} would be {in_words(one.short)} below its guarantee ({was})"


def starving_text(one: Starving) -> str:
    """One that starves."""
    return f"{'' if one.caused else '(was already starving) '}{one.sentence(in_words)}"


def fit_text(fit: QuotaFit) -> str:
    """The number of agents on which a whole guarantee fits."""
    guarantee = amounts_text(fit.guarantee)
    if not fit.agents_whole:
        largest = amounts_text(fit.largest)
        return f"{fit.role}: {guarantee} fits on no single agent; the most that one agent has is {largest}"
    whole = f"{fit.role}: {guarantee} fits on {agents_text(fit.agents_whole)} if nothing else runs there"
    return f"{whole}, and on {fit.agents_now} with the tasks that run there now"


def agents_text(count: int) -> str:
    """`1 agent`, `3 agents`."""
    return f"{count} agent{'' if count == 1 else 's'}"


def rescinded_text(offer: RescindedOffer) -> str:
    """One offer that would be rescinded."""
    assumed = "" if offer.out_now else " (not sent yet: the master would send it before the change)"
    return f"{offer.framework} {offer.role} {offer.agent} {resources_text(offer.resources)}{assumed}"


def evicted_text(task: EvictedTask) -> str:
    """One task that would be evicted."""
    when = "" if task.happens else ", once what is offered there is used"
    before = "" if task.caused else "(was already starving) "
    assumed = "" if task.runs_now else " (not running yet: assumed to start before the change)"
    grace = f"{task.grace_seconds:g} s to end"
    return (
        f"{before}{task.framework}/{task.task_id} {task.role} {task.agent} "
        f"{resources_text(task.resources)}: {grace}{when}{assumed}"
    )


def unoffered_texts(forecast: Forecast) -> list[str]:
    """Roles and frameworks that ran nothing, held offers, and would no longer be offered anything."""
    return [f"{one.kind} {one.name}: it was offered {one.before.offered}" for one in forecast.unoffered]


def headroom_rows(forecast: Forecast) -> list[tuple[str, Quantities, Quantities]]:
    """Amounts that are left, before and after, each with a title."""
    room = forecast.headroom
    return [
        ("largest guarantee that would be accepted", *room.unpromised),
        ("free: neither held nor offered", *room.free),
        ("of that, kept for guarantees that are not met", *room.owed),
    ]


def _remark(forecast: Forecast, would: Sequence[Report], others: int) -> Iterator[str | Report]:
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
    yield from _section(
        f"offers rescinded: {len(forecast.rescinded)}", [rescinded_text(offer) for offer in forecast.rescinded]
    )
    yield from _section(f"tasks evicted: {len(forecast.evicted)}", [evicted_text(task) for task in forecast.evicted])
    yield from _section("starving", [starving_text(one) for one in forecast.starving])
    yield from _section("no longer offered anything (ran nothing before)", unoffered_texts(forecast))
    yield from _section("guarantees that fit on one agent", [fit_text(fit) for fit in forecast.fits])
    yield from _section(
        "what is left",
        [f"{title}: {amounts_text(a)} → {amounts_text(b)}" for title, a, b in headroom_rows(forecast)],
    )
    yield from _section(
        "what a master does not show, and what is assumed",
        [f"{one.what}: {one.assumed}" if one.assumed else one.what for one in forecast.unknowns],
        most=None,
    )
    yield ""
    yield (
        f"Mesos {forecast.version}, {agents_text(forecast.agents)} in service; "
        f"{forecast.cycles} allocations after the change"
    )


def _guarantees(forecast: Forecast) -> Iterator[str | Report]:
    found = guarantees(forecast)
    if found.rows:
        yield from ("", "guarantees that change:", found)


def guarantees(forecast: Forecast) -> Report:
    """The roles of which the guarantee changes: the guarantee before and after, and what is missing afterwards."""
    changed = [one for one in forecast.roles if one.changes_guarantee]

    def document() -> "forecast_documents.ForecastDocument":
        from mesosctl.output.json_documents import forecast as forecast_documents

        return forecast_documents.ForecastDocument.answering(forecast)

    return Report(
        (
            Column("ROLE"),
            Column("BEFORE", kind="amounts"),
            Column("AFTER", kind="amounts"),
            Column("MISSING", kind="amounts", meaning="not met"),
        ),
        [
            [one.name, amounts_text(one.guarantee_before), amounts_text(one.guarantee), amounts_text(one.missing)]
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
        yield "BEFORE and AFTER count tasks and offers, with the offers that the next allocations would make"
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
        yield f"already starving before, and no worse now: {before}"
    before_change, after_change = (in_words(amounts) for amounts in forecast.headroom.unpromised)
    is_same = before_change == after_change
    moved = f"{after_change}, as before" if is_same else f"{after_change} (before: {before_change})"
    yield f"largest guarantee that could still be added: {moved}"
    yield (
        f"Mesos {forecast.version}, {agents_text(forecast.agents)} in service; "
        f"{len(forecast.unknowns)} facts are assumed (-o wide lists them)"
    )


def _section(title: str, lines: Sequence[str], most: int | None = MOST_LINES) -> Iterator[str]:
    """A title and its lines, if there are any."""
    if not lines:
        return
    yield ""
    yield f"{title}:"
    shown = lines if most is None else lines[:most]
    yield from (f"  {printable(line)}" for line in shown)
    if len(lines) > len(shown):
        yield f"  … and {len(lines) - len(shown)} more, see -o json"
