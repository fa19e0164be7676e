"""A framework on a stream of a master in virtual time."""

import json
from typing import Any

from fake_master.http.request_response import Response
from mesosctl.mesos.messages.protobuf_json import recordio
from tests.helpers.lab.master import Lab

Event = dict[str, Any]
_PATH = "/api/v1/scheduler"
_REFUSE = {"refuse_seconds": 10000}


class Scheduler:
    """A framework that keeps its id, and by default lasts while it is not connected.

    `info` replaces or adds fields of FrameworkInfo, `capabilities` are those beside the usual two.
    """

    def __init__(self, lab: Lab, *capabilities: str, name: str = "f", **info: Any) -> None:
        self._lab = lab
        listed = [{"type": named} for named in ("MULTI_ROLE", "RESERVATION_REFINEMENT", *capabilities)]
        usual = {"user": "u", "name": name, "roles": [name], "capabilities": listed}
        self.info: dict[str, Any] = usual | {"failover_timeout": 1e6, "checkpoint": True} | info
        self.id = ""
        self._former: list[Event] = []
        self._events: list[Event] = []
        self.subscribe()

    def subscribe(self) -> None:
        """SUBSCRIBE, again with the same id."""
        known: dict[str, Any] = {}
        if self.id:
            known = {"framework_id": {"value": self.id}}
            self.info["id"] = {"value": self.id}
        answer = self._lab.request(
            "POST", _PATH, {"type": "SUBSCRIBE", "subscribe": {"framework_info": self.info}} | known
        )
        assert answer.status == 200, answer
        assert answer.stream is not None
        if self.id:
            self._former += self.events
        self.stream = answer.stream
        self._events = []
        self._seen: dict[str, int] = {}
        (subscribed,) = self.heard("SUBSCRIBED")
        self.id = subscribed["framework_id"]["value"]

    def call(self, kind: str, **body: Any) -> Response:
        """The answer to a call."""
        wrapped = {kind.lower(): body} if body else {}
        content = {"type": kind, "framework_id": {"value": self.id}} | wrapped
        return self._lab.request("POST", _PATH, content, **{"mesos-stream-id": self.stream.id})

    def ask(self, kind: str, **body: Any) -> None:
        """A call that is taken."""
        answer = self.call(kind, **body)
        assert answer.status == 202, answer

    # --- What it hears ------------------------------------------------------------------------------

    @property
    def events(self) -> list[Event]:
        """All that has come since it subscribed last."""
        self._events += [json.loads(record) for record in recordio.decode(self.stream.take())]
        return self._events

    def heard(self, kind: str) -> list[Event]:
        """What every event of a kind held that was not asked for before."""
        found = [event.get(kind.lower(), {}) for event in self.events if event["type"] == kind]
        new = found[self._seen.get(kind, 0) :]
        self._seen[kind] = len(found)
        return new

    @property
    def errors(self) -> list[str]:
        """The message of every ERROR."""
        return [event["error"]["message"] for event in self._former + self.events if event["type"] == "ERROR"]

    @property
    def processed(self) -> list[str]:
        """The task of every UPDATE: for calls of `send`, which of them the master has processed."""
        updates = [event["update"] for event in self._former + self.events if event["type"] == "UPDATE"]
        return [update["status"]["task_id"]["value"] for update in updates]

    def offers(self) -> list[Event]:
        """What is offered within an allocation."""
        self._lab.wait(1.5)
        return [offer for event in self.heard("OFFERS") for offer in event["offers"]]

    def offered(self) -> float:
        """How many cpus."""
        parts = [part for offer in self.offers() for part in offer["resources"] if part["name"] == "cpus"]
        return sum(float(part["scalar"]["value"]) for part in parts)

    def told(self) -> list[tuple[str, str]]:
        """Task and state of every update, none of them acknowledged."""
        statuses = [update["status"] for update in self.heard("UPDATE")]
        return [(status["task_id"]["value"], status["state"]) for status in statuses]

    # --- What it does -------------------------------------------------------------------------------

    def send(self, *tasks: str) -> None:
        """One call for each, which shows when it is processed."""
        for task in tasks:
            self.ask("RECONCILE", tasks=[{"task_id": {"value": task}}])

    def accept(self, offer: Event, *names: str, executor: str | None = None) -> None:
        """Tasks of one cpu each upon an offer, under an executor if named."""
        infos = [self._task(name, offer["agent_id"], executor) for name in names]
        operation = {"type": "LAUNCH", "launch": {"task_infos": infos}}
        self.ask("ACCEPT", offer_ids=[offer["id"]], operations=[operation], filters=_REFUSE)

    def _task(self, name: str, agent_id: Event, executor: str | None) -> Event:
        info = {"name": name, "task_id": {"value": name}, "agent_id": agent_id, "resources": [scalar("cpus", 1)]}
        if executor is None:
            return {**info, "command": {"value": "true"}}
        under = {"executor_id": {"value": executor}, "command": {"value": "run"}, "resources": [scalar("cpus", 0.5)]}
        return {**info, "executor": {**under, "type": "CUSTOM", "framework_id": {"value": self.id}}}

    def launch(self, *names: str, executor: str | None = None) -> str:
        """Tasks upon the first offer, and the id of its agent; every other offer is declined."""
        first, *others = self.offers()
        self.accept(first, *names, executor=executor)
        if others:
            self.ask("DECLINE", offer_ids=[offer["id"] for offer in others], filters=_REFUSE)
        return str(first["agent_id"]["value"])

    def run(self, *names: str, executor: str | None = None) -> str:
        """Tasks that run and are known to, and the id of their agent."""
        agent_id = self.launch(*names, executor=executor)
        self.acknowledge()
        return agent_id

    def acknowledge(self, *fields: str) -> list[tuple[str, ...]]:
        """Acknowledge every update, as long as any come; task and state of each, or these fields of its status."""
        seen: list[tuple[str, ...]] = []
        while updates := self.heard("UPDATE"):
            for status in (update["status"] for update in updates):
                plain = {
                    "task_id": status["task_id"]["value"],
                    "state": status["state"],
                    "reason": status.get("reason", ""),
                }
                seen.append(tuple(plain[name] for name in fields or ("task_id", "state")))
                if "uuid" in status:
                    self.ask("ACKNOWLEDGE", **{key: status[key] for key in ("agent_id", "task_id", "uuid")})
        return seen


def scalar(name: str, value: float) -> Event:
    """An amount, as it stands in tasks and requests."""
    return {"name": name, "type": "SCALAR", "scalar": {"value": value}}
