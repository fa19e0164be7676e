"""`mesosctl offers`: its verbs; `offers_accept` has those that use an offer."""

from pathlib import Path
from typing import Annotated

import typer

from mesosctl.cli.arguments import Every, nothing_found, role_option
from mesosctl.cli.command import Command, Group, examples
from mesosctl.cli.commands import offers_accept
from mesosctl.cli.commands.offers_accept import Agent
from mesosctl.cli.completion import callbacks as completing
from mesosctl.cli.environment import named, opened
from mesosctl.cli.session import Session
from mesosctl.operations.offers import OfferSelection, list_offers, subscribed_roles, watch_offers
from mesosctl.output.offers.dominant_shares import offer_simulation
from mesosctl.output.offers.offers import change_line, offer_list

app = typer.Typer(cls=Group, rich_markup_mode=None)
app.add_typer(offers_accept.app)


Framework = Annotated[
    str | None,
    typer.Option(
        "--framework",
        metavar="FRAMEWORK",
        autocompletion=completing.frameworks,
        help="Only offers to this framework, by id or name.",
    ),
]
OfRole = Annotated[str | None, role_option("Only offers in this role.")]


@app.command(
    "list",
    cls=Command,
    epilog=examples(
        ("offers list", "every outstanding offer"),
        ("offers list --role ads -o wide", "the offers in one role, with ids"),
    ),
)
def list_(ctx: typer.Context, framework: Framework = None, role: OfRole = None, agent: Agent = None) -> None:
    """List outstanding offers and the frameworks that hold them."""
    session: Session = ctx.obj
    with session.open_master() as master:
        found = list_offers(master, OfferSelection(framework, role, agent))
        known = () if found or role is None else subscribed_roles(master)
    said = {"--framework": framework, "--role": role, "--agent": agent}
    session.emit(offer_list(found, empty=nothing_found("nothing is offered", said, known)))


Changes = Annotated[
    int | None,
    typer.Option(
        "--changes", metavar="NUMBER", min=1, help="Stop after this many lines. The default is to run until Ctrl-C."
    ),
]


@app.command(
    "watch",
    cls=Command,
    epilog=examples(
        ("offers watch", "what is offered now, and every change"),
        ("offers watch -o jsonl --role ads", "the offers of one role, as JSON lines"),
    ),
)
def watch(
    ctx: typer.Context,
    framework: Framework = None,
    role: OfRole = None,
    agent: Agent = None,
    every: Every = 1.0,
    changes: Changes = None,
) -> None:
    """Show offers as they come (+) and go (-), one line each.

    A master does not announce offers to operators, so mesosctl polls it, and misses offers that come and go between two
    readings. If the master cannot be reached, mesosctl waits for it.
    """
    session: Session = ctx.obj
    wanted = OfferSelection(framework, role, agent)
    with session.open_master() as master:
        for number, change in enumerate(watch_offers(master, wanted, every, session.note), 1):
            line = change_line(change.what, change.offer, session.form, change.agent)
            session.emit_line(line, "gained" if change.what == "offered" else "lost")
            if number == changes:
                return


Target = Annotated[
    str,
    typer.Argument(
        metavar="ROLE|FRAMEWORK",
        autocompletion=completing.roles_and_frameworks,
        help="A role, or a framework by id or name.",
        show_default=False,
    ),
]


@app.command(
    "explain",
    cls=Command,
    epilog=examples(
        ("offers explain ads", "every framework of a role"),
        ("offers explain marathon -o json", "every role of a framework, for a program"),
    ),
)
def explain(ctx: typer.Context, target: Target) -> None:
    """Explain why a role or framework is offered nothing.

    The allocator runs on a snapshot of the cluster and accounts for the resources of every agent: what others hold,
    what is reserved, what is kept for guarantees, what lies beyond a limit, and what the framework itself rules out.
    The answer also names what a master does not show, such as declined offers. -o wide shows every agent. Nothing is
    changed.
    """
    from mesosctl.operations.offer_explanation import explain
    from mesosctl.output.offers.offers import explanation_report

    session: Session = ctx.obj
    with session.open_master() as master:
        with session.waiting() as tell:
            explanations = explain(master, target, tell)
        session.emit(explanation_report(explanations))


Cluster = Annotated[
    Path,
    typer.Argument(metavar="FILE", help="A cluster file, or a snapshot; - is standard input.", show_default=False),
]
Steps = Annotated[int, typer.Option("--steps", metavar="NUMBER", min=1, help="Stop after this many accepted offers.")]
Svg = Annotated[
    Path | None,
    typer.Option("--svg", metavar="FILE", help="Also draw the dominant shares as SVG; - writes only the drawing."),
]


@app.command(
    "simulate",
    cls=Command,
    epilog=examples(
        ("offers simulate cluster.toml", "show who takes which offer, step by step"),
        ("offers simulate cluster.toml --svg shares.svg", "also draw the shares"),
    ),
)
def simulate(ctx: typer.Context, cluster: Cluster, steps: Steps = 1000, svg: Svg = None) -> None:
    """Simulate a cluster file or snapshot, offer by offer.

    It shows shares, dominant shares and totals after each accepted offer. No master is contacted, time is virtual, and
    the allocator is the fake master's. An asterisk marks each row's lowest dominant share: its framework is served
    next, if it has tasks to run. A share is divided by the weight of its role, guarantees come first, and a parent's
    share is that of everything that the roles below it hold. With the strict priority allocator, priority comes
    before all of that, and each step shows what was revoked before it.

    Frameworks of a snapshot launch more tasks of the average size of their running tasks. export --cluster writes a
    file in which you can change that.
    """
    from mesosctl.operations.offers import simulate

    session: Session = ctx.obj
    with opened(cluster, "FILE", session.environment.stdin) as file:
        sharing = simulate(file, named(cluster), steps)
    instead = session.is_output(svg, "--svg")
    if not instead:
        session.emit(offer_simulation(sharing))
    if svg is not None:
        from mesosctl.file_writing import write_atomically
        from mesosctl.output.formats.charts import chart

        if instead:
            session.emit_text(chart(sharing))
        else:
            write_atomically(svg, chart(sharing), field="--svg")
