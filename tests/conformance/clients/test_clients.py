"""Schedulers that others wrote, against the fake master on a socket.

They subscribe, take offers, launch, decline, acknowledge, reconcile, kill, suppress, revive, fail over and tear down;
pymesos and mesos-go reserve, too.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.clients.driving import Driver
from tests.conformance.clients.installing import NotInstalled, go_program, node_modules_with, pure_part, python_with
from tests.conformance.masters.carriers import SOCKET, SOCKET_DOCUMENTS, Carrier
from tests.conformance.masters.cluster import Cluster, Setup
from tests.helpers.needs import lacking

HERE = Path(__file__).parent
AGENT = "cpus:4;mem:2048;disk:100;ports:[31000-31009]"


@dataclass(frozen=True)
class Client:
    """How to start a client: on a master's host and port, as a new framework or a known one."""

    name: str
    start: Callable[[str, str], Driver]
    prompt: bool = True
    """Whether it hands events over as they come; mesoshttp and avmesos wait for the beginning of the next one."""
    reserves: bool = False
    suppresses: bool = False


def pymesos(folder: Path) -> Client:
    """Its HTTP parser has an extension module that current interpreters do not compile; the pure part does."""
    interpreter = python_with(("addict", "six"), folder / "environment", without_dependencies=("pymesos",))
    parser = pure_part("http-parser", folder / "parser")
    return Client(
        "pymesos",
        lambda address, known: Driver(
            [interpreter, HERE / "drive_pymesos.py", address, known], {"PYTHONPATH": str(parser)}
        ),
        reserves=True,
        suppresses=True,
    )


def _mesoshttp(interpreter: Path, address: str, known: str, library: str) -> Driver:
    return Driver([interpreter, HERE / "drive_mesoshttp.py", f"http://{address}", known, library])


def mesoshttp(folder: Path) -> Client:
    interpreter = python_with(("mesoshttp",), folder / "environment")
    return Client(
        "mesoshttp",
        lambda address, known: _mesoshttp(interpreter, address, known, "mesoshttp"),
        prompt=False,
    )


def avmesos(folder: Path) -> Client:
    interpreter = python_with(("avmesos",), folder / "environment")
    return Client(
        "avmesos",
        lambda address, known: _mesoshttp(interpreter, address, known, "avmesos"),
        prompt=False,
        suppresses=True,
    )


def mentos(folder: Path) -> Client:
    """It asks for any tornado, and was written for those before 5."""
    needed = ("tornado<5", "setuptools<80", "six", "toolz", "zoonado")
    interpreter = python_with(needed, folder / "environment", without_dependencies=("mentos",))
    return Client("mentos", lambda address, known: Driver([interpreter, HERE / "drive_mentos.py", address, known]))


def mesos_go(folder: Path) -> Client:
    program = go_program(HERE / "drive_mesos_go.go", folder / "go")
    return Client("mesos-go", lambda address, known: Driver([program, address, known]), reserves=True, suppresses=True)


def mesos_framework(folder: Path) -> Client:
    modules = node_modules_with("mesos-framework", folder / "node")

    def start(address: str, known: str) -> Driver:
        del known
        host, _, port = address.partition(":")
        script = HERE / "drive_mesos_framework.js"
        return Driver(["node", script, host, port, folder], {"NODE_PATH": str(modules)})

    return Client("mesos-framework", start)


CLIENTS = (pymesos, mesoshttp, avmesos, mentos, mesos_go, mesos_framework)


