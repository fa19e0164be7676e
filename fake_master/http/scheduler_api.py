"""`/api/v1/scheduler`: frameworks subscribe, and answer what they are offered.

Source: Mesos documentation, "Scheduler HTTP API".
"""

import base64
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from fake_master.http.encodings import accepted_type, event_encoder, read_call
from fake_master.http.request_response import Refusal, Request, Response, accepted_silently, refusing
from fake_master.services.offer_answers import OfferAnswers
from fake_master.services.offers import InverseOffers
from fake_master.services.operation_updates import OperationUpdates
from fake_master.services.rate_limits import RateLimiting
from fake_master.services.subscriptions import Subscriptions
from fake_master.services.task_runner import TaskRunner
from fake_master.state.frameworks import KnownFramework
from fake_master.state.master_state import MasterState
from fake_master.state.streams import EventStream
from fake_master.state.subscription import Subscription
from mesosctl.mesos.messages.protobuf_json.defaults import replaced
from mesosctl.mesos.messages.protobuf_json.message_tables import mesos_message
from mesosctl.mesos.rules.offers.constraints import INSTALL, can_match, has_patterns

Body = Mapping[str, Any]
Handler = Callable[[KnownFramework, Body], None]
CALL = mesos_message("mesos.v1.scheduler.Call")
"""As all releases together have it."""
# These are complete without their message.
_BODY_OPTIONAL = frozenset({"TEARDOWN", "REVIVE", "SUPPRESS", "UNKNOWN"})
# What an acknowledgement that cannot be taken is counted as.
_ACKNOWLEDGEMENTS = {
    "ACKNOWLEDGE": "invalid_status_update_acknowledgements",
    "ACKNOWLEDGE_OPERATION_STATUS": "invalid_operation_status_update_acknowledgements",
}
_UUID_BYTES, _UUID_VERSIONS = 16, range(1, 6)
_NONE = "UNKNOWN"
_REFUSED_SUBSCRIPTION = "The subscription would end a real master: "


