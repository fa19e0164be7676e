"""A simulation as a report: a table, and under it each queue as a row of bars."""

import json
from collections.abc import Iterator, Sequence
from html import escape
from itertools import pairwise

from mesosctl.mesos.amounts.notation import format_span
from mesosctl.mesos.amounts.quantities import format_double
from mesosctl.mesos.cluster.message_rates import Simulation, Suggestion
from mesosctl.mesos.errors import printable
from mesosctl.mesos.rules.rate_limit_simulation import PrincipalTraffic
from mesosctl.ratelimit import documents
from mesosctl.ratelimit.report import NOBODY, number
from mesosctl.show.charts import sparkline, time_axis
from mesosctl.show.lists import list_report
from mesosctl.show.report import Column, Report

_BARS_WIDE = 60


def name_of(outcome: PrincipalTraffic) -> str:
    """The principal, or that there is none."""
    return NOBODY if outcome.principal is None else outcome.principal


def simulation(played: Simulation) -> Report:
    """The messages of each principal: processed, refused, delayed."""
    before = {outcome.principal: outcome for outcome in played.before}
    columns: list[Column[PrincipalTraffic]] = [
        Column("PRINCIPAL", name_of),
        Column("SENT", lambda outcome: outcome.sent, kind="number"),
        Column("PROCESSED", lambda outcome: outcome.processed, kind="number", rank=1),
        Column("REFUSED", lambda outcome: outcome.refused, kind="number"),
        Column(
            "OVERFLOWS AT",
            lambda outcome: None if outcome.first_refused is None else format_span(outcome.first_refused),
            kind="number",
        ),
        Column("MEAN DELAY", lambda outcome: format_span(outcome.mean_delay), kind="number", rank=2),
        Column("LONGEST DELAY", lambda outcome: format_span(outcome.longest_delay), kind="number"),
        Column("LONGEST QUEUE", lambda outcome: outcome.longest_queue, kind="number"),
        Column("DONE AT", lambda outcome: format_span(outcome.last_processed), wide=True, kind="number"),
    ]
    if before:
        columns += [
            Column(
                "REFUSED BEFORE", lambda outcome: (was := before.get(outcome.principal)) and was.refused, kind="number"
            ),
            Column(
                "LONGEST DELAY BEFORE",
                lambda outcome: (was := before.get(outcome.principal)) and format_span(was.longest_delay),
                kind="number",
            ),
        ]
    return list_report(
        documents.RateLimitSimulate(principals=[], before=[documents.Outcome.of(outcome) for outcome in played.before]),
        played.outcomes,
        columns,
        names=[name_of(outcome) for outcome in played.outcomes if outcome.refused],
        remark=bars(played.outcomes),
    )._replace(verbatim=True)


def bars(outcomes: Sequence[PrincipalTraffic]) -> list[str]:
    """The length of each queue over time, one line a principal; nothing if no message waits."""
    queueing = [outcome for outcome in outcomes if outcome.longest_queue]
    if not queueing:
        return []
    end = max(outcome.last_processed for outcome in queueing)
    widest = max(len(name_of(outcome)) for outcome in queueing)
    lines = [
        f"{name_of(outcome).ljust(widest)}  {_row(sampled(outcome, end, _BARS_WIDE))}  at most {outcome.longest_queue}"
        for outcome in queueing
    ]
    return ["", f"waiting messages, from 0 to {format_span(end)}:", *lines]


def _row(lengths: Sequence[int]) -> str:
    return sparkline(lengths, max(lengths))


def sampled(outcome: PrincipalTraffic, end: float, columns: int) -> list[int]:
    """The longest queue in each of `columns` equal spans from 0 to `end` seconds."""
    found = [0] * columns
    for (start, length), (stop, _) in pairwise([*outcome.queue, (end, 0)]):
        first, last = int(start / end * columns), int(stop / end * columns)
        for column in range(first, min(max(last, first + 1), columns)):
            found[column] = max(found[column], length)
    return found


def suggestion(made: Suggestion, limits_json: str) -> Report:
    """The file on standard output as it is; other forms say what it was made from."""
    return list_report(
        documents.RateLimitSuggest(seconds=made.seconds, observed=[], rate_limits=json.loads(limits_json)),
        made.observed,
        (
            Column("PRINCIPAL", lambda load: load.principal),
            Column("MEAN", lambda load: number(load.mean, 3), kind="number"),
            Column("PEAK", lambda load: number(load.peak, 3), kind="number"),
            Column(
                "THROTTLED AT",
                lambda load: None if load.throttled_at is None else number(load.throttled_at, 3),
                key="throttled_at",
                wide=all(load.throttled_at is None for load in made.observed),
                kind="number",
            ),
        ),
        name=lambda load: load.principal,
    )


