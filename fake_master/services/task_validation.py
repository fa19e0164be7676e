"""The rules for tasks and executors, as a master checks them before a launch.

Older releases have fewer of them (`VOLUMES_ARE_CHECKED` and those after it). Everything here takes decoded messages
(`TaskInfo`, `ExecutorInfo` and what they hold), and returns what is wrong with one, or None.  Source: Mesos
documentation, "Scheduler HTTP API", "Task Health Checking", "Nested Container and Task Group (Pod)", "Container
Volume", "Secrets" and "Mesos Containerizer"; for what they leave open, masters of the releases.
"""

import base64
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import lt
from typing import Any

from fake_master.services.accept_context import AcceptContext, entries
from mesosctl.mesos.amounts.quantities import Quantities, to_double
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.errors import RuleViolation
from mesosctl.mesos.messages.protobuf_json.ending_numbers import ending_number
from mesosctl.mesos.messages.protobuf_json.message_tables import Field, Message, default_of, mesos_message
from mesosctl.mesos.messages.protobuf_json.messages import wrapped
from mesosctl.mesos.messages.protobuf_json.releases import has
from mesosctl.mesos.messages.resources import to_model
from mesosctl.mesos.roles import id_error
from mesosctl.mesos.rules.reservations.rules import check_disk, check_gpus

Info = Mapping[str, Any]
"""A message, with the fields that were set."""
Problem = str | None
_NOTHING: Info = {}
VOLUMES_ARE_CHECKED, DOCKER_IS_CHECKED, OUTPUT_FILES_COUNT = "1.5.3", "1.6.2", "1.8.1"
"""The first releases that check the volumes of a container and its DockerInfo, and that hold two executors different if
they name different output files.  Seen on a master of each release."""
TASKS_OF_GROUPS_MAY_HAVE_NETWORKS = "1.6.2"
"""The first release that takes a task of a group with a network of its own.  Seen on a master of each release."""


# --- Commands and containers --------------------------------------------------------------------------


def command_problem(command: Info) -> Problem:
    """A CommandInfo: its environment."""
    return _first(map(_variable_problem, command.get("environment", _NOTHING).get("variables", ())))


def _variable_problem(variable: Info) -> Problem:
    kind, name = variable.get("type", "VALUE"), variable["name"]
    if kind == "UNKNOWN":
        return "Environment variable of type 'UNKNOWN' is not allowed"
    wanted, other = ("secret", "value") if kind == "SECRET" else ("value", "secret")
    of = f"Environment variable '{name}' of type '{kind}'"
    if wanted not in variable:
        return f"{of} must have a {wanted} set"
    if other in variable:
        return f"{of} must not have a {other} set"
    if kind != "SECRET":
        return None
    problem = _secret_problem(variable["secret"])
    if problem is not None:
        return f"Environment variable '{name}' specifies an invalid secret: {problem}"
    if b"\0" in base64.b64decode(variable["secret"].get("value", _NOTHING).get("data", "")):
        return f"Environment variable '{name}' specifies a secret that contains null bytes, which is not allowed there"
    return None


def _secret_problem(secret: Info) -> Problem:
    kind = secret.get("type", "UNKNOWN")
    for wanted, name, other in (("VALUE", "value", "reference"), ("REFERENCE", "reference", "value")):
        if kind == wanted and name not in secret:
            return f"Secret of type {kind} must have the '{name}' field set"
        if kind == wanted and other in secret:
            return f"Secret of type {kind} must not have the '{other}' field set"
    return None


def container_problem(container: Info, release: str | None = None) -> Problem:
    """A ContainerInfo: its volumes, and the parameters of Docker."""
    volumes = container.get("volumes", ()) if has(release, VOLUMES_ARE_CHECKED) else ()
    problem = _first(map(_volume_problem, volumes))
    if problem is not None:
        return f"Invalid volume: {problem}"
    if container["type"] != "DOCKER" or not has(release, DOCKER_IS_CHECKED):
        return None
    if "docker" not in container:
        return "DockerInfo 'docker' is not set for DOCKER typed ContainerInfo"
    parameters = container["docker"].get("parameters", ())
    if any(parameter["key"] == "name" for parameter in parameters):
        return "Parameter in DockerInfo must not be 'name'"
    return None