class SchedulerApi:
    """Answers calls of frameworks."""

    def __init__(
        self,
        state: MasterState,
        rate_limiting: RateLimiting,
        subscriptions: Subscriptions,
        offer_answers: OfferAnswers,
        inverse_offers: InverseOffers,
        tasks: TaskRunner,
        operations: OperationUpdates,
    ) -> None:
        self._state = state
        self._call = state.message(CALL.name)
        self._rate_limiting = rate_limiting
        self._subscriptions = subscriptions
        self._offer_answers = offer_answers
        self._inverse_offers = inverse_offers
        self._tasks = tasks
        self._operations = operations
        self._handlers: dict[str, Handler] = {
            "ACCEPT": self._accept,
            "DECLINE": self._decline,
            "REVIVE": self._revive,
            "SUPPRESS": self._suppress,
            "TEARDOWN": self._teardown,
            "KILL": self._kill,
            "SHUTDOWN": self._shutdown,
            "ACKNOWLEDGE": self._acknowledge,
            "ACKNOWLEDGE_OPERATION_STATUS": self._acknowledge_operation,
            "RECONCILE": self._reconcile,
            "RECONCILE_OPERATIONS": self._reconcile_operations,
            "MESSAGE": self._message,
            "REQUEST": self._request,
            "ACCEPT_INVERSE_OFFERS": self._accept_inverse_offers,
            "DECLINE_INVERSE_OFFERS": self._decline_inverse_offers,
        }
        self.served = ("SUBSCRIBE", "UPDATE_FRAMEWORK", *self._handlers)

    def call(self, request: Request, principal: str | None) -> Response:
        """POST /api/v1/scheduler."""
        message = read_call(request, self._call)
        name = self.check(message)
        if name == "SUBSCRIBE":
            return self._subscribe(request, message, principal)
        framework = self._caller(request, message, principal)
        if name == _NONE:
            raise Refusal(501, f"A call of the type '{_NONE}' is not implemented")
        framework.counts[f"calls/{name.lower()}"] += 1
        if name == "UPDATE_FRAMEWORK":
            self.perform(framework, name, message)
            self._rate_limiting.receive_answered(framework)
            return accepted_silently()
        self._rate_limiting.receive(framework, lambda: self.perform(framework, name, message))
        return accepted_silently(202)

    def check(self, message: Body) -> str:
        """Return the type of a call that has all required fields, without checking the sender.  Raises Refusal."""
        name = _checked_type(message)
        if name == _NONE and self._state.profile.unknown_calls_end_master:
            raise _invalid("Expecting 'type' to be one that is known")
        self._check_acknowledgement(name, message)
        return name

    def perform(self, framework: KnownFramework, name: str, message: Body) -> None:
        """Carry out a call of a subscribed framework.  Raises Refusal for an UPDATE_FRAMEWORK that is not valid."""
        if name == "UPDATE_FRAMEWORK":
            self._update_framework(framework, message["update_framework"])
        else:
            self._handlers[name](framework, message.get(name.lower(), {}))

    def subscribe(self, message: Body, principal: str | None, pid: str, stream: EventStream) -> None:
        """Subscribe the driver at `pid`; the result is on the stream.  Raises Refusal if it would end a real master."""
        wanted = self._subscription(message["subscribe"], principal)
        force = bool(message["subscribe"].get("force"))
        with refusing(_REFUSED_SUBSCRIPTION):
            self._subscriptions.subscribe(replace(wanted, pid=pid, force=force), stream)

    def _check_acknowledgement(self, name: str, message: Body) -> None:
        """Check the uuid of an acknowledgement; the invalid ones are counted.  Raises Refusal."""
        counter = _ACKNOWLEDGEMENTS.get(name)
        if counter is None:
            return
        body = message[name.lower()]
        problem = None if _is_uuid(base64.b64decode(body["uuid"])) else "Not a valid UUID"
        if problem is None and "agent_id" not in body:
            problem = "Expecting 'agent_id' to be present"
        if problem is not None:
            if self._state.profile.counts_broken_acknowledgements:
                self._state.counts[counter] += 1
            raise _invalid(problem)

    def _subscribe(self, request: Request, message: Body, principal: str | None) -> Response:
        wanted = self._subscription(message["subscribe"], principal)
        _check_principal(principal, wanted.info.get("principal"))
        media = accepted_type(request)
        if "mesos-stream-id" in request.headers:
            raise Refusal(400, "Subscribe calls should not include the 'Mesos-Stream-Id' header")
        if has_patterns(wanted.offer_constraints) and not can_match():
            # Not an ERROR event, which would say that the framework is at fault.
            raise Refusal(400, f"Offer constraints about text cannot be evaluated: RE2 is not installed; {INSTALL}")
        event, short = self._state.message("mesos.v1.scheduler.Event"), self._state.profile.json_numbers_are_short
        stream = EventStream(encode=event_encoder(media, event, short_numbers=short))
        with refusing(_REFUSED_SUBSCRIPTION):
            self._subscriptions.subscribe(wanted, stream)
        return Response(200, headers={"Content-Type": media, "Mesos-Stream-Id": stream.id}, stream=stream)

    def _caller(self, request: Request, message: Body, principal: str | None) -> KnownFramework:
        """The framework that a call comes from.  Raises Refusal (400, 403)."""
        framework = self._state.frameworks.get(message["framework_id"]["value"])
        if framework is None:
            raise Refusal(400, "Framework cannot be found")
        _check_principal(principal, framework.principal)
        if framework.stream is None:
            raise Refusal(403, "Framework is not subscribed")
        stream_id = request.headers.get("mesos-stream-id")
        if stream_id is None:
            raise Refusal(400, "All non-subscribe calls should include the 'Mesos-Stream-Id' header")
        if stream_id != framework.stream.id:
            raise Refusal(400, f"Stream '{stream_id}' is not the current stream of framework {framework.id}")
        return framework

    def _update_framework(self, framework: KnownFramework, body: Body) -> None:
        with refusing("FrameworkInfo update is not valid: "):
            # A principal that an update leaves out is another one, for every sender.
            self._subscriptions.update(framework, self._subscription(body, None))

    def _accept(self, framework: KnownFramework, body: Body) -> None:
        # Values of an unknown type are ignored.
        operations = [operation for operation in body.get("operations", ()) if operation.get("type", _NONE) != _NONE]
        self._offer_answers.accept(framework, _values(body, "offer_ids"), operations, _refuse_seconds(body))

    def _decline(self, framework: KnownFramework, body: Body) -> None:
        self._offer_answers.decline(framework, _values(body, "offer_ids"), _refuse_seconds(body))

    def _revive(self, framework: KnownFramework, body: Body) -> None:
        self._subscriptions.revive(framework, body.get("roles", ()))

    def _suppress(self, framework: KnownFramework, body: Body) -> None:
        self._subscriptions.suppress(framework, body.get("roles", ()))

    def _teardown(self, framework: KnownFramework, _body: Body) -> None:
        self._subscriptions.remove(framework)

    def _kill(self, framework: KnownFramework, body: Body) -> None:
        task = framework.all_tasks().get(body["task_id"]["value"])
        if task is None:
            self._state.counts["messages_reconcile_tasks"] += 1
            self._tasks.updates.reconcile(framework, body["task_id"]["value"], body.get("agent_id", {}).get("value"))
        else:
            self._tasks.kill(framework, task)

    def _shutdown(self, framework: KnownFramework, body: Body) -> None:
        self._tasks.shutdown(framework, body["agent_id"]["value"], body["executor_id"]["value"])

    def _acknowledge(self, framework: KnownFramework, body: Body) -> None:
        is_known = body["agent_id"]["value"] in self._state.agents
        self._state.counts[f"{'valid' if is_known else 'invalid'}_status_update_acknowledgements"] += 1
        self._tasks.updates.acknowledge(framework, body["task_id"]["value"], body["uuid"])

    def _acknowledge_operation(self, framework: KnownFramework, body: Body) -> None:
        self._operations.acknowledge(framework, body["operation_id"]["value"], body["uuid"])

    def _reconcile_operations(self, framework: KnownFramework, body: Body) -> None:
        for asked in body.get("operations", ()):
            self._operations.reconcile(framework, asked)
        if not body.get("operations"):
            self._operations.reconcile_all(framework)

    def _message(self, _framework: KnownFramework, body: Body) -> None:
        """Simulated executors answer nothing; whether the agent is known is counted."""
        is_known = body["agent_id"]["value"] in self._state.agents
        self._state.counts[f"{'valid' if is_known else 'invalid'}_framework_to_executor_messages"] += 1

    def _reconcile(self, framework: KnownFramework, body: Body) -> None:
        asked = [(entry["task_id"]["value"], entry.get("agent_id", {}).get("value")) for entry in body.get("tasks", ())]
        for task_id, agent_id in asked or [(task_id, None) for task_id in framework.all_tasks()]:
            self._tasks.updates.reconcile(framework, task_id, agent_id)

    def _accept_inverse_offers(self, framework: KnownFramework, body: Body) -> None:
        self._inverse_offers.answer(framework, _values(body, "inverse_offer_ids"), "ACCEPT", _refuse_seconds(body))

    def _decline_inverse_offers(self, framework: KnownFramework, body: Body) -> None:
        self._inverse_offers.answer(framework, _values(body, "inverse_offer_ids"), "DECLINE", _refuse_seconds(body))

    def _request(self, framework: KnownFramework, body: Body) -> None:
        self._subscriptions.request(framework, body.get("requests", ()))

    def _subscription(self, body: Body, authenticated: str | None) -> Subscription:
        """Return the content of a call; a framework that names no principal has the authenticated one."""
        info, principal = body["framework_info"], {} if authenticated is None else {"principal": authenticated}
        suppressed = body.get("suppressed_roles", ()) if self._state.profile.honours_suppressed_roles else ()
        return Subscription(
            info=replaced(info, principal | info),
            suppressed=frozenset(suppressed),
            offer_constraints=body.get("offer_constraints") or {},
        )


