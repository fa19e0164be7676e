"""The JSON of frameworks and of what they hold: offers, tasks, executors and operations.

Each framework is written once, and again when one of its parts is replaced: see `response_cache`. Sources: Mesos
documentation, "HTTP Endpoints"; "Operator HTTP API", "GET_FRAMEWORKS" and the calls after it.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from operator import attrgetter
from typing import Any

from fake_master.http.json_text import AnswerPart, JsonPieces, ResourceTexts, dumps
from fake_master.http.views.response_cache import Parts, ResponseCache, texts, texts_seen
from fake_master.services import v1_messages
from fake_master.state.extension_points import AgentRuntime
from fake_master.state.frameworks import KnownFramework
from fake_master.state.master_state import MasterState
from fake_master.state.shown_since import has_member
from fake_master.state.tasks import SUMMARY_STATES, Executor, KnownTask, TaskGroup, count_of, tasks_of
from fake_master.state.visibility import EXECUTORS, FRAMEWORKS, TASKS, Sight
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.messages.protobuf_json.defaults import as_shown
from mesosctl.mesos.messages.resources import list_to_json, summary

_ANSWER = "mesos.v1.master.Response"
_FRAMEWORK = f"{_ANSWER}.GetFrameworks.Framework"
_EXECUTOR = f"{_ANSWER}.GetExecutors.Executor"
_OPERATION = "mesos.v1.Operation"
_TASK = "mesos.v1.Task"
_COMMAND = "mesos.v1.CommandInfo"


def sight(state: MasterState, principal: str | None) -> Sight:
    """Return what a principal may see."""
    return Sight(state.flags.authorizer, principal)


def visible(state: MasterState, principal: str | None, some: Iterable[KnownFramework]) -> list[KnownFramework]:
    """Return those of `some` whose user the principal may look at."""
    return list(filter(sight(state, principal).framework, some))


def visible_tasks(by: Sight, of: KnownFramework, some: Iterable[KnownTask | TaskGroup]) -> Iterator[KnownTask]:
    """Return those of a framework's tasks that may be seen."""
    return (task for entry in some for task in tasks_of(entry) if by.task(of, task))


def _texts_seen(state: MasterState, kind: str, principal: str | None) -> ResponseCache:
    return texts_seen(state, kind, principal, FRAMEWORKS, TASKS, EXECUTORS)


def in_full(state: MasterState, principal: str | None) -> dict[str, JsonPieces]:
    """Return what /state and /frameworks share: the frameworks, present and completed, that a principal may see."""
    everybody = {
        "frameworks": state.frameworks.values(),
        "completed_frameworks": state.completed_frameworks.values(),
    }
    view = partial(framework, state, texts=ResourceTexts(), by=sight(state, principal))
    return {
        name: _texts_seen(state, name, principal).array(visible(state, principal, some), _parts, view)
        for name, some in everybody.items()
    }


# Parts that are replaced when they change. Others that `_parts` does not name are not shown here.
_FIELDS = attrgetter(
    "info",
    "offer_constraints",
    "active",
    "connected",
    "recovered",
    "registered_time",
    "reregistered_time",
    "unregistered_time",
)
_TASK_FIELDS = attrgetter("id", "info", "agent_id", "executor_id", "state", "resources", "role")


def _parts(of: KnownFramework) -> Parts:
    parts = [*_FIELDS(of), of.used(), of.offered(), *of.offers.values(), None, *of.executors.values()]
    for tasks in (of.tasks_or_groups(), of.unreachable_tasks.values(), of.completed_tasks):
        parts.append(None)  # an entry that moves from one of these to another is written again
        parts += _task_parts(tasks)
    return tuple(parts)


def _task_parts(tasks: Iterable[KnownTask | TaskGroup]) -> list[Any]:
    """Return everything that the texts of tasks depend on."""
    parts: list[Any] = []
    for task in tasks:
        if isinstance(task, TaskGroup):
            parts.append(task)
        else:
            parts += _TASK_FIELDS(task)
            parts += task.statuses
    return parts


def in_summary(state: MasterState, principal: str | None) -> JsonPieces:
    """The frameworks that a principal may see, as /state-summary shows them: a JSON array."""

    def parts(of: KnownFramework) -> Parts:
        states = [task.state for task in of.all_tasks_or_groups()]
        return (*_FIELDS(of), of.used(), of.offered(), *of.task_groups(), *states)

    kept = _texts_seen(state, "frameworks with counts", principal)
    return kept.array(visible(state, principal, state.frameworks.values()), parts, framework_with_counts)