def _volume_problem(volume: Info) -> Problem:
    if sum(name in volume for name in ("host_path", "image", "source")) != 1:
        return "Only one of them should be set: 'host_path', 'image' and 'source'"
    if "source" not in volume:
        return None
    source = volume["source"]
    kind = source.get("type", "UNKNOWN")
    if kind == "UNKNOWN":
        return "'source.type' is unknown"
    # The secrets of a volume are not looked at, other than that of a variable.
    if kind == "CSI_VOLUME":
        volume = source.get("csi_volume")
        missing = "csi_volume" if volume is None else "csi_volume.static_provisioning"
        return None if "static_provisioning" in (volume or ()) else f"'source.{missing}' is not set for CSI volume"
    return None if kind.lower() in source else f"'source.{kind.lower()}' is not set for {kind} volume"


def _executable(command: Info) -> str:
    return "'shell command'" if command.get("shell", True) else "'executable path'"


# --- Health checks and checks -------------------------------------------------------------------------

_SECONDS = ("delay_seconds", "interval_seconds", "timeout_seconds", "grace_period_seconds")


def health_check_problem(check: Info) -> Problem:
    """A HealthCheck."""
    if "type" not in check:
        return "HealthCheck must specify 'type'"
    return _check_problem(check, "health check", check.get("command", _NOTHING)) or _seconds_problem(check)


def check_problem(check: Info) -> Problem:
    """A CheckInfo."""
    if "type" not in check:
        return "CheckInfo must specify 'type'"
    return _check_problem(check, "check", check.get("command", _NOTHING).get("command", _NOTHING)) or _seconds_problem(
        check
    )


def _check_problem(check: Info, what: str, command: Info) -> Problem:
    kind = check["type"]
    if kind == "UNKNOWN":
        return f"'{kind}' is not a valid {what} type"
    if kind.lower() not in check:
        return f"Expecting '{kind.lower()}' to be set for {kind} {what}"
    if kind == "COMMAND":
        if "value" not in command:
            return f"{what.capitalize()} must contain {_executable(command)}"
        problem = command_problem(command)
        return None if problem is None else f"{what.capitalize()}'s `CommandInfo` is invalid: {problem}"
    http = check["http"] if kind == "HTTP" else _NOTHING
    if what == "health check" and http.get("scheme", "http") not in ("http", "https"):
        return f"Unsupported HTTP {what} scheme: '{http['scheme']}'"
    if not http.get("path", "/").startswith("/"):
        return f"The path '{http['path']}' of HTTP {what} must start with '/'"
    return None


def _seconds_problem(check: Info) -> Problem:
    return _first(f"Expecting '{name}' to be non-negative" if check.get(name, 0.0) < 0 else None for name in _SECONDS)


def understood(info: Info) -> Info:
    """A TaskInfo of a LAUNCH with the type of its health check, which older frameworks leave out."""
    check = info.get("health_check")
    if check is None or "type" in check or ("command" in check) == ("http" in check):
        return info
    return {**info, "health_check": {**check, "type": "COMMAND" if "command" in check else "HTTP"}}


# --- Resources ----------------------------------------------------------------------------------------


def _resources_problem(entries: Sequence[Resource]) -> Problem:
    """The resources of one task or executor by themselves; each was readable."""
    try:
        check_gpus(entries, "resources")
        for entry in entries:
            check_disk(entry, "disk")
    except RuleViolation as error:
        return f"invalid resources: {error.message}"
    roles = {entry.allocation_role for entry in entries}
    if len(roles) > 1:
        return f"resources of several allocation roles: {', '.join(sorted(map(str, roles)))}"
    return _mixed(entries)


def _mixed(entries: Iterable[Resource]) -> Problem:
    """Twice the same volume, or revocable and regular resources of one name."""
    held = list(entries)
    volumes = [entry for entry in Resources(held) if entry.is_persistent_volume]
    ids = [(entry.role, entry.disk.persistence_id) for entry in volumes if entry.disk is not None]
    twice = next((name for role, name in ids if ids.count((role, name)) > 1), None)
    if twice is not None:
        return f"duplicate persistence ID: {twice}"
    for name in {entry.name: None for entry in held}:
        if len({entry.revocability for entry in held if entry.name == name}) > 1:
            return f"mixes revocable and non-revocable {name}"
    return None


