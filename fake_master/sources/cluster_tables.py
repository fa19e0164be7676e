"""The tables of a cluster file about frameworks, tasks and flags; `example_cluster.toml` shows every key."""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from fake_master.sources.demand import Demand, Recurring, Span, parse_time_span, read_tasks
from fake_master.sources.initial_tasks import RunningTasks
from fake_master.sources.simulated_frameworks import Answer, SimulatedFrameworkSpec
from fake_master.state.tasks import TaskOutcome, TaskState
from mesosctl.files.rate_limits import RateLimitsMessage
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.errors import BadInput, RuleViolation
from mesosctl.mesos.messages.resource_text import read_resources
from mesosctl.mesos.messages.strict.shapes import LARGEST, Name, Seconds, Table
from mesosctl.mesos.rules import rate_limits

_OUTCOMES: dict[str, TaskState] = {
    "finished": "TASK_FINISHED",
    "failed": "TASK_FAILED",
    "killed": "TASK_KILLED",
    "lost": "TASK_LOST",
}
_MOST_FRAMEWORKS = 100_000
# Seconds from one task to the next on average: with fewer, time would hardly pass.
_SHORTEST_BETWEEN = 0.001

# --- Their shapes -------------------------------------------------------------------------------------

_Number = Annotated[float, Meta(ge=-LARGEST, le=LARGEST)]
_Count = Annotated[int, Meta(ge=1, le=LARGEST)]
_Span = str | Annotated[float, Meta(gt=0, le=LARGEST)] | None
FlagValues = dict[
    str, str | bool | Annotated[int, Meta(ge=-LARGEST, le=LARGEST)] | Annotated[float, Meta(ge=-LARGEST, le=LARGEST)]
]
"""Flags by their names in Mesos."""


class TasksTable(Table):
    """How launched tasks end; without outcome and seconds, they run forever."""

    outcome: Annotated[Literal["finished", "failed", "killed", "lost"] | None, Meta(examples=["finished"])] = None
    seconds: Annotated[Seconds | None, Meta(description="How long they run.", examples=[30])] = None
    stop_seconds: Annotated[
        Seconds, Meta(description="How long they take to end when they are killed.", examples=[2])
    ] = 0.0


class RunningTable(Table):
    """Tasks of a framework that are running when the master starts."""

    agent: Annotated[Name, Meta(description="A host name.", examples=["agent-1"])]
    role: Annotated[str | None, Meta(description="Which of its roles, if it has several.", examples=["web"])] = None
    tasks: Annotated[
        int, Meta(description="So many tasks of equal size; 0 means an executor without tasks.", ge=0, le=LARGEST)
    ] = 1
    resources: Annotated[
        str,
        Meta(
            description="The total that they hold, as a text or as JSON; a role in brackets means reserved for it.",
            examples=["cpus:1;mem:512MiB"],
        ),
    ] = ""
    volumes: Annotated[list[str], Meta(description="Ids of persistent volumes that they use.", examples=[["db-1"]])] = (
        msgspec.field(default_factory=list)
    )


class FrameworkTable(Table):
    """One simulated framework, or several equal ones."""

    name: Annotated[Name | None, Meta(description="The default is framework-0, framework-1, …")] = None
    role: Annotated[str | None, Meta(description="The default is the name.", examples=["web"])] = None
    roles: Annotated[
        Annotated[list[str], Meta(min_length=1)] | None, Meta(description="Instead of role.", examples=[["web", "ads"]])
    ] = None
    principal: Annotated[str | None, Meta(examples=["p"])] = None
    task: Annotated[str, Meta(description="The resources of each task.", examples=["cpus:1;mem:512MiB"])] = ""
    tasks: Annotated[
        _Count | None,
        Meta(
            description="How many it wants to run; while all of them run, its roles are suppressed. The default is as "
            "many as there is room for. With every, their number in all; the default has no end.",
            examples=[10],
        ),
    ] = None
    per_offer: Annotated[
        _Count | None,
        Meta(description="How many it launches from one offer. The default is as many as fit.", examples=[1]),
    ] = None
    answer: Annotated[
        Answer, Meta(description="Whether it launches tasks, declines offers or leaves them unanswered.")
    ] = "accept"
    refuse_seconds: Annotated[
        _Number, Meta(description="The filter on offers that it cannot use.", extra={"unit": "seconds"}, examples=[5])
    ] = 5.0
    capabilities: Annotated[list[str] | None, Meta(examples=[["MULTI_ROLE"]])] = None
    after: Annotated[
        Seconds,
        Meta(description="Seconds until it subscribes, counted from the start of the master.", examples=[20]),
    ] = 0.0
    count: Annotated[
        _Count, Meta(description="So many equal frameworks; a number is appended to their names.", examples=[3])
    ] = 1
    every: Annotated[
        _Span, Meta(description="It asks for a new task this often; a span or a distribution.", examples=["10s"])
    ] = None
    lasts: Annotated[
        _Span, Meta(description="How long each of its tasks runs; a span or a distribution.", examples=["10m"])
    ] = None
    tasks_file: Annotated[
        Name | None,
        Meta(description="A csv file next to this one with the tasks that it asks for.", examples=["tasks.csv"]),
    ] = msgspec.field(default=None, name="from")
    suppressed: Annotated[list[str], Meta(description="Roles for which it wants no offers.", examples=[["web"]])] = (
        msgspec.field(default_factory=list)
    )
    connected: Annotated[bool, Meta(description="False: its scheduler is away, and its tasks keep running.")] = True
    running: list[RunningTable] = msgspec.field(default_factory=list)


