"""Tasks and groups that a master refuses, and what it says of them."""

from typing import Any

import pytest

from mesosctl.mesos.messages.protobuf_json.messages import UNKNOWN_NAMES_ARE_ABSENT
from mesosctl.mesos.messages.protobuf_json.releases import has
from tests.conformance.callers.frameworks import Framework
from tests.conformance.callers.joining import Join
from tests.conformance.callers.subscribers import Event
from tests.conformance.callers.tasks import custom, executor, group, joined, launch, refusal, task
from tests.conformance.masters.carriers import Carrier
from tests.conformance.scenarios.scenario import scalars

Case = tuple[dict[str, Any], dict[str, Any], str]
DOCKER = {"type": "DOCKER", "docker": {"image": "i"}}


def on_csi(**volume: Any) -> dict[str, Any]:
    source = {"type": "CSI_VOLUME", **({"csi_volume": volume} if volume else {})}
    return {"type": "MESOS", "volumes": [{"mode": "RW", "container_path": "p", "source": source}]}


FIRST_WITH_CSI = "1.11.0"
"""Before it, a volume from there is one of an unknown source."""
NO_SOURCE = "Invalid volume: 'source.type' is unknown"
NOT_PROVISIONED = "Invalid volume: 'source.csi_volume.static_provisioning' is not set for CSI volume"
# What is changed in the task, what in the executor, and what the master says.
BAD_GROUPS: dict[str, Case] = {
    "a bad id": ({"task_id": {"value": "a/b"}}, {}, "Task 'a/b' is invalid: 'a/b' contains invalid characters"),
    "another agent": ({"agent_id": {"value": "zz"}}, {}, "Task 't' is invalid: Task uses invalid agent zz while agent"),
    "no resources": ({"resources": []}, {}, "Task 't' is invalid: Task uses no resources"),
    "Docker": (
        {"container": {"type": "DOCKER", "docker": {"image": "i"}}},
        {},
        "Task 't' is invalid: Docker ContainerInfo is not supported on the task",
    ),
    "too much": ({"resources": scalars(cpus=100)}, {}, "Total resources cpus(allocated: ads):100.1; "),
    "an executor of its own": ({"executor": {"executor_id": {"value": "x"}}}, {}, "The `ExecutorInfo` of task 't' is"),
    "a bad executor id": ({}, {"executor_id": {"value": ".."}}, "'..' is disallowed"),
    "no type": ({}, {"type": None}, "'ExecutorInfo.type' must be set"),
    "an unknown type": ({}, {"type": "UNKNOWN"}, "Unknown executor type"),
    "a default with a command": (
        {},
        {"command": {"value": "x"}},
        "'ExecutorInfo.command' must not be set for 'DEFAULT'",
    ),
    "a custom without one": ({}, {"type": "CUSTOM"}, "'ExecutorInfo.command' must be set for 'CUSTOM' executor"),
    "no framework id": ({}, {"framework_id": None}, "'ExecutorInfo.framework_id' must be set"),
    "another framework": ({}, {"framework_id": {"value": "zz"}}, "ExecutorInfo has an invalid FrameworkID (Actual: zz"),
    "no cpus": ({}, {"resources": []}, "Executor 'e' uses less CPUs (None) than the minimum required (0.01)"),
    "no memory": (
        {},
        {"resources": scalars(cpus=0.1)},
        "Executor 'e' uses less memory (None) than the minimum required (32MB)",
    ),
    "no disk": ({}, {"resources": scalars(cpus=0.1, mem=32)}, "Executor 'e' uses no disk"),
    "Docker for a custom executor": (
        {},
        {"type": "CUSTOM", "command": {"value": "x"}, "container": DOCKER},
        "Docker ContainerInfo is not supported on the executor",
    ),
    "a volume of CSI": (
        {"container": on_csi(plugin_name="p")},
        {},
        f"Task 't' is invalid: Task's `ContainerInfo` is invalid: {NOT_PROVISIONED}",
    ),
    "a volume of CSI for the executor": (
        {},
        {"container": on_csi(plugin_name="p")},
        f"Executor's `ContainerInfo` is invalid: {NOT_PROVISIONED}",
    ),
    # Of two faults, the one that the master finds first.
    "no type, and a bad id": ({}, {"type": None, "executor_id": {"value": "a/b"}}, "'a/b' contains invalid characters"),
    "no type, and no framework id": ({}, {"type": None, "framework_id": None}, "'ExecutorInfo.framework_id' must"),
    "an unknown type, and a grace period below zero": (
        {},
        {"type": "UNKNOWN", "shutdown_grace_period": {"nanoseconds": -1}},
        "ExecutorInfo's 'shutdown_grace_period' must be non-negative",
    ),
    "too small, and another executor of the task": (
        {"executor": {"executor_id": {"value": "x"}}},
        {"resources": []},
        "The `ExecutorInfo` of task 't' is different from executor 'e'",
    ),
}