def _overlap(parts: Sequence[Sequence[Resource]]) -> bool:
    """Whether two of these have ports, names or shared volumes in common."""
    together = Resources(entry for part in parts for entry in part).quantities()
    return together != Quantities.total(Resources(part).quantities() for part in parts)


def executor_held(context: AcceptContext, executor: Info | None) -> Resources:
    """The resources that an executor needs of the offer: none if it runs already."""
    if executor is None or runs_already(context, executor):
        return Resources()
    return resources_of(context, executor)


def resources_of(context: AcceptContext, info: Info) -> Resources:
    """The resources of a task or an executor."""
    return Resources(entries(info.get("resources", ()), context))


def runs_already(context: AcceptContext, executor: Info) -> bool:
    """Return whether the framework has this executor on the offer's agent."""
    return (context.agent.id, executor["executor_id"]["value"]) in context.framework.executors


def unreadable(context: AcceptContext, infos: Iterable[Info]) -> Problem:
    """Return why the resources of tasks and executors cannot be read, which fails their whole operation, or None."""
    for info in infos:
        try:
            entries(info.get("resources", ()), context)
        except RuleViolation as error:
            return error.message
    return None


# --- Tasks --------------------------------------------------------------------------------------------


def task_problem(context: AcceptContext, info: Info) -> Problem:
    """Return why one task of a LAUNCH is invalid, or None."""
    executor = info.get("executor")
    problem = _problem_of(context, info)
    if problem is None and ("command" in info) == (executor is not None):
        problem = "Task should have at least one (but not both) of CommandInfo or ExecutorInfo present"
    if problem is None and executor is not None:
        problem = _first(_lone_executor_problems(context, executor))
    problem = problem or _room_problem(context, [info], executor, "task and its executor is")
    if problem is None and _share_cgroups(info) is False:
        problem = "Only tasks in a task group may have 'share_cgroups' set to 'false'"
    return problem


def group_problem(context: AcceptContext, infos: Sequence[Info], executor: Info) -> Problem:
    """Return why a LAUNCH_GROUP is invalid, or None."""
    return _first(_group_problems(context, infos, executor))


def _group_problems(context: AcceptContext, infos: Sequence[Info], executor: Info) -> Iterator[Problem]:
    seen = set[str]()
    for info in infos:
        task_id = info["task_id"]["value"]
        problem = _problem_of(context, info) or _in_group_problem(info, context.release)
        if problem is None and task_id in seen:  # this ends a real master
            problem = f"Task has duplicate ID: {task_id}"
        seen.add(task_id)
        if problem is not None:
            yield f"Task '{task_id}' is invalid: {problem}"
    yield from _group_executor_problems(context, executor)
    for info in infos:
        if "executor" in info and not same_executor(info["executor"], executor, context.release):
            yield (
                f"The `ExecutorInfo` of task '{info['task_id']['value']}' is different from "
                f"executor '{executor['executor_id']['value']}'"
            )
    yield _too_small(context, executor)
    yield _room_problem(context, infos, executor, "task group and its executor are")
    yield _share_cgroups_problem(context, infos, executor)
    yield _own_cgroups_problem(executor)


def _problem_of(context: AcceptContext, info: Info) -> Problem:
    """Return the problem of a task by itself, or None."""
    return _first(_problems_of(context, info))