# --- What they mean -----------------------------------------------------------------------------------


def task_outcome(table: TasksTable) -> TaskOutcome:
    """How the tasks of a master end."""
    outcome = table.outcome or (None if table.seconds is None else "finished")
    return TaskOutcome(None if outcome is None else _OUTCOMES[outcome], table.seconds or 0.0, table.stop_seconds)


def simulated_frameworks(
    tables: Iterable[FrameworkTable], where: str, folder: Path = Path(), seed: int = 0
) -> tuple[SimulatedFrameworkSpec, ...]:
    """The frameworks that tables describe; files that they name are in `folder`.

    Raises BadInput for what does not fit together, and for too many.
    """
    found: list[SimulatedFrameworkSpec] = []
    for index, table in enumerate(tables):
        place = f"{where}[{index}]"
        if len(found) + table.count > _MOST_FRAMEWORKS:
            raise BadInput(f"{place}: more than {_MOST_FRAMEWORKS} frameworks", field=f"{place}.count")
        found.extend(_simulated_frameworks(table, table.name or f"framework-{index}", place, folder, seed))
    return tuple(found)


def _simulated_frameworks(
    table: FrameworkTable, name: str, where: str, folder: Path, seed: int
) -> Iterator[SimulatedFrameworkSpec]:
    task = _task(table, where)
    if table.answer == "accept" and not len(task) and table.tasks_file is None:
        raise BadInput(
            f"{where} has no task", field=f"{where}.task", hint='task = "cpus:1;mem:512MiB", or answer = "decline"'
        )
    if table.count > 1 and table.running:
        raise BadInput(
            f"{where}: with count above 1, frameworks cannot have running tasks",
            field=f"{where}.count",
            hint="count = 1",
        )
    roles = _roles(table, name, where)
    more = _from_before(table, roles, where)
    if table.after and more:
        raise BadInput(
            f"{where}: a framework that subscribes later cannot have running tasks",
            field=f"{where}.after",
            hint="leave out after",
        )
    if table.capabilities is not None:
        more["capabilities"] = tuple(table.capabilities)
    if not set(table.suppressed) <= set(roles):
        raise BadInput(
            f"{where}: suppressed names a role that is not one of the framework's roles", field=f"{where}.suppressed"
        )
    more["lasts"], more["demand"] = _over_time(table, task, roles, where, folder)
    for number in range(1, table.count + 1):
        yield SimulatedFrameworkSpec(
            name=f"{name}-{number}" if table.count > 1 else name,
            roles=roles,
            task=task,
            tasks=table.tasks,
            per_offer=table.per_offer,
            answer=table.answer,
            refuse_seconds=table.refuse_seconds,
            after=table.after,
            principal=table.principal,
            suppressed=tuple(table.suppressed),
            seed=seed,
            where=where,
            **more,
        )


