"""One fake master after another upon one file, in virtual time, and schedulers that outlive each of them."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fake_master.cluster import ClusterSpec
from fake_master.http.application import Application
from fake_master.http.exchange import Request
from fake_master.master.clocks import VirtualClock
from fake_master.master.master import Master
from fake_master.master.registry import Registry
from fake_master.master.registry_sqlite import SqliteRegistry

from .sending import JSON
from .subscriber import Subscriber

AGENT = "cpus:4;mem:2048"
_REFUSE = {"refuse_seconds": 10000}


class Lab:
    """The master of the moment, and its clock."""

    master: Master
    application: Application

    def __init__(self, path: Path, spec: ClusterSpec) -> None:
        self.clock = VirtualClock(1000.0)
        self.path = path
        self.start(spec)

    def start(self, spec: ClusterSpec) -> None:
        self.spec = spec
        self.master = spec.start(self.registry(), clock=self.clock, takes_over=True)
        self.application = Application(self.master)

    def registry(self) -> Registry:
        return SqliteRegistry(self.path)

    def restart(self, spec: ClusterSpec | None = None, *, killed: bool = False, down: float = 0.0) -> None:
        """Another master; `killed`: the one before had no time to end, `down`: seconds without any."""
        if killed:
            self.master.registry.close()
        else:
            self.master.close()
        self.clock.sleep(down)
        self.start(spec or self.spec)

    def wait(self, seconds: float) -> None:
        self.clock.sleep(seconds)
        self.application.tick()

    def get(self, path: str) -> Any:
        answer = self.application.handle(Request("GET", path))
        assert answer.status == 200, answer
        return json.loads(answer.body)

    def call(self, kind: str, **body: Any) -> Any:
        content = json.dumps({"type": kind, kind.lower(): body})
        answer = self.application.handle(Request("POST", "/api/v1", JSON, content.encode()))
        assert answer.status in (200, 202), answer
        return json.loads(answer.body)[kind.lower()] if answer.body else None

    def framework(self, name: str = "f") -> dict[str, Any]:
        """As /frameworks shows it."""
        (shown,) = (shown for shown in self.get("/frameworks")["frameworks"] if shown["name"] == name)
        return dict(shown)

    def tasks(self) -> Mapping[str, str]:
        """State by task id, of all that are not completed."""
        shown = self.call("GET_TASKS")
        listed = [*shown["tasks"], *shown["unreachable_tasks"]]
        return {task["task_id"]["value"]: task["state"] for task in listed}

    def used(self) -> float:
        return sum(agent["used_resources"]["cpus"] for agent in self.get("/slaves")["slaves"])


class Scheduler(Subscriber):
    """A framework that keeps its id."""

    def __init__(self, lab: Lab, *capabilities: str, name: str = "f", **info: Any) -> None:
        super().__init__(lab)
        listed = [{"type": named} for named in ("MULTI_ROLE", "RESERVATION_REFINEMENT", *capabilities)]
        self.info = {"user": "u", "name": name, "roles": [name], "capabilities": listed, "failover_timeout": 1e6} | info
        self.subscribe()

    def subscribe(self) -> None:
        known = {} if self.id is None else {"framework_id": {"value": self.id}}
        info = self.info if self.id is None else {**self.info, "id": {"value": self.id}}
        body = {"type": "SUBSCRIBE", **known, "subscribe": {"framework_info": info}}
        self._subscribe(body)

    def offered(self) -> float:
        """How many cpus."""
        parts = [part for offer in self.offers() for part in offer["resources"] if part["name"] == "cpus"]
        return sum(float(part["scalar"]["value"]) for part in parts)

    def launch(self, *names: str, executor: str | None = None) -> None:
        """Tasks of one cpu each upon the first offer, under an executor if named; every other offer is declined."""
        first, *others = self.offers()
        infos = [self._task(name, first["agent_id"], executor) for name in names]
        operation = {"type": "LAUNCH", "launch": {"task_infos": infos}}
        self.call("ACCEPT", offer_ids=[first["id"]], operations=[operation], filters=_REFUSE)
        if others:
            self.call("DECLINE", offer_ids=[offer["id"] for offer in others], filters=_REFUSE)
        self.call("REVIVE")

    def _task(self, name: str, agent_id: dict[str, str], executor: str | None) -> dict[str, Any]:
        info = {"name": name, "task_id": {"value": name}, "agent_id": agent_id, "resources": [_cpus(1)]}
        if executor is None:
            return {**info, "command": {"value": "true"}}
        under = {"executor_id": {"value": executor}, "command": {"value": "run"}, "resources": [_cpus(0.5)]}
        return {**info, "executor": {**under, "type": "CUSTOM", "framework_id": {"value": self.id}}}

    def told(self) -> list[tuple[str, str]]:
        """Task and state of every update so far, none of them acknowledged."""
        statuses = [update["status"] for update in self.heard("UPDATE")]
        return [(status["task_id"]["value"], status["state"]) for status in statuses]

    def acknowledge(self) -> list[tuple[str, str]]:
        """The same, acknowledged, and what comes then."""
        seen = []
        while updates := self.heard("UPDATE"):
            for status in (update["status"] for update in updates):
                seen.append((status["task_id"]["value"], status["state"]))
                if "uuid" in status:
                    named = {key: status[key] for key in ("agent_id", "task_id", "uuid")}
                    self.call("ACKNOWLEDGE", **named)
        return seen

    def run(self, *names: str, executor: str | None = None) -> None:
        """Tasks that run, and are known to."""
        self.launch(*names, executor=executor)
        self.acknowledge()


def _cpus(amount: float) -> dict[str, Any]:
    return {"name": "cpus", "type": "SCALAR", "scalar": {"value": amount}}


@contextmanager
def lab(path: Path, *agents: str, **more: Any) -> Iterator[Lab]:
    """A lab that ends."""
    made = Lab(path / "r.sqlite", ClusterSpec(agents=agents or (AGENT,), mesos_version="1.11", **more))
    try:
        yield made
    finally:
        made.master.registry.close()
