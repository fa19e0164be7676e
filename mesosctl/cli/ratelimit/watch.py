"""`mesosctl ratelimit watch`."""

from collections.abc import Sequence
from typing import Annotated

import typer

from mesosctl.cli.ratelimit.words import Interval
from mesosctl.cli.session import Session
from mesosctl.cli.verb import verb
from mesosctl.core.errors import UsageError
from mesosctl.core.message_rates import Rates

Count = Annotated[
    int | None, typer.Option("--count", metavar="NUMBER", min=1, help="End after so many readings; else at Ctrl-C.")
]

EXAMPLES = (
    ("ratelimit watch", "live, until interrupted"),
    ("ratelimit watch --interval 10s -o jsonl", "one line for each principal and reading"),
    ("ratelimit watch --count 6 -o csv", "six readings as a table for a program"),
)

_UP_AND_CLEAR = "\x1b[{lines}A\x1b[J"


@verb(EXAMPLES)
def command(session: Session, interval: Interval = "5s", count: Count = None) -> None:
    """Watch the messages of each principal: received, processed, waiting, how fast, and until when there is room.

    Another master's counters begin anew, and counters come and go with their frameworks; no rate is
    told across such a break.  STATUS says which it was.
    """
    from mesosctl.core.durations import parse_span
    from mesosctl.ops.ratelimit.watching import Pace, watch

    environment = session.environment
    if count is None and session.form in ("json", "csv", "name"):
        raise UsageError(f"-o {session.form} needs an end", field="--count", hint="give --count, or use -o jsonl")
    pace = Pace(parse_span(interval, "--interval"), count, environment.clock, environment.sleep)
    with session.open_master() as master:
        readings = watch(master, pace)
        if session.form in ("json", "csv", "name"):
            _emit(session, list(readings))
            return
        drawn = 0
        for reading in readings:
            if drawn and environment.draws:
                environment.stdout.write(_UP_AND_CLEAR.format(lines=drawn))
            _emit(session, [reading])
            environment.stdout.flush()
            # One line for each principal, and the titles; or the sentence that there is none.
            drawn = len(reading[1]) + 1 if reading[1] else 1


def _emit(session: Session, readings: Sequence[tuple[float, Sequence[Rates]]]) -> None:
    from mesosctl.render.ratelimit import watched

    session.emit(watched(readings))
