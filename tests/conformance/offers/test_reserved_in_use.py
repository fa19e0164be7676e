"""Reservations and what tasks use: RV-24, RV-27 and RO-8, where agents start tasks."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.conformance.callers.frameworks import amounts
from tests.conformance.callers.joining import Join, joining, quick
from tests.conformance.callers.owning import owned, reserve, unreserve
from tests.conformance.callers.tasks import launch_on, started
from tests.conformance.masters.carriers import REAL, Carrier, Pool, skip_before
from tests.conformance.masters.cluster import Cluster, Setup
from tests.conformance.scenarios.scenario import scalars

PORTS = "ports:[31000-31009]"
SMALL = quick(f"cpus:1;mem:512;{PORTS}")
MIXED = quick(f"cpus:4;mem:2048;disk:4096;cpus(role):2;mem(role):512;{PORTS}")
THREE = quick(
    "cpus(role):1;mem(role):10",
    "cpus:10;mem:100",
    "cpus(role):100;mem(role):1000;ports(role):[100-199];cpus:1000;mem:10000;ports:[1000-1999]",
)
Begin = Callable[[Setup], tuple[Cluster, Join]]


@pytest.fixture
def begin(carrier: Carrier, pool: Pool) -> Iterator[Begin]:
    """A master of this test's own, with frameworks."""
    if carrier is REAL:
        pytest.skip("the agents of a real master in one process start no tasks")
    with ExitStack() as ending:

        def run(setup: Setup) -> tuple[Cluster, Join]:
            master = pool.start(carrier, setup)
            ending.callback(master.stop)
            return master, ending.enter_context(joining(master))

        yield run


def static(role: str, **quantities: float) -> list[dict[str, Any]]:
    return [entry | {"reservations": [{"type": "STATIC", "role": role}]} for entry in scalars(**quantities)]


def test_partly_offered_and_partly_free_again(begin: Begin) -> None:
    master, join = begin(SMALL)
    framework = join("role").subscribe()
    (offer,) = framework.offers()
    framework.accept([offer], launch_on(offer, scalars(cpus=1, mem=128)))
    status = started(framework)
    (rest,) = framework.offers()
    assert amounts(rest["resources"]) == {"mem": 384.0}
    assert reserve(master, owned("web", cpus=1, mem=512)) == 409  # while the task runs
    framework.next("RESCIND")
    framework.ask("REVIVE")
    (rest,) = framework.offers()
    assert amounts(rest["resources"]) == {"mem": 384.0}
    framework.ask("SUPPRESS")  # what the task leaves stays free
    framework.ask("KILL", kill={"task_id": status["task_id"], "agent_id": offer["agent_id"]})
    assert reserve(master, owned("web", cpus=1, mem=512)) == 202
    assert framework.next("RESCIND")["rescind"]["offer_id"] == rest["id"]


def test_what_a_task_uses_cannot_be_unreserved(begin: Begin) -> None:
    master, join = begin(SMALL)
    mine = owned("role", cpus=1, mem=128)
    assert reserve(master, mine) == 202
    framework = join("role").subscribe()
    (offer,) = framework.offers()
    framework.accept([offer], launch_on(offer, mine), refuse=1000)
    status = started(framework)
    assert unreserve(master, owned("role", cpus=0.5)) == 409
    framework.ask("SUPPRESS")
    framework.ask("KILL", kill={"task_id": status["task_id"], "agent_id": offer["agent_id"]})
    assert unreserve(master, mine) == 202


