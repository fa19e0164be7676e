"""The list of tasks as a report."""

from collections import Counter
from collections.abc import Sequence

from mesosctl.mesos.amounts.amount_text import in_words
from mesosctl.mesos.amounts.identity import IdentityCache
from mesosctl.mesos.amounts.notation import counted, utc_text
from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.mesos.cluster.holdings import RegisteredAgent
from mesosctl.mesos.cluster.tasks import UNREACHABLE, ListedTask
from mesosctl.mesos.cluster.unreachable import tasks_in_words
from mesosctl.mesos.names import PLAIN, Spelling
from mesosctl.mesos.roles import short_ids
from mesosctl.show.agent_column import agent_id_column
from mesosctl.show.amounts import plain_resources_text
from mesosctl.show.lists import list_report, rows_of
from mesosctl.show.report import Column, Meaning, Report, naturally
from mesosctl.suggestion import command
from mesosctl.tasks import documents

_STATES: dict[str, Meaning] = {
    "TASK_RUNNING": "met",
    "TASK_STAGING": "at risk",
    "TASK_STARTING": "at risk",
    "TASK_KILLING": "at risk",
    "TASK_UNREACHABLE": "at risk",
    "TASK_FAILED": "not met",
    "TASK_ERROR": "not met",
    "TASK_LOST": "not met",
    "TASK_DROPPED": "not met",
    "TASK_GONE": "not met",
    "TASK_GONE_BY_OPERATOR": "not met",
}


def task_list(
    tasks: Sequence[ListedTask],
    agents: Sequence[RegisteredAgent],
    *,
    empty: str,
    sort: str | None = None,
    spelling: Spelling = PLAIN,
) -> Report:
    """A line for every task; `agents` are all of the cluster, `empty` is shown if there is no task.

    `sort` is what --sort says, and `spelling` how names are typed.
    """
    shown = tasks if sort is not None else naturally(tasks, lambda task: task.id)
    frameworks = {task.framework_id: task.framework for task in tasks}
    is_shared = len(set(frameworks.values())) < len(frameworks)
    ends = short_ids(frameworks) if is_shared else {}
    short = {spelling.framework("id", task_id): end for task_id, end in ends.items()}
    lost = _on_unreachable_agents(tasks)
    resources = IdentityCache(plain_resources_text)  # most tasks of a large cluster are alike

    def framework(task: ListedTask) -> str:
        return spelling.framework("id" if task.framework == task.framework_id else "name", task.framework)

    columns: Sequence[Column[ListedTask]] = (
        Column("TASK", lambda task: spelling.task("id", task.id), rank=-1),
        Column("NAME", lambda task: spelling.task("name", task.name), rank=3),
        Column("FRAMEWORK", framework),
        Column("ROLE", lambda task: task.role, rank=2),
        Column("AGENT", lambda task: spelling.agent("id" if task.hostname is None else "host", task.agent)),
        Column("STATE", lambda task: task.state, meaning=_STATES, rank=-1),
        Column("RESOURCES", lambda task: resources.of(task.resources), kind="amounts", rank=1),
        Column("SINCE", lambda task: None if task.since is None else utc_text(task.since), rank=4),
        Column(
            "FRAMEWORK ID",
            lambda task: spelling.framework("id", task.framework_id),
            wide=not is_shared,
            short=short,
            rank=-1,
        ),
        agent_id_column(agents, lambda task: spelling.agent("id", task.agent_id)),
    )
    return list_report(
        documents.TaskList(tasks=[]),
        tasks,
        columns,
        name=lambda task: spelling.task("id", task.id),
        in_order=shown,
        empty=empty,
        terminal=lambda: Report(columns, rows_of(columns, shown), empty=empty, remark=[*_summary(tasks), *lost]),
        remark=lost,
    )


def _on_unreachable_agents(tasks: Sequence[ListedTask]) -> list[str]:
    """A sentence about tasks whose agents are unreachable, by framework; none if there are none."""
    frameworks = [task.framework for task in tasks if task.state == UNREACHABLE]
    if not frameworks:
        return []
    are = f"{tasks_in_words(frameworks)} {'is' if len(frameworks) == 1 else 'are'}"
    return [f"{are} on unreachable agents; {command('agents')} shows the ids of these agents"]


def _summary(tasks: Sequence[ListedTask]) -> list[str]:
    """How many tasks there are, in each state, and what they use together."""
    if not tasks:
        return []
    counts = Counter(task.state for task in tasks)
    states = ", ".join(f"{count} {state}" for state, count in sorted(counts.items()))
    used = Quantities.total(task.resources.scalar_quantities() for task in tasks if task.holds_resources)
    return [f"{counted(len(tasks), 'task')} ({states})" + (f"; used: {in_words(used)}" if used else "")]