_WIDTH, _HEIGHT, _LEFT, _GAP = 720, 100, 60, 64
_COLUMNS = _WIDTH - _LEFT - 20
_MOST_ABOVE = 4
"""A capacity up to this multiple of the longest queue is within the panel; a higher one would flatten the queue."""


def chart(played: Simulation) -> str:
    """SVG: one panel a principal, all with the same time axis, each as tall as its own queue and its capacity."""
    end = max((outcome.last_processed for outcome in played.outcomes), default=0.0) or 1.0
    height = len(played.outcomes) * (_HEIGHT + _GAP) + 20
    box = f"0 0 {_WIDTH} {height}"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" role="img" style="font: 12px sans-serif">',
        "<title>Waiting messages by principal</title>",
        f'<rect width="{_WIDTH}" height="{height}" fill="white"/>',
    ]
    for index, outcome in enumerate(played.outcomes):
        lines.append(f'<g transform="translate({_LEFT},{30 + index * (_HEIGHT + _GAP)})">')
        lines.extend(_panel(played, outcome, end))
        lines.append("</g>")
    return "\n".join([*lines, "</svg>"]) + "\n"


def _panel(played: Simulation, outcome: PrincipalTraffic, end: float) -> Iterator[str]:
    _, limit = played.limits.queue_of(outcome.principal)
    capacity = limit.capacity if limit.throttles else None
    tallest = max(outcome.longest_queue, 1)
    if capacity is not None and tallest < capacity <= _MOST_ABOVE * tallest:
        tallest = capacity
    rate = "not throttled" if limit.qps is None else f"{format_double(limit.qps)} messages/s"
    refused = f", {outcome.refused} refused" if outcome.refused else ""
    yield (
        f'<text x="0" y="-8"><tspan font-weight="bold">{escape(printable(name_of(outcome)))}</tspan> '
        f"{rate}; longest queue {outcome.longest_queue}, "
        f"longest delay {format_span(outcome.longest_delay)}{refused}</text>"
    )
    yield from _axes(tallest, end)
    heights = sampled(outcome, end, _COLUMNS)
    points = " ".join(f"{x},{_HEIGHT - _HEIGHT * length / tallest:.1f}" for x, length in enumerate(heights))
    yield f'<polygon points="0,{_HEIGHT} {points} {_COLUMNS},{_HEIGHT}" fill="#4a7ebb" fill-opacity="0.6"/>'
    yield f'<path d="M0,0 V{_HEIGHT} H{_COLUMNS}" fill="none" stroke="black"/>'
    if capacity is not None:
        yield from _capacity_line(capacity, tallest)
    if outcome.first_refused is not None:
        x = min(_COLUMNS * outcome.first_refused / end, _COLUMNS)
        yield f'<path d="M{x:.1f},0 V{_HEIGHT}" stroke="#b03030"/>'
        # Beside the line, on the side with more room.
        label, anchor = (x + 4, "start") if x < _COLUMNS / 2 else (x - 4, "end")
        said = f"overflows at {format_span(outcome.first_refused)}"
        yield f'<text x="{label:.1f}" y="{_HEIGHT - 6}" text-anchor="{anchor}" fill="#b03030">{said}</text>'


def _axes(tallest: int, end: float) -> Iterator[str]:
    """Messages upwards, time to the right."""
    for count in sorted({0, tallest // 2, tallest}):
        y = _HEIGHT - _HEIGHT * count / tallest
        yield f'<path d="M0,{y:.1f} H{_COLUMNS}" stroke="#dddddd"/>'
        yield f'<text x="-6" y="{y + 4:.1f}" text-anchor="end">{count}</text>'
    yield (
        f'<text transform="translate(-44,{_HEIGHT / 2:.0f}) rotate(-90)" text-anchor="middle" fill="#555555">'
        "messages</text>"
    )
    yield from time_axis(_COLUMNS, _HEIGHT, end)


def _capacity_line(capacity: int, tallest: int) -> Iterator[str]:
    """The capacity of the queue as a line, or a note at the top if it is far above the queue."""
    if capacity > tallest:
        yield (
            f'<text x="{_COLUMNS}" y="12" text-anchor="end" fill="#b03030">capacity {capacity}, above this panel</text>'
        )
        return
    y = _HEIGHT - _HEIGHT * capacity / tallest
    yield f'<path class="capacity" d="M0,{y:.1f} H{_COLUMNS}" stroke="#b03030" stroke-dasharray="4 3"/>'
    below = y + 13 if y < _HEIGHT / 2 else y - 4
    yield f'<text x="{_COLUMNS}" y="{below:.1f}" text-anchor="end" fill="#b03030">capacity {capacity}</text>'