def asked(framework: Framework, offer: Event, operation: Event, says: str, carrier: Carrier) -> str | None:
    """Send an operation; what the master has to say of its task, or None if its release takes no such call."""
    release = carrier.profile.release
    knows = "CSI" not in says or has(release, FIRST_WITH_CSI)
    if knows or has(release, UNKNOWN_NAMES_ARE_ABSENT):
        framework.accept([offer], operation)
        return says if knows else says.partition("Invalid volume")[0] + NO_SOURCE
    answer = framework.call("ACCEPT", accept={"offer_ids": [offer["id"]], "operations": [operation]})
    assert answer.status == 400, answer
    return None


@pytest.mark.parametrize(("of_task", "of_executor", "says"), BAD_GROUPS.values(), ids=BAD_GROUPS)
def test_a_group_that_is_refused(
    join: Join, carrier: Carrier, of_task: dict[str, Any], of_executor: dict[str, Any], says: str
) -> None:
    framework = joined(join)
    offer = framework.offers()[0]
    name = of_task.get("task_id", {"value": "t"})["value"]
    sent = group(executor(framework, **of_executor), task(offer, "t", **of_task))
    wanted = asked(framework, offer, sent, says, carrier)
    if wanted is None:
        return
    reason, message = refusal(framework, name)
    assert (reason, message[: len(wanted)]) == ("REASON_TASK_GROUP_INVALID", wanted)
    assert framework.offers()[0]["resources"] == offer["resources"]


@pytest.mark.parametrize("networks", [[{}], [{"name": "n"}], []], ids=["one", "a named one", "none"])
def test_a_task_of_a_group_with_a_network_of_its_own(join: Join, carrier: Carrier, networks: list[Any]) -> None:
    framework = joined(join)
    (offer,) = framework.offers()
    container = {"type": "MESOS", "network_infos": networks}
    framework.accept([offer], group(executor(framework, resources=[]), task(offer, "t", container=container)))
    is_taken = not networks or has(carrier.profile.release, "1.6.2")
    wanted = "Executor 'e' uses less CPUs" if is_taken else "Task 't' is invalid: NetworkInfos must not be set"
    assert refusal(framework, "t")[1].startswith(wanted)


def test_of_a_group_all_or_none(join: Join) -> None:
    framework = joined(join)
    offer = framework.offers()[0]
    framework.accept([offer], group(executor(framework), task(offer, "t1"), task(offer, "t2", cpus=100)))
    reason, message = refusal(framework, "t1", "t2")
    assert reason == "REASON_TASK_GROUP_INVALID"
    assert " required by task group and its executor are more than available " in message


