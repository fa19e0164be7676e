"""`mesosctl capacity`."""

from typing import Annotated

import typer

from mesosctl.capacity.losses import answer_of
from mesosctl.capacity.reading import play_losses
from mesosctl.capacity.report import spare_report
from mesosctl.capacity.work import SpareTerms
from mesosctl.cli.arguments import refuse_options
from mesosctl.cli.command import Command, Group, examples
from mesosctl.cli.session import Session
from mesosctl.mesos.exit_status import ExitStatus, status_of
from mesosctl.whatif.command import Cycles, FileVersion, From
from mesosctl.whatif.dry_run import begin_dry_run, emit_answer, terms_of
from mesosctl.whatif.losses import EACH_AGENT

app = typer.Typer(cls=Group, rich_markup_mode=None)

Each = Annotated[
    list[str] | None,
    typer.Option(
        "--each",
        metavar="NAME",
        help="What is lost: every single agent (agent), or the agents with each value of an attribute, such as rack. "
        "Repeat for several. The default is agent.",
    ),
]
AtOnce = Annotated[
    int,
    typer.Option("--at-once", metavar="N", min=1, max=2, help="Lose this many at once: 2 tries every pair."),
]
Every = Annotated[
    bool,
    typer.Option(
        "--all", help="Play every loss, also of those that look alike, and list each of them.", show_default=False
    ),
]


@app.command(
    "spare",
    cls=Command,
    epilog=examples(
        ("capacity spare", "whether the cluster can lose any one agent"),
        ("capacity spare --each rack", "whether it can lose any one rack"),
        ("capacity spare --each agent --at-once 2", "whether it can lose any two agents"),
        ("capacity spare --from prod.json --each agent --each rack -o json", "both, of a snapshot"),
    ),
)
def spare(  # one parameter an option
    ctx: typer.Context,
    *,
    each: Each = None,
    at_once: AtOnce = 1,
    every: Every = False,
    source: From = None,
    mesos_version: FileVersion = None,
    cycles: Cycles = 10,
) -> ExitStatus:
    """Forecast every loss of agents: which of them hurts, and whom.

    A loss hurts if whatif --lose-agent says NO to it, because a role falls below its guarantee or a role or framework
    has nothing left, or if a task that ends with the agents finds no place on those that remain. The losses that hurt
    are listed, the worst first. The exit status is 1 if there is one. The cluster is read once.

    Losses that look alike are played twice, the first and the last of them: agents with the same resources,
    reservations, tasks and offers, and values of an attribute with such agents. If these two differ, or with --all,
    each is played. Nothing is changed.
    """
    session: Session = ctx.obj
    if source is None:
        refuse_options({"--mesos-version": mesos_version}, "is for --from", "a live master's own rules are followed")
    asked = [SpareTerms(name, at_once, every) for name in dict.fromkeys(each or [EACH_AGENT])]
    dry_run, _ = begin_dry_run(session, source, terms_of(session, cycles, "hold", mesos_version), None)
    found = play_losses(session, dry_run, asked, session.progress)
    session.end_progress()
    emit_answer(session, spare_report(found, every=every))
    return status_of(answer_of(found))
