"""The answer of demand that was played, as a report, and as a page with its waits and shares over time."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from mesosctl.mesos.amounts.amount_text import in_words, percent_text
from mesosctl.mesos.amounts.notation import format_span, utc_minute, utc_moment
from mesosctl.mesos.door.replay import (
    Played,
    RecordedDemand,
    Replay,
    RoleBeforeAndAfter,
    RoleOutcome,
    TasksOfTime,
    beyond_fair_shares,
    limit_text,
    shares_over_time,
    waiting_over_time,
    waits_by_clock,
)
from mesosctl.show.charts import COLOURS
from mesosctl.show.html_page import TONE_OF_ANSWERS, ReportOrigin, html_report, section, sentences, text_table
from mesosctl.show.lists import rows_of
from mesosctl.show.report import NOTHING, OF_ANSWERS, Column, Report, Verdict, shown_cells
from mesosctl.show.time_chart import TimeChart
from mesosctl.whatif.played_demand_documents import ReplayDocument, ReplayedTaskDocument
from mesosctl.whatif.sentences import answer_text

Span = Callable[[float | None], str]
"""How seconds are written; None is nothing."""
_Lines = Mapping[str, Sequence[float]]
"""For each role its values at the moments that are drawn."""
_POINTS = 180
_POINTS_A_ROW = 15
"""Of the table that a chart has beside it."""
_MOST_ROLES = 6


def replay_report(answer: Replay) -> Report:
    """A row for each role: before and after, or one side if nothing is changed."""
    shown = _report(answer, plain_span)
    return shown._replace(table=lambda: _report(answer, span_for_people))


def plain_span(seconds: float | None) -> str:
    """Return seconds for scripts."""
    return NOTHING if seconds is None else f"{seconds:.10g}"


def span_for_people(seconds: float | None) -> str:
    """Return a span for people: 1h 30m."""
    return NOTHING if seconds is None else format_span(seconds) if seconds else "0s"


def _report(answer: Replay, span: Span) -> Report:
    both = bool(answer.changes) and answer.demand.snapshot is None
    limit = limit_text(answer.wait_limit)

    def pair(
        title: str, key: str, rank: int, cell: Callable[[RoleOutcome], object]
    ) -> Iterator[Column[RoleBeforeAndAfter]]:
        if both:
            yield Column(
                f"{title} BEFORE", lambda of: cell(of.before), key=f"{key}_before", kind="number", rank=rank + 1
            )
        yield Column(title, lambda of: cell(of.after), key=key, kind="number", rank=rank)

    def served(side: RoleOutcome) -> str | None:
        part = side.part_served
        return None if part is None else percent_text(part) if span is span_for_people else plain_span(part)

    def recorded(of: RoleBeforeAndAfter) -> RoleOutcome:
        return of.recorded or RoleOutcome()

    on_record: Sequence[Column[RoleBeforeAndAfter]] = [
        Column(
            "ABOVE ON RECORD", lambda of: recorded(of).above_limit, key="above_limit_recorded", kind="number", rank=7
        ),
        Column(
            "P95 ON RECORD", lambda of: span(recorded(of).p95_wait), key="p95_wait_seconds_recorded", kind="number",
            rank=7,
        ),
    ]  # fmt: skip
    columns: Sequence[Column[RoleBeforeAndAfter]] = [
        Column("ROLE", lambda of: of.role, rank=-1),
        Column("TASKS", lambda of: of.after.tasks, kind="number"),
        *pair(f"WAIT > {limit.upper()}", "above_limit", -1, lambda side: side.above_limit),
        *pair("MEDIAN", "median_wait_seconds", 3, lambda side: span(side.median_wait)),
        *pair("P95", "p95_wait_seconds", 1, lambda side: span(side.p95_wait)),
        *pair("LONGEST", "longest_wait_seconds", 2, lambda side: span(side.longest_wait)),
        Column("NEVER FIT", lambda of: of.after.never_fit, kind="number", rank=4),
        *pair("SERVED", "part_served", 5, served),
        *(on_record if answer.recorded else ()),
        *pair("BELOW GUARANTEE", "below_guarantee_seconds", 6, lambda side: span(side.below_guarantee or None)),
    ]

    def document() -> ReplayDocument:
        return ReplayDocument.of(answer)

    return Report(
        columns,
        rows_of(columns, answer.by_role),
        answer.roles,
        document,
        (lambda: map(ReplayedTaskDocument.of, answer.by_task)) if answer.demand.ids else (lambda: document().roles),
        verdicts=[Verdict(answer.verdict, OF_ANSWERS[answer.answer]), *_short_window(answer)],
        remark=["", *_remark(answer), *assumed(answer.assumptions)],
    )


def _short_window(answer: Replay) -> Iterator[Verdict]:
    """A sentence about a replay that is no longer than the limit: it shows nobody who waits longer."""
    length = answer.demand.until - answer.demand.since
    if answer.demand.snapshot is None and length <= answer.wait_limit:
        yield Verdict(
            f"the replay is {format_span(length)} long, so nobody can wait longer than {limit_text(answer.wait_limit)} "
            "in it: choose a shorter --wait-limit",
            "at risk",
        )


def _remark(answer: Replay) -> Iterator[str]:
    yield _played(answer)
    for refused in answer.answers:
        if not refused.accepted:
            yield answer_text(refused)
    for outcome in answer.added:
        yield outcome.sentence
    if answer.demand.is_of_snapshot:
        for displaced in answer.displaced:
            yield f"framework {displaced.name} would be offered {in_words(displaced.amounts)} less"
        if not answer.displaced:
            yield "no framework would be offered less"
    elif answer.added:
        delayed = ", ".join(f"{count:,} of {role}" for role, count in sorted(answer.delayed.items()))
        yield f"tasks that start later than without the changes: {delayed or 'none'}"
    yield from _trust(answer)


def assumed(assumptions: Iterable[str]) -> Iterator[str]:
    """Yield the assumptions below a line that says so."""
    yield "assumed:"
    yield from (f"  {sentence}" for sentence in assumptions)


def about_recording(answer: Replay) -> list[str]:
    """Return sentences about what was played, and how far to trust it: the same for all replays of one recording."""
    return ["", _played(answer), *_trust(answer), *assumed(answer.assumptions)]


def _played(answer: Replay) -> str:
    demand = answer.demand
    if demand.snapshot is not None:
        return f"the cluster at {utc_minute(demand.since)} UTC, played on {demand.master}"
    times = f"from {utc_minute(demand.since)} to {utc_minute(demand.until)} UTC"
    return f"{demand.cluster_id} {times}, played on {demand.master}"


def _trust(answer: Replay) -> Iterator[str]:
    if answer.demand.snapshot is None:
        yield answer.calibration.sentence


# --- The page -----------------------------------------------------------------------------------------


def replay_page(answer: Replay, origin: ReportOrigin) -> str:
    """An HTML report: the verdict, the table, and the waits and shares over time."""
    titles, rows = shown_cells(_report(answer, span_for_people))
    return html_report(
        f"Replay of {answer.demand.cluster_id}",
        answer.verdict,
        TONE_OF_ANSWERS[answer.answer],
        origin.facts(),
        [
            sentences("What is changed", answer.changes),
            section("Waits by role", text_table(titles, rows)),
            section("Tasks that wait, over time", _waits_chart(answer)),
            section("Who waits, by the hour of the day", _clock_table(answer, "Hour (UTC)", _hour, _HOURS)),
            section("Who waits, by the day of the week", _clock_table(answer, "Day (UTC)", _weekday, _WEEKDAYS)),
            section("Dominant shares, over time", _shares_chart(answer)),
            section("Who was served beyond and below the fair share, over time", _fairness_table(answer)),
            sentences("What this rests on", _remark(answer)),
            sentences("Assumed", answer.assumptions),
        ],
    )


_HOURS = [f"{hour:02}:00" for hour in range(24)]
_WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


def _hour(seconds: float) -> int:
    return int(seconds % 86_400 // 3600)


def _weekday(seconds: float) -> int:
    return int(seconds // 86_400 + 3) % 7  # 1970-01-01 was a Thursday


def _clock_table(answer: Replay, title: str, part_of: Callable[[float], int], names: Sequence[str]) -> str:
    """A table of the tasks that waited longer than the limit, of those that were asked for in each part of time."""
    assert answer.played_after is not None, "a page is made where it was played"
    assert answer.played_before is not None, "a page is made where it was played"
    sides = [("", answer.demand_after or answer.demand, answer.played_after)]
    if answer.changes:
        sides = [(" before", answer.demand, answer.played_before), (" after", *sides[0][1:])]
    found = [(word, waits_by_clock(demand, played, answer.wait_limit, part_of)) for word, demand, played in sides]
    worst = {
        role: max(sum(of.above_limit for of in by_role.get(role, {}).values()) for _, by_role in found)
        for role in answer.roles
    }
    roles = sorted(answer.roles, key=lambda role: (-worst[role], role))[:_MOST_ROLES]
    shown = [(f"{role}{word}", by_role.get(role, {})) for role in roles for word, by_role in found]
    nothing = TasksOfTime(0, 0)
    rows = [
        [name, *(f"{of.above_limit:,} of {of.tasks:,}" for of in (by.get(part, nothing) for _, by in shown))]
        for part, name in enumerate(names)
        if any(part in by for _, by in shown)
    ]
    words = f"Tasks that were asked for then, and waited more than {limit_text(answer.wait_limit)}."
    return f"{text_table([title, *(name for name, _ in shown)], rows)}\n<p><small>{words}</small></p>"


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


def _fairness_table(answer: Replay) -> str:
    before, after = _both_sides(answer, beyond_fair_shares)
    changes = before != after
    sides = [(before, " before"), (after, " after")] if changes else [(after, "")]
    nothing = [0.0] * _POINTS
    roles = sorted(
        {*before, *after}, key=lambda role: (-max(sum(map(abs, side.get(role, nothing))) for side, _ in sides), role)
    )[:_MOST_ROLES]
    if not roles:
        return "<p>No task ran.</p>"
    columns = [(f"{role}{word}", side.get(role, nothing)) for role in roles for side, word in sides]
    length = answer.demand.until - answer.demand.since

    def mean(values: Sequence[float], first: int) -> str:
        part = sum(values[first : first + _POINTS_A_ROW]) / len(values[first : first + _POINTS_A_ROW])
        return f"{'+' if part > 0 else '-' if part < 0 else ''}{percent_text(abs(part))}"

    rows = [
        [
            utc_moment(answer.demand.since + length * first / _POINTS, length * _POINTS_A_ROW / _POINTS),
            *(mean(values, first) for _, values in columns),
        ]
        for first in range(0, _POINTS, _POINTS_A_ROW)
    ]
    words = (
        "The mean until the next row of the dominant share, less the fair share: all that roles hold is divided among "
        "them by their weights, and none is counted for more than it has unless one of its tasks waits. A subrole "
        "counts for the role at the top."
    )
    return f"{text_table(['From (UTC)', *(name for name, _ in columns)], rows)}\n<p><small>{words}</small></p>"


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
        [
            utc_moment(moments[first], length * _POINTS_A_ROW / _POINTS),
            *(shown(max(values[first : first + _POINTS_A_ROW])) for _, values in columns),
        ]
        for first in range(0, _POINTS, _POINTS_A_ROW)
    ]
    table = text_table(["From (UTC)", *(name for name, _ in columns)], rows)
    return f"{drawing.svg()}\n{table}\n<p><small>Each row has the highest value until the next one.</small></p>"