def _problems_of(context: AcceptContext, info: Info) -> Iterator[Problem]:
    """Apply the rules for a task by itself, one after another in the master's order."""
    task_id, agent_id = info["task_id"]["value"], info["agent_id"]["value"]
    yield id_error(task_id)
    if task_id in context.framework.all_tasks():
        yield f"Task has duplicate ID: {task_id}"
    if agent_id != context.agent.id:
        yield f"Task uses invalid agent {agent_id} while agent {context.agent.id} is expected"
    grace = info.get("kill_policy", _NOTHING).get("grace_period")
    yield _below_zero(grace, "Task's 'kill_policy.grace_period'")
    yield _below_zero(info.get("max_completion_time"), "Task's `max_completion_time`")
    yield _in("Task uses invalid check", check_problem, info.get("check"))
    yield _in("Task uses invalid health check", health_check_problem, info.get("health_check"))
    if not info.get("resources"):  # zero cpus are something
        yield "Task uses no resources"
    yield _in("Task uses", _resources_problem, entries(info.get("resources", ()), context), " ")
    yield _in("Task's `CommandInfo` is invalid", command_problem, info.get("command"))
    check_container = partial(container_problem, release=context.release)
    yield _in("Task's `ContainerInfo` is invalid", check_container, info.get("container"))
    yield _limits_problem(context, info)
    number = ending_number(mesos_message("mesos.v1.Task", context.release), info)
    if number is not None:
        yield f"Task's '{number}' is not finite: it would end a real master of {context.release}, which shows it"


def _limits_problem(context: AcceptContext, info: Info) -> Problem:
    limits = info.get("limits")
    if not limits:
        return None
    if "TASK_RESOURCE_LIMITS" not in context.agent.capabilities:
        return f"Agent {context.agent.id} does not support task resource limits"
    requested = resources_of(context, info).quantities()
    for name, limit in limits.items():
        if name not in ("cpus", "mem"):
            return f"Resource limits can only be set for cpus and mem, not for {name}"
        if name not in requested:
            return f"When a limit of {name} is specified, a request of {name} must also be specified"
        request = to_double(requested.get_amount(name))
        if (_is_less_memory if name == "mem" else lt)(limit["value"], request):
            return f"The limit of {name} must not be below its request"
    return None


def _is_less_memory(limit: float, request: float) -> bool:
    """Whether a limit of mem is below a request, as a master compares them: in bytes of whole megabytes, and 64 bits.

    So 32.4 is not below 32.5, -1 is far more, and 2**44 is none.  Infinity is never below, whatever its sign.
    """
    return not math.isinf(limit) and _bytes(limit) < _bytes(request)


def _bytes(megabytes: float) -> int:
    return wrapped("uint64", megabytes) * 2**20 % 2**64


def _in_group_problem(info: Info, release: str | None) -> Problem:
    """Apply the rules that only tasks of a group have."""
    container = info.get("container", _NOTHING)
    if container.get("type") == "DOCKER":
        return "Docker ContainerInfo is not supported on the task"
    if container.get("network_infos") and not has(release, TASKS_OF_GROUPS_MAY_HAVE_NETWORKS):
        return "NetworkInfos must not be set on the task"
    # A check over the network is taken all the same.
    if container.get("network_infos") and info.get("health_check", _NOTHING).get("type") in ("HTTP", "TCP"):
        return "HTTP and TCP health checks are not supported for nested containers not joining parent's network"
    if info.get("limits") and _share_cgroups(info) is not False:
        return (
            "Resource limits may only be set for tasks within a task group "
            "when the 'share_cgroups' field is set to 'false'"
        )
    return None


def _share_cgroups(info: Info) -> bool | None:
    found: bool | None = info.get("container", _NOTHING).get("linux_info", _NOTHING).get("share_cgroups")
    return found


def _own_cgroups_problem(executor: Info) -> Problem:
    if _share_cgroups(executor):
        return "The 'share_cgroups' field cannot be set to 'true' on executor containers"
    return None


def _share_cgroups_problem(context: AcceptContext, infos: Sequence[Info], executor: Info) -> Problem:
    """Tasks under one executor share its cgroups, or none of them does."""
    under = context.agent.id, executor["executor_id"]["value"]
    running = [
        task.info
        for task in context.framework.all_tasks().values()
        if (task.agent_id, task.executor_id) == under and not task.is_terminal
    ]
    if len({_share_cgroups(info) is not False for info in (*infos, *running)}) > 1:
        return (
            "If set, the value of 'share_cgroups' must be the same for all tasks in each task group "
            "and under a single executor"
        )
    return None


