"""A simulation as a report: a table, and under it each queue as a row of bars."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from mesosctl.core.durations import format_span
from mesosctl.core.ratelimit_simulation import Outcome
from mesosctl.core.ratelimit_standing import Simulation, Suggestion
from mesosctl.render.ratelimit import NOBODY, number
from mesosctl.render.report import Column, Report

if TYPE_CHECKING:
    from mesosctl.render import ratelimit_documents as documents

_BARS = "▁▂▃▄▅▆▇█"
_BARS_WIDE = 60


def name_of(outcome: Outcome) -> str:
    """The principal, or that there is none."""
    return NOBODY if outcome.principal is None else outcome.principal


def simulation(played: Simulation) -> Report:
    """What became of each principal's messages."""

    def document() -> "documents.RateLimitSimulate":
        from mesosctl.render import ratelimit_documents as documents

        return documents.RateLimitSimulate(principals=[documents.Outcome.of(outcome) for outcome in played.outcomes])

    columns = (
        Column("PRINCIPAL"),
        Column("SENT"),
        Column("PROCESSED"),
        Column("REFUSED"),
        Column("OVERFLOWS AT"),
        Column("MEAN DELAY"),
        Column("LONGEST DELAY"),
        Column("LONGEST QUEUE"),
        Column("DONE AT", wide=True),
    )
    rows = [
        [
            name_of(outcome),
            str(outcome.sent),
            str(outcome.processed),
            str(outcome.refused),
            "-" if outcome.first_refused is None else format_span(outcome.first_refused),
            format_span(outcome.mean_delay),
            format_span(outcome.longest_delay),
            str(outcome.longest_queue),
            format_span(outcome.last_processed),
        ]
        for outcome in played.outcomes
    ]
    overflowing = [name_of(outcome) for outcome in played.outcomes if outcome.refused]
    return Report(columns, rows, overflowing, document, lambda: document().principals, remark=bars(played.outcomes))


def bars(outcomes: Sequence[Outcome]) -> list[str]:
    """The length of each queue over time, one line a principal; nothing where nobody waits."""
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
    tallest = max(lengths)
    return "".join(" " if not length else _BARS[(length * len(_BARS) - 1) // tallest] for length in lengths)


def sampled(outcome: Outcome, end: float, columns: int) -> list[int]:
    """The longest the queue was in each of `columns` equal spans from 0 to `end` seconds."""
    found = [0] * columns
    for (start, length), (stop, _) in pairwise([*outcome.queue, (end, 0)]):
        first, last = int(start / end * columns), int(stop / end * columns)
        for column in range(first, min(max(last, first + 1), columns)):
            found[column] = max(found[column], length)
    return found


def suggestion(made: Suggestion, limits_json: str) -> Report:
    """The file on standard output as it is; other forms say what it was made from."""

    def document() -> "documents.RateLimitSuggest":
        import json

        from mesosctl.render import ratelimit_documents as documents

        return documents.RateLimitSuggest(
            seconds=made.seconds,
            observed=[documents.Observed.of(one) for one in made.observed],
            rate_limits=json.loads(limits_json),
        )

    return Report(
        (Column("PRINCIPAL"), Column("MEAN"), Column("PEAK")),
        [[one.principal, number(one.mean, 3), number(one.peak, 3)] for one in made.observed],
        [one.principal for one in made.observed],
        document,
        lambda: document().observed,
    )
