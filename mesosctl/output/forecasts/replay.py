"""A replay as a report, and as a page with its waits and shares over time."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from mesosctl.model.amount_text import in_words, percent_text
from mesosctl.model.notation import format_span, utc_minute, utc_text
from mesosctl.output.forecasts.sentences import answer_text
from mesosctl.output.formats.charts import COLOURS
from mesosctl.output.formats.html_page import Origin, html_report, section, sentences, text_table
from mesosctl.output.formats.report import NOTHING, Column, Meaning, Report, Verdict, shown_cells
from mesosctl.output.formats.time_chart import TimeChart
from mesosctl.planning.added_framework import OPTION
from mesosctl.planning.expected_wait import ExpectedWait
from mesosctl.planning.replay import (
    Played,
    RecordedDemand,
    Replay,
    RoleOutcome,
    limit_text,
    shares_over_time,
    waiting_over_time,
)

if TYPE_CHECKING:
    from mesosctl.output.json_documents import replay as documents

_Span = Callable[[float | None], str]
_Lines = Mapping[str, Sequence[float]]
"""For each role its values at the moments that are drawn."""
_POINTS = 180
_POINTS_A_ROW = 15
"""Of the table that a chart has beside it."""
_MOST_ROLES = 6


def replay_report(answer: Replay) -> Report:
    """A row for each role: before and after, or one side if nothing is changed."""
    shown = _report(answer, plain_span)
    return shown._replace(terminal=lambda: _report(answer, span_for_people))


def plain_span(seconds: float | None) -> str:
    """Return seconds for scripts."""
    return NOTHING if seconds is None else f"{seconds:.10g}"


def span_for_people(seconds: float | None) -> str:
    """Return a span for people: 1h 30m."""
    return NOTHING if seconds is None else format_span(seconds) if seconds else "0s"


def _report(answer: Replay, span: _Span) -> Report:
    both = bool(answer.changes) and answer.demand.snapshot is None
    limit = limit_text(answer.wait_limit)

    def pair(title: str, key: str, rank: int) -> list[Column]:
        after = Column(title, key=key, kind="number", rank=rank)
        return (
            [Column(f"{title} BEFORE", key=f"{key}_before", kind="number", rank=rank + 1), after] if both else [after]
        )

    columns = [
        Column("ROLE", rank=-1),
        Column("TASKS", kind="number"),
        *pair(f"WAIT > {limit.upper()}", "above_limit", -1),
        *pair("MEDIAN", "median_wait_seconds", 3),
        *pair("P95", "p95_wait_seconds", 1),
        *pair("LONGEST", "longest_wait_seconds", 2),
        Column("NEVER FIT", kind="number", rank=4),
        *pair("SERVED", "part_served", 5),
        *pair("BELOW GUARANTEE", "below_guarantee_seconds", 6),
    ]
    rows = []
    for role in answer.roles:
        before, after = answer.outcome(role)
        sides = (before, after) if both else (after,)
        rows.append(
            [
                role,
                str(after.tasks),
                *(str(one.above_limit) for one in sides),
                *(span(one.median_wait) for one in sides),
                *(span(one.p95_wait) for one in sides),
                *(span(one.longest_wait) for one in sides),
                str(after.never_fit),
                *(_served(one) for one in sides),
                *(span(one.below_guarantee or None) for one in sides),
            ]
        )
    meaning: Meaning = "met" if answer.is_harmless else "not met"
    return Report(
        columns,
        rows,
        answer.roles,
        lambda: replay_document(answer),
        lambda: replay_document(answer).roles,
        verdicts=[Verdict(answer.verdict, meaning)],
        remark=["", *_remark(answer)],
    )


def _served(one: RoleOutcome) -> str:
    return NOTHING if one.part_served is None else percent_text(one.part_served)


def _remark(answer: Replay) -> Iterator[str]:
    yield _played(answer)
    for refused in answer.answers:
        if not refused.accepted:
            yield answer_text(refused)
    for outcome in answer.added:
        yield outcome.sentence
    if answer.demand.snapshot is not None:
        for one in answer.displaced:
            yield f"framework {one.name} would be offered {in_words(one.amounts)} less"
        if not answer.displaced:
            yield "no framework would be offered less"
    elif answer.added:
        delayed = ", ".join(f"{count:,} of {role}" for role, count in sorted(answer.delayed.items()))
        yield f"tasks that start later than without the changes: {delayed or 'none'}"
    yield from _trust(answer)


def about_recording(answer: Replay) -> list[str]:
    """Return sentences about what was played, and how far to trust it: the same for all replays of one recording."""
    return ["", _played(answer), *_trust(answer)]


def _played(answer: Replay) -> str:
    demand = answer.demand
    if demand.snapshot is not None:
        return f"the cluster at {utc_minute(demand.since)} UTC, played on Mesos {demand.version}"
    times = f"from {utc_minute(demand.since)} to {utc_minute(demand.until)} UTC"
    return f"{demand.cluster_id} {times}, played on Mesos {demand.version}"


def _trust(answer: Replay) -> Iterator[str]:
    if answer.demand.snapshot is None:
        yield answer.calibration.sentence
    yield "assumed:"
    yield from (f"  {sentence}" for sentence in answer.demand.assumptions)


def _hours(integrals: "Sequence[tuple[str, int]]") -> dict[str, float]:
    return {name: amount / 3_600_000 for name, amount in sorted(integrals)}


def _waits(one: RoleOutcome) -> "documents.RoleWaits":
    from mesosctl.output.json_documents import replay as documents

    return documents.RoleWaits(
        tasks=one.tasks,
        never_fit=one.never_fit,
        started=one.started,
        median_wait_seconds=one.median_wait,
        p95_wait_seconds=one.p95_wait,
        longest_wait_seconds=one.longest_wait,
        above_limit=one.above_limit,
        hours_demanded=_hours(list(one.demanded.items())),
        hours_served=_hours(list(one.served.items())),
        below_guarantee_seconds=one.below_guarantee,
    )


def replay_document(answer: Replay) -> "documents.ReplayDocument":
    """Return the JSON of a replay."""
    from mesosctl.output.json_documents import forecast
    from mesosctl.output.json_documents import replay as documents
    from mesosctl.output.json_documents.document import amounts

    demand, calibration = answer.demand, answer.calibration
    harmed = set(answer.harmed)
    return documents.ReplayDocument(
        harmless=answer.is_harmless,
        accepted=answer.accepted,
        verdict=answer.verdict,
        cluster_id=demand.cluster_id,
        from_snapshot=demand.snapshot is not None,
        mesos_version=demand.version,
        since=utc_text(demand.since),
        until=utc_text(demand.until),
        imported=demand.is_imported,
        wait_limit_seconds=answer.wait_limit,
        changes=list(answer.changes),
        answers=[forecast.ChangeAnswer.of(one) for one in answer.answers],
        calibration=documents.Calibration(
            compared=calibration.compared,
            off=calibration.off,
            part_off=calibration.part_off,
            worst_hours_difference=calibration.worst_hours,
            worst_role=calibration.worst_role,
        ),
        roles=[
            documents.ReplayedRole(
                role=role,
                before=_waits(answer.outcome(role)[0]),
                after=_waits(answer.outcome(role)[1]),
                harmed=role in harmed,
                delayed=answer.delayed.get(role, 0),
            )
            for role in answer.roles
        ],
        added_frameworks=[
            documents.AddedFramework(
                framework=one.framework.word.removeprefix(f"{OPTION} "),
                role=one.framework.role,
                tasks=one.tasks,
                started_at_once=one.started_at_once,
                started=one.started,
                never_fit=one.never_fit,
                last_start_seconds=one.last_start,
                all_done_seconds=one.all_done,
                asked_after_the_end=one.asked_later,
            )
            for one in answer.added
        ],
        displaced=[
            documents.DisplacedFramework(framework_id=one.framework_id, name=one.name, amounts=amounts(one.amounts))
            for one in answer.displaced
        ],
        assumptions=list(demand.assumptions),
    )


# --- One more task ------------------------------------------------------------------------------------


def expected_wait_report(answer: ExpectedWait) -> Report:
    """A row with the percentiles of the wait."""
    from mesosctl.model.amount_text import text_in_words

    def document() -> "documents.ExpectedWaitDocument":
        from mesosctl.output.json_documents import replay as documents

        return documents.ExpectedWaitDocument(
            verdict=answer.sentence,
            role=answer.role,
            task=str(answer.task),
            at=utc_text(answer.at),
            never_fits=answer.never_fits,
            median_wait_seconds=answer.percentile(50),
            p95_wait_seconds=answer.percentile(95),
            not_within_seconds=answer.reaches,
            draws=len(answer.waits),
            running=answer.running,
            lifetimes=answer.lifetimes,
            assumptions=list(answer.assumptions),
        )

    def report(span: _Span, size: str) -> Report:
        columns = [
            Column("ROLE", rank=-1),
            Column("TASK"),
            Column("MEDIAN", key="median_wait_seconds", kind="number"),
            Column("P95", key="p95_wait_seconds", kind="number"),
        ]
        row = [answer.role, size, *(span(answer.percentile(percent)) for percent in (50, 95))]
        meaning: Meaning = "not met" if answer.percentile(50) is None else "met"
        return Report(
            columns,
            [row],
            [answer.role],
            document,
            lambda: [document()],
            verdicts=[Verdict(answer.sentence, meaning)],
            remark=["", *_basis(answer)],
        )

    shown = report(plain_span, str(answer.task))
    return shown._replace(terminal=lambda: report(span_for_people, text_in_words(str(answer.task))))


def _basis(answer: ExpectedWait) -> Iterator[str]:
    yield f"asked for at {utc_minute(answer.at)} UTC, the end of what is read of the recording"
    yield answer.basis
    yield "assumed:"
    yield from (f"  {sentence}" for sentence in answer.assumptions)


def expected_wait_page(answer: ExpectedWait, origin: Origin) -> str:
    """An HTML report: the answer, and how the wait is distributed."""
    rows = [[f"{percent}%", span_for_people(answer.percentile(percent))] for percent in (10, 25, 50, 75, 90, 95)]
    return html_report(
        f"One more task of {answer.role}",
        answer.sentence,
        "no" if answer.percentile(50) is None else "yes",
        origin.facts(),
        [
            section("The wait", text_table(["Part of all cases", "Starts within"], rows)),
            sentences("What this rests on", _basis(answer)),
        ],
    )


# --- The page -----------------------------------------------------------------------------------------


def replay_page(answer: Replay, origin: Origin) -> str:
    """An HTML report: the verdict, the table, and the waits and shares over time."""
    titles, rows = shown_cells(_report(answer, span_for_people))
    return html_report(
        f"Replay of {answer.demand.cluster_id}",
        answer.verdict,
        "yes" if answer.is_harmless else "no",
        origin.facts(),
        [
            sentences("What is changed", answer.changes),
            section("Waits by role", text_table(titles, rows)),
            section("Tasks that wait, over time", _waits_chart(answer)),
            section("Dominant shares, over time", _shares_chart(answer)),
            sentences("What this rests on", _remark(answer)),
        ],
    )


def _waits_chart(answer: Replay) -> str:
    before, after = _both_sides(answer, waiting_over_time)
    if not before and not after:
        return "<p>No task waited longer than one of the moments that are drawn.</p>"
    return _chart(answer, "Tasks that wait", before, after, lambda count: f"{count:.3g}")


def _shares_chart(answer: Replay) -> str:
    before, after = _both_sides(answer, shares_over_time)
    if not before and not after:
        return "<p>No task ran.</p>"
    return _chart(answer, "Dominant shares", before, after, percent_text)


def _both_sides(answer: Replay, over_time: Callable[[RecordedDemand, Played, int], _Lines]) -> tuple[_Lines, _Lines]:
    """Return what is drawn, without the changes and with them."""
    assert answer.played_before is not None, "a page is made where it was played"
    assert answer.played_after is not None, "a page is made where it was played"
    return (
        over_time(answer.demand, answer.played_before, _POINTS),
        over_time(answer.demand_after or answer.demand, answer.played_after, _POINTS),
    )


def _chart(answer: Replay, title: str, before: _Lines, after: _Lines, shown: Callable[[float], str]) -> str:
    """Lines of the roles with the highest values, on one scale, dashed before and solid after; and their table."""
    changes = before != after
    sides = [(before, "before", ' stroke-dasharray="4,3"'), (after, "after", "")] if changes else [(after, "", "")]
    nothing = [0.0] * _POINTS
    roles = sorted({*before, *after}, key=lambda role: -max(max(side.get(role, nothing)) for side, _, _ in sides))
    roles = roles[:_MOST_ROLES]
    highest = max(max(side.get(role, nothing)) for side, _, _ in sides for role in roles)
    since, length = answer.demand.since, answer.demand.until - answer.demand.since
    moments = [since + length * number / _POINTS for number in range(_POINTS)]
    whole = f"{title}: dashed without the changes, solid with them" if changes else title
    drawing = TimeChart(whole, since, answer.demand.until, highest, shown)
    for colour, role in zip(COLOURS, roles, strict=False):
        drawing.name(f"{role} (dashed: before)" if changes else role, colour)
        for side, _, dashes in sides:
            points = " ".join(
                f"{drawing.x(at):.1f},{drawing.y(value):.1f}"
                for at, value in zip(moments, side.get(role, nothing), strict=True)
            )
            drawing.draw(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"{dashes}/>')
    columns = [(f"{role} {word}".rstrip(), side.get(role, nothing)) for role in roles for side, word, _ in sides]
    rows = [
        [utc_minute(moments[first]), *(shown(max(values[first : first + _POINTS_A_ROW])) for _, values in columns)]
        for first in range(0, _POINTS, _POINTS_A_ROW)
    ]
    table = text_table(["From (UTC)", *(name for name, _ in columns)], rows)
    return f"{drawing.svg()}\n{table}\n<p><small>Each row has the highest value until the next one.</small></p>"
