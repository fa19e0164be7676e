"""`mesosctl offers watch`."""

from typing import Annotated

import typer

from mesosctl.cli.offers.words import Agent, Framework, OfRole
from mesosctl.cli.session import Session
from mesosctl.cli.verb import verb
from mesosctl.ops.offers.listing import Wanted, watch_offers
from mesosctl.render.offers import change_line


def _every(text: str | float) -> float:
    """Seconds of --every.  Raises UsageError."""
    from mesosctl.core.durations import parse_seconds

    return parse_seconds(str(text), "--every", 0.05)


Every = Annotated[
    float,
    typer.Option("--every", metavar="SPAN", parser=_every, help="How often the master is asked: 1, 500ms or 5s."),
]
Changes = Annotated[
    int | None, typer.Option("--changes", metavar="NUMBER", min=1, help="End after so many; at Ctrl-C unless given.")
]
EXAMPLES = (
    ("offers watch", "what is offered now, and every change"),
    ("offers watch -o jsonl --role ads", "one role, a JSON object a line"),
)


@verb(EXAMPLES)
def command(
    session: Session,
    framework: Framework = None,
    role: OfRole = None,
    agent: Agent = None,
    every: Every = 1.0,
    changes: Changes = None,
) -> None:
    """Show offers as they come (+) and go (-), a line each.

    No master announces offers to operators, so it is asked again and again; what comes and goes
    between two questions is not seen.  A master that is away for a moment is waited for.
    """
    stream, wanted = session.environment.stdout, Wanted(framework, role, agent)
    with session.open_master() as master:
        for number, change in enumerate(watch_offers(master, wanted, every, session.note), 1):
            stream.write(change_line(change.what, change.offer, session.form, change.agent) + "\n")
            stream.flush()
            if number == changes:
                return
