"""`mesosctl cleanup`."""

from functools import partial
from typing import Annotated

import typer

from mesosctl.apply.command import Work, carry_out
from mesosctl.apply.plan import Step
from mesosctl.apply.work import resume
from mesosctl.cleanup.report import cleanup_report, in_use_text
from mesosctl.cleanup.unused import Cleanup
from mesosctl.cleanup.work import note_more, note_subscribed, read_cleanup, select
from mesosctl.cli.arguments import TrustMaster, reserver_option, role_option
from mesosctl.cli.command import ChangeCommand, Group, examples
from mesosctl.cli.completion import callbacks as completing
from mesosctl.cli.session import Session
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.mesos.errors import UsageError
from mesosctl.show.output_formats import ROWS_ALONE
from mesosctl.show.report import Report
from mesosctl.suggestion import command

app = typer.Typer(cls=Group, rich_markup_mode=None)

CleanedRole = Annotated[str | None, role_option("Clean up this role and the roles below it.")]
CleanedFramework = Annotated[
    str | None,
    typer.Option(
        "--framework",
        metavar="FRAMEWORK",
        autocompletion=completing.frameworks,
        help="Clean up the roles of this framework, which may be gone; by its id or its name.",
        show_default=False,
    ),
]
CleanedReserver = Annotated[
    str | None,
    reserver_option("Clean up what this principal has reserved.", "it may be any principal"),
]
Restart = Annotated[
    bool, typer.Option("--restart", help="Discard an interrupted cleanup, and make a new plan.", show_default=False)
]


@app.command(
    "cleanup",
    cls=ChangeCommand,
    epilog=examples(
        ("cleanup --role ads --dry-run", "show what is unused, and what its release would do"),
        ("cleanup --framework kafka", "what a framework has left behind, after you have confirmed"),
        ("cleanup --reserver kafka-principal --yes", "everything unused that a principal has reserved"),
    ),
)
def cleanup(
    ctx: typer.Context,
    *,
    role: CleanedRole = None,
    framework: CleanedFramework = None,
    reserver: CleanedReserver = None,
    restart: Restart = False,
    trust_master: TrustMaster = False,
) -> None:
    """Destroy volumes and undo reservations that nothing uses.

    Unused volumes are destroyed first, with their data. Then reservations are undone, the outermost refinement first.
    What tasks or executors use is named, and left. Options that you give together must all hold.

    You are asked before it starts; a script must use --yes. Each step is confirmed and recorded in a journal: if a
    cleanup is interrupted, the same command continues it. If nothing is left to do, the exit status is 0.
    """
    session: Session = ctx.obj
    if role is None and framework is None and reserver is None:
        raise UsageError(
            "nothing is selected", field="--role", hint="give --role, --framework or --reserver, or several of them"
        )
    said = partial(command, "cleanup", role=role, framework=framework, reserver=reserver)
    key = f"cleanup {role=} {framework=} {reserver=}"  # whatever the name of the cluster
    with session.open_master() as master:
        wanted = select(master, role, framework, reserver)
        found: list[Cleanup] = []

        def planned(master: LeadingMaster) -> list[Step]:
            now = read_cleanup(master, wanted)
            if now.steps and not found:
                note_subscribed(master, wanted)
            found.append(now)
            return list(now.steps)

        def report(steps: list[Step], done: int, *, applied: bool) -> Report:
            if not found:  # an interrupted cleanup goes on, and nothing was planned
                found.append(read_cleanup(master, wanted))
            return cleanup_report(steps, done, applied=applied, cleanup=found[0], wanted=wanted)

        work = Work(
            verb="cleanup",
            text=key,
            file=said(),
            digest=key,
            planned=planned,
            resumed=partial(resume, digest=key),
            prove=partial(note_more, wanted=wanted),
            report=report,
            hint=f"make a new plan: {said(restart=True)}",
        )
        carry_out(session, master, work, restart=restart, trusts=trust_master)
        if found[0].left and session.form in ROWS_ALONE:
            session.note(f"in use, and left: {in_use_text(found[0].left)}")
