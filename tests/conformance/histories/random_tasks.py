"""Random requests that launch: mostly valid ones, each with a few odd parts anywhere in what a task may hold.

A resource of type TEXT, a group with one task id twice and a reservation in the body of another kind are left out: they
end a real master (`scenarios/lethal.py`, `frameworks/test_lethal_calls.py`).
"""

import json
import random
from collections.abc import Callable
from typing import Any

from mesosctl.mesos.messages.protobuf_json.message_tables import Field, mesos_message
from tests.conformance.histories.changed_fields import Changes, finite, in_field
from tests.conformance.scenarios.scenario import scalar, scalars

Made = Any
_OWN_BODIES = ("launch", "launch_group")
_OPERATION = "mesos.v1.Offer.Operation"
_TEXTS = {
    "agent_id": ("$AGENT", "zz"),
    "framework_id": ("$FRAMEWORK", "another"),
    "executor_id": ("e", "f"),
    "role": ("ads/video", "other", "*"),
    "name": ("cpus", "mem", "x", ""),
}
_STRANGERS: tuple[Any, ...] = ("x", "", 1, -1, True, [], {}, [1], {"value": "x"}, "UNKNOWN", "7", -0.5)


class TaskDice:
    """A source of random tasks that a seed fixes; what is changed in them is what a release has, or anything."""

    def __init__(self, seed: int, release: str | None = None) -> None:
        self.random = random.Random(seed)
        self._operation_list = Field(mesos_message(_OPERATION, release), "repeated")
        self._changes = Changes(self.random, _TEXTS)

    def choose(self, *among: Any) -> Any:
        return self.random.choice(among)

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def some(self, **parts: Callable[[], Any]) -> dict[str, Any]:
        """An object with some of these fields."""
        wanted = self.random.random()
        return {name: make() for name, make in parts.items() if self.chance(wanted)}

    def number(self) -> float:
        return float(self.choose(0, 1, 2.5, 15, -1, "Infinity" if self.chance(0.1) else 3))

    # --- Commands -----------------------------------------------------------------------------------

    def text(self) -> str:
        return str(self.choose("a", "b", "true", "/x", "", "é"))

    def secret(self) -> Made:
        value, reference = {"data": self.choose("eA==", "AGE=", "")}, {"name": "n"}
        return {
            **self.some(type=lambda: self.choose("VALUE", "VALUE", "REFERENCE", "UNKNOWN")),
            **({"value": value} if self.chance(0.6) else {}),
            **({"reference": reference} if self.chance(0.4) else {}),
        }

    def variable(self) -> Made:
        kind = self.choose("VALUE", "VALUE", "SECRET", "SECRET", "UNKNOWN", None)
        variable: dict[str, Any] = {"name": self.choose("A", "B")} | ({} if kind is None else {"type": kind})
        if kind != "SECRET" or self.chance(0.1):
            variable["value"] = self.text()
        if kind == "SECRET" or self.chance(0.1):
            variable["secret"] = {"type": "VALUE", "value": {"data": "eA=="}} if self.chance(0.5) else self.secret()
        return variable

    def environment(self) -> Made:
        return {"variables": [self.variable() for _ in range(self.choose(1, 1, 2))]}

    def uri(self) -> Made:
        return {"value": self.choose("http://a.example/x", "b")} | self.some(
            executable=lambda: True, extract=lambda: False, cache=lambda: True, output_file=self.text
        )

    def command(self) -> Made:
        found = {"value": self.choose("true", "sleep 1")} if self.chance(0.9) else {}
        return found | self.some(
            environment=lambda: (
                self.environment() if self.chance(0.5) else {"variables": [{"name": "A", "value": "1"}]}
            ),
            uris=lambda: [self.uri()],
            shell=lambda: self.chance(0.5),
            arguments=lambda: ["x", "y"],
            user=lambda: "root",
        )

    # --- Containers ---------------------------------------------------------------------------------

    def image(self) -> Made:
        return {"type": self.choose("DOCKER", "APPC"), "docker": {"name": "i"}} | self.some(
            appc=lambda: {"name": "i"}, cached=lambda: False
        )

    def source(self) -> Made:
        bodies = {
            "DOCKER_VOLUME": {"name": "v"},
            "HOST_PATH": {"path": "/x"},
            "SANDBOX_PATH": {"type": "PARENT", "path": "p"},
            "SECRET": self.secret(),
        }
        kind = self.choose(*bodies)
        body = kind if self.chance(0.85) else self.choose(*bodies)
        typed = {} if self.chance(0.05) else {"type": kind if self.chance(0.97) else "UNKNOWN"}
        return typed | {body.lower(): bodies[body]}

    def volume(self) -> Made:
        where: dict[str, Any] = {}
        if self.chance(0.6):
            where["host_path"] = "/h"
        if self.chance(0.2):
            where["image"] = self.image()
        if self.chance(0.35) or not where:
            where["source"] = self.source()
        return {"mode": self.choose("RW", "RO"), "container_path": self.choose("p", "/p", "")} | (
            where if self.chance(0.95) else {}
        )

    def network(self) -> Made:
        return self.some(
            name=self.text,
            ip_addresses=lambda: [
                self.some(protocol=lambda: self.choose("IPv4", "IPv6", "IPv5"), ip_address=lambda: "1.2.3.4")
            ],
            groups=lambda: ["g"],
            labels=self.labels,
            port_mappings=lambda: [
                {"host_port": self.choose(1, 31000, -1, 70000), "container_port": 80} | self.some(protocol=self.text)
            ],
        )

    def linux(self) -> Made:
        return self.some(
            share_pid_namespace=lambda: True,
            share_cgroups=lambda: self.chance(0.5),
            capability_info=lambda: {"capabilities": [self.choose("CHOWN", "KILL", "NONE")]},
            effective_capabilities=lambda: {"capabilities": ["CHOWN"]},
            bounding_capabilities=lambda: {"capabilities": ["KILL"]},
            seccomp=lambda: self.some(profile_name=self.text, unconfined=lambda: self.chance(0.5)),
            ipc_mode=lambda: self.choose("PRIVATE", "SHARE_PARENT", "UNKNOWN"),
            shm_size=lambda: self.choose(1, 0, 64),
        )

    def docker(self) -> Made:
        return {"image": "i"} | self.some(
            network=lambda: self.choose("HOST", "BRIDGE", "NONE", "USER"),
            parameters=lambda: [{"key": self.choose("name", "other", "label"), "value": "x"}],
            privileged=lambda: True,
            port_mappings=lambda: [{"host_port": 31000, "container_port": 80}],
            force_pull_image=lambda: True,
            volume_driver=self.text,
        )

    def container(self, kinds: tuple[str, ...] = ("MESOS", "MESOS", "DOCKER")) -> Made:
        kind = self.choose(*kinds)
        body = {"mesos": self.some(image=self.image)} if kind == "MESOS" else {"docker": self.docker()}
        return {"type": kind, **(body if self.chance(0.9) else {})} | self.some(
            volumes=lambda: [
                self.volume() if self.chance(0.6) else {"mode": "RW", "container_path": "p", "host_path": "/h"}
            ],
            network_infos=lambda: [self.network()],
            linux_info=self.linux,
            rlimit_info=lambda: {
                "rlimits": [
                    {"type": self.choose("RLMT_CORE", "RLMT_CPU", "UNKNOWN")}
                    | self.some(soft=lambda: 1, hard=lambda: self.choose(2, 0))
                ]
            },
            tty_info=lambda: self.some(window_size=lambda: {"rows": 1, "columns": 2}),
            hostname=self.text,
        )

    # --- Checks -------------------------------------------------------------------------------------

    def times(self, *more: str) -> Made:
        names = ("delay_seconds", "interval_seconds", "timeout_seconds", *more)
        return {
            name: self.choose(0, 1, 15, 2.5, *([-1, -0.001] if self.chance(0.2) else ()))
            for name in names
            if self.chance(0.3)
        }

    def http(self) -> Made:
        scheme = self.some(scheme=lambda: self.choose("http", "https", "ftp" if self.chance(0.3) else "http"))
        return (
            {"port": self.choose(80, 31000)}
            | scheme
            | self.some(path=lambda: self.choose("/h", "/", "h" if self.chance(0.3) else "/x"))
        )

    def health_check(self) -> Made:
        bodies = {
            "COMMAND": lambda: ("command", self.command()),
            "HTTP": lambda: ("http", self.http()),
            "TCP": lambda: ("tcp", {"port": 1}),
        }
        return (
            self._check(bodies)
            | self.times("grace_period_seconds")
            | self.some(consecutive_failures=lambda: self.choose(3, 0))
        )

    def check(self) -> Made:
        bodies = {
            "COMMAND": lambda: ("command", {"command": self.command()}),
            "HTTP": lambda: ("http", {"port": 80} | self.some(path=lambda: self.choose("/h", "h"))),
            "TCP": lambda: ("tcp", {"port": 1}),
        }
        return self._check(bodies) | self.times()

    def _check(self, bodies: dict[str, Callable[[], tuple[str, Any]]]) -> Made:
        kind = self.choose(*bodies)
        of = kind if self.chance(0.9) else self.choose(*bodies)
        typed = {"type": kind if self.chance(0.95) else "UNKNOWN"} if self.chance(0.9) else {}
        more = [bodies[self.choose(*bodies)]()] if self.chance(0.1) else []
        return typed | dict([bodies[of](), *more])

    # --- The rest of a task -------------------------------------------------------------------------

    def labels(self) -> Made:
        return {
            "labels": [{"key": self.choose("k", "l")} | self.some(value=self.text) for _ in range(self.choose(1, 2))]
        }

    def discovery(self) -> Made:
        return {"visibility": self.choose("CLUSTER", "FRAMEWORK", "EXTERNAL")} | self.some(
            name=self.text,
            environment=self.text,
            ports=lambda: {
                "ports": [
                    {"number": self.choose(80, 0, 70000)}
                    | self.some(name=self.text, protocol=self.text, visibility=lambda: "CLUSTER")
                ]
            },
            labels=self.labels,
        )

    def duration(self) -> Made:
        return {"nanoseconds": self.choose(0, 1, 10**9, -1 if self.chance(0.3) else 5)}

    def limits(self) -> Made:
        names = self.random.sample(("cpus", "mem", "disk", "gpus"), self.choose(1, 1, 2))
        return {name: {"value": self.choose(0.1, 0.5, 1, 64, 128, "Infinity")} for name in names}

    def resources(self) -> list[Made]:
        found = scalars(cpus=self.choose(0.5, 0.1), mem=self.choose(64, 32))
        if self.chance(0.25):
            found.append(
                self.choose(
                    scalar("gpus", self.choose(0.5, 0)),
                    scalar("disk", 10),
                    scalar("cpus", self.choose(100, 0, -1, 0.0004)),
                    {
                        "name": "ports",
                        "type": "RANGES",
                        "ranges": {"range": [{"begin": self.choose(31002, 31010), "end": 31005}]},
                    },
                    {
                        "name": "ports",
                        "type": "RANGES",
                        "ranges": {
                            "range": [
                                {"begin": 31001, "end": 31003},
                                {"begin": self.choose(31003, 31004), "end": 31005},
                            ]
                        },
                    },
                    scalar("cpus", 0.1, revocable={}),
                    scalar("mem", 1, shared={}),
                    scalar(
                        "disk", 1, disk={"persistence": {"id": "v"}, "volume": {"container_path": "p", "mode": "RW"}}
                    ),
                    scalar("disk", 1, disk={}),
                    scalar("cpus", 0.1, reservations=[{"type": "DYNAMIC", "role": "ads"}]),
                    scalar("cpus", 0.1, allocation_info={"role": self.choose("ads", "other")}),
                    scalar("cpus", 0.1, role="ads"),
                    {"name": "cpus", "type": "SCALAR"},
                    {"name": "", "type": "SCALAR", "scalar": {"value": 1}},
                    {"name": "z", "type": "SET", "set": {"item": ["a", "a"]}},
                )
            )
        return found[: self.choose(1, 9, 9, 9, 9)] if self.chance(0.97) else []

    def extras(self) -> dict[str, Callable[[], Any]]:
        return {
            "container": self.container,
            "health_check": self.health_check,
            "check": self.check,
            "kill_policy": lambda: self.some(grace_period=self.duration),
            "max_completion_time": self.duration,
            "labels": self.labels,
            "discovery": self.discovery,
            "data": lambda: self.choose("", "eA==", "eA" if self.chance(0.3) else "eA=="),
            "limits": self.limits,
        }

    def task(self, number: int, *, in_group: bool = False) -> Made:
        name = f"task-{number}" if self.chance(0.96) else self.choose("a/b", "..", "", "task-0", "é")
        task = {
            "name": "t",
            "task_id": {"value": name},
            "agent_id": {"value": "$AGENT" if self.chance(0.98) else "zz"},
            "resources": self.resources(),
        }
        does = self.random.random()
        if in_group or does < 0.7:
            task["command"] = self.command()
        if (not in_group and does >= 0.65) or (in_group and does > 0.97):
            task["executor"] = self.executor(in_group=False)
        extras = self.extras()
        for extra in self.random.sample(sorted(extras), self.choose(0, 1, 1, 1, 2, 3)):
            task[extra] = extras[extra]()
        return task

    def executor(self, *, in_group: bool) -> Made:
        executor: dict[str, Any] = {
            "executor_id": {
                "value": self.choose("e", "e", "f", "..", "e/f") if self.chance(0.1) else self.choose("e", "f")
            }
        }
        if in_group:
            executor["type"] = self.choose(*["DEFAULT"] * 6, "CUSTOM", "UNKNOWN")
            executor["resources"] = (
                scalars(cpus=self.choose(0.1, 0.1, 0.001), mem=self.choose(32, 32, 31), disk=self.choose(10, 10, 0))
                if self.chance(0.9)
                else []
            )
        else:
            executor |= self.some(type=lambda: self.choose(*["CUSTOM"] * 5, "DEFAULT", "UNKNOWN"))
            executor["resources"] = scalars(cpus=0.1, mem=32) if self.chance(0.7) else self.resources()
        if executor.get("type") == "CUSTOM" or not in_group:
            executor["command"] = self.command()
        if self.chance(0.9 if in_group else 0.3):
            executor["framework_id"] = {"value": "$FRAMEWORK" if self.chance(0.95) else "another"}
        extras: dict[str, Callable[[], Any]] = {
            "container": lambda: self.container(("MESOS", "MESOS", "MESOS", "DOCKER")),
            "name": self.text,
            "source": self.text,
            "data": lambda: self.choose("", "eA=="),
            "discovery": self.discovery,
            "labels": self.labels,
            "shutdown_grace_period": self.duration,
            "command": self.command,
        }
        for extra in self.random.sample(sorted(extras), self.choose(0, 0, 1, 2)):
            executor[extra] = extras[extra]()
        return executor

    # --- Whole requests -----------------------------------------------------------------------------

    def operation(self) -> Made:
        kind = self.random.random()
        if kind < 0.65:
            tasks = [self.task(number) for number in range(self.choose(1, 1, 1, 2))]
            made = {"type": "LAUNCH", "launch": {"task_infos": tasks}}
        else:
            tasks = [self.task(number, in_group=True) for number in range(self.choose(1, 1, 2))]
            made = {
                "type": "LAUNCH_GROUP",
                "launch_group": {"executor": self.executor(in_group=True), "task_group": {"tasks": tasks}},
            }
        if self.chance(0.02):
            made["id"] = {"value": "o"}
        return made

    def operations(self, *, in_protobuf: bool = False) -> list[Made]:
        """A request that no real master dies of, to be written in one of the two ways."""
        while ends_a_master(found := self._operations(in_protobuf=in_protobuf)):
            pass
        return found

    def _operations(self, *, in_protobuf: bool) -> list[Made]:
        found = [self.operation() for _ in range(self.choose(1, 1, 1, 2))]
        if len(found) == 2 and self.chance(0.5):  # nearly the same once more: whether executors are the same
            found[1] = self.nearly(found[0])
        if self.chance(0.25):
            self.spoil(found)
        for _ in range(self.choose(0, 0, 1, 1, 2) if self.chance(0.5) else 0):
            if spots := list(in_field(self._operation_list, found, (), "operations"))[1:]:
                found, _ = self._changes.change(found, spots, in_protobuf=in_protobuf)
        return found if in_protobuf else finite(found)

    def nearly(self, operation: Made) -> Made:
        """The operation with other task ids, and its executors with something in another order, or changed."""

        def copy(value: Any, name: str = "") -> Any:
            if isinstance(value, dict):
                if name == "task_id":
                    return {"value": f"{value['value']}-again"}
                return {key: copy(part, key) for key, part in value.items()}
            if isinstance(value, list):
                parts = [copy(part) for part in value]
                if self.chance(0.3):
                    parts.reverse()
                return parts
            if name == "value" and isinstance(value, float) and self.chance(0.05):
                return value + 0.0001
            return value

        return copy(operation)

    def spoil(self, value: Any) -> None:
        """Drop, replace or add something in one place, at any depth."""
        places: list[tuple[Any, Any]] = []

        def walk(part: Any) -> None:
            if isinstance(part, dict | list):
                for key in list(part) if isinstance(part, dict) else range(len(part)):
                    places.append((part, key))
                    walk(part[key])

        walk(value)
        holder, key = self.choose(*places)
        deed = self.random.random()
        if isinstance(holder, dict) and deed < 0.35 and key != "type":
            del holder[key]
        else:
            stranger = self.choose(*_STRANGERS)
            if not (key == "type" and stranger in ("UNKNOWN", "7")):
                holder[key] = stranger


def ends_a_master(operations: list[Made]) -> bool:
    """Whether a real master dies of a request, or the agents that live in its process, which cannot fetch files."""
    if any(part in json.dumps(operations) for part in ('"TEXT"', '"cache": true')):
        return True
    for operation in operations:
        if not isinstance(operation, dict):
            continue
        if '"reservation"' in json.dumps({name: part for name, part in operation.items() if name not in _OWN_BODIES}):
            return True
        if _at(operation, "launch_group", "executor", "command", "uris"):
            return True
        tasks = _at(operation, "launch_group", "task_group", "tasks")
        ids = [str(_at(task, "task_id", "value")) for task in tasks or ()] if isinstance(tasks, list) else []
        if len(set(ids)) < len(ids):
            return True
    return False


def _at(part: Made, *names: str) -> Made:
    """The part below a part that may have any shape, or None."""
    for name in names:
        part = part.get(name) if isinstance(part, dict) else None
    return part