def _room_problem(context: AcceptContext, infos: Sequence[Info], executor: Info | None, who: str) -> Problem:
    parts = [entries(info.get("resources", ()), context) for info in infos]
    whole = [*parts, *([entries(executor.get("resources", ()), context)] if executor is not None else ())]
    problem = _mixed(entry for part in whole for entry in part)
    if problem is not None:
        return f"The resources of the {who.rpartition(' ')[0]} are invalid: {problem}"
    if _overlap(whole):
        return f"The resources of the {who.rpartition(' ')[0]} overlap"
    wanted = Resources(entry for part in parts for entry in part) + executor_held(context, executor)
    if not context.available.contains(wanted):
        return f"Total resources {wanted} required by {who} more than available {context.available}"
    return None


# --- Executors ----------------------------------------------------------------------------------------

_LEAST_CPUS, _LEAST_MEMORY = 10, 32_000
"""The least that the executor of a task group needs, in thousandths."""


def _lone_executor_problems(context: AcceptContext, executor: Info) -> Iterator[Problem]:
    """Apply the rules for the executor of a task of a LAUNCH, one after another in the master's order."""
    yield from _executor_problems(context, executor)
    if "type" not in executor and "command" not in executor:
        yield "'ExecutorInfo.command' must be set"
    if executor.get("type", "CUSTOM") != "CUSTOM":
        yield "'ExecutorInfo.type' must be 'CUSTOM'"
    own = resources_of(context, executor)
    if any(entry.shared for entry in own):  # which those of a group may have
        yield f"Executor resources {own} should not contain any shared resources"
    yield _own_cgroups_problem(executor)


def _group_executor_problems(context: AcceptContext, executor: Info) -> Iterator[Problem]:
    """Apply the rules for the executor of a group, one after another in the master's order."""
    yield from _executor_problems(context, executor, must_name_framework=True)
    if "type" not in executor:
        yield "'ExecutorInfo.type' must be set"
    if executor["type"] == "UNKNOWN":
        yield "Unknown executor type"
    if executor.get("container", _NOTHING).get("type") == "DOCKER":
        yield "Docker ContainerInfo is not supported on the executor"


def _executor_problems(
    context: AcceptContext, executor: Info, *, must_name_framework: bool = False
) -> Iterator[Problem]:
    """Apply the rules for an executor by itself, one after another in the master's order."""
    executor_id = executor["executor_id"]["value"]
    claimed, own = executor.get("framework_id", _NOTHING).get("value"), context.framework.id
    yield _type_problem(executor)
    yield id_error(executor_id)
    yield _below_zero(executor.get("shutdown_grace_period"), "ExecutorInfo's 'shutdown_grace_period'")
    yield _in("Executor's `CommandInfo` is invalid", command_problem, executor.get("command"))
    check_container = partial(container_problem, release=context.release)
    yield _in("Executor's `ContainerInfo` is invalid", check_container, executor.get("container"))
    if must_name_framework and claimed is None:
        yield "'ExecutorInfo.framework_id' must be set"
    if claimed not in (None, own):
        yield f"ExecutorInfo has an invalid FrameworkID (Actual: {claimed} vs Expected: {own})"
    yield _in("Executor uses", _resources_problem, entries(executor.get("resources", ()), context), " ")
    known = context.framework.executors.get((context.agent.id, executor_id))
    # A master knows whose executor it is, so that a task need not say it.
    owner = {"framework_id": {"value": own}}
    if known is not None and not same_executor({**executor, **owner}, {**known.info, **owner}, context.release):
        yield "ExecutorInfo is not compatible with existing ExecutorInfo with same ExecutorID."


def _type_problem(executor: Info) -> Problem:
    kind = executor.get("type")
    if kind == "CUSTOM" and "command" not in executor:
        return "'ExecutorInfo.command' must be set for 'CUSTOM' executor"
    if kind != "DEFAULT":
        return None
    if "command" in executor:
        return "'ExecutorInfo.command' must not be set for 'DEFAULT' executor"
    container = executor.get("container", _NOTHING)
    if container.get("type", "MESOS") != "MESOS":
        return "'ExecutorInfo.container.type' must be 'MESOS' for 'DEFAULT' executor"
    if "image" in container.get("mesos", _NOTHING):
        return "'ExecutorInfo.container.mesos.image' must not be set for 'DEFAULT' executor"
    return None


