"""`mesosctl top`: a whole cluster on one screen."""

from dataclasses import replace
from typing import Annotated

import typer

from mesosctl.cli.arguments import Every
from mesosctl.cli.command import Group, SingleCommand, examples
from mesosctl.cli.session import Session
from mesosctl.client.address import parse_address
from mesosctl.offers.explanation import explain
from mesosctl.offers.report import explanation_report
from mesosctl.reading.lists import list_agents
from mesosctl.reading.overview import Feed, OverviewReader
from mesosctl.reading.selection import Selection
from mesosctl.show.live import FullScreen
from mesosctl.show.output_formats import TABLES
from mesosctl.top.report import ScreenStatus, TopState, large_table, overview_report, top_screen

app = typer.Typer(cls=Group, rich_markup_mode=None)

Once = Annotated[
    bool,
    typer.Option(
        "--once", help="Write one reading and exit. This is the default without a terminal.", show_default=False
    ),
]


_FRAME = 0.25
"""Seconds to wait for a key; then the screen is drawn again if what it shows has changed."""


@app.command(
    "top",
    cls=SingleCommand,
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
    back. "or more" after an age means that the offer is older than the first reading.

    Keys: 1 to 4 or Tab show roles, frameworks, agents or offers large. Arrows choose a line, Enter shows one role and
    why it is not offered more, / filters by name, s sorts by share, name or status, r reverses, p pauses, space
    updates, ? explains the keys, q quits. A filter that begins with "id:", "host:" or "name:" looks in names of that
    kind alone.
    """
    session: Session = ctx.obj
    environment = session.environment
    if once or session.form not in TABLES or not environment.overwrites(environment.stdout):
        with session.open_master() as master:
            session.emit(overview_report(OverviewReader(master, environment.clock).read()))
        return
    _watch_screen(session, every)


def _watch_screen(session: Session, every: float) -> None:
    """Draw readings until a key says to leave.  Raises what the first reading raises."""
    environment = session.environment
    session.open_master().close()  # a mistake in the arguments is reported before the screen is cleared
    address = parse_address(session.options.master or "")
    keys = environment.stdin if environment.stdin.isatty() else None
    name = environment.secrets.redact(session.settings.context_of_master or session.options.master or "")
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
                _look(feed, state)
                aside = feed.aside[1] if feed.aside is not None and feed.aside[0] == _looked_at(state) else None
                around = ScreenStatus(name, every, feed.is_live, feed.trouble, feed.happenings.sentences())
                values = (shown, replace(state), around, aside)  # a copy: keys change the state
                if not screen.shows(values, width, height):
                    large = large_table(shown, state, aside)
                    screen.show(top_screen(shown, state, around, width, height, large, aside), values, width, height)
                key = screen.key(_FRAME)
                if key == " " and not state.typing:
                    feed.refresh()
                state.press(key, large.names)
                if state.is_over:
                    return


def _looked_at(state: TopState) -> object:
    """Return what the screen shows beside the cluster: one role, the agents, or nothing."""
    return ("role", state.role) if state.role is not None else ("agents" if state.large == "agents" else None)


def _look(feed: Feed, state: TopState) -> None:
    """Let the reader read that too; why a role waits once, because it takes a snapshot of the cluster."""
    role, what = state.role, _looked_at(state)
    if role is not None:
        feed.look(what, lambda master: explanation_report(explain(master, role)))
    elif what is not None:
        feed.look(what, lambda master: list_agents(master, Selection()), again=True)
    else:
        feed.look(None, None)
