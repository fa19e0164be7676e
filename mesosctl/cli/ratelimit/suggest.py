"""`mesosctl ratelimit suggest`."""

from typing import Annotated

import typer

from mesosctl.cli.ratelimit.words import Interval
from mesosctl.cli.session import Session
from mesosctl.cli.verb import verb

For = Annotated[str, typer.Option("--for", metavar="SPAN", help="How long to watch, such as 10m.")]
Headroom = Annotated[
    float,
    typer.Option("--headroom", metavar="FACTOR", min=1.0, help="The rate, as a multiple of the busiest interval."),
]
Burst = Annotated[str, typer.Option("--burst", metavar="SPAN", help="The capacity, as so much time at that rate.")]
Write = Annotated[
    str | None,
    typer.Option(
        "--file", "-f", metavar="FILE", help="Write the limits there; standard output unless given, and for -."
    ),
]

EXAMPLES = (
    ("ratelimit suggest --for 10m -f limits.json", "limits that would not have throttled the last ten minutes"),
    ("ratelimit suggest --for 1h --headroom 3 --burst 60s -f limits.json", "more generous ones"),
)


@verb(EXAMPLES)
def command(
    session: Session,
    span: For = "10m",
    interval: Interval = "10s",
    headroom: Headroom = 2.0,
    burst: Burst = "30s",
    file: Write = None,
) -> None:
    """Suggest limits from the traffic of a while, as a file that --rate_limits takes.

    Large rates already protect other frameworks, so start with these and lower them.  Only
    principals with counters are seen; the default is as large as the largest of them.
    """
    from math import ceil
    from pathlib import Path

    from mesosctl.core.durations import parse_span
    from mesosctl.ops.files import write_atomically
    from mesosctl.ops.ratelimit.config_file import dump
    from mesosctl.ops.ratelimit.watching import Pace, watch_and_suggest
    from mesosctl.render.ratelimit_simulation import suggestion
    from mesosctl.wire.rate_limits import RateLimits

    environment = session.environment
    step = parse_span(interval, "--interval")
    count = max(1, ceil(parse_span(span, "--for") / step)) + 1
    pace = Pace(step, count, environment.clock, environment.sleep)
    instead = session.is_output(file, "--file")
    with session.open_master() as master:
        made = watch_and_suggest(master, pace, headroom=headroom, burst=parse_span(burst, "--burst"))
    if not made.observed:
        session.note("no framework with a principal was seen: the suggestion is a guess")
    text = dump(RateLimits.of(made.limits).content())
    if instead or (session.form == "table" and file is None):
        session.emit_text(text)
        return
    if file is not None and session.options.dry_run:
        session.note(f"{file} is left alone: a dry run")
    elif file is not None:
        write_atomically(Path(file), text)
        session.note(f"written to {file}")
    session.emit(suggestion(made, text))
