"""Executors and the users of tasks, as operators and offers show them.

The agents of the real runner start no tasks; those of `masters/simulated.py` hold them for as long as the master lives.
"""

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import pytest

from tests.conformance.callers.frameworks import Framework
from tests.conformance.callers.joining import quick
from tests.conformance.callers.tasks import custom, executor, group, launch, task
from tests.conformance.histories.changed_executors import COMMAND, DISCOVERY, LABELS
from tests.conformance.masters.carriers import REAL, Carrier, Pool
from tests.conformance.masters.cluster import Cluster, Setup
from tests.conformance.masters.simulated import agents_of

AGENT = "cpus:20;mem:4096;disk:1000"
FLAGS = {"allocation_interval": "20ms"}
SETUP = quick(AGENT)
VARIABLES: list[dict[str, Any]] = COMMAND["environment"]["variables"]
REAL_SETUP = Setup(flags=FLAGS | {"agent_ping_timeout": "15mins"})


@pytest.fixture(scope="module")
def shown(carrier: Carrier, pool: Pool) -> Iterator[tuple[Cluster, Framework, Any]]:
    """A master, a framework with tasks of every kind, and what it was offered next."""
    is_real = carrier.name == REAL.name
    master = pool.start(carrier, REAL_SETUP if is_real else SETUP)
    with agents_of(master, (AGENT,)) if is_real else nullcontext():
        framework = Framework(master, "ads").subscribe()
        (offer,) = framework.offers()
        tasks = launched(framework, offer)
        framework.accept([offer], *tasks)
        (again,) = framework.offers()
        yield master, framework, again
    master.stop()


def launched(framework: Framework, offer: Any) -> list[Any]:
    """Operations that launch."""
    of_eve = {"value": "run", "user": "eve"}
    on_c1 = custom(framework, "c1", command=of_eve, source="s", labels={"labels": [{"key": "k"}]}) | {"name": "n"}
    on_c2 = custom(framework, "c2", type=None, framework_id=None, resources=[], discovery=DISCOVERY)
    on_c3 = custom(framework, "c3", command=COMMAND, labels=LABELS)
    return [
        launch(
            task(offer, "nobody"),
            task(offer, "bob", command={"value": "x", "user": "bob"}),
            task(offer, "empty", command={"value": "x", "user": "", "shell": True}),
            task(offer, "eve", command=None, executor=on_c1),
            task(offer, "bare", command=None, executor=on_c2),
            task(offer, "root", command=None, executor=on_c3),
        ),
        group(executor(framework, "d1"), task(offer, "g1"), task(offer, "g2", command={"value": "x", "user": "bob"})),
        group(custom(framework, "d2", command=of_eve), task(offer, "g3"), task(offer, "g4", command=COMMAND)),
    ]


Shown = tuple[Cluster, Framework, Any]
USERS = {"bob": "bob", "empty": "", "eve": "eve", "root": "root", "g2": "bob", "g3": "eve", "g4": "root"}
EXECUTORS = {"c1", "c2", "c3", "d1", "d2"}


def test_an_offer_names_the_executors_of_its_framework_on_the_agent(shown: Shown) -> None:
    master, framework, offer = shown
    assert {entry["value"] for entry in offer["executor_ids"]} == EXECUTORS
    (described,) = master.call("GET_FRAMEWORKS").json()["get_frameworks"]["frameworks"]
    assert {entry["value"] for entry in described["offers"][0]["executor_ids"]} == EXECUTORS
    (listed,) = master.read("/frameworks")["frameworks"]
    assert "executor_ids" not in listed["offers"][0]
    framework.decline([offer], refuse=1000)
    other = Framework(master, "ads").subscribe()
    (offered,) = other.offers()
    assert "executor_ids" not in offered
    other.leave()
    other.stream.hang_up()


def test_executors_of_one_agent_are_not_in_an_offer_of_another(carrier: Carrier, pool: Pool) -> None:
    is_real = carrier.name == REAL.name
    master = pool.start(carrier, REAL_SETUP if is_real else quick(AGENT, AGENT))
    with agents_of(master, (AGENT, AGENT)) if is_real else nullcontext():
        framework = Framework(master, "ads").subscribe()
        first, second = framework.offers(agents=2)
        for offer, name in ((first, "c1"), (second, "c2")):
            framework.accept([offer], launch(task(offer, name, command=None, executor=custom(framework, name))))
        again = framework.offers(agents=2)
        assert {offer["agent_id"]["value"]: offer["executor_ids"] for offer in again} == {
            first["agent_id"]["value"]: [{"value": "c1"}],
            second["agent_id"]["value"]: [{"value": "c2"}],
        }
    master.stop()


def test_the_user_that_a_task_names_is_shown(shown: Shown) -> None:
    master, *_ = shown
    tasks = master.call("GET_TASKS").json()["get_tasks"]["tasks"]
    assert {entry["task_id"]["value"]: entry["user"] for entry in tasks if "user" in entry} == USERS
    assert len(tasks) == 10
    (framework,) = master.read("/frameworks")["frameworks"]
    for listed in (framework["tasks"], master.read("/tasks")["tasks"]):
        assert {entry["id"]: entry["user"] for entry in listed if "user" in entry} == USERS
        assert len(listed) == 10


def test_executors_of_the_operator_api(shown: Shown) -> None:
    master, framework, _ = shown
    found = master.call("GET_EXECUTORS").json()["get_executors"]["executors"]
    infos = {entry["executor_info"]["executor_id"]["value"]: entry["executor_info"] for entry in found}
    assert infos.keys() == EXECUTORS
    assert {info["framework_id"]["value"] for info in infos.values()} == {framework.id}
    assert "resources" not in infos["c2"]
    assert "type" not in infos["c2"]
    assert infos["c2"]["discovery"]["visibility"] == "CLUSTER"
    assert infos["c1"]["resources"][0]["allocation_info"] == {"role": "ads"}
    assert infos["c1"]["command"] == {"value": "run", "user": "eve", "shell": True}


def test_executors_of_the_old_endpoints(shown: Shown) -> None:
    """They have an older form: `argv`, no user, and of a URI its value and whether it is executable."""
    master, framework, _ = shown
    (described,) = master.read("/frameworks")["frameworks"]
    executors = {entry["executor_id"]: entry for entry in described["executors"]}
    assert executors.keys() == EXECUTORS
    amounts = {"cpus": 0.1, "disk": 10.0, "gpus": 0.0, "mem": 32.0}
    common = {"framework_id": framework.id, "slave_id": executors["c1"]["slave_id"]}
    run = {"argv": [], "uris": [], "value": "run"}
    assert executors["c1"] == common | {
        "executor_id": "c1",
        "name": "n",
        "command": run,
        "resources": amounts,
        "role": "ads",
        "type": "CUSTOM",
        "labels": [{"key": "k"}],
    }
    assert executors["c2"] == common | {
        "executor_id": "c2",
        "name": "",
        "command": run,
        "resources": dict.fromkeys(amounts, 0.0),
    }
    assert executors["c3"]["command"] == {
        "value": "true",
        "shell": False,
        "argv": ["x", "y"],
        "environment": {"variables": [{"type": "VALUE", **variable} for variable in VARIABLES]},
        "uris": [{"value": "a", "executable": True}, {"value": "b", "executable": False}],
    }
    assert executors["d1"]["command"] == {"argv": [], "uris": []}
    assert executors["d1"]["type"] == "DEFAULT"