def test_an_agent_tells_what_is_in_use_of_what_is_reserved(begin: Begin) -> None:
    master, join = begin(MIXED)
    assert reserve(master, owned("role1", "p", cpus=1, mem=512, disk=1024)) == 202
    framework = join("role").subscribe()
    (offer,) = framework.offers()
    executor = {
        "executor_id": {"value": "e"},
        "command": {"value": "run"},
        "resources": scalars(cpus=0.1, mem=32),
    }
    wanted = [*static("role", cpus=2, mem=512), *scalars(cpus=2, mem=1024)]
    framework.accept([offer], launch_on(offer, wanted, executor), refuse=1000)
    status = started(framework)
    state = master.read("/slave(1)/state")
    no_gpus = {"gpus": 0.0}
    of_role = {"cpus": 2.0, "mem": 512.0, "disk": 0.0, **no_gpus}
    assert state["reserved_resources"] == {
        "role": of_role,
        "role1": {"cpus": 1.0, "mem": 512.0, "disk": 1024.0, **no_gpus},
    }
    assert state["reserved_resources_allocated"] == {"role": of_role}
    assert state["unreserved_resources"] == {
        "cpus": 3.0,
        "mem": 1536.0,
        "disk": 3072.0,
        "ports": "[31000-31009]",
        **no_gpus,
    }
    assert state["unreserved_resources_allocated"] == {"cpus": 2.1, "mem": 1056.0, "disk": 0.0, **no_gpus}

    framework.ask("KILL", kill={"task_id": status["task_id"], "agent_id": offer["agent_id"]})
    state = master.read("/slave(1)/state")
    assert state["reserved_resources_allocated"] == {}
    assert state["unreserved_resources_allocated"] == {"cpus": 0.0, "mem": 0.0, "disk": 0.0, **no_gpus}


def test_a_role_that_uses_is_offered_and_has_reserved(begin: Begin, carrier: Carrier) -> None:
    master, join = begin(THREE)
    framework = join("role").subscribe()
    offers = {offer["agent_id"]["value"]: offer for offer in framework.offers(agents=3)}
    first, second, third = (offers[agent["id"]] for agent in master.agents())
    for offer, wanted in (
        (first, static("role", cpus=1, mem=10)),
        (second, scalars(cpus=10, mem=100)),
    ):
        framework.accept([offer], launch_on(offer, wanted))
        started(framework)
    (role,) = master.read("/roles")["roles"]
    assert (role["name"], role["frameworks"]) == ("role", [framework.id])
    everything = {
        "resources": {"cpus": 1111.0, "mem": 11110.0, "ports": 1100.0},
        "allocated": {"cpus": 11.0, "mem": 110.0},
        "offered": {"cpus": 1100.0, "mem": 11000.0, "ports": 1100.0},
        "reserved": {"cpus": 101.0, "mem": 1010.0, "ports": 100.0},
    }
    consumed = {"cpus": 111.0, "mem": 1110.0, "ports": 100.0}
    if carrier.version == "documents":  # what is reserved and idle does not count yet
        consumed = everything["allocated"]
    if carrier.profile.roles_are_a_tree:
        assert {key: role[key] for key in everything} == everything
        assert role["quota"]["consumed"] == consumed
    (offered,) = master.read("/frameworks")["frameworks"][0]["offers"]
    assert offered["id"] == third["id"]["value"]


def test_what_is_reserved_for_a_role_above_is_no_idle_reservation_of_the_one_that_uses_it(
    begin: Begin, carrier: Carrier
) -> None:
    skip_before("1.9.0", carrier, "no answer says what a role consumes")
    master, join = begin(quick("cpus:1;mem:512;cpus(role):2;cpus(role/sub):3"))
    framework = join("role/sub").subscribe()
    (offer,) = framework.offers()
    framework.accept([offer], launch_on(offer, static("role", cpus=2)))
    started(framework)
    consumed = {role["name"]: role["quota"]["consumed"]["cpus"] for role in master.read("/roles")["roles"]}
    idle = 0.0 if carrier.version == "documents" else 3.0
    assert consumed == {"role": 2.0 + idle, "role/sub": 2.0 + idle}


def test_a_role_that_was_left_lists_the_framework_while_it_holds_something_there(
    begin: Begin, carrier: Carrier
) -> None:
    skip_before("1.9.0", carrier, "there is no UPDATE_FRAMEWORK")
    master, join = begin(SMALL)
    framework = join("role").subscribe()
    (offer,) = framework.offers()
    framework.accept([offer], launch_on(offer, scalars(cpus=1, mem=512)))
    status = started(framework)
    framework.info["roles"] = ["other"]
    info = framework.info | {"id": {"value": framework.id}}
    framework.ask("UPDATE_FRAMEWORK", gives=200, update_framework={"framework_info": info})
    assert listed(master) == {"other": [framework.id], "role": [framework.id]}
    framework.ask("KILL", kill={"task_id": status["task_id"], "agent_id": offer["agent_id"]})
    assert listed(master) == {"other": [framework.id]}


def listed(master: Cluster) -> dict[str, list[str]]:
    """The frameworks of each role in /roles."""
    return {role["name"]: role["frameworks"] for role in master.read("/roles")["roles"]}
