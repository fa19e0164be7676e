"""Offer operations after their ACCEPT, as on a Mesos 1.11.0 master: the events for frameworks, the view of operators.

An operation that the master refuses is OPERATION_ERROR with a message and without a uuid, so there is nothing to
acknowledge.  One that the agent has done is OPERATION_FINISHED with a uuid, sent again after 10 s, 20 s, and so on
until it is acknowledged; until then GET_OPERATIONS shows it.  There are no events for operations without an id, but
they are counted.
"""

from collections.abc import Mapping
from typing import Any

from fake_master.services.events import EventPublisher
from fake_master.services.launch import AcceptContext, entries
from fake_master.services.task_updates import FIRST_RETRY_SECONDS, new_uuid, next_retry
from fake_master.state.frameworks import Framework
from fake_master.state.master_state import MasterState
from fake_master.state.offers import FinishedOperation
from mesosctl.api.resources import to_json

_UNKNOWN = "Reconciliation: "


class OperationUpdates:
    """Operations that wait for their framework, by the uuid of the update that it has to acknowledge."""

    def __init__(self, state: MasterState, events: EventPublisher) -> None:
        self._state = state
        self._events = events

    def refused(self, framework: Framework, operation: Mapping[str, Any], problem: str) -> None:
        """Report an operation that the master refused."""
        self._count(operation["type"], "error")
        if "id" in operation:
            self._events.operation(
                framework, {"operation_id": operation["id"], "state": "OPERATION_ERROR", "message": problem}
            )

    def done(self, kind: str) -> None:
        """An agent carried out an operation of an operator, or of a framework that gave it no id."""
        self._count(kind, "finished")
        self._agent_reports()

    def finished(self, context: AcceptContext, operation: Mapping[str, Any]) -> None:
        """Report an offer operation that the agent has carried out."""
        if "id" not in operation:
            self.done(operation["type"])
            return
        self._count(operation["type"], "finished")
        uuid = new_uuid()
        status = {
            "operation_id": operation["id"],
            "state": "OPERATION_FINISHED",
            "uuid": {"value": uuid},
            "agent_id": {"value": context.agent.id},
        }
        described = _described(operation, context)
        self._state.operations[uuid] = FinishedOperation(
            new_uuid(), context.framework.id, context.agent.id, described, status
        )
        self._send(uuid, FIRST_RETRY_SECONDS)

    def acknowledge(self, framework: Framework, operation_id: str, uuid: str) -> None:
        """ACKNOWLEDGE_OPERATION_STATUS: the update is not sent again."""
        counts = self._state.counts
        waiting = self._state.operations.get(uuid)
        if waiting is not None and (waiting.framework_id, waiting.id) == (framework.id, operation_id):
            counts["valid_operation_status_update_acknowledgements"] += 1
            del self._state.operations[uuid]
        elif self._of(framework, operation_id) is None:
            counts["invalid_operation_status_update_acknowledgements"] += 1
        else:  # the master counts another uuid than the latest as if it were of a task
            counts["invalid_status_update_acknowledgements"] += 1

    def reconcile(self, framework: Framework, asked: Mapping[str, Any]) -> None:
        """RECONCILE_OPERATIONS of one operation, whether it is known or not."""
        known = self._of(framework, asked["operation_id"]["value"])
        self._tell_latest(framework, known) if known is not None else self._tell_unknown(framework, asked)

    def reconcile_all(self, framework: Framework) -> None:
        """RECONCILE_OPERATIONS that names none: of every one that is known."""
        for operation in list(self._state.operations.values()):
            if operation.framework_id == framework.id:
                self._tell_latest(framework, operation)

    def _of(self, framework: Framework, operation_id: str) -> FinishedOperation | None:
        """Return the latest operation with that id."""
        own = (of for of in reversed(self._state.operations.values()) if of.framework_id == framework.id)
        return next((operation for operation in own if operation.id == operation_id), None)

    def _tell_latest(self, framework: Framework, operation: FinishedOperation) -> None:
        """Send the latest status without its uuid: there is nothing to acknowledge."""
        self._events.operation(framework, {key: operation.status[key] for key in operation.status if key != "uuid"})

    def _tell_unknown(self, framework: Framework, asked: Mapping[str, Any]) -> None:
        named = {key: asked[key] for key in ("agent_id", "resource_provider_id") if key in asked}
        status = {"operation_id": asked["operation_id"], "state": "OPERATION_UNKNOWN"}
        if "agent_id" not in asked:
            status["message"] = f"{_UNKNOWN}Operation is unknown and no 'agent_id' was provided"
        elif asked["agent_id"]["value"] not in self._state.agents:
            status["message"] = f"{_UNKNOWN}Both operation and agent are unknown"
        elif "resource_provider_id" in asked:  # the agent is asked, and gives no reason
            self._state.counts["messages_operation_status_update"] += 1
        else:
            status["message"] = f"{_UNKNOWN}Operation is unknown"
        self._events.operation(framework, status | named)

    def _send(self, uuid: str, wait: float) -> None:
        operation = self._state.operations.get(uuid)
        if operation is None:
            return
        framework = self._state.frameworks.get(operation.framework_id)
        if framework is None:  # no framework is left to acknowledge it, so the master does
            del self._state.operations[uuid]
            return
        self._agent_reports()
        self._events.operation(framework, operation.status)
        self._state.timers.at(self._state.now + wait, lambda: self._send(uuid, next_retry(wait)))

    def _agent_reports(self) -> None:
        for name in ("messages_operation_status_update", "valid_operation_status_updates"):
            self._state.counts[name] += 1

    def _count(self, kind: str, state: str) -> None:
        for name in ("total", state):
            self._state.counts[f"operations/{name}"] += 1
            self._state.counts[f"operations/{kind.lower()}/{name}"] += 1


def _described(operation: Mapping[str, Any], context: AcceptContext) -> dict[str, Any]:
    """The operation with its resources as the master understood them, the offer's role written out."""
    kind = operation["type"].lower()
    body = {name: _resources(part, context) if name != "subtract" else part for name, part in operation[kind].items()}
    return {"type": operation["type"], "id": operation["id"], kind: body}


def _resources(part: Any, context: AcceptContext) -> Any:
    """Return one resource, or a list of them."""
    found = [to_json(entry, "POST") for entry in entries(part if isinstance(part, list) else [part], context)]
    return found if isinstance(part, list) else found[0]
