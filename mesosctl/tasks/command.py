"""`mesosctl tasks`: its verbs."""

from typing import Annotated

import typer

from mesosctl.cli.arguments import Every, OnlyAgent, names_argument, nothing_found, selectors_of
from mesosctl.cli.command import REMOVE, Command, ListGroup, examples
from mesosctl.cli.completion import callbacks as completing
from mesosctl.cli.session import Session
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.reading.list_options import Count, OfRole, OnAgentsWith, Watch, show_list, sort_option
from mesosctl.show.report import Report
from mesosctl.suggestion import command
from mesosctl.tasks.report import task_list
from mesosctl.tasks.work import TASK_KEYS, WantedTasks, list_tasks, state_named, state_names


class _Tasks(ListGroup):
    """The verbs of tasks: none ends a task, because a master has no call for that."""

    def instead(self, word: str) -> str | None:
        """The command that ends all tasks of a framework."""
        if word not in (*REMOVE, "kill", "stop"):
            return None
        return (
            "Mesos has no call that kills a task: only its framework does; "
            f"{command('frameworks teardown', 'FRAMEWORK')} removes a framework with all of its tasks"
        )


app = typer.Typer(cls=_Tasks, rich_markup_mode=None)

TaskNames = Annotated[list[str] | None, names_argument("TASK", completing.tasks, "Show only these: ids or names.")]
OfFramework = Annotated[
    str | None,
    typer.Option(
        "--framework",
        metavar="FRAMEWORK",
        autocompletion=completing.frameworks,
        help="Show only the tasks of this framework: its name or its id.",
        show_default=False,
    ),
]
InState = Annotated[
    list[str] | None,
    typer.Option(
        "--state",
        metavar="STATE",
        autocompletion=state_names,
        help="Show only tasks in this state, such as running or TASK_FAILED, also if it is final. Repeat for several.",
    ),
]
Ended = Annotated[bool, typer.Option("--all", help="Show tasks that have ended too, as far as the master keeps them.")]
SortTasks = Annotated[str | None, sort_option(TASK_KEYS)]


@app.command(
    "list",
    cls=Command,
    epilog=examples(
        ("tasks", "every task that has not ended, and what it uses"),
        ("tasks --framework marathon --sort -since", "the tasks of a framework, those that changed last first"),
        ("tasks --agent agent-1 --sort mem", "what runs on an agent, the largest first"),
        ("tasks --role web --state failed --state lost", "the tasks of a role that went wrong"),
    ),
)
def list_(  # noqa: PLR0913  # one parameter an option
    ctx: typer.Context,
    names: TaskNames = None,
    *,
    framework: OfFramework = None,
    role: OfRole = None,
    agent: OnlyAgent = None,
    attribute: OnAgentsWith = None,
    state: InState = None,
    ended: Ended = False,
    sort: SortTasks = None,
    watch: Watch = False,
    every: Every = 2.0,
    count: Count = None,
) -> None:
    """List tasks and what each of them uses.

    Without --all or --state, list the tasks that have not ended. RESOURCES are those of the task, without its executor.
    A task that has ended, or whose agent is unreachable, does not hold them any more. SINCE is the time of its last
    status. Mesos has no call that ends a single task: frameworks teardown ends all of a framework, and agents drain all
    on an agent.
    """
    session: Session = ctx.obj
    states = [state_named(word, "--state") for word in state or ()]
    attributes = selectors_of(attribute)
    wanted = WantedTasks(names or (), framework, role, agent, attributes, states, ended, sort)
    said = {
        "--framework": framework,
        "--role": role,
        "--agent": agent,
        "--attribute": ",".join(attribute or ()) or None,
        "--state": ",".join(state or ()) or None,
    }

    def read(master: LeadingMaster) -> Report:
        found = list_tasks(master, wanted, session.progress)
        empty = nothing_found("there are no tasks", said)
        return task_list(found.tasks, found.agents, empty=empty, sort=sort, spelling=found.spelling)

    show_list(session, read, watch=watch, every=every, count=count)
