"""A master in virtual time whose agents leave and come back, and a framework that hears of it."""

import json
from collections.abc import Mapping
from typing import Any

from fake_master.cluster import AgentSpec, ClusterSpec
from fake_master.http.application import Application
from fake_master.http.exchange import Request
from fake_master.master.clocks import VirtualClock
from fake_master.master.registry import Registry

from .sending import JSON
from .subscriber import Subscriber

AGENT = "cpus:4;mem:2048"
SPAN = {"start": {"nanoseconds": 1}}
PINGS = 75.0
"""Seconds until an agent that does not answer counts as unreachable: five pings."""
RESERVED = {
    "name": "cpus",
    "type": "SCALAR",
    "scalar": {"value": 1},
    "reservations": [{"type": "DYNAMIC", "role": "r"}],
}


class Scheduler(Subscriber):
    """A framework that launches what it is told to and hears everything."""

    def __init__(self, lab: "Lab", name: str, *capabilities: str, checkpoint: bool = True) -> None:
        super().__init__(lab)
        listed = [{"type": named} for named in ("MULTI_ROLE", "RESERVATION_REFINEMENT", *capabilities)]
        info = {"user": "u", "name": name, "roles": [name], "capabilities": listed, "checkpoint": checkpoint}
        body = {"type": "SUBSCRIBE", "subscribe": {"framework_info": info}}
        self._subscribe(body)

    def launch(self, task: str) -> str:
        """One task on the first agent that is offered, and the agent's id; every other offer is declined."""
        first, *others = self.offers()
        info = {
            "name": task,
            "task_id": {"value": task},
            "agent_id": first["agent_id"],
            "command": {"value": "true"},
            "resources": [{"name": "cpus", "type": "SCALAR", "scalar": {"value": 1}}],
        }
        operation = {"type": "LAUNCH", "launch": {"task_infos": [info]}}
        refuse = {"refuse_seconds": 10000}
        self.call("ACCEPT", offer_ids=[first["id"]], operations=[operation], filters=refuse)
        if others:
            self.call("DECLINE", offer_ids=[offer["id"] for offer in others], filters=refuse)
        self.acknowledge()
        return str(first["agent_id"]["value"])

    def acknowledge(self) -> list[tuple[str, str]]:
        """State and reason of every update, acknowledged as long as there are any to acknowledge."""
        seen = []
        while updates := self.heard("UPDATE"):
            for status in (update["status"] for update in updates):
                seen.append((status["state"], status.get("reason", "")))
                if "uuid" in status:
                    self.call(
                        "ACKNOWLEDGE", agent_id=status["agent_id"], task_id=status["task_id"], uuid=status["uuid"]
                    )
        return seen


class Lab:
    """A master in virtual time."""

    def __init__(
        self,
        *agents: AgentSpec | str,
        registry: Registry | None = None,
        now: float = 1000.0,
        version: str = "1.11",
    ) -> None:
        self.clock = VirtualClock(now)
        self.master = ClusterSpec(agents=agents, mesos_version=version).start(registry, clock=self.clock)
        self.application = Application(self.master)

    def wait(self, seconds: float) -> None:
        self.clock.sleep(seconds)
        self.application.tick()

    def get(self, path: str) -> Any:
        answer = self.application.handle(Request("GET", path))
        assert answer.status == 200, answer
        return json.loads(answer.body)

    def post(self, path: str, body: Any) -> int:
        return self.application.handle(Request("POST", path, {}, json.dumps(body).encode())).status

    def call(self, kind: str, **body: Any) -> Any:
        content = json.dumps({"type": kind, kind.lower(): body})
        answer = self.application.handle(Request("POST", "/api/v1", JSON, content.encode()))
        assert answer.status in (200, 202), answer
        return json.loads(answer.body)[kind.lower()] if answer.body else None

    def about(self, kind: str, agent_id: str, **more: Any) -> None:
        self.call(kind, agent_id={"value": agent_id}, **more)

    def take_down(self, hostname: str = "agent-1") -> dict[str, str]:
        machine = {"hostname": hostname, "ip": "127.0.0.1"}
        windows = [{"machine_ids": [machine], "unavailability": SPAN}]
        assert self.post("/maintenance/schedule", {"windows": windows}) == 200
        assert self.post("/machine/down", [machine]) == 200
        return machine

    @property
    def agents(self) -> list[Any]:
        return list(self.get("/slaves")["slaves"])

    def ids(self) -> list[str]:
        """The last part of every registered agent's id."""
        return [agent["id"].rpartition("-")[2] for agent in self.agents]

    def metric(self, name: str) -> float:
        return float(self.get("/metrics/snapshot")[f"master/{name}"])

    def tasks(self) -> Mapping[str, dict[str, str]]:
        """By list of GET_TASKS: state by task id."""
        shown = self.call("GET_TASKS")
        return {
            key.removesuffix("_tasks"): {task["task_id"]["value"]: task["state"] for task in listed}
            for key, listed in shown.items()
            if listed
        }


def two_kinds(lab: Lab) -> tuple[Scheduler, Scheduler, str]:
    """A framework that knows of partitions and one that does not, each with a task on the one agent."""
    aware = Scheduler(lab, "aware", "PARTITION_AWARE")
    agent_id = aware.launch("a")
    plain = Scheduler(lab, "plain")
    assert plain.launch("p") == agent_id
    return aware, plain, agent_id
