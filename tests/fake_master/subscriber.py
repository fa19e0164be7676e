"""A framework on a stream of a master in virtual time."""

import json
from typing import Any, Protocol

from fake_master.http.application import Application
from fake_master.http.exchange import Request
from mesosctl.wire import recordio

from .sending import JSON

_PATH = "/api/v1/scheduler"


class Lab(Protocol):
    """Where the master of the moment is, and its clock."""

    @property
    def application(self) -> Application: ...

    def wait(self, seconds: float) -> None: ...


class Subscriber:
    """A framework that hears everything, and is told nothing twice."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self.id: str | None = None

    def _subscribe(self, body: dict[str, Any]) -> None:
        answer = self._lab.application.handle(Request("POST", _PATH, JSON, json.dumps(body).encode()))
        assert answer.stream is not None
        self._stream = answer.stream
        self._events: list[dict[str, Any]] = []
        (subscribed,) = self.heard("SUBSCRIBED")
        self.id = subscribed["framework_id"]["value"]

    def heard(self, kind: str) -> list[dict[str, Any]]:
        """What every event of a kind held, and forget it."""
        self._events += [json.loads(record) for record in recordio.decode(self._stream.take())]
        found = [event[kind.lower()] for event in self._events if event["type"] == kind]
        self._events = [event for event in self._events if event["type"] != kind]
        return found

    def call(self, kind: str, **body: Any) -> None:
        headers = {**JSON, "mesos-stream-id": self._stream.id}
        content = json.dumps({"type": kind, "framework_id": {"value": self.id}, kind.lower(): body})
        answer = self._lab.application.handle(Request("POST", _PATH, headers, content.encode()))
        assert answer.status == 202, answer

    def offers(self) -> list[dict[str, Any]]:
        self._lab.wait(1.5)
        return [offer for event in self.heard("OFFERS") for offer in event["offers"]]