def _over_time(
    table: FrameworkTable, task: Resources, roles: tuple[str, ...], where: str, folder: Path
) -> tuple[Span | None, Demand | None]:
    """How long its tasks run, and the demand of a framework whose tasks come over time."""
    given = {"every": table.every, "lasts": table.lasts, "from": table.tasks_file}
    present = next((key for key, value in given.items() if value is not None), None)
    if present is not None and table.answer != "accept":
        problem = f'{where}: {present} is for a framework that launches tasks, not for answer = "{table.answer}"'
        raise BadInput(problem, field=f"{where}.{present}", hint=f"leave out {present}, or answer")
    if table.tasks_file is not None:
        said = {"every": table.every, "lasts": table.lasts, "tasks": table.tasks, "per_offer": table.per_offer}
        for key, value in said.items():
            if value is not None:
                hint = f"the file says it; leave out {key}"
                raise BadInput(f"{where} has both from and {key}", field=f"{where}.{key}", hint=hint)
        return None, read_tasks(folder / table.tasks_file, f"{where}.from", task, roles)
    lasts = None if table.lasts is None else _span(table.lasts, "lasts", where)
    if table.every is None:
        return lasts, None
    every = _span(table.every, "every", where)
    if every.mean < _SHORTEST_BETWEEN:
        problem = f"{where}: every is below {1000 * _SHORTEST_BETWEEN:g}ms"
        raise BadInput(problem, field=f"{where}.every", hint='every = "10s"')
    return lasts, Recurring(task, every, lasts, table.tasks)


def _span(value: str | float, key: str, where: str) -> Span:
    if not isinstance(value, str):
        return Span.of(value)
    try:
        return parse_time_span(value, f"{where}.{key}")
    except BadInput as error:
        raise BadInput(f"{where}: {key}: {error.message}", field=error.field, hint=error.hint) from error


def _task(table: FrameworkTable, where: str) -> Resources:
    with _in_table(where, "task"):
        task = parse_resources(table.task)
    if any(not resource.is_scalar or resource.is_reserved for resource in task):
        raise BadInput(f"{where}: a task takes plain amounts", field=f"{where}.task", hint='task = "cpus:1;mem:512MiB"')
    return task


@contextmanager
def _in_table(where: str, key: str) -> Iterator[None]:
    """Name the key whose value breaks a rule."""
    try:
        yield
    except RuleViolation as error:
        raise BadInput(f"{where}: {key}: {error.message}", field=f"{where}.{key}", hint=error.hint) from error


def _from_before(table: FrameworkTable, roles: tuple[str, ...], where: str) -> dict[str, Any]:
    """The fields about a framework that is there before the master, and may be away; none of any other."""
    running = tuple(
        _running_tasks(running, roles, f"{where}.running[{index}]") for index, running in enumerate(table.running)
    )
    return {"connected": table.connected, "running": running} if running or not table.connected else {}


def _running_tasks(table: RunningTable, roles: tuple[str, ...], where: str) -> RunningTasks:
    with _in_table(where, "resources"):
        resources = read_resources(table.resources)
    if table.role is None and len(roles) != 1:
        raise BadInput(
            f"{where}: name one of the framework's roles", field=f"{where}.role", hint=f'role = "{roles[0]}"'
        )
    if not resources and not table.volumes:
        raise BadInput(
            f"{where} has neither resources nor volumes",
            field=f"{where}.resources",
            hint='resources = "cpus:1;mem:512MiB"',
        )
    return RunningTasks(table.agent, resources, table.tasks, table.role, tuple(table.volumes), where)


def _roles(table: FrameworkTable, name: str, where: str) -> tuple[str, ...]:
    if table.role is not None and table.roles is not None:
        raise BadInput(f"{where} has both role and roles", field=f"{where}.roles")
    return tuple(table.roles or [name if table.role is None else table.role])


def flag_texts(flags: Mapping[str, str | bool | float]) -> dict[str, str]:
    """The table [flags], as texts."""
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in flags.items()}


def rate_limits_flag(table: Any) -> str:
    """The table [rate_limits], which has the keys of the documented JSON, as the flag.  Raises BadInput."""
    try:
        limits = RateLimitsMessage.read(table, "rate_limits").to_model()
    except BadInput as error:
        error.field = ".".join(filter(None, ("rate_limits", error.field)))
        raise
    faults = [(f"rate_limits.{fault.field}", fault.sentence) for fault in rate_limits.errors(limits)]
    if faults:
        raise BadInput("; ".join(map(": ".join, faults)), field=faults[0][0])
    return json.dumps(table)
