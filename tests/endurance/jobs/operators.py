"""Operators who change something over and over, and know afterwards what must still be there.

Each owns a part of the cluster that nobody else touches, so one number says all about it.  A change is
several records in one request: if only some of them are found, it is half there.
"""

import json
import random
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from mesosctl.mesos.messages.protobuf_json import recordio
from tests.helpers.waiting import PATIENCE

AGENTS_OF_EACH_KIND = 3
_SOME_DAY = {"start": {"nanoseconds": 1_895_232_742_000_000_000}}
_MOST_PAIRS = 3
_FRAMEWORK = {
    "failover_timeout": 1e6,
    "capabilities": [{"type": "MULTI_ROLE"}, {"type": "RESERVATION_REFINEMENT"}],
}
HALF = -1
"""What `found` answers where a change is there in part."""


@dataclass
class Operator(ABC):
    """Number `number` among its kind.  `kept` was answered last, `wanted` is on its way."""

    number: int
    kept: int = 0
    wanted: int = 0

    def step(self, client: httpx.Client, choice: random.Random) -> None:
        """One change, and its answer.  Raises httpx.TransportError when the master goes away before it."""
        self.wanted = choice.choice(self._next())
        answer = self._change(client)
        assert answer.is_success, f"{self}: {answer.status_code} {answer.text}"
        self.kept = self.wanted

    def _next(self) -> list[int]:
        """What can be asked for, where `kept` is."""
        return [value for value in range(4) if value != self.kept]

    @abstractmethod
    def _change(self, client: httpx.Client) -> httpx.Response:
        """Ask for `wanted`, where `kept` is."""

    @abstractmethod
    def found(self, client: httpx.Client) -> int:
        """What the master has now, or HALF."""

    def settle(self, client: httpx.Client) -> str | None:
        """Look at what is there after a restart, and go on from it; a sentence where that must not be."""
        there = self.found(client)
        allowed = {self.kept, self.wanted}
        problem = None if there in allowed else f"{self}: found {there}"
        self.kept = self.wanted = there
        return problem

    @property
    def under_way(self) -> bool:
        """Whether a change was asked for and not answered."""
        return self.kept != self.wanted


class QuotaOperator(Operator):
    """Gives two roles the same guarantee in one call; 0 is none."""

    @property
    def roles(self) -> list[str]:
        return [f"quota-{self.number}-{part}" for part in "ab"]

    def _change(self, client: httpx.Client) -> httpx.Response:
        amounts = {"cpus": {"value": self.wanted}} if self.wanted else {}
        configs = [{"role": role, "guarantees": amounts, "limits": amounts} for role in self.roles]
        return client.post("/api/v1", json={"type": "UPDATE_QUOTA", "update_quota": {"quota_configs": configs}})

    def found(self, client: httpx.Client) -> int:
        infos = client.get("/quota").json().get("infos", [])
        amounts = {
            info["role"]: int(amount["scalar"]["value"]) for info in infos for amount in info.get("guarantee", [])
        }
        return _same(amounts.get(role, 0) for role in self.roles)


class WeightOperator(Operator):
    """Gives two roles the same weight in one request."""

    @property
    def roles(self) -> list[str]:
        return [f"weight-{self.number}-{part}" for part in "ab"]

    def _change(self, client: httpx.Client) -> httpx.Response:
        return client.put("/weights", json=[{"role": role, "weight": self.wanted + 1} for role in self.roles])

    def found(self, client: httpx.Client) -> int:
        weights = {entry["role"]: int(entry["weight"]) for entry in client.get("/weights").json()}
        return _same(weights.get(role, 1) - 1 for role in self.roles)


class ReservationOperator(Operator):
    """Reserves cpus and mem of its own agent in one request, and gives some back."""

    @property
    def role(self) -> str:
        return f"owner-{self.number}"

    def _change(self, client: httpx.Client) -> httpx.Response:
        more = self.wanted - self.kept
        path = "/reserve" if more > 0 else "/unreserve"
        agent = self._agent(client)
        amounts: list[dict[str, Any]] = [
            {
                "name": name,
                "type": "SCALAR",
                "scalar": {"value": abs(more) * part},
                "reservations": [{"type": "DYNAMIC", "role": self.role, "principal": "operator"}],
            }
            for name, part in (("cpus", 1), ("mem", 64))
        ]
        return client.post(path, data={"slaveId": agent["id"], "resources": _json(amounts)})

    def found(self, client: httpx.Client) -> int:
        reserved = self._agent(client)["reserved_resources"].get(self.role, {})
        cpus, mem = reserved.get("cpus", 0), reserved.get("mem", 0)
        return int(cpus) if mem == cpus * 64 else HALF

    def _agent(self, client: httpx.Client) -> dict[str, Any]:
        return _agent_on(client, f"agent-{self.number + 1}")