@pytest.fixture(scope="module", params=CLIENTS, ids=lambda make: make.__name__)
def client(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Client:
    try:
        made: Client = request.param(tmp_path_factory.mktemp(request.param.__name__))
    except NotInstalled as reason:
        lacking(request.param.__name__, str(reason))
    return made


@pytest.fixture(params=(SOCKET, SOCKET_DOCUMENTS), ids=str)
def master(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Cluster]:
    carrier: Carrier = request.param
    started = carrier.start(Setup(agents=(AGENT, AGENT)), tmp_path)
    yield started
    started.stop()


def only_framework(master: Cluster, key: str = "frameworks") -> dict[str, Any]:
    (framework,) = master.read("/frameworks")[key]
    return dict(framework)


def states(master: Cluster, key: str = "tasks") -> list[str]:
    return [task["state"] for task in only_framework(master)[key]]


def figure(master: Cluster, ending: str) -> float:
    """A metric of the only framework, by the end of its name."""
    figures: dict[str, float] = master.read("/metrics/snapshot")
    own = "master/frameworks/"
    return sum(value for name, value in figures.items() if name.startswith(own) and name.endswith(ending))


def launch(client: Client, master: Cluster, driver: Driver) -> str:
    """Wait until its task runs; the framework's id."""
    framework_id = str(driver.wait_for("subscribed")[1])
    if not client.prompt:
        assert master.subscribers.wait(lambda: bool(only_framework(master)["offers"]))
        driver.tell("reconcile")  # what is answered to this hands over the offers
    driver.wait_for("launched")
    if client.prompt:
        driver.wait_for("update", "TASK_RUNNING")
    assert master.subscribers.wait(lambda: states(master) == ["TASK_RUNNING"]), only_framework(master)
    return framework_id


def test_from_subscription_to_teardown(client: Client, master: Cluster) -> None:
    with client.start(master.address.removeprefix("http://"), "-") as driver:
        framework_id = launch(client, master, driver)
        framework = only_framework(master)
        assert (framework["id"], framework["name"]) == (framework_id, client.name)
        (task,) = framework["tasks"]
        assert task["resources"]["cpus"] == 1.0
        if ["declined"] not in driver.heard:
            driver.wait_for("declined")
        reserved = sum(
            slave["reserved_resources"].get("ads", {}).get("cpus", 0) for slave in master.read("/slaves")["slaves"]
        )
        assert reserved == (1.0 if client.reserves else 0.0)
        driver.tell("tear down")
        driver.wait_for("torn down")
        gone = master.subscribers.wait(lambda: bool(master.read("/frameworks")["completed_frameworks"]))
        assert gone
        assert only_framework(master, "completed_frameworks")["id"] == framework_id
        assert master.read("/frameworks")["frameworks"] == []


def test_orders(client: Client, master: Cluster) -> None:
    """A task is reconciled and killed, its last state acknowledged, and offers are suppressed and revived."""
    with client.start(master.address.removeprefix("http://"), "-") as driver:
        launch(client, master, driver)
        asked = figure(master, "/calls/reconcile")
        driver.tell("reconcile")
        assert master.subscribers.wait(lambda: figure(master, "/calls/reconcile") == asked + 1)
        if client.prompt:
            driver.wait_for("update", "TASK_RUNNING")
        driver.tell("kill")
        if client.prompt:
            driver.wait_for("update", "TASK_KILLED")
            # A task is among the completed ones once its end has been acknowledged.
            assert master.subscribers.wait(lambda: states(master, "completed_tasks") == ["TASK_KILLED"])
        assert master.subscribers.wait(lambda: figure(master, "/tasks/terminal/task_killed") == 1)
        if client.suppresses:
            driver.tell("suppress")
            assert master.subscribers.wait(lambda: figure(master, "/suppressed") == 1)
            master.await_allocations()
        sent = figure(master, "/offers/sent")
        driver.tell("revive")
        assert master.subscribers.wait(lambda: figure(master, "/calls/revive") == 1)
        assert master.subscribers.wait(lambda: figure(master, "/offers/sent") > sent)
        assert figure(master, "/suppressed") == 0


def test_failing_over(client: Client, master: Cluster) -> None:
    if client.name == "mesos-framework":
        pytest.skip("it keeps its id in ZooKeeper alone")
    address = master.address.removeprefix("http://")
    with client.start(address, "-") as first:
        framework_id = launch(client, master, first)
        first.kill()
    assert master.subscribers.wait(lambda: not only_framework(master)["connected"])
    assert len(only_framework(master)["tasks"]) == 1
    with client.start(address, framework_id) as second:
        assert second.wait_for("subscribed")[1] == framework_id
        framework = only_framework(master)
        assert (framework["connected"], len(framework["tasks"])) == (True, 1)
        second.tell("tear down")
        second.wait_for("torn down")
