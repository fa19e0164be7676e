"""`mesosctl ratelimit show`."""

from mesosctl.cli.session import Session
from mesosctl.cli.verb import verb

EXAMPLES = (
    ("ratelimit show", "limits beside live figures"),
    ("ratelimit show -o json", "the same for a program"),
)


@verb(EXAMPLES)
def command(session: Session) -> None:
    """Show the limits a master was started with, beside what each principal sends.

    A real master throttles and counts frameworks that use a driver; those of the HTTP API only
    show up with counters at 0.
    """
    from mesosctl.ops.ratelimit.state import show
    from mesosctl.render.ratelimit import standings

    with session.open_master() as master:
        session.emit(standings(show(master)))
