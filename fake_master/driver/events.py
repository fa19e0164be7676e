"""Events of the scheduler API as the messages that a driver gets in their place."""

from collections.abc import Callable, Mapping
from typing import Any

from fake_master.protobuf.conversion import serialize

Event = Mapping[str, Any]
_PACKAGE = "mesos.internal."


class DriverEvents:
    """Makes messages for one framework; `pid_of_agent` returns an agent's pid by its id, "" where it is unknown."""

    def __init__(self, pid_of_agent: Callable[[str], str], *, registered_before: bool) -> None:
        self._pid_of_agent = pid_of_agent
        self.registered_before = registered_before
        """Which of the two messages SUBSCRIBED is."""
        self._framework_id: Mapping[str, Any] = {}

    def message(self, event: Event) -> tuple[str, bytes] | None:
        """The full name and the body of an event's message; None where a driver is told nothing."""
        make = _MESSAGES.get(event["type"])
        if make is None:
            return None
        name, document = make(self, event.get(event["type"].lower(), {}))
        return _PACKAGE + name, serialize(_PACKAGE + name, document)

    def _subscribed(self, content: Event) -> tuple[str, Event]:
        self._framework_id = content["framework_id"]
        name = "FrameworkReregisteredMessage" if self.registered_before else "FrameworkRegisteredMessage"
        return name, content

    def _offers(self, content: Event) -> tuple[str, Event]:
        pids = [self._pid_of_agent(offer["agent_id"]["value"]) for offer in content["offers"]]
        return "ResourceOffersMessage", {**content, "pids": pids}

    def _inverse_offers(self, content: Event) -> tuple[str, Event]:
        pids = [self._pid_of_agent(offer["agent_id"]["value"]) for offer in content["inverse_offers"]]
        return "InverseOffersMessage", {**content, "pids": pids}

    def _rescind(self, content: Event) -> tuple[str, Event]:
        return "RescindResourceOfferMessage", content

    def _rescind_inverse_offer(self, content: Event) -> tuple[str, Event]:
        return "RescindInverseOfferMessage", content

    def _update(self, content: Event) -> tuple[str, Event]:
        """A status; one with a uuid is an agent's, whose pid says that it is to be acknowledged."""
        status = content["status"]
        update = {
            "framework_id": self._framework_id,
            "status": status,
            "timestamp": status["timestamp"],
            "latest_state": status["state"],
            **{key: status[key] for key in ("executor_id", "agent_id", "uuid") if key in status},
        }
        if "uuid" not in status:
            return "StatusUpdateMessage", {"update": update}
        return "StatusUpdateMessage", {"update": update, "pid": self._pid_of_agent(status["agent_id"]["value"])}

    def _message(self, content: Event) -> tuple[str, Event]:
        return "ExecutorToFrameworkMessage", {**content, "framework_id": self._framework_id}

    def _failure(self, content: Event) -> tuple[str, Event]:
        if "executor_id" in content:
            return "ExitedExecutorMessage", {**content, "framework_id": self._framework_id}
        return "LostSlaveMessage", content

    def _error(self, content: Event) -> tuple[str, Event]:
        return "FrameworkErrorMessage", content


_MESSAGES: dict[str, Callable[[DriverEvents, Event], tuple[str, Event]]] = {
    "SUBSCRIBED": DriverEvents._subscribed,
    "OFFERS": DriverEvents._offers,
    "INVERSE_OFFERS": DriverEvents._inverse_offers,
    "RESCIND": DriverEvents._rescind,
    "RESCIND_INVERSE_OFFER": DriverEvents._rescind_inverse_offer,
    "UPDATE": DriverEvents._update,
    "MESSAGE": DriverEvents._message,
    "FAILURE": DriverEvents._failure,
    "ERROR": DriverEvents._error,
}
"""Of the others, heartbeats and the status of operations, a driver hears nothing."""
