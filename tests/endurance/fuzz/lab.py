# ruff: noqa: E501  # lists of odd texts, several to a line
"""A master with something on it, whoever carries requests to it, and what must hold after each of them."""

import json
import time
from typing import Any

from fake_master.http.application import Application
from fake_master.http.request_response import Request
from fake_master.protobuf.conversion import parse
from fake_master.sources.cluster_file import ClusterSpec
from fake_master.state.clock import VirtualClock
from fake_master.state.streams import EventStream
from mesosctl.mesos.messages.protobuf_json import recordio
from tests.endurance.fuzz.requests import Sent
from tests.endurance.jobs.day import check_books

AGENTS = (
    "cpus:12;mem:6144;disk:1000;ports:[31000-32000]",
    "cpus:4;mem:2048;cpus(ads):2;mem(ads):1024;disk:500;ports:[31000-31100]",
)
READINGS = ["/health", "/slaves", "/state", "/state-summary", "/roles", "/quota", "/weights", "/frameworks", "/tasks", "/flags",
            "/metrics/snapshot", "/maintenance/schedule", "/maintenance/status", "/slave(1)/state"]  # fmt: skip
CALLS = ["GET_STATE", "GET_AGENTS", "GET_ROLES", "GET_QUOTA", "GET_WEIGHTS", "GET_OPERATIONS", "GET_MAINTENANCE_STATUS"]
MOST_SECONDS = 20.0
"""Of computing, however busy the machine is otherwise; usually some milliseconds."""
JSON = {"content-type": "application/json", "accept": "application/json"}
PROTOBUF = dict.fromkeys(JSON, "application/x-protobuf")


def subscribe(name: str, *roles: str) -> bytes:
    """The body of a SUBSCRIBE."""
    capabilities = [{"type": kind} for kind in ("MULTI_ROLE", "RESERVATION_REFINEMENT", "PARTITION_AWARE")]
    info = {"user": "u", "name": name, "roles": list(roles), "capabilities": capabilities, "failover_timeout": 100}
    return json.dumps({"type": "SUBSCRIBE", "subscribe": {"framework_info": info}}).encode()


def _call(name: str, **body: Any) -> Sent:
    """An operator's call."""
    return Sent("POST", "/api/v1", JSON, json.dumps({"type": name, name.lower(): body}).encode())