def _too_small(context: AcceptContext, executor: Info) -> Problem:
    """The executor of a group needs a little of everything."""
    own = resources_of(context, executor).quantities()
    name, cpus, memory = executor["executor_id"]["value"], own.get_amount("cpus"), own.get_amount("mem")
    if cpus < _LEAST_CPUS:
        return f"Executor '{name}' uses less CPUs ({_amount(cpus)}) than the minimum required ({_LEAST_CPUS / 1000})"
    if memory < _LEAST_MEMORY:
        least = f"{_LEAST_MEMORY // 1000}MB"
        has = f"{memory / 1000:g}MB" if memory else "None"
        return f"Executor '{name}' uses less memory ({has}) than the minimum required ({least})"
    return None if own.get_amount("disk") else f"Executor '{name}' uses no disk"


def _amount(milli: int) -> str:
    return f"{to_double(milli):g}" if milli else "None"


# --- Whether two executors are the same ---------------------------------------------------------------

_EXECUTOR = mesos_message("mesos.v1.ExecutorInfo")
_COUNTED: Mapping[str, Sequence[str]] = {
    "ExecutorInfo": (
        "type",
        "executor_id",
        "framework_id",
        "data",
        "command",
        "name",
        "source",
        "container",
        "discovery",
    ),
    "CommandInfo": ("value", "user", "shell", "arguments", "environment", "uris"),
    "CommandInfo.URI": ("value", "executable", "extract", "output_file"),
    "Environment.Variable": ("name", "value"),
    "ContainerInfo": ("type", "hostname", "docker", "volumes"),
    "ContainerInfo.DockerInfo": (
        *("image", "network", "privileged", "force_pull_image"),
        *("parameters", "port_mappings"),
    ),
    "Volume": ("container_path", "mode", "host_path"),
    "Port": ("number", "name", "protocol", "visibility"),
}
"""The fields by which a master compares messages that have others too, beside the resources of an executor."""


def same_executor(info: Info, other: Info, release: str | None = None) -> bool:
    """Whether a master holds two ExecutorInfos equal.

    It does not look at labels, networks, limits, images, secrets and whatever else `_COUNTED` leaves out, and it takes
    a field that is absent for its default.  It looks for each element of a list of the first, whose order means
    nothing, in that of the second; so a list that has one element twice equals one that has two, but not vice versa.
    """
    if Resources(map(to_model, info.get("resources", ()))) != Resources(map(to_model, other.get("resources", ()))):
        return False
    return _is_same(_EXECUTOR, info, other, release)


def _is_same(message: Message, info: Info, other: Info, release: str | None) -> bool:
    return all(
        _is_same_field(message.fields[name], info.get(name), other.get(name), release)
        for name in _COUNTED.get(message.title, message.fields)
        if name != "output_file" or has(release, OUTPUT_FILES_COUNT)
    )


def _is_same_field(field: Field, value: Any, other: Any, release: str | None) -> bool:
    kind = field.type
    if isinstance(kind, Message):
        if field.label != "repeated":
            return _is_same(kind, value or _NOTHING, other or _NOTHING, release)
        ones, others = value or (), other or ()
        return len(ones) == len(others) and all(any(_is_same(kind, a, b, release) for b in others) for a in ones)
    absent = [] if field.label == "repeated" else default_of(field)
    if absent == "UNKNOWN":  # a type that is unknown is not one that is absent
        return bool(value == other)
    return bool((absent if value is None else value) == (absent if other is None else other))


# --- Lists of rules -----------------------------------------------------------------------------------


def _first(problems: Iterable[Problem]) -> Problem:
    return next((problem for problem in problems if problem is not None), None)


def _in(where: str, rule: Callable[[Any], Problem], value: Any, separator: str = ": ") -> Problem:
    """Return the problem of a part, if it is there and has one."""
    problem = None if value is None else rule(value)
    return None if problem is None else f"{where}{separator}{problem}"


def _below_zero(duration: Info | None, what: str) -> Problem:
    return f"{what} must be non-negative" if duration is not None and duration["nanoseconds"] < 0 else None
