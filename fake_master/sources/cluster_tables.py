"""The tables of a cluster file: tasks, frameworks, and parts of agents; `example_cluster.toml` shows every key."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, get_args

from fake_master.sources.demand import Recurring, Span, parse_time_span, read_tasks
from fake_master.sources.initial_tasks import RunningTasks
from fake_master.sources.simulated_frameworks import Answer, SimulatedFrameworkSpec
from fake_master.state.tasks import TaskOutcome, TaskState
from mesosctl.api.files.rate_limits import RateLimits
from mesosctl.api.resource_text import read_resources
from mesosctl.model import rate_limits
from mesosctl.model.errors import BadInput, RuleViolation
from mesosctl.model.notation import parse_resources
from mesosctl.model.resources import Resources

Spec = TypeVar("Spec")
_KNOWN_RUNNING = {"agent", "resources", "role", "tasks", "volumes"}
_OUTCOMES: dict[str, TaskState] = {
    "finished": "TASK_FINISHED",
    "failed": "TASK_FAILED",
    "killed": "TASK_KILLED",
    "lost": "TASK_LOST",
}
_MOST_FRAMEWORKS = 100_000
_LARGEST = 10**15
# Seconds from one task to the next on average: with fewer, time would hardly pass.
_SHORTEST_BETWEEN = 0.001
_KNOWN = {
    "after",
    "answer",
    "capabilities",
    "connected",
    "count",
    "every",
    "from",
    "lasts",
    "name",
    "per_offer",
    "principal",
    "refuse_seconds",
    "role",
    "roles",
    "running",
    "suppressed",
    "task",
    "tasks",
}


def task_outcome(table: Any, where: str) -> TaskOutcome:
    """The table [tasks].  Raises BadInput."""
    if not isinstance(table, dict):
        raise BadInput(f"{where} is not a table", field=where)
    check_keys(table, {"outcome", "seconds", "stop_seconds"}, where)
    outcome = table.get("outcome", None if "seconds" not in table and "stop_seconds" in table else "finished")
    if outcome not in (*_OUTCOMES, None):
        raise BadInput(f"{where}: outcome is not one of {', '.join(_OUTCOMES)}", field=f"{where}.outcome")
    seconds, stop_seconds = (_seconds(table, key, where) for key in ("seconds", "stop_seconds"))
    return TaskOutcome(None if outcome is None else _OUTCOMES[outcome], seconds, stop_seconds)


def _seconds(table: dict[str, Any], key: str, where: str) -> float:
    value = table.get(key, 0)
    if not is_number(value) or value < 0:
        raise BadInput(f"{where}: {key} is not 0 or a positive number", field=f"{where}.{key}")
    return float(value)


def read_tables(
    entries: Sequence[Any], where: str, field: str, most: int, read: Callable[[dict[str, Any], str], list[Spec]]
) -> tuple[Spec, ...]:
    """Read an array of tables, each of which may describe several entries, at most `most` in all.  Raises BadInput."""
    found: list[Spec] = []
    for index, entry in enumerate(entries):
        if not isinstance(entry, dict):
            raise BadInput(f"{where}[{index}] is not a table", field=f"{where}[{index}]")
        found.extend(read(entry, f"{where}[{index}]"))
        if len(found) > most:
            raise BadInput(f"{where}: more than {most} {field}", field=f"{where}[{index}]")
    return tuple(found)


def simulated_frameworks(
    entries: Any, where: str, folder: Path = Path(), seed: int = 0
) -> tuple[SimulatedFrameworkSpec, ...]:
    """Read the array [[frameworks]]; files that it names are in `folder`.  Raises BadInput."""
    if not isinstance(entries, list):
        raise BadInput(f"{where} is not an array of tables", field=where)

    def read(entry: dict[str, Any], place: str) -> list[SimulatedFrameworkSpec]:
        return _simulated_frameworks(entry, place, folder, seed)

    return read_tables(entries, where, "frameworks", _MOST_FRAMEWORKS, read)


def _simulated_frameworks(entry: dict[str, Any], where: str, folder: Path, seed: int) -> list[SimulatedFrameworkSpec]:
    check_keys(entry, _KNOWN, where)
    name = entry.get("name", f"framework-{where.rpartition('[')[2].rstrip(']')}")
    if not isinstance(name, str) or not name:
        raise BadInput(f"{where}: name is not a string", field=f"{where}.name")
    answer = entry.get("answer", "accept")
    if answer not in get_args(Answer):
        raise BadInput(f"{where}: answer is not accept, decline or hold", field=f"{where}.answer")
    task = _task(entry, where)
    if answer == "accept" and not len(task) and "from" not in entry:
        raise BadInput(
            f"{where} has no task", field=f"{where}.task", hint='task = "cpus:1;mem:512MiB", or answer = "decline"'
        )
    refuse = entry.get("refuse_seconds", 5)
    if not is_number(refuse):
        raise BadInput(f"{where}: refuse_seconds is not a number", field=f"{where}.refuse_seconds")
    after = _seconds(entry, "after", where)
    count = _count(entry, "count", where)
    if count is not None and count > _MOST_FRAMEWORKS:
        raise BadInput(f"{where}: more than {_MOST_FRAMEWORKS} frameworks", field=f"{where}.count")
    if count is not None and count > 1 and entry.get("running"):
        raise BadInput(
            f"{where}: with count above 1, frameworks cannot have running tasks",
            field=f"{where}.count",
            hint="count = 1",
        )
    roles = _roles(entry, name, where)
    more = _from_before(entry, roles, where)
    if after and more:
        raise BadInput(
            f"{where}: a framework that subscribes later cannot have running tasks",
            field=f"{where}.after",
            hint="leave out after",
        )
    capabilities = entry.get("capabilities")
    if capabilities is not None:
        more["capabilities"] = () if capabilities == [] else _texts(capabilities, "capabilities", where)
    suppressed = _texts(entry["suppressed"], "suppressed", where) if entry.get("suppressed") else ()
    if not set(suppressed) <= set(roles):
        raise BadInput(
            f"{where}: suppressed names a role that is not one of the framework's roles", field=f"{where}.suppressed"
        )
    more |= _over_time(entry, answer, task, roles, where, folder)
    principal = entry.get("principal")
    if not (principal is None or isinstance(principal, str)):
        raise BadInput(f"{where}: principal is not a string", field=f"{where}.principal")
    return [
        SimulatedFrameworkSpec(
            name=f"{name}-{number}" if count is not None and count > 1 else name,
            roles=roles,
            task=task,
            tasks=_count(entry, "tasks", where),
            per_offer=_count(entry, "per_offer", where),
            answer=answer,
            refuse_seconds=float(refuse),
            after=after,
            principal=principal,
            suppressed=suppressed,
            seed=seed,
            where=where,
            **more,
        )
        for number in range(1, (count or 1) + 1)
    ]


def _over_time(
    entry: dict[str, Any], answer: str, task: Resources, roles: tuple[str, ...], where: str, folder: Path
) -> dict[str, Any]:
    """The fields about tasks that come over time: `every`, `lasts` and `from`."""
    present = [key for key in ("every", "lasts", "from") if key in entry]
    if not present:
        return {}
    if answer != "accept":
        problem = f'{where}: {present[0]} is for a framework that launches tasks, not for answer = "{answer}"'
        raise BadInput(problem, field=f"{where}.{present[0]}", hint=f"leave out {present[0]}, or answer")
    lasts = _span(entry, "lasts", where) if "lasts" in entry else None
    if "from" not in entry:
        if "every" not in entry:
            return {"lasts": lasts}
        every, number = _span(entry, "every", where), _count(entry, "tasks", where)
        if every.mean < _SHORTEST_BETWEEN:
            problem = f"{where}: every is below {1000 * _SHORTEST_BETWEEN:g}ms"
            raise BadInput(problem, field=f"{where}.every", hint='every = "10s"')
        return {"lasts": lasts, "demand": Recurring(task, every, lasts, number)}
    for key in ("every", "lasts", "tasks", "per_offer"):
        if key in entry:
            problem = f"{where} has both from and {key}"
            raise BadInput(problem, field=f"{where}.{key}", hint=f"the file says it; leave out {key}")
    name = entry["from"]
    if not isinstance(name, str) or not name:
        raise BadInput(f"{where}: from is not the name of a csv file", field=f"{where}.from", hint='from = "tasks.csv"')
    return {"demand": read_tasks(folder / name, f"{where}.from", task, roles)}


def _span(entry: dict[str, Any], key: str, where: str) -> Span:
    value = entry[key]
    if is_number(value) and value > 0:
        return Span.of(float(value))
    if not isinstance(value, str):
        raise BadInput(f"{where}: {key} is not a span of time", field=f"{where}.{key}", hint=f'{key} = "10m"')
    try:
        return parse_time_span(value, f"{where}.{key}")
    except BadInput as error:
        raise BadInput(f"{where}: {key}: {error.message}", field=error.field, hint=error.hint) from error


def _task(entry: dict[str, Any], where: str) -> Resources:
    task = _resources(entry, "task", where)
    if any(not resource.is_scalar or resource.is_reserved for resource in task):
        raise BadInput(f"{where}: a task takes plain amounts", field=f"{where}.task", hint='task = "cpus:1;mem:512MiB"')
    return task


def _resources(
    entry: dict[str, Any], key: str, where: str, read: Callable[[str], Resources] = parse_resources
) -> Resources:
    text = entry.get(key, "")
    if not isinstance(text, str):
        raise BadInput(f"{where}: {key} is not a string", field=f"{where}.{key}")
    try:
        return read(text)
    except RuleViolation as error:
        raise BadInput(f"{where}: {key}: {error.message}", field=f"{where}.{key}", hint=error.hint) from error


def _from_before(entry: dict[str, Any], roles: tuple[str, ...], where: str) -> dict[str, Any]:
    """The fields about a framework that is there before the master, and may be away; none of any other."""
    connected = entry.get("connected", True)
    if not isinstance(connected, bool):
        raise BadInput(f"{where}: connected is not true or false", field=f"{where}.connected")
    running = _running(entry.get("running", []), roles, where)
    return {"connected": connected, "running": running} if running or not connected else {}


def _running(entries: Any, roles: tuple[str, ...], where: str) -> tuple[RunningTasks, ...]:
    if not isinstance(entries, list):
        raise BadInput(
            f"{where}: running is not an array of tables", field=f"{where}.running", hint="[[frameworks.running]]"
        )
    return tuple(_running_tasks(entry, roles, f"{where}.running[{index}]") for index, entry in enumerate(entries))


def _running_tasks(entry: Any, roles: tuple[str, ...], where: str) -> RunningTasks:
    if not isinstance(entry, dict):
        raise BadInput(f"{where} is not a table", field=where, hint="[[frameworks.running]]")
    check_keys(entry, _KNOWN_RUNNING, where)
    agent, role, volumes = entry.get("agent"), entry.get("role"), entry.get("volumes")
    if not isinstance(agent, str) or not agent:
        raise BadInput(f"{where}: agent is not a host name", field=f"{where}.agent")
    resources = _resources(entry, "resources", where, read_resources)
    if role is None and len(roles) != 1:
        raise BadInput(
            f"{where}: name one of the framework's roles", field=f"{where}.role", hint=f'role = "{roles[0]}"'
        )
    if role is not None and not isinstance(role, str):
        raise BadInput(f"{where}: role is not a string", field=f"{where}.role")
    tasks = entry.get("tasks", 1)
    if isinstance(tasks, bool) or not isinstance(tasks, int) or not 0 <= tasks <= _LARGEST:
        raise BadInput(f"{where}: tasks is not 0 or a positive number", field=f"{where}.tasks")
    if not resources and not volumes:
        raise BadInput(
            f"{where} has neither resources nor volumes",
            field=f"{where}.resources",
            hint='resources = "cpus:1;mem:512MiB"',
        )
    return RunningTasks(agent, resources, tasks, role, _texts(volumes, "volumes", where) if volumes else (), where)


def _roles(entry: dict[str, Any], name: str, where: str) -> tuple[str, ...]:
    if "role" in entry and "roles" in entry:
        raise BadInput(f"{where} has both role and roles", field=f"{where}.roles")
    return _texts(entry.get("roles", [entry.get("role", name)]), "roles", where)


def _texts(value: Any, key: str, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not value or not all(isinstance(text, str) for text in value):
        raise BadInput(f"{where}: {key} is not a list of strings", field=f"{where}.{key}")
    return tuple(value)


def _count(entry: dict[str, Any], key: str, where: str) -> int | None:
    value = entry.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _LARGEST:
        raise BadInput(f"{where}: {key} is not a positive number", field=f"{where}.{key}")
    return value


def flag_texts(flags: Mapping[str, Any], where: str) -> dict[str, str]:
    """The table [flags], as texts.  Raises BadInput."""
    return {name: _flag_text(value, f"{where}.{name}") for name, value in flags.items()}


def _flag_text(value: Any, where: str) -> str:
    if not (isinstance(value, str | bool) or is_number(value)):
        raise BadInput(f"{where} is not a string, a number, true or false", field=where)
    return str(value).lower() if isinstance(value, bool) else str(value)


def is_number(value: Any) -> bool:
    """Return whether it is a number that can be reckoned with: TOML has infinities, and integers of any length."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _LARGEST


def check_keys(table: dict[str, Any], known: set[str], where: str) -> None:
    """Raises BadInput for a key that is not known; `where` is the path of the table, empty for the whole file."""
    for key in table:
        if key not in known:
            raise BadInput(
                f"{where}: '{key}' is not a key here".removeprefix(": "),
                field=f"{where}.{key}".removeprefix("."),
                hint="known: " + ", ".join(sorted(known)),
            )


def rate_limits_flag(table: Any) -> str:
    """The table [rate_limits], which has the keys of the documented JSON, as the flag.  Raises BadInput."""
    try:
        limits = RateLimits.read(table, "rate_limits").to_model()
    except BadInput as error:
        error.field = ".".join(filter(None, ("rate_limits", error.field)))
        raise
    faults = [(f"rate_limits.{fault.field}", fault.sentence) for fault in rate_limits.errors(limits)]
    if faults:
        raise BadInput("; ".join(map(": ".join, faults)), field=faults[0][0])
    return json.dumps(table)
