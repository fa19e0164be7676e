"""The list of tasks as a report."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mesosctl.model.amount_text import in_words
from mesosctl.model.notation import counted, utc_text
from mesosctl.model.quantities import Quantities
from mesosctl.model.reservations.holdings import RegisteredAgent
from mesosctl.model.roles import short_ids
from mesosctl.model.tasks import ListedTask
from mesosctl.model.values import IdentityCache
from mesosctl.output.formats.amounts import plain_resources_text
from mesosctl.output.formats.report import NOTHING, Column, Meaning, Report, Rows, naturally
from mesosctl.output.reservations import agent_id_column

if TYPE_CHECKING:
    from mesosctl.output.json_documents import tasks as documents

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
    tasks: Sequence[ListedTask], agents: Sequence[RegisteredAgent], *, empty: str, sort: str | None = None
) -> Report:
    """A line for every task; `agents` are all of the cluster, `empty` is shown if there is no task.

    `sort` is what --sort says.
    """
    shown = tasks if sort is not None else naturally(tasks, lambda one: one.id)

    def document() -> "documents.TaskList":
        from mesosctl.output.json_documents import tasks as models

        return models.TaskList(tasks=[])

    def items() -> "Iterator[documents.Task]":
        from mesosctl.output.json_documents import tasks as models

        return map(models.Task.of, tasks)

    frameworks = {one.framework_id: one.framework for one in tasks}
    is_shared = len(set(frameworks.values())) < len(frameworks)
    columns = (
        Column("TASK", rank=-1),
        Column("NAME", rank=3),
        Column("FRAMEWORK"),
        Column("ROLE", rank=2),
        Column("AGENT"),
        Column("STATE", meaning=_STATES, rank=-1),
        Column("RESOURCES", kind="amounts", rank=1),
        Column("SINCE", rank=4),
        Column("FRAMEWORK ID", wide=not is_shared, short=short_ids(frameworks) if is_shared else {}, rank=-1),
        agent_id_column(agents),
    )

    resources = IdentityCache(plain_resources_text)  # most tasks of a large cluster are alike

    def row(task: ListedTask) -> list[str]:
        return [
            task.id,
            task.name or NOTHING,
            task.framework,
            task.role,
            task.agent,
            task.state,
            resources.of(task.resources),
            NOTHING if task.since is None else utc_text(task.since),
            task.framework_id,
            task.agent_id,
        ]

    return Report(
        columns,
        Rows(shown, row),
        [task.id for task in shown],
        document,
        items,
        empty=empty,
        listing="tasks",
        terminal=lambda: Report(columns, Rows(shown, row), (), document, items, empty=empty, remark=_summary(tasks)),
    )


def _summary(tasks: Sequence[ListedTask]) -> list[str]:
    """How many tasks there are, in each state, and what they use together."""
    if not tasks:
        return []
    counts = Counter(task.state for task in tasks)
    states = ", ".join(f"{count} {state}" for state, count in sorted(counts.items()))
    used = Quantities.total(task.resources.scalar_quantities() for task in tasks if task.holds_resources)
    return [f"{counted(len(tasks), 'task')} ({states})" + (f"; used: {in_words(used)}" if used else "")]