def _scalar(name: str, amount: float, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": "SCALAR", "scalar": {"value": amount}, **more}


_OWNED = {"reservations": [{"type": "DYNAMIC", "role": "web", "principal": "operator"}]}
_DISK = {"persistence": {"id": "volume"}, "volume": {"container_path": "data", "mode": "RW"}}
_TASK = {
    "name": "task",
    "task_id": {"value": "t1"},
    "agent_id": {"value": "@A1"},
    "resources": [_scalar("cpus", 1), _scalar("mem", 128)],
    "command": {"value": "sleep 100"},
}
# What is on the master before anything odd is sent: quota, weights, a reservation, a volume, a task, a schedule.
SETTING_UP = (
    _call(
        "UPDATE_QUOTA",
        quota_configs=[{"role": "dev", "guarantees": {"cpus": {"value": 1}}, "limits": {"cpus": {"value": 9}}}],
    ),
    _call("UPDATE_WEIGHTS", weight_infos=[{"role": "web", "weight": 2}]),
    _call(
        "RESERVE_RESOURCES",
        agent_id={"value": "@A1"},
        resources=[_scalar("cpus", 2, **_OWNED), _scalar("disk", 50, **_OWNED)],
    ),
    _call("CREATE_VOLUMES", agent_id={"value": "@A1"}, volumes=[_scalar("disk", 10, **_OWNED, disk=_DISK)]),
    _call(
        "UPDATE_MAINTENANCE_SCHEDULE",
        schedule={
            "windows": [
                {
                    "machine_ids": [{"hostname": "@H2", "ip": "127.0.0.1"}],
                    "unavailability": {"start": {"nanoseconds": 0}},
                }
            ]
        },
    ),
    Sent(
        "POST",
        "/api/v1/scheduler",
        JSON | {"mesos-stream-id": "@S1"},
        json.dumps(
            {
                "type": "ACCEPT",
                "framework_id": {"value": "@F1"},
                "accept": {
                    "offer_ids": [{"value": "@O1"}],
                    "operations": [{"type": "LAUNCH", "launch": {"task_infos": [_TASK]}}],
                },
            }
        ).encode(),
    ),
)


class Lab:
    """Two agents, two frameworks that hold offers, an operator who listens, and a clock of its own."""

    def __init__(self, version: str) -> None:
        self._clock = VirtualClock()
        flags = {"registry": "in_memory"}
        self.master = ClusterSpec(agents=AGENTS, mesos_version=version, flags=flags).start(clock=self._clock)
        self.application = Application(self.master, has_page=True)
        self._pages: list[EventStream] = []
        self._streams = [
            self._subscribe("/api/v1/scheduler", subscribe("one", "web", "ads")),
            self._subscribe("/api/v1/scheduler", subscribe("two", "dev")),
            self._subscribe("/api/v1", b'{"type":"SUBSCRIBE"}'),
        ]
        self.wait(2)
        for sent in SETTING_UP:
            status = self.send(sent)
            assert status in (200, 202), (status, sent)
            self.wait(2)

    def _subscribe(self, path: str, body: bytes) -> Any:
        answer = self.application.handle(Request("POST", path, JSON, body))
        assert answer.stream is not None, answer
        return answer.stream, None

    def wait(self, seconds: float) -> None:
        """Let time pass, deadline by deadline."""
        end = self._clock() + seconds
        for _ in range(1000):
            due = self.master.next_deadline()
            if due is None or due > end:
                break
            self._clock.now = max(self._clock(), due)
            self.application.tick()
        self._clock.now = end
        self.application.tick()

    def names(self) -> dict[str, str]:
        """What the "@" words stand for now."""
        agents = list(self.master.state.agents.values())
        frameworks = list(self.master.state.frameworks.values())
        offers = [offer for framework in frameworks for offer in framework.offers]
        return {
            **{f"@A{number}": agent.id for number, agent in enumerate(agents, 1)},
            **{f"@H{number}": agent.hostname for number, agent in enumerate(agents, 1)},
            **{f"@F{number}": framework.id for number, framework in enumerate(frameworks, 1)},
            **{f"@O{number}": offer for number, offer in enumerate(offers, 1)},
            **({"@S1": frameworks[0].stream.id} if frameworks and frameworks[0].stream is not None else {}),
        }

    def send(self, sent: Sent) -> int:
        """The status; asserts that it came in time and is no fault of the master's."""
        started = time.process_time()
        answer = self.application.handle(filled(sent, self.names()))
        took = time.process_time() - started
        assert answer.status < 500 or answer.status == 501, (answer.status, answer.body, sent)
        assert took < MOST_SECONDS, (took, sent)
        in_protobuf = answer.headers.get("Content-Type") == PROTOBUF["accept"]
        if answer.headers.get("Content-Type") == "text/event-stream" and answer.stream is not None:
            self._pages.append(answer.stream)
        elif answer.stream is not None:
            self._streams.append((answer.stream, sent.event if in_protobuf else None))
        elif in_protobuf:
            parse("mesos.v1.master.Response", answer.body)
        return answer.status

    def check(self) -> None:
        """The master still shows everything, every event that it sent can be read, and its books balance."""
        for path in READINGS:
            answer = self.application.handle(Request("GET", path))
            assert answer.status == 200 or not self.master.state.agents or path.startswith("/slave("), (path, answer)
            if answer.body and path != "/health" and answer.status == 200:
                json.loads(answer.body.decode(errors="surrogateescape"))
        for name in CALLS:
            answer = self.application.handle(Request("POST", "/api/v1", JSON, json.dumps({"type": name}).encode()))
            assert answer.status == 200, (name, answer)
            json.loads(answer.body.decode(errors="surrogateescape"))
        self.application.publish()
        for page in self._pages:
            for record in page.take():
                json.loads(record.removeprefix(b"data: "))
        for stream, event in self._streams:
            for record in recordio.decode(stream.take()):
                if event is None:
                    json.loads(record.decode(errors="surrogateescape"))
                else:
                    assert parse(event, record)["type"]
        check_books(self.master)


def filled(sent: Sent, names: dict[str, str]) -> Request:
    """The request with ids in place of the "@" words."""
    target, body, headers = sent.target, sent.body, dict(sent.headers)
    for word, value in names.items():
        target, body = target.replace(word, value), body.replace(word.encode(), value.encode())
        headers = {name: text.replace(word, value) for name, text in headers.items()}
    if sent.in_protobuf is not None:
        body, headers = sent.in_protobuf(body), headers | PROTOBUF
    return Request(sent.method, target, headers, body)
