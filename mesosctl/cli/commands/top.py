"""`mesosctl top`."""

from typing import Annotated

import typer

from mesosctl.cli.command import Command, Group, examples
from mesosctl.cli.commands.cluster import Every
from mesosctl.cli.session import Session
from mesosctl.output.formats.report import TABLES

app = typer.Typer(cls=Group, rich_markup_mode=None)

Once = Annotated[
    bool,
    typer.Option(
        "--once", help="Write one reading and exit. This is the default without a terminal.", show_default=False
    ),
]
_FRAME = 0.25
"""Seconds until the screen is drawn again though no key was pressed."""


@app.command(
    "top",
    cls=Command,
    epilog=examples(
        ("top", "the cluster on one screen, refreshed every two seconds"),
        ("top --every 500ms", "four times as often"),
        ("top --once -o json", "one reading for a program"),
    ),
)
def top(ctx: typer.Context, *, once: Once = False, every: Every = 2.0) -> None:
    """Watch the whole cluster on one screen.

    It shows the share of each role as a bar with its guarantee and limit, the agents, the outstanding offers with their
    age, and the throttled principals. A full bar is the whole cluster.

    If the master has an event stream, changes to agents and frameworks show at once. There are no events for offers, so
    mesosctl also polls the master every few seconds. If the master stops answering, mesosctl tries again until it is
    back. A > before an age means that the offer is older than the first reading.

    Keys: q quits, p pauses, s sorts by share, name or status, r reverses, arrows scroll, space updates.
    """
    session: Session = ctx.obj
    environment = session.environment
    if once or session.form not in TABLES or not environment.overwrites(environment.stdout):
        from mesosctl.operations.top import OverviewReader
        from mesosctl.output.top import overview_report

        with session.open_master() as master:
            session.emit(overview_report(OverviewReader(master, environment.clock).read()))
        return
    watch(session, every)


def watch(session: Session, every: float) -> None:
    """Draw readings until a key says to leave.  Raises what the first reading raises."""
    from mesosctl.client.address import parse_address
    from mesosctl.operations.top import Feed
    from mesosctl.output.formats.live import FullScreen
    from mesosctl.output.top import Surroundings, TopState, top_screen

    environment = session.environment
    session.open_master().close()  # what is wrong with the words is said before the screen is taken
    address = parse_address(session.options.master or "")
    keys = environment.stdin if environment.stdin.isatty() else None
    name = environment.secrets.redact(session.options.context or session.options.master or "")
    state, shown = TopState(), None
    with session.held_notes(), Feed(session.open_master, every, events=address.fake is None) as feed:
        while feed.overview is None:
            if feed.failed is not None:
                raise feed.failed
            session.progress("reading the cluster …")
            environment.sleep(0.05)
        session.end_progress()
        with FullScreen(environment.stdout, keys, colours=environment.colours) as screen:
            while True:
                if feed.failed is not None:
                    raise feed.failed
                if shown is None or not state.paused:
                    shown = feed.overview
                width, height = environment.width(environment.stdout), environment.height(environment.stdout)
                around = Surroundings(name, every, feed.is_live, feed.trouble, tuple(feed.events))
                screen.show(top_screen(shown, state, around, width, height), width, height)
                key = screen.key(_FRAME)
                if key == "q":
                    return
                if key == " ":
                    feed.refresh()
                state.press(key, len(shown.roles))
