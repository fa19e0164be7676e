"""One master, brought into the same state before each request, and started again when it has died."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import httpx

from tests.conformance.masters.cluster import Answer, Cluster, MasterDied, Setup
from tests.conformance.masters.codec import JSON_ALONE, PROTOBUF, Codec
from tests.endurance.jobs.extremes import MADE, OWNER, RESERVED, Request

SETUP = Setup(agents=("cpus:8;mem:2048;disk:200;ports:[31000-31099]",), flags={"allocation_interval": "20ms"})
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
JSON = {"Content-Type": "application/json", "Accept": "application/json"}
PLAIN_DISK = {"name": "disk", "type": "SCALAR", "scalar": {"value": 10}, "reservations": OWNER}
Outcome = TypeVar("Outcome")


class Trial(ABC, Generic[Outcome]):
    """One master: one agent with reservations and a volume, no quota, no schedule."""

    protobuf: Codec = PROTOBUF

    def __init__(self, start: Callable[[], Cluster]) -> None:
        self._start = start
        self._master: Cluster | None = None
        self.before: Any = None
        """The state that the master showed just before the latest request."""

    def stop(self) -> None:
        """End the master, if one runs."""
        if self._master is not None:
            self._master.stop()
        self._master = None

    def play(self, request: Request) -> Outcome:
        """Send one request.  Raises MasterDied, and the next request meets a new master then."""
        master = self._ready()
        try:
            return self._played(master, request)
        except (MasterDied, AssertionError, httpx.TransportError):
            # A stream that ended, or an event that did not come, may be the death of the master, and may be not.
            try:
                master.request("GET", "/version")
            except MasterDied:
                self.stop()
                raise
            raise

    @abstractmethod
    def send(self, master: Cluster, request: Request) -> Outcome:
        """Send a request to the master, written as it is to be."""

    def finished(self, master: Cluster, outcome: Outcome) -> Outcome:
        """The outcome, once the allocator and the agent have done what they have to do with it."""
        return outcome

    def shown(self, master: Cluster) -> Any:
        """The state that is the same before each request."""
        agent = master.agents()[0]
        windows = master.read("/maintenance/schedule").get("windows", [])
        return agent["reserved_resources_full"], agent["unreserved_resources_full"], master.read("/quota"), windows

    def restore(self, master: Cluster) -> None:
        """Bring a master into that state.  Raises AssertionError if that cannot be."""
        master.clear_quota()
        master.clear_reservations()
        agent = {"value": master.agents()[0]["id"]}
        made: tuple[tuple[str, dict[str, Any]], ...] = (
            ("UPDATE_MAINTENANCE_SCHEDULE", {"schedule": {}}),
            ("RESERVE_RESOURCES", {"agent_id": agent, "resources": [*RESERVED, PLAIN_DISK]}),
            ("CREATE_VOLUMES", {"agent_id": agent, "volumes": [MADE]}),
        )
        for kind, body in made:
            answer = master.call(kind, **{kind.lower(): body})
            assert answer.status in (200, 202), (kind, answer)

    def _played(self, master: Cluster, request: Request) -> Outcome:
        master.speak(self.protobuf if request.in_protobuf else JSON_ALONE)
        try:
            outcome = self.send(master, request)
        finally:
            master.speak(JSON_ALONE)
        for path in ("/metrics/snapshot", "/slave(1)/state", "/metrics/snapshot"):
            master.request("GET", path)
        return self.finished(master, outcome)

    def _ready(self) -> Cluster:
        try:
            return self._restored()
        except AssertionError:  # something that nobody can undo
            self.stop()
            return self._restored()

    def _restored(self) -> Cluster:
        if self._master is None:
            self._master = self._start()
            self.before = None
        master = self._master
        if self.before is None or self.shown(master) != self.before:
            self.restore(master)
            self.before = self.shown(master)
        return master


def answer_of(master: Cluster, request: Request) -> Answer:
    """The answer to a request that is none of a scheduler's."""
    text = master.fill(request.text())
    kind, _, rest = request.door.partition(" ")
    if kind == "operator":
        return master.request("POST", "/api/v1", content=text, headers=JSON)
    if kind == "form":
        return master.request("POST", rest, content=text, headers=FORM)
    if kind == "query":
        return master.request("GET", f"{rest}?{text!s}")
    method, _, path = rest.partition(" ")
    return master.request(method, path, content=text, headers=JSON)


def filled(request: Request, master: Cluster, framework_id: str | None, offer_ids: list[Any]) -> Any:
    """The body of a scheduler's call, with the ids that it stands for."""
    text = request.text().replace('"@O"', json.dumps(offer_ids)).replace('"@F"', json.dumps(framework_id))
    return json.loads(str(master.fill(text)))
