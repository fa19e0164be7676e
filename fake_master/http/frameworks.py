"""`/frameworks`, `/tasks` and `/teardown`, and the JSON in which frameworks, offers and tasks are shown.

Sources: Mesos documentation, "HTTP Endpoints"; Mesos operator HTTP API, "TEARDOWN".
"""

from collections.abc import Iterable
from operator import attrgetter
from typing import Any

from fake_master.http.operator_api import Body, Change
from fake_master.http.request_response import Refusal, Request, Response, Written, accepted_silently, json_response
from fake_master.http.response_cache import Parts, texts
from fake_master.services.subscriptions import Subscriptions
from fake_master.state.frameworks import Framework
from fake_master.state.master_state import MasterState
from fake_master.state.offers import Offer
from fake_master.state.tasks import SUMMARY_STATES, Task
from mesosctl.api.protobuf.messages import Field, Message
from mesosctl.api.resources import summary
from mesosctl.model.resources import Resources

_DEFAULT_LIMIT = 100
_TEARDOWN = Message(
    "Call.Teardown",
    {"framework_id": Field(Message("FrameworkID", {"value": Field("string", "required")}), "required")},
)


class FrameworkEndpoints:
    """Shows frameworks and their tasks, and ends frameworks."""

    def __init__(self, state: MasterState, subscriptions: Subscriptions) -> None:
        self._state = state
        self._subscriptions = subscriptions

    def frameworks(self, request: Request, principal: str | None) -> Response:
        """GET /frameworks, or one of them with `?framework_id=`."""
        state, wanted = self._state, request.query.get("framework_id")
        if wanted is None:
            return json_response({**in_full(state, principal), "unregistered_frameworks": []}, request)

        def chosen(some: Iterable[Framework]) -> list[dict[str, Any]]:
            return [framework(of) for of in visible(state, principal, some) if of.id == wanted]

        return json_response(
            {
                "frameworks": chosen(state.frameworks.values()),
                "completed_frameworks": chosen(state.completed_frameworks.values()),
                "unregistered_frameworks": [],
            },
            request,
        )

    def tasks(self, request: Request, principal: str | None) -> Response:
        """GET /tasks: running and completed ones, latest first unless `?order=asc`."""
        state, query = self._state, request.query
        found = [
            task
            for of in visible(state, principal, (*state.frameworks.values(), *state.completed_frameworks.values()))
            if query.get("framework_id", of.id) == of.id
            for task in (*of.tasks.values(), *of.unreachable_tasks.values(), *of.completed_tasks)
            if query.get("task_id", task.id) == task.id
        ]
        found.sort(key=_first_seen, reverse=query.get("order") != "asc")
        offset, limit = _number(query.get("offset"), 0), _number(query.get("limit"), _DEFAULT_LIMIT)
        return json_response({"tasks": [task_summary(task) for task in found[offset : offset + limit]]}, request)

    def teardown(self, request: Request, principal: str | None) -> Response:
        """POST /teardown."""
        form = request.form()
        if "frameworkId" not in form:
            raise Refusal(400, "Missing 'frameworkId' query parameter in the request body")
        self._remove(form["frameworkId"], principal)
        return accepted_silently()

    def calls(self) -> tuple[Change, ...]:
        """Return the calls of the operator API about frameworks."""
        return (Change("TEARDOWN", _TEARDOWN, self._call_teardown),)

    def _call_teardown(self, body: Body, principal: str | None) -> None:
        self._remove(body["framework_id"]["value"], principal)

    def _remove(self, framework_id: str, principal: str | None) -> None:
        """End a framework.  Raises Refusal (400) or Forbidden."""
        of = self._state.frameworks.get(framework_id)
        if of is None:
            raise Refusal(400, "No framework found with specified ID")
        self._state.flags.authorizer.require("teardown_frameworks", principal, of.principal)
        self._subscriptions.remove(of)


def visible(state: MasterState, principal: str | None, some: Iterable[Framework]) -> list[Framework]:
    """Return those of `some` whose user the principal may look at."""
    allows = state.flags.authorizer.allows
    return [of for of in some if allows("view_frameworks", principal, of.info["user"])]


def in_full(state: MasterState, principal: str | None) -> dict[str, Written]:
    """Return what /state and /frameworks share: the frameworks, present and completed, that a principal may see."""
    everybody = {
        "frameworks": state.frameworks.values(),
        "completed_frameworks": state.completed_frameworks.values(),
    }
    return {
        name: texts(state, f"{name} that {principal!r} sees").array(visible(state, principal, some), _parts, framework)
        for name, some in everybody.items()
    }


# Those that are replaced when they change.  What `_parts` does not name beside them is shown nowhere here.
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


def _parts(of: Framework) -> Parts:
    parts = [*_FIELDS(of), of.used(), of.offered(), *of.offers.values(), None, *of.executors.values()]
    for tasks in (of.tasks.values(), of.unreachable_tasks.values(), of.completed_tasks):
        parts.append(None)  # what moves from one of these to the next is another text
        for task in tasks:
            parts += _TASK_FIELDS(task)
            parts += task.statuses
    return tuple(parts)


def framework(of: Framework) -> dict[str, Any]:
    """A framework as /state and /frameworks show it."""
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
        "tasks": [task_summary(task) for task in of.tasks.values()],
        "unreachable_tasks": [task_summary(task) for task in of.unreachable_tasks.values()],
        "completed_tasks": [task_summary(task) for task in of.completed_tasks],
        "offers": [_offer_summary(offer) for offer in of.offers.values()],
        "executors": [
            {
                "executor_id": executor.id,
                "name": executor.info.get("name", ""),
                "framework_id": of.id,
                "command": executor.info.get("command", {}),
                "resources": summary(executor.resources),
                "slave_id": executor.agent_id,
            }
            for executor in of.executors.values()
        ],
        "offer_constraints": dict(of.offer_constraints),
    }
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


def _summary(of: Framework, used: Resources, offered: Resources) -> dict[str, Any]:
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


def framework_with_counts(of: Framework) -> dict[str, Any]:
    """A framework as /state-summary shows it."""
    counts: dict[str, int] = dict.fromkeys(SUMMARY_STATES, 0)
    for task in (*of.tasks.values(), *of.unreachable_tasks.values(), *of.completed_tasks):
        counts[task.state] = counts.get(task.state, 0) + 1
    return {**_summary(of, of.used(), of.offered()), **counts, "slave_ids": sorted(of.agents_used)}


def task_summary(task: Task) -> dict[str, Any]:
    """A task as /state and /tasks show it."""
    shown: dict[str, Any] = {
        "id": task.id,
        "name": task.name,
        "framework_id": task.framework_id,
        "executor_id": task.executor_id,
        "slave_id": task.agent_id,
        "state": task.state,
        "resources": summary(task.resources),
        "role": task.role,
        "statuses": [{"state": status["state"], "timestamp": status["timestamp"]} for status in task.statuses],
    }
    if "labels" in task.info:
        shown["labels"] = task.info["labels"].get("labels", [])
    shown |= {key: task.info[key] for key in ("discovery", "container", "health_check") if key in task.info}
    return shown


def _offer_summary(offer: Offer) -> dict[str, Any]:
    return {
        "id": offer.id,
        "framework_id": offer.framework_id,
        "allocation_info": {"role": offer.role},
        "slave_id": offer.agent_id,
        "resources": summary(offer.resources),
    }


def _first_seen(task: Task) -> float:
    return float(task.statuses[0]["timestamp"]) if task.statuses else 0.0


def _number(text: str | None, default: int) -> int:
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) < 10 else default
