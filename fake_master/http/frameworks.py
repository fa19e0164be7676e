"""`/frameworks`, `/tasks` and `/teardown`.

Sources: Mesos documentation, "HTTP Endpoints"; Mesos documentation, "Operator HTTP API", "TEARDOWN".
"""

from collections.abc import Iterable
from itertools import islice
from typing import Any

from fake_master.http.json_text import ResourceTexts
from fake_master.http.operator_api import Body, Change
from fake_master.http.request_response import Refusal, Request, Response, accepted_silently, json_response
from fake_master.http.views.frameworks import framework, in_full, sight, task_summary, visible, visible_tasks
from fake_master.services.subscriptions import Subscriptions
from fake_master.state.frameworks import KnownFramework
from fake_master.state.master_state import MasterState
from fake_master.state.tasks import KnownTask, TaskGroup

_DEFAULT_LIMIT = 100


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

        texts, by = ResourceTexts(), sight(state, principal)

        def chosen(some: Iterable[KnownFramework]) -> list[dict[str, Any]]:
            return [framework(state, of, texts, by) for of in visible(state, principal, some) if of.id == wanted]

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
        by = sight(state, principal)
        found = [
            (of, task)
            for of in visible(state, principal, (*state.frameworks.values(), *state.completed_frameworks.values()))
            if query.get("framework_id", of.id) == of.id
            for task in of.all_tasks_or_groups()
        ]
        found.sort(key=lambda pair: _first_seen(pair[1]), reverse=query.get("order") != "asc")
        offset, limit = _number(query.get("offset"), 0), _number(query.get("limit"), _DEFAULT_LIMIT)
        tasks = (
            task
            for of, entry in found
            for task in visible_tasks(by, of, [entry])
            if query.get("task_id", task.id) == task.id
        )
        shown = [task_summary(state, task) for task in islice(tasks, offset, offset + limit)]
        return json_response({"tasks": shown}, request)

    def teardown(self, request: Request, principal: str | None) -> Response:
        """POST /teardown."""
        form = request.form()
        if "frameworkId" not in form:
            raise Refusal(400, "Missing 'frameworkId' query parameter in the request body")
        self._remove(form["frameworkId"], principal)
        return accepted_silently()

    def calls(self) -> tuple[Change, ...]:
        """Return the calls of the operator API about frameworks."""
        return (Change("TEARDOWN", self._call_teardown),)

    def _call_teardown(self, body: Body, principal: str | None) -> None:
        self._remove(body["framework_id"]["value"], principal)

    def _remove(self, framework_id: str, principal: str | None) -> None:
        """End a framework.  Raises Refusal (400) or Forbidden."""
        of = self._state.frameworks.get(framework_id)
        if of is None:
            raise Refusal(400, "No framework found with specified ID")
        self._state.flags.authorizer.require("teardown_frameworks", principal, of.principal)
        self._subscriptions.remove(of)


def _first_seen(task: KnownTask | TaskGroup) -> float:
    if isinstance(task, TaskGroup):
        return task.since
    return task.statuses[0].timestamp if task.statuses else 0.0


def _number(text: str | None, default: int) -> int:
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) < 10 else default