class VolumeOperator(Operator):
    """Makes pairs of volumes on its own agent, and destroys them, each time in one request."""

    @property
    def role(self) -> str:
        return f"keeper-{self.number}"

    @property
    def hostname(self) -> str:
        return f"agent-{AGENTS_OF_EACH_KIND + self.number + 1}"

    def _change(self, client: httpx.Client) -> httpx.Response:
        path = "/create-volumes" if self.wanted > self.kept else "/destroy-volumes"
        pairs = range(min(self.kept, self.wanted), max(self.kept, self.wanted))
        volumes = [
            {
                "name": "disk",
                "type": "SCALAR",
                "scalar": {"value": 10},
                "reservations": [{"type": "STATIC", "role": self.role}],
                "disk": {"persistence": {"id": name}, "volume": {"mode": "RW", "container_path": "data"}},
            }
            for pair in pairs
            for name in _pair(pair)
        ]
        agent = _agent_on(client, self.hostname)
        return client.post(path, data={"slaveId": agent["id"], "volumes": _json(volumes)})

    def found(self, client: httpx.Client) -> int:
        owned = _agent_on(client, self.hostname)["reserved_resources_full"].get(self.role, [])
        names = {entry["disk"]["persistence"]["id"] for entry in owned if "disk" in entry}
        pairs = len(names) // 2
        return pairs if names == {name for pair in range(pairs) for name in _pair(pair)} else HALF


class MaintenanceOperator(Operator):
    """Schedules two machines, takes them down, and brings them up: the only one who sees to the schedule.

    0 is none of that, 1 is scheduled, 2 is down.  The agents of machines that come up are new ones.
    """

    @property
    def machines(self) -> list[dict[str, str]]:
        first = 2 * AGENTS_OF_EACH_KIND + 1
        return [{"hostname": f"agent-{number}", "ip": "127.0.0.1"} for number in (first, first + 1)]

    def _next(self) -> list[int]:
        return [[1], [0, 2], [0]][self.kept]

    def _change(self, client: httpx.Client) -> httpx.Response:
        if self.wanted == 2:
            return client.post("/machine/down", json=self.machines)
        if self.kept == 2:
            return client.post("/machine/up", json=self.machines)
        windows = [{"machine_ids": self.machines, "unavailability": _SOME_DAY}] if self.wanted else []
        return client.post("/maintenance/schedule", json={"windows": windows})

    def found(self, client: httpx.Client) -> int:
        status = client.get("/maintenance/status").json()
        there = [agent["hostname"] for agent in client.get("/slaves").json()["slaves"]]
        seen = (
            [machine for window in client.get("/maintenance/schedule").json().get("windows", [])
             for machine in window["machine_ids"]],
            [machine["id"] for machine in status.get("draining_machines", [])],
            status.get("down_machines", []),
            sum(there.count(machine["hostname"]) for machine in self.machines),
        )  # fmt: skip
        both = self.machines
        states = [([], [], [], 2), (both, both, [], 2), (both, [], both, 0)]
        return states.index(seen) if seen in states else HALF