def framework(state: MasterState, of: KnownFramework, texts: ResourceTexts, by: Sight) -> dict[str, Any]:
    """A framework as /state and /frameworks show it, with the tasks and executors that may be seen."""

    def tasks(some: Iterable[KnownTask | TaskGroup]) -> list[dict[str, Any]]:
        return [task_summary(state, task, texts.summed) for task in visible_tasks(by, of, some)]

    used, offered = of.used(), of.offered()
    info = of.info
    shown: dict[str, Any] = {
        **_summary(of, used, offered),
        "user": info["user"],
        "failover_timeout": of.failover_timeout,
        "checkpoint": bool(info.get("checkpoint", False)),
        "registered_time": of.registered_time,
        "unregistered_time": of.unregistered_time or 0.0,
        "resources": summary(used + offered),
        "tasks": tasks(of.tasks_or_groups()),
        "unreachable_tasks": tasks(of.unreachable_tasks.values()),
        "completed_tasks": tasks(of.completed_tasks),
        "offers": [
            {
                "id": offer.id,
                "framework_id": offer.framework_id,
                "allocation_info": {"role": offer.role},
                "slave_id": offer.agent_id,
                "resources": texts.summed(offer.resources),
            }
            for offer in of.offers.values()
        ],
        "executors": [
            _executor_summary(state, executor) for executor in of.executors.values() if by.executor(of, executor)
        ],
    }
    if has_member(state.profile.release, "framework offer_constraints"):
        shown["offer_constraints"] = dict(of.offer_constraints)
    if "MULTI_ROLE" in of.capabilities:
        shown["roles"] = sorted(of.roles)
    else:
        shown["role"] = next(iter(of.roles))
    if of.principal is not None:
        shown["principal"] = of.principal
    if of.reregistered_time is not None:
        shown["reregistered_time"] = of.reregistered_time
    if "labels" in info:
        shown["labels"] = info["labels"].get("labels", [])
    return shown


def _summary(of: KnownFramework, used: Resources, offered: Resources) -> dict[str, Any]:
    """Return what /state and /state-summary share."""
    return {
        "id": of.id,
        "name": of.name,
        **({} if of.pid is None else {"pid": of.pid}),
        "used_resources": summary(used),
        "offered_resources": summary(offered),
        "capabilities": [entry.get("type", "UNKNOWN") for entry in of.info.get("capabilities", ())],
        "hostname": of.info.get("hostname", ""),
        "webui_url": of.info.get("webui_url", ""),
        "active": of.active,
        "connected": of.connected,
        "recovered": of.recovered,
    }


def framework_with_counts(of: KnownFramework) -> dict[str, Any]:
    """A framework as /state-summary shows it."""
    counts: dict[str, int] = dict.fromkeys(SUMMARY_STATES, 0)
    for task in of.all_tasks_or_groups():
        counts[task.state] = counts.get(task.state, 0) + count_of(task)
    return {**_summary(of, of.used(), of.offered()), **counts, "slave_ids": sorted(of.agents_used)}


def _executor_summary(state: MasterState, of: Executor) -> dict[str, Any]:
    """An executor as /state and /frameworks show it: its command without its user and without most of its URIs."""
    info = of.info
    command = as_shown(state.message(_COMMAND), info.get("command", {}))
    uris = [{"value": uri["value"], "executable": uri.get("executable", False)} for uri in command.get("uris", ())]
    shown = {name: command[name] for name in ("value", "environment") if name in command}
    if "shell" in info.get("command", {}):
        shown["shell"] = command["shell"]
    summed: dict[str, Any] = {
        "executor_id": of.id,
        "name": info.get("name", ""),
        "framework_id": of.framework_id,
        "command": {**shown, "argv": command.get("arguments", []), "uris": uris},
        "resources": summary(of.resources),
        "slave_id": of.agent_id,
    }
    roles = {entry.allocation_role for entry in of.resources}
    if roles:
        summed["role"] = next(iter(roles))
    if "labels" in info:
        summed["labels"] = info["labels"].get("labels", [])
    if "type" in info:
        summed["type"] = info["type"]
    return summed


def task_summary(state: MasterState, task: KnownTask, summed: Callable[[Resources], Any] = summary) -> dict[str, Any]:
    """A task as /state and /tasks show it; `summed` shows resources."""
    shown: dict[str, Any] = {
        "id": task.id,
        "name": task.name,
        "framework_id": task.framework_id,
        "executor_id": task.executor_id,
        "slave_id": task.agent_id,
        "state": task.state,
        "resources": summed(task.resources),
        "role": task.role,
        "statuses": [{"state": status.state, "timestamp": status.timestamp} for status in task.statuses],
    }
    if (user := task.user) is not None:
        shown["user"] = user
    if "labels" in task.info:
        shown["labels"] = task.info["labels"].get("labels", [])
    if "limits" in task.info:
        shown["limits"] = {name: limit["value"] for name, limit in task.info["limits"].items()}
    own = {key: task.info[key] for key in ("discovery", "container", "health_check") if key in task.info}
    shown |= as_shown(state.message(_TASK), own)
    return shown


