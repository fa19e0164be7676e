"""`mesosctl ratelimit simulate`."""

from typing import Annotated

import typer

from mesosctl.cli.files import named
from mesosctl.cli.ratelimit.words import ConfigFile, read_config
from mesosctl.cli.session import Session
from mesosctl.cli.verb import verb

Traffic = Annotated[
    list[str],
    typer.Option(
        "--traffic",
        metavar="PATTERN",
        help="PRINCIPAL=RATE/s*SECONDS@START or PRINCIPAL=COUNT@START; - is no principal. Repeat.",
    ),
]
Svg = Annotated[
    str | None, typer.Option("--svg", metavar="FILE", help="Draw the queues into a file; - writes only that.")
]

EXAMPLES = (
    ("ratelimit simulate limits.json --traffic 'foo=200/s*10'", "200 messages a second for ten seconds"),
    (
        "ratelimit simulate limits.json --traffic 'foo=50/s*60' --traffic 'foo=5000@20' --svg queues.svg",
        "with a burst after twenty seconds, as a picture too",
    ),
)


@verb(EXAMPLES)
def command(session: Session, file: ConfigFile, traffic: Traffic, svg: Svg = None) -> None:
    """Play traffic through a file of rate limits: who waits, how long, and who overflows when.

    Time is virtual, so an hour takes a moment.  The throttle is the one of the fake master.
    """
    from pathlib import Path

    from mesosctl.core.ratelimit import check
    from mesosctl.core.ratelimit_simulation import simulate
    from mesosctl.core.ratelimit_standing import Simulation
    from mesosctl.core.traffic import parse_traffic
    from mesosctl.ops.files import write_atomically
    from mesosctl.ops.ratelimit.config_file import parse
    from mesosctl.render.ratelimit_simulation import simulation

    limits = parse(read_config(session, file), named(file)).limits
    check(limits)
    played = Simulation(limits, simulate(limits, parse_traffic(traffic)))
    instead = session.is_output(svg, "--svg")
    if not instead:
        session.emit(simulation(played))
    if svg is not None:
        from mesosctl.render.ratelimit_svg import picture

        if instead:
            session.emit_text(picture(played))
        else:
            write_atomically(Path(svg), picture(played), field="--svg")
            session.note(f"drawn into {svg}")