def _checked_type(message: Body) -> str:
    """Return the type of a call that has all required fields, without checking the sender.  Raises Refusal."""
    name = message.get("type")
    if name is None:
        raise _invalid("Expecting 'type' to be present")
    if name not in _BODY_OPTIONAL and name.lower() not in message:
        raise _invalid(f"Expecting '{name.lower()}' to be present")
    if name != "SUBSCRIBE" and "framework_id" not in message:
        raise _invalid("Expecting 'framework_id' to be present")
    body = message.get(name.lower(), {})
    # An id that is empty is none.
    if "framework_info" in body and _id(message, "framework_id") != _id(body["framework_info"], "id"):
        raise _invalid(f"'framework_id' differs from '{name.lower()}.framework_info.id'")
    return str(name)


def _is_uuid(data: bytes) -> bool:
    """Whether these bytes are a UUID of a version that RFC 4122 knows; a master does not look at its variant."""
    return len(data) == _UUID_BYTES and data[6] >> 4 in _UUID_VERSIONS


def _check_principal(authenticated: str | None, claimed: str | None) -> None:
    if authenticated is not None and claimed is not None and authenticated != claimed:
        raise Refusal(
            400,
            f"Authenticated principal '{authenticated}' does not match principal '{claimed}' set in FrameworkInfo",
        )


def _invalid(problem: str) -> Refusal:
    return Refusal(400, f"Failed to validate scheduler::Call: {problem}")


def _id(body: Body, field: str) -> str:
    return str(body.get(field, {}).get("value", ""))


def _values(body: Body, field: str) -> list[str]:
    return [entry["value"] for entry in body.get(field, ())]


def _refuse_seconds(body: Body) -> float | None:
    seconds = body.get("filters", {}).get("refuse_seconds")
    return None if seconds is None else float(seconds)