# --- The calls of the operator API ----------------------------------------------------------------


def frameworks_described(state: MasterState, runtime: AgentRuntime, principal: str | None) -> dict[str, AnswerPart]:
    """Return the answer of GET_FRAMEWORKS for a principal."""

    def parts(of: KnownFramework) -> Parts:
        # Whatever is shown of an agent with an offer, and of its maintenance.
        agents = [state.agents[offer.agent_id] for offer in of.offers.values()]
        spans = map(state.maintenance.unavailability, agents)
        return (
            *_FIELDS(of),
            of.used(),
            of.offered(),
            *of.offers.values(),
            *[agent.revision for agent in agents],
            *spans,
        )

    def view(of: KnownFramework, listed: v1_messages.Listing = list_to_json) -> dict[str, Any]:
        shown = [
            v1_messages.operator_offer(state, offer, state.agents[offer.agent_id], listed)
            for offer in of.offers.values()
        ]
        return v1_messages.framework(of, shown, runtime.describe_framework(of))

    def array(kind: str, some: Iterable[KnownFramework]) -> AnswerPart:
        shown = visible(state, principal, some)
        listed = ResourceTexts().listed

        def in_json(of: KnownFramework) -> dict[str, Any]:
            found: dict[str, Any] = as_shown(state.message(_FRAMEWORK), view(of, listed))
            return found

        def pieces() -> JsonPieces:
            if runtime.shows_more:  # debts to a framework can change while its own parts stay the same
                return JsonPieces((dumps(list(map(in_json, shown))),))
            return _texts_seen(state, f"{kind} described", principal).array(shown, parts, in_json)

        return AnswerPart(pieces, lambda: list(map(view, shown)))

    return {
        "frameworks": array("frameworks", state.frameworks.values()),
        "completed_frameworks": array("completed frameworks", state.completed_frameworks.values()),
    }


def tasks_described(state: MasterState, principal: str | None) -> dict[str, AnswerPart]:
    """Return the answer of GET_TASKS for a principal."""
    by = sight(state, principal)
    shown = visible(state, principal, [*state.frameworks.values(), *state.completed_frameworks.values()])

    def array(kind: str, held: Callable[[KnownFramework], Collection[KnownTask | TaskGroup]]) -> AnswerPart:
        def view(of: KnownFramework) -> Iterable[Mapping[str, Any]]:
            listed = ResourceTexts().listed
            return (
                as_shown(state.message(_TASK), v1_messages.task(task, listed))
                for task in visible_tasks(by, of, held(of))
            )

        def pieces() -> JsonPieces:
            kept = _texts_seen(state, kind, principal)
            # Most frameworks have none of a kind.
            return kept.concatenated(filter(held, shown), lambda of: tuple(_task_parts(held(of))), view)

        return AnswerPart(
            pieces, lambda: [v1_messages.task(task) for of in shown for task in visible_tasks(by, of, held(of))]
        )

    return {
        "tasks": array("tasks", KnownFramework.tasks_or_groups),
        "unreachable_tasks": array("unreachable tasks", lambda of: of.unreachable_tasks.values()),
        "completed_tasks": array("completed tasks", lambda of: of.completed_tasks),
    }


def executors_described(state: MasterState, principal: str | None) -> dict[str, AnswerPart]:
    """Return the answer of GET_EXECUTORS for a principal."""
    by = sight(state, principal)

    def view(of: KnownFramework) -> Iterator[Mapping[str, Any]]:
        for executor in filter(partial(by.executor, of), of.executors.values()):
            yield {"executor_info": v1_messages.executor(executor), "agent_id": {"value": executor.agent_id}}

    kept = _texts_seen(state, "executors", principal)
    shown = visible(state, principal, state.frameworks.values())
    holders = [of for of in shown if of.executors]

    def pieces() -> JsonPieces:
        in_json = partial(as_shown, state.message(_EXECUTOR))
        return kept.concatenated(holders, lambda of: tuple(of.executors.values()), lambda of: map(in_json, view(of)))

    return {"executors": AnswerPart(pieces, lambda: [shown for of in holders for shown in view(of)])}


def operations_described(state: MasterState) -> dict[str, AnswerPart]:
    """Return the answer of GET_OPERATIONS."""
    waiting = state.operations

    def values() -> list[dict[str, Any]]:
        return [operation.message() for operation in waiting.values()]

    def pieces() -> JsonPieces:
        described = [as_shown(state.message(_OPERATION), value) for value in values()]
        return JsonPieces((dumps(described),))

    return (
        {"operations": AnswerPart(lambda: texts(state, "operations").whole(waiting.values, pieces), values)}
        if waiting
        else {}
    )
