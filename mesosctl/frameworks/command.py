"""`mesosctl frameworks`: its verbs."""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated

import typer

from mesosctl.cli.arguments import Every, names_argument, nothing_found
from mesosctl.cli.command import ChangeCommand, Command, ListGroup, examples
from mesosctl.cli.completion import callbacks as completing
from mesosctl.cli.session import Session
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.frameworks.report import framework_list, teardown_report
from mesosctl.frameworks.teardown import plan_teardowns, tear_down_all
from mesosctl.mesos.amounts.notation import listed
from mesosctl.mesos.messages.elements.tasks import ShownTask
from mesosctl.reading.list_options import Count, OfRole, Watch, show_list, sort_option
from mesosctl.reading.lists import FRAMEWORK_KEYS, list_frameworks
from mesosctl.reading.selection import Selection
from mesosctl.reading.unreachable import number_unreachable, unreachable_in_words
from mesosctl.show.report import Report
from mesosctl.suggestion import command
from mesosctl.tasks.work import tasks_out_of_reach

app = typer.Typer(cls=ListGroup, rich_markup_mode=None)

FrameworkNames = Annotated[
    list[str] | None, names_argument("FRAMEWORK", completing.frameworks, "Show only these: ids or names.")
]
Ended = Annotated[bool, typer.Option("--all", help="Show completed frameworks too, as far as the master keeps them.")]
SortFrameworks = Annotated[str | None, sort_option(FRAMEWORK_KEYS)]


@app.command(
    "list",
    cls=Command,
    epilog=examples(
        ("frameworks", "every framework and what it holds"),
        ("frameworks --role ads --sort cpus", "the frameworks of a role, the one with the most cpus first"),
        ("frameworks marathon -o json", "one of them, for a program"),
    ),
)
def list_(  # noqa: PLR0913  # one parameter an option
    ctx: typer.Context,
    names: FrameworkNames = None,
    *,
    role: OfRole = None,
    ended: Ended = False,
    sort: SortFrameworks = None,
    watch: Watch = False,
    every: Every = 2.0,
    count: Count = None,
) -> None:
    """List frameworks and what they hold.

    With --role, list the frameworks that subscribe with the role. A framework that is disconnected is removed, with its
    tasks, when its failover timeout is over.
    """
    session: Session = ctx.obj
    wanted = Selection(names or (), role, (), sort)

    def read(master: LeadingMaster) -> Report:
        found = list_frameworks(master, wanted, ended=ended)
        empty = nothing_found("no frameworks are registered", {"--role": role})
        lost: Sequence[ShownTask] = ()
        if not (names or role or watch) and (number := number_unreachable(master)):
            lost = tasks_out_of_reach(master)
            titles = {framework.id: framework.title for framework in found}
            whose = [titles.get(task.framework_id, task.framework_id) for task in lost]
            master.notice(f"{unreachable_in_words(number, whose)}; {command('agents')} shows the ids of these agents")
        return framework_list(found, empty=empty, sort=sort, lost=Counter(task.framework_id for task in lost))

    show_list(session, read, watch=watch, every=every, count=count)


Frameworks = Annotated[
    list[str],
    typer.Argument(
        metavar="FRAMEWORK...",
        autocompletion=completing.frameworks,
        help="Frameworks: their names or ids.",
        show_default=False,
    ),
]


@app.command(
    "teardown",
    cls=ChangeCommand,
    epilog=examples(
        ("frameworks teardown marathon", "after you have confirmed"),
        ("frameworks teardown marathon --dry-run", "what it would free, and for whom"),
        ("frameworks teardown spark-1 spark-2 --yes", "two, without being asked"),
    ),
)
def teardown(ctx: typer.Context, framework: Frameworks) -> None:
    """Remove frameworks for good and kill their tasks.

    You are asked first; a script must use --yes. A framework cannot subscribe again with its id. What is reserved for
    its roles stays reserved, with its volumes; a note names it. The command waits until the master no longer lists
    them. If a name means no framework, or several, none is removed.
    """
    session: Session = ctx.obj
    with session.open_master() as master:
        v1 = session.options.api == "v1"
        if v1:
            master.check_has("TEARDOWN", "leave out --api v1, and POST /teardown is sent")
        plans = plan_teardowns(master, framework, session.progress)
        session.end_progress()
        for left in dict.fromkeys(plan.left for plan in plans if plan.left):
            session.note(left)
        session.confirm(f"Tear down {listed([plan.title for plan in plans])}?", "; ".join(plan.loss for plan in plans))
        done = tear_down_all(master, plans, v1=v1, wait=session.waits)
        session.emit(teardown_report(done))