BAD_TASKS: dict[str, Case] = {
    "a bad id": ({"task_id": {"value": "a/b"}}, {}, "'a/b' contains invalid characters"),
    "no resources": ({"resources": []}, {}, "Task uses no resources"),
    "half a GPU": ({"resources": scalars(gpus=0.5)}, {}, "Task uses invalid resources: "),
    "another agent": ({"agent_id": {"value": "zz"}}, {}, "Task uses invalid agent zz while agent"),
    "neither": ({"command": None}, {}, "Task should have at least one (but not both) of CommandInfo or ExecutorInfo"),
    "both": ({}, {"command": {"value": "x"}}, "Task should have at least one (but not both) of CommandInfo or"),
    "a default executor": (
        {"command": None},
        {"type": "DEFAULT", "command": None},
        "'ExecutorInfo.type' must be 'CUSTOM'",
    ),
    "an executor of an unknown type": ({"command": None}, {"type": "UNKNOWN"}, "'ExecutorInfo.type' must be 'CUSTOM'"),
    "a default executor with a command": (
        {"command": None},
        {"type": "DEFAULT"},
        "'ExecutorInfo.command' must not be set for 'DEFAULT' executor",
    ),
    "a volume of CSI without one": (
        {"container": on_csi()},
        {},
        "Task's `ContainerInfo` is invalid: Invalid volume: 'source.csi_volume' is not set for CSI volume",
    ),
    "a volume of CSI": (
        {"container": on_csi(plugin_name="p")},
        {},
        f"Task's `ContainerInfo` is invalid: {NOT_PROVISIONED}",
    ),
    "a volume of CSI for the executor": (
        {"command": None},
        {"container": on_csi(plugin_name="p")},
        f"Executor's `ContainerInfo` is invalid: {NOT_PROVISIONED}",
    ),
    "a bad executor id": (
        {"command": None},
        {"executor_id": {"value": "a/b"}},
        "'a/b' contains invalid characters",
    ),
    "another framework": (
        {"command": None},
        {"framework_id": {"value": "zz"}},
        "ExecutorInfo has an invalid FrameworkID (Actual: zz",
    ),
    "too much": ({"resources": scalars(cpus=100)}, {}, "Total resources cpus(allocated: ads):100 required by task and"),
}


@pytest.mark.parametrize(("of_task", "of_executor", "says"), BAD_TASKS.values(), ids=BAD_TASKS)
def test_a_task_that_is_refused(
    join: Join, carrier: Carrier, of_task: dict[str, Any], of_executor: dict[str, Any], says: str
) -> None:
    framework = joined(join)
    offer = framework.offers()[0]
    under: dict[str, Any] = {"executor": custom(framework, **of_executor)} if of_executor else {}
    wanted = asked(framework, offer, launch(task(offer, "t", **under, **of_task)), says, carrier)
    if wanted is None:
        return
    name = of_task.get("task_id", {"value": "t"})["value"]
    reason, message = refusal(framework, name)
    assert (reason, message[: len(wanted)]) == ("REASON_TASK_INVALID", wanted)
    assert framework.offers()[0]["resources"] == offer["resources"]


@pytest.mark.parametrize("kind", ["OF_A_LATER_MASTER", "UNKNOWN", "launch", None])
def test_an_operation_of_no_known_kind_is_passed_over(join: Join, carrier: Carrier, kind: str | None) -> None:
    framework = joined(join)
    offer = framework.offers()[0]
    nothing: dict[str, Any] = {"launch": {"task_infos": []}}
    odd = nothing if kind is None else nothing | {"type": kind}
    if kind not in ("UNKNOWN", None) and not has(carrier.profile.release, UNKNOWN_NAMES_ARE_ABSENT):
        answer = framework.call("ACCEPT", accept={"offer_ids": [offer["id"]], "operations": [odd]})
        assert answer.status == 400, answer
        return
    framework.accept([offer], odd, launch(task(offer, "t", resources=[])))
    assert refusal(framework, "t") == ("REASON_TASK_INVALID", "Task uses no resources")
    assert framework.offers()[0]["resources"] == offer["resources"]


def test_an_accept_without_offers(join: Join) -> None:
    framework = joined(join)
    offer = framework.offers()[0]
    framework.ask("ACCEPT", accept={"offer_ids": [], "operations": [launch(task(offer, "t1"), task(offer, "t2"))]})
    refused = refusal(framework, "t1", "t2", state="TASK_LOST")
    assert refused == ("REASON_INVALID_OFFERS", "Task launched with invalid offers: No offers specified")
    framework.ask("ACCEPT", accept={"operations": [launch()]})
    framework.none_of("UPDATE")