class TaskOperator(Operator):
    """A framework that launches pairs of tasks on its own agent, each time in one call, until it is torn down.

    It leaves after every step, and comes back with its id.
    """

    framework_id: str | None = None
    pairs = 0
    """How many it has launched, and was told so."""

    def _next(self) -> list[int]:
        return [[1], [0, 2], [0, 3], [0]][self.kept]

    @property
    def hostname(self) -> str:
        return f"agent-{2 * AGENTS_OF_EACH_KIND + 2 + self.number + 1}"

    def _change(self, client: httpx.Client) -> httpx.Response:
        if self.wanted == 0:
            return client.post("/teardown", data={"frameworkId": str(self.framework_id)})
        with self._subscribed(client) as (stream_id, heard):
            events = _in_time(heard, f"{self}: no pair of tasks on {self.hostname}")
            while True:
                answer = self._launch(client, stream_id, _offer_of(self.hostname, events))
                # Whoever reserves, or schedules maintenance, may have taken the offer back.
                if not answer.is_success:
                    return answer
                if _is_launched(_pair(self.kept), events):
                    self.pairs += 1
                    return answer

    def _launch(self, client: httpx.Client, stream_id: str, offer: dict[str, Any]) -> httpx.Response:
        infos = [_task(name, offer) for name in _pair(self.kept)]
        launch = {"type": "LAUNCH", "launch": {"task_infos": infos}}
        accept = {"offer_ids": [offer["id"]], "operations": [launch], "filters": {"refuse_seconds": 0}}
        call = {"type": "ACCEPT", "framework_id": {"value": self.framework_id}, "accept": accept}
        return client.post("/api/v1/scheduler", json=call, headers={"Mesos-Stream-Id": stream_id})

    @contextmanager
    def _subscribed(self, client: httpx.Client) -> Iterator[tuple[str, Iterator[dict[str, Any]]]]:
        """The id of the stream, and the events on it."""
        if self.kept == 0:
            self.framework_id = None
        named = {} if self.framework_id is None else {"framework_id": {"value": self.framework_id}}
        role = f"runner-{self.number}"
        info = {"user": "u", "name": role, "roles": [role], **_FRAMEWORK}
        if named:
            info["id"] = named["framework_id"]
        body = {"type": "SUBSCRIBE", **named, "subscribe": {"framework_info": info}}
        with client.stream("POST", "/api/v1/scheduler", json=body, headers={"Accept": "application/json"}) as answer:
            events = (json.loads(record) for record in recordio.decode(answer.iter_bytes()))
            self.framework_id = next(events)["subscribed"]["framework_id"]["value"]
            yield answer.headers["Mesos-Stream-Id"], events

    def found(self, client: httpx.Client) -> int:
        frameworks = client.get("/frameworks").json()["frameworks"]
        tasks = [task for shown in frameworks if shown["id"] == self.framework_id for task in shown["tasks"]]
        names = {task["id"] for task in tasks if task["state"] == "TASK_RUNNING"}
        used = _agent_on(client, self.hostname)["used_resources"]["cpus"]
        pairs = len(names) // 2
        whole = {name for pair in range(pairs) for name in _pair(pair)}
        return pairs if names == whole and used == len(tasks) == len(names) else HALF


def _in_time(events: Iterator[dict[str, Any]], otherwise: str) -> Iterator[dict[str, Any]]:
    """The same events, for as long as they may take in all; heartbeats see to it that there is always one."""
    deadline = time.monotonic() + PATIENCE
    for event in events:
        assert time.monotonic() < deadline, f"{otherwise} within {PATIENCE:.0f} s"
        yield event


def _offer_of(hostname: str, events: Iterator[dict[str, Any]]) -> dict[str, Any]:
    offers = (offer for event in events if event["type"] == "OFFERS" for offer in event["offers"]["offers"])
    return next(offer for offer in offers if offer["hostname"] == hostname)


def _is_launched(names: tuple[str, str], events: Iterator[dict[str, Any]]) -> bool:
    """Whether a pair of tasks starts, as against being told that their offer is gone."""
    news = (event["update"]["status"] for event in events if event["type"] == "UPDATE")
    states = (status["state"] for status in news if status["task_id"]["value"] in names)
    return {next(states) for _ in names} == {"TASK_STARTING"}


def agents() -> list[str]:
    """What every agent is started with, in the order in which the operators own them."""
    plain = "cpus:100;mem:65536"
    volumes = [f"{plain};disk(keeper-{number}):1000" for number in range(AGENTS_OF_EACH_KIND)]
    # Nobody else may hold what a runner waits for.
    runners = [f"cpus(runner-{number}):100;mem(runner-{number}):65536" for number in range(AGENTS_OF_EACH_KIND)]
    return [plain] * AGENTS_OF_EACH_KIND + volumes + [plain] * 2 + runners


def _task(name: str, offer: dict[str, Any]) -> dict[str, Any]:
    (cpus,) = (part for part in offer["resources"] if part["name"] == "cpus")
    named = {"name": name, "task_id": {"value": name}, "agent_id": offer["agent_id"]}
    return {**named, "command": {"value": "run"}, "resources": [{**cpus, "scalar": {"value": 1}}]}


def _agent_on(client: httpx.Client, hostname: str) -> dict[str, Any]:
    (agent,) = (agent for agent in client.get("/slaves").json()["slaves"] if agent["hostname"] == hostname)
    return dict(agent)


def _pair(number: int) -> tuple[str, str]:
    return f"{number}-a", f"{number}-b"


def _json(value: Any) -> str:
    return httpx.Request("POST", "http://localhost", json=value).content.decode()


def _same(amounts: Any) -> int:
    different = set(amounts)
    return different.pop() if len(different) == 1 else HALF
