"""`mesosctl wait`: a script goes on when the cluster is as it needs it."""

from typing import Annotated

import typer

from mesosctl.cli.arguments import TrustMaster
from mesosctl.cli.command import Command, Group, examples
from mesosctl.cli.meanings import Meaning
from mesosctl.cli.session import Session
from mesosctl.mesos.errors import UsageError
from mesosctl.suggestion import command
from mesosctl.wait.completion import conditions as conditions_offered
from mesosctl.wait.conditions import parse_condition
from mesosctl.wait.report import condition_list
from mesosctl.wait.work import WaitOptions, wait_until

app = typer.Typer(cls=Group, rich_markup_mode=None)

Conditions = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="CONDITION...",
        autocompletion=conditions_offered,
        help="Conditions, which must all hold at the same time.",
        show_default=False,
    ),
    Meaning.AMOUNTS,
]
For = Annotated[
    list[str] | None,
    typer.Option(
        "--for",
        metavar="CONDITION",
        autocompletion=conditions_offered,
        help="The same as an argument. Repeat for several.",
    ),
    Meaning.AMOUNTS,
]


@app.command(
    "wait",
    cls=Command,
    epilog=examples(
        ("wait master=recovered", "until every agent is back after a failover"),
        ("wait agent/agent-1=drained --timeout 2h", "until its last task has ended"),
        ("wait role/web=met offers/web", "until both hold"),
        ("wait reserved/agent-1/ads=cpus:8", "until the master and the agent show a reservation"),
    ),
)
def wait(
    ctx: typer.Context,
    conditions: Conditions = None,
    *,
    for_: For = None,
    trust_master: TrustMaster = False,
) -> None:
    """Wait until conditions hold, or until --timeout, with exit status 9.

    agent/AGENT=STATUS: the agent is active, deactivated, draining or drained. role/ROLE=met: the guarantee of the role
    is used, reserved or offered; while no framework asks for what is missing, it lies free (kept), and the command says
    so. master=recovered: the master waits for no agents after a failover. offers/ROLE:
    something is offered to the role. reserved/AGENT/ROLE=RESOURCES: exactly these resources of the agent are reserved
    for the role, others do not count. With the word none, nothing is.

    A master that is away for a while, for example during a failover, is awaited too.
    """
    session: Session = ctx.obj
    wanted = [parse_condition(word) for word in dict.fromkeys([*(conditions or ()), *(for_ or ())])]
    if not wanted:
        raise UsageError(
            "no condition is given", field="CONDITION", hint=f"for example: {command('wait', 'master=recovered')}"
        )
    with session.open_master() as master:
        states = wait_until(master, wanted, WaitOptions(not trust_master, session.progress))
    session.end_progress()
    session.emit(condition_list(states))
