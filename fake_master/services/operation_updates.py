"""Offer operations after their ACCEPT, as on a Mesos 1.11.0 master: the events for frameworks, the view of operators.

An operation that the master refuses is OPERATION_ERROR with a message and without a uuid, so there is nothing to
acknowledge.  One that the agent has done is OPERATION_FINISHED with a uuid, sent again after 10 s, 20 s, and so on
until it is acknowledged.  GET_OPERATIONS shows it all this time, as OPERATION_PENDING before the agent has it.  There
are no events for operations without an id, but they are counted.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

from fake_master.services.accept_context import AcceptContext, entries
from fake_master.services.events import EventPublisher
from fake_master.services.task_updates import FIRST_RETRY_SECONDS, new_uuid, next_retry
from fake_master.state.frameworks import KnownFramework
from fake_master.state.master_state import MasterState
from fake_master.state.offers import OfferOperation
from mesosctl.mesos.messages.protobuf_json.message_tables import Message
from mesosctl.mesos.messages.reservations import in_stacks
from mesosctl.mesos.messages.resources import to_json

_UNKNOWN = "Reconciliation: "


class Arrival(Protocol):
    """Called when an agent has received an operation, and has applied it or could not."""

    def __call__(self, *, applied: bool) -> None:
        """Take note of it."""


class OperationUpdates:
    """Operations with an id, from their ACCEPT until their framework has acknowledged them."""

    def __init__(self, state: MasterState, events: EventPublisher) -> None:
        self._state = state
        self._events = events

    def refused(self, framework: KnownFramework, operation: Mapping[str, Any], problem: str) -> None:
        """Report an operation that the master refused."""
        self._count(operation["type"], "error")
        if "id" in operation and self._state.profile.operations_with_ids != "dropped":
            self._events.operation(
                framework, {"operation_id": operation["id"], "state": "OPERATION_ERROR", "message": problem}
            )

    def done(self, kind: str, *, applied: bool = True) -> None:
        """An agent reports on an operation of an operator, or of a framework that gave it no id."""
        self._count(kind, "finished" if applied else "dropped")
        self._agent_reports()

    def sent(self, context: AcceptContext, operation: Mapping[str, Any]) -> Arrival:
        """Take note of an offer operation that is on its way to the agent; the result reports what comes of it."""
        kind = operation["type"]
        if "id" not in operation:
            return partial(self.done, kind)
        status = {
            "operation_id": operation["id"],
            "state": "OPERATION_PENDING",
            "agent_id": {"value": context.agent.id},
        }
        described = _described(operation, context, self._state.message("mesos.v1.Offer.Operation"))
        pending = OfferOperation(new_uuid(), context.framework.id, context.agent.id, described, status)
        self._state.operations[pending.uuid] = pending
        return partial(self._arrived, pending, kind)

    def _arrived(self, pending: OfferOperation, kind: str, *, applied: bool) -> None:
        """The agent reports on an operation with an id; one that it does not know is dropped, without a uuid."""
        if pending.uuid not in self._state.operations:  # its agent was gone in the meantime
            return
        self._count(kind, "finished" if applied else "dropped")
        status = {key: pending.status[key] for key in ("operation_id", "agent_id")}
        if applied:
            finished = {**status, "state": "OPERATION_FINISHED", "uuid": {"value": new_uuid()}}
            self._state.operations[pending.uuid] = replace(pending, status=finished)
            self._send(pending.uuid, FIRST_RETRY_SECONDS)
        else:
            del self._state.operations[pending.uuid]
            self._agent_reports()
            framework = self._state.frameworks.get(pending.framework_id)
            if framework is not None:
                self._events.operation(framework, {**status, "state": "OPERATION_DROPPED"})

    def agent_lost(self, agent_id: str, state: str | None, message: str) -> None:
        """Forget the operations of an agent that is removed, and report `state` of each if there is one."""
        for operation in [of for of in self._state.operations.values() if of.agent_id == agent_id]:
            del self._state.operations[operation.uuid]
            framework = self._state.frameworks.get(operation.framework_id)
            if framework is not None and state is not None:
                status = {key: operation.status[key] for key in ("operation_id", "agent_id")}
                self._events.operation(framework, {**status, "state": state, "message": message})

    def acknowledge(self, framework: KnownFramework, operation_id: str, uuid: str) -> None:
        """ACKNOWLEDGE_OPERATION_STATUS: the update is not sent again."""
        counts = self._state.counts
        named = [
            of for of in self._state.operations.values() if (of.framework_id, of.id) == (framework.id, operation_id)
        ]
        waiting = next((of for of in named if of.status.get("uuid") == {"value": uuid}), None)
        if waiting is not None:
            counts["valid_operation_status_update_acknowledgements"] += 1
            del self._state.operations[waiting.uuid]
        elif not named:
            counts["invalid_operation_status_update_acknowledgements"] += 1
        else:  # the master counts another uuid than the latest as if it were of a task
            counts["invalid_status_update_acknowledgements"] += 1

    def reconcile(self, framework: KnownFramework, asked: Mapping[str, Any]) -> None:
        """RECONCILE_OPERATIONS of one operation, whether it is known or not."""
        known = self._of(framework, asked["operation_id"]["value"])
        self._tell_latest(framework, known) if known is not None else self._tell_unknown(framework, asked)

    def reconcile_all(self, framework: KnownFramework) -> None:
        """RECONCILE_OPERATIONS that names none: of every one that is known."""
        for operation in list(self._state.operations.values()):
            if operation.framework_id == framework.id:
                self._tell_latest(framework, operation)

    def _of(self, framework: KnownFramework, operation_id: str) -> OfferOperation | None:
        """Return the latest operation with that id."""
        own = (of for of in reversed(self._state.operations.values()) if of.framework_id == framework.id)
        return next((operation for operation in own if operation.id == operation_id), None)

    def _tell_latest(self, framework: KnownFramework, operation: OfferOperation) -> None:
        """Send the latest status without its uuid: there is nothing to acknowledge."""
        self._events.operation(framework, {key: operation.status[key] for key in operation.status if key != "uuid"})

    def _tell_unknown(self, framework: KnownFramework, asked: Mapping[str, Any]) -> None:
        named = {key: asked[key] for key in ("agent_id", "resource_provider_id") if key in asked}
        state, problem = self._state_on(asked["agent_id"]["value"] if "agent_id" in asked else None)
        status = {"operation_id": asked["operation_id"], "state": state}
        if state == "OPERATION_UNKNOWN" and "resource_provider_id" in asked and not problem:
            # The agent is asked, and gives no reason.
            self._state.counts["messages_operation_status_update"] += 1
        else:
            status["message"] = f"{_UNKNOWN}{problem or 'Operation is unknown'}"
        self._events.operation(framework, status | named)

    def _state_on(self, agent_id: str | None) -> tuple[str, str]:
        """Return the state of an operation that is unknown, by the state of its agent, and what is wrong with that."""
        known = self._state.known_agents
        if agent_id is None:
            return "OPERATION_UNKNOWN", "Operation is unknown and no 'agent_id' was provided"
        if agent_id in self._state.agents:
            return "OPERATION_UNKNOWN", ""
        if known.awaits(agent_id):
            return "OPERATION_RECOVERING", "Agent is recovered but has not re-registered"
        if agent_id in known.unreachable():
            return "OPERATION_UNREACHABLE", "Agent is unreachable"
        if known.is_gone(agent_id):
            return "OPERATION_GONE_BY_OPERATOR", "Agent marked gone by operator"
        return "OPERATION_UNKNOWN", "Both operation and agent are unknown"

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


def _described(operation: Mapping[str, Any], context: AcceptContext, message: Message) -> dict[str, Any]:
    """The operation with its resources as the master understood them, the offer's role written out.

    A body of another type than its own stays in it, too.
    """
    kind = operation["type"].lower()
    body = {name: _resources(part, context) if name != "subtract" else part for name, part in operation[kind].items()}
    return {**in_stacks(message, operation), kind: body}


def _resources(part: Any, context: AcceptContext) -> Any:
    """Return one resource, or a list of them."""
    found = [to_json(entry, "POST") for entry in entries(part if isinstance(part, list) else [part], context)]
    return found if isinstance(part, list) else found[0]
