"""Operations that a framework asks for when it accepts an offer, and their statuses."""

from typing import Any

from tests.conformance.callers.frameworks import Framework


def reserve(resources: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return {"type": "RESERVE", "reserve": {"resources": resources}, **more}


def unreserve(resources: list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "UNRESERVE", "unreserve": {"resources": resources}}


def operation_status(framework: Framework) -> dict[str, Any]:
    """The next status of an operation."""
    status: dict[str, Any] = framework.next("UPDATE_OPERATION_STATUS")["update_operation_status"]["status"]
    return status


def acknowledge(framework: Framework, status: dict[str, Any]) -> None:
    """ACKNOWLEDGE_OPERATION_STATUS."""
    body = {
        "agent_id": status["agent_id"],
        "operation_id": status["operation_id"],
        "uuid": status["uuid"]["value"],
    }
    framework.ask("ACKNOWLEDGE_OPERATION_STATUS", acknowledge_operation_status=body)
