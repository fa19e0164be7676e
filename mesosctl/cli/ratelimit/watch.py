"""`mesosctl ratelimit watch`."""

from io import StringIO
from typing import Annotated

import typer

from mesosctl.cli.ratelimit.words import Interval
from mesosctl.cli.session import Session
from mesosctl.cli.verb import verb
from mesosctl.core.errors import UsageError
from mesosctl.render import forms

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
    told across such a break.  STATUS says which it was, and `full` where a queue is full, so that the
    master refuses messages.
    """
    from mesosctl.core.durations import parse_span
    from mesosctl.ops.ratelimit.watching import Pace, watch
    from mesosctl.render.ratelimit import NOTHING_TO_WATCH, watched
    from mesosctl.render.report import write

    environment = session.environment
    if count is None and session.form in forms.ONE_PIECE:
        raise UsageError(f"-o {session.form} needs an end", field="--count", hint="give --count, or use -o jsonl")
    pace = Pace(parse_span(interval, "--interval"), count, environment.clock, environment.sleep)
    with session.open_master() as master:
        readings = watch(master, pace)
        if session.form in forms.ONE_PIECE:
            session.emit(watched(list(readings)))
            return
        above = 0
        was_empty = False
        for reading in readings:
            # On a terminal the table says so; whoever reads a pipe sees no table, and should not think that it hangs.
            is_empty = not reading.rates
            if is_empty and not was_empty and not environment.draws:
                session.note(f"{NOTHING_TO_WATCH}; looking again every {interval}")
                environment.tell_notes()
            was_empty = is_empty
            text = StringIO()
            draws, colours = environment.draws, environment.colours
            write(watched([reading]), session.form, text, environment.secrets, draws=draws, colours=colours)
            if above and environment.draws and session.form != "jsonl":
                environment.stdout.write(_UP_AND_CLEAR.format(lines=above))
            environment.stdout.write(text.getvalue())
            environment.stdout.flush()
            above = text.getvalue().count("\n")
