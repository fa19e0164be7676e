"""Schedulers that others wrote, against the fake master on a socket.

They subscribe, take offers, launch, decline, fail over and tear down; pymesos reserves, too.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.carriers import SOCKET, SOCKET_OLD, Carrier
from tests.conformance.cluster import Cluster, Setup

from .driving import Driver
from .installing import NotInstalled, node_modules_with, pure_part, python_with

HERE = Path(__file__).parent
AGENT = "cpus:4;mem:2048;disk:100;ports:[31000-31009]"


@dataclass(frozen=True)
class Client:
    """How to start a client: on a master's host and port, as a new framework or a known one."""

    name: str
    start: Callable[[str, str], Driver]
    prompt: bool = True
    """Whether it hands events over as they come; mesoshttp waits for the beginning of the next one."""


def pymesos(folder: Path) -> Client:
    """Its HTTP parser has an extension module that current interpreters do not compile; the pure part does."""
    interpreter = python_with(("addict", "six"), folder / "environment", without_dependencies=("pymesos",))
    parser = pure_part("http-parser", folder / "parser")
    return Client(
        "pymesos",
        lambda address, known: Driver(
            [interpreter, HERE / "drive_pymesos.py", address, known], {"PYTHONPATH": str(parser)}
        ),
    )


def mesoshttp(folder: Path) -> Client:
    interpreter = python_with(("mesoshttp",), folder / "environment")
    return Client(
        "mesoshttp",
        lambda address, known: Driver([interpreter, HERE / "drive_mesoshttp.py", f"http://{address}", known]),
        prompt=False,
    )


def mesos_framework(folder: Path) -> Client:
    modules = node_modules_with("mesos-framework", folder / "node")

    def start(address: str, known: str) -> Driver:
        del known
        host, _, port = address.partition(":")
        script = HERE / "drive_mesos_framework.js"
        return Driver(["node", script, host, port, folder], {"NODE_PATH": str(modules)})

    return Client("mesos-framework", start)


@pytest.fixture(scope="module", params=(pymesos, mesoshttp, mesos_framework), ids=lambda make: make.__name__)
def client(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Client:
    try:
        made: Client = request.param(tmp_path_factory.mktemp(request.param.__name__))
    except NotInstalled as reason:
        pytest.skip(f"{request.param.__name__} cannot be installed here: {reason}")
    return made


@pytest.fixture(params=(SOCKET, SOCKET_OLD), ids=str)
def master(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Cluster]:
    carrier: Carrier = request.param
    started = carrier.start(Setup(agents=(AGENT, AGENT)), tmp_path)
    yield started
    started.stop()


def only_framework(master: Cluster, key: str = "frameworks") -> dict[str, Any]:
    (framework,) = master.read("/frameworks")[key]
    return dict(framework)


def test_from_subscription_to_teardown(client: Client, master: Cluster) -> None:
    address = master.address.removeprefix("http://")
    with client.start(address, "-") as driver:
        framework_id = driver.wait_for("subscribed")[1]
        driver.wait_for("launched")
        if client.prompt:
            driver.wait_for("update", "TASK_RUNNING")

        def runs() -> bool:
            return [task["state"] for task in only_framework(master)["tasks"]] == ["TASK_RUNNING"]

        assert master.subscribers.wait(runs), only_framework(master)
        framework = only_framework(master)
        assert (framework["id"], framework["name"]) == (framework_id, client.name)
        (task,) = framework["tasks"]
        assert (task["state"], task["resources"]["cpus"]) == ("TASK_RUNNING", 1.0)
        if ["declined"] not in driver.heard:
            driver.wait_for("declined")
        reserved = sum(
            slave["reserved_resources"].get("ads", {}).get("cpus", 0) for slave in master.read("/slaves")["slaves"]
        )
        assert reserved == (1.0 if client.name == "pymesos" else 0.0)
        driver.tell("tear down")
        driver.wait_for("torn down")
        gone = master.subscribers.wait(lambda: bool(master.read("/frameworks")["completed_frameworks"]))
        assert gone
        assert only_framework(master, "completed_frameworks")["id"] == framework_id
        assert master.read("/frameworks")["frameworks"] == []


def test_failing_over(client: Client, master: Cluster) -> None:
    if client.name == "mesos-framework":
        pytest.skip("it keeps its id in ZooKeeper alone")
    address = master.address.removeprefix("http://")
    with client.start(address, "-") as first:
        framework_id = first.wait_for("subscribed")[1]
        first.wait_for("launched")
        first.kill()
    assert master.subscribers.wait(lambda: not only_framework(master)["connected"])
    assert len(only_framework(master)["tasks"]) == 1
    with client.start(address, framework_id) as second:
        assert second.wait_for("subscribed")[1] == framework_id
        framework = only_framework(master)
        assert (framework["connected"], len(framework["tasks"])) == (True, 1)
        second.tell("tear down")
        second.wait_for("torn down")
