"""A master with a clock of its own, and frameworks that count what it does for them."""

import json
from dataclasses import dataclass, field
from typing import Any

from fake_master.cluster import ClusterSpec
from fake_master.http.application import Application
from fake_master.http.exchange import Request
from fake_master.master.registry import Registry
from fake_master.master.streams import EventStream
from mesosctl.wire.recordio import decode


@dataclass
class Cluster:
    """A master with a clock of its own, which starts at 1000 seconds."""

    limits: dict[str, Any]
    flags: dict[str, Any] = field(default_factory=dict)
    now: float = 1000.0
    version: str = "1.11"
    registry: Registry | None = None

    def __post_init__(self) -> None:
        flags = self.flags | ({"rate_limits": json.dumps(self.limits)} if self.limits else {})
        spec = ClusterSpec(agents=("cpus:4;mem:1024",), mesos_version=self.version, flags=flags)
        self.application = Application(spec.start(self.registry, clock=lambda: self.now))

    def ask(self, target: str, body: dict[str, Any] | None = None, **headers: str):
        return self.application.handle(
            Request(
                "GET" if body is None else "POST",
                target,
                {"content-type": "application/json", "accept": "application/json"} | headers,
                b"" if body is None else json.dumps(body).encode(),
            )
        )

    def at(self, seconds: float) -> None:
        """Let time pass until `seconds` after the start."""
        self.now = 1000.0 + seconds
        self.application.tick()

    def framework(self, principal: str | None = None, **info: object) -> "Framework":
        return Framework(self, principal, info)

    def counters(self) -> dict[str, tuple[float, float]]:
        metrics = json.loads(self.ask("/metrics/snapshot").body)
        principals = [name[11:-18] for name in metrics if name.startswith("frameworks/") and name.endswith("_received")]
        return {
            principal: tuple(metrics[f"frameworks/{principal}/messages_{kind}"] for kind in ("received", "processed"))
            for principal in principals
        }

    def frameworks(self) -> list[dict[str, Any]]:
        return json.loads(self.ask("/frameworks").body)["frameworks"]


class Framework:
    """A subscribed framework; `processed` are the tasks whose reconciliation was answered, and when."""

    def __init__(self, cluster: Cluster, principal: str | None, info: dict[str, Any]) -> None:
        self.cluster = cluster
        self.info = (
            {"user": "u", "name": "f", "roles": ["dev"], "capabilities": [{"type": "MULTI_ROLE"}]}
            | ({} if principal is None else {"principal": principal})
            | info
        )
        self.errors: list[str] = []
        self.processed: list[str] = []
        self.events: list[dict[str, Any]] = []
        self.subscribe()

    def subscribe(self, **call: object) -> None:
        answer = self.cluster.ask(
            "/api/v1/scheduler", {"type": "SUBSCRIBE", "subscribe": {"framework_info": self.info}} | call
        )
        assert answer.status == 200
        assert answer.stream is not None
        self.stream: EventStream = answer.stream
        self.read()
        self.id = self.events[0]["subscribed"]["framework_id"]["value"]

    def resubscribe(self) -> None:
        self.events.clear()
        self.info |= {"id": {"value": self.id}}
        self.subscribe(framework_id={"value": self.id})

    def call(self, kind: str, **body: object) -> int:
        wrapped = {kind.lower(): body} if body else {}
        return self.cluster.ask(
            "/api/v1/scheduler",
            {"type": kind, "framework_id": {"value": self.id}} | wrapped,
            **{"mesos-stream-id": self.stream.id},
        ).status

    def send(self, *tasks: str) -> None:
        """One call for each, which shows when it is processed."""
        for task in tasks:
            assert self.call("RECONCILE", tasks=[{"task_id": {"value": task}}]) == 202
        self.read()

    def launch(self, name: str) -> None:
        """Accept the first offer, whole, for one task."""
        self.read()
        (offer,) = next(event["offers"]["offers"] for event in self.events if event["type"] == "OFFERS")
        task = {
            "name": name,
            "task_id": {"value": name},
            "agent_id": offer["agent_id"],
            "resources": offer["resources"],
            "command": {"value": "sleep"},
        }
        launch = {"type": "LAUNCH", "launch": {"task_infos": [task]}}
        assert self.call("ACCEPT", offer_ids=[offer["id"]], operations=[launch]) == 202

    def read(self) -> list[str]:
        """What has come; the tasks answered so far."""
        for record in decode(self.stream.take()):
            event = json.loads(record)
            self.events.append(event)
            if event["type"] == "UPDATE":
                self.processed.append(event["update"]["status"]["task_id"]["value"])
            elif event["type"] == "ERROR":
                self.errors.append(event["error"]["message"])
        return self.processed
