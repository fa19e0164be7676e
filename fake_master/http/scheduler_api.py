"""`/api/v1/scheduler`: frameworks subscribe, and answer what they are offered (spec/endpoints.md §5)."""

from collections.abc import Callable, Mapping
from typing import Any

from fake_master.http.exchange import JSON, Refusal, Request, Response, accepted_silently, json_body
from fake_master.http.negotiation import check_accept, check_content_type
from fake_master.http.scheduler_messages import BODY_OPTIONAL, CALL
from fake_master.master import accepting, operation_updates
from fake_master.master.frameworks import Framework
from fake_master.master.state import Master
from mesosctl.core.errors import RuleViolation
from mesosctl.wire.messages import ConversionError, read

Body = Mapping[str, Any]
Handler = Callable[[Master, Framework, Body], None]


def call(master: Master, request: Request, principal: str | None) -> Response:
    """POST /api/v1/scheduler."""
    check_content_type(request)
    body = json_body(request, dict, "body into JSON")
    try:
        message = read(CALL, body)
    except ConversionError as error:
        raise Refusal(400, f"Failed to convert JSON into Call protobuf: {error}") from error
    name = _checked_type(message)
    if name == "SUBSCRIBE":
        return _subscribe(master, request, message, principal)
    framework = _caller(master, request, message, principal)
    framework.counts[f"calls/{name.lower()}"] += 1
    if name == "UPDATE_FRAMEWORK":
        _update_framework(master, framework, message["update_framework"], principal)
        master.rate_limiting.receive_answered(framework)
        return accepted_silently()
    handler = _HANDLERS.get(name, _nothing)
    master.rate_limiting.receive(framework, lambda: handler(master, framework, message.get(name.lower(), {})))
    return accepted_silently(202)


def _checked_type(message: Body) -> str:
    """What a call must have before anybody looks at who sent it."""
    name = message.get("type")
    if name is None or name == "UNKNOWN":
        raise _invalid("Expecting 'type' to be present")
    if name not in BODY_OPTIONAL and name.lower() not in message:
        raise _invalid(f"Expecting '{name.lower()}' to be present")
    if name == "SUBSCRIBE":
        if message.get("framework_id") != message["subscribe"]["framework_info"].get("id"):
            raise _invalid("'framework_id' differs from 'subscribe.framework_info.id'")
    elif "framework_id" not in message:
        raise _invalid("Expecting 'framework_id' to be present")
    return str(name)


def _subscribe(master: Master, request: Request, message: Body, principal: str | None) -> Response:
    wanted = message["subscribe"]
    info = wanted["framework_info"]
    _check_principal(principal, info.get("principal"))
    check_accept(request)
    if "mesos-stream-id" in request.headers:
        raise Refusal(400, "Subscribe calls should not include the 'Mesos-Stream-Id' header")
    stream = master.subscriptions.subscribe(
        info,
        principal=principal,
        suppressed=wanted.get("suppressed_roles", ()),
        offer_constraints=wanted.get("offer_constraints"),
    )
    return Response(200, headers={"Content-Type": JSON, "Mesos-Stream-Id": stream.id}, stream=stream)


def _caller(master: Master, request: Request, message: Body, principal: str | None) -> Framework:
    """The framework that a call comes from.  Raises Refusal (400, 403)."""
    framework = master.frameworks.get(message["framework_id"]["value"])
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


def _check_principal(authenticated: str | None, claimed: str | None) -> None:
    if authenticated is not None and claimed is not None and authenticated != claimed:
        raise Refusal(
            400,
            f"Authenticated principal '{authenticated}' does not match principal '{claimed}' set in FrameworkInfo",
        )


def _invalid(problem: str) -> Refusal:
    return Refusal(400, f"Failed to validate scheduler::Call: {problem}")


def _update_framework(master: Master, framework: Framework, body: Body, principal: str | None) -> None:
    try:
        master.subscriptions.update(
            framework,
            body["framework_info"],
            body.get("suppressed_roles", ()),
            body.get("offer_constraints") or {},
            principal,
        )
    except RuleViolation as error:
        raise Refusal(400, f"FrameworkInfo update is not valid: {error.message}") from error


def _values(body: Body, field: str) -> list[str]:
    return [entry["value"] for entry in body.get(field, ())]


def _refuse_seconds(body: Body) -> float | None:
    seconds = body.get("filters", {}).get("refuse_seconds")
    return None if seconds is None else float(seconds)


def _accept(master: Master, framework: Framework, body: Body) -> None:
    accepting.accept(master, framework, _values(body, "offer_ids"), body.get("operations", ()), _refuse_seconds(body))


def _decline(master: Master, framework: Framework, body: Body) -> None:
    accepting.decline(master, framework, _values(body, "offer_ids"), _refuse_seconds(body))


def _revive(master: Master, framework: Framework, body: Body) -> None:
    master.subscriptions.revive(framework, body.get("roles", ()))


def _suppress(master: Master, framework: Framework, body: Body) -> None:
    master.subscriptions.suppress(framework, body.get("roles", ()))


def _teardown(master: Master, framework: Framework, _body: Body) -> None:
    master.subscriptions.remove(framework)


def _kill(master: Master, framework: Framework, body: Body) -> None:
    task = framework.tasks.get(body["task_id"]["value"])
    if task is None:
        master.task_runner.reconcile(framework, body["task_id"]["value"], body.get("agent_id", {}).get("value"))
    else:
        master.task_runner.kill(framework, task)


def _shutdown(master: Master, framework: Framework, body: Body) -> None:
    master.task_runner.shutdown(framework, body["agent_id"]["value"], body["executor_id"]["value"])


def _acknowledge(master: Master, framework: Framework, body: Body) -> None:
    master.task_runner.acknowledge(framework, body["task_id"]["value"], body["uuid"])


def _acknowledge_operation(_master: Master, framework: Framework, body: Body) -> None:
    operation_updates.acknowledge(framework, body["operation_id"]["value"], body["uuid"])


def _reconcile(master: Master, framework: Framework, body: Body) -> None:
    asked = [(entry["task_id"]["value"], entry.get("agent_id", {}).get("value")) for entry in body.get("tasks", ())]
    for task_id, agent_id in asked or [(task_id, None) for task_id in framework.tasks]:
        master.task_runner.reconcile(framework, task_id, agent_id)


def _answer_inverse_offers(master: Master, framework: Framework, body: Body) -> None:
    for offer_id in _values(body, "inverse_offer_ids"):
        agent_id = framework.inverse_offers.pop(offer_id, None)
        if agent_id is not None:
            master.allocator.update_inverse_offer(framework.id, agent_id, _refuse_seconds(body))


def _nothing(_master: Master, _framework: Framework, _body: Body) -> None:
    """Taken, and that is all."""


# MESSAGE and REQUEST are taken and come to nothing here.
_HANDLERS: dict[str, Handler] = {
    "ACCEPT": _accept,
    "DECLINE": _decline,
    "REVIVE": _revive,
    "SUPPRESS": _suppress,
    "TEARDOWN": _teardown,
    "KILL": _kill,
    "SHUTDOWN": _shutdown,
    "ACKNOWLEDGE": _acknowledge,
    "ACKNOWLEDGE_OPERATION_STATUS": _acknowledge_operation,
    "RECONCILE": _reconcile,
    "ACCEPT_INVERSE_OFFERS": _answer_inverse_offers,
    "DECLINE_INVERSE_OFFERS": _answer_inverse_offers,
}
