"""Tasks and executors to launch, and what is told of them."""

import getpass
from typing import Any

from tests.conformance.callers.frameworks import Framework
from tests.conformance.callers.joining import Join, quick
from tests.conformance.scenarios.scenario import scalars

SETUP = quick("cpus:4;mem:2048;disk:1000;ports:[31000-31009]")
Offer = dict[str, Any]
Task = dict[str, Any]


def joined(join: Join, *roles: str, **info: Any) -> Framework:
    """As somebody whom the real agent can find."""
    return join(*(roles or ("ads",)), user=getpass.getuser(), **info).subscribe()


def task(offer: Offer, name: str, cpus: float = 1, **more: Any) -> Task:
    """A TaskInfo; None leaves a field out."""
    whole = {
        "name": name,
        "task_id": {"value": name},
        "agent_id": offer["agent_id"],
        "resources": scalars(cpus=cpus, mem=32),
        "command": {"value": "sleep 1000"},
        **more,
    }
    return {key: value for key, value in whole.items() if value is not None}


def executor(framework: Framework, name: str = "e", **more: Any) -> dict[str, Any]:
    """Return the ExecutorInfo of a task group: a default executor."""
    whole = {
        "executor_id": {"value": name},
        "type": "DEFAULT",
        "framework_id": {"value": framework.id},
        "resources": scalars(cpus=0.1, mem=32, disk=10),
        **more,
    }
    return {key: value for key, value in whole.items() if value is not None}


def custom(framework: Framework, name: str = "c", **more: Any) -> dict[str, Any]:
    return executor(framework, name, **{"type": "CUSTOM", "command": {"value": "run"}, **more})


def launch(*tasks: Task) -> dict[str, Any]:
    return {"type": "LAUNCH", "launch": {"task_infos": list(tasks)}}


def launch_on(offer: dict[str, Any], resources: list[dict[str, Any]], executor: Any = None) -> dict[str, Any]:
    """A task on these resources, which is named for the offer."""
    does = {"command": {"value": "sleep"}} if executor is None else {"executor": executor}
    task = {"name": "t", "task_id": {"value": f"t-{offer['id']['value']}"}, "agent_id": offer["agent_id"]}
    return {"type": "LAUNCH", "launch": {"task_infos": [{**task, "resources": resources, **does}]}}


def group(under: dict[str, Any], *tasks: Task) -> dict[str, Any]:
    return {"type": "LAUNCH_GROUP", "launch_group": {"executor": under, "task_group": {"tasks": list(tasks)}}}


def started(framework: Framework) -> dict[str, Any]:
    """The status of a task that has begun."""
    status: dict[str, Any] = framework.next("UPDATE")["update"]["status"]
    assert status["state"] == "TASK_STARTING", status
    return status


def told(framework: Framework) -> dict[str, Any]:
    """The next status of a task, acknowledged where that is asked for."""
    status: dict[str, Any] = framework.next("UPDATE")["update"]["status"]
    if "uuid" in status:
        body = {"agent_id": status["agent_id"], "task_id": status["task_id"], "uuid": status["uuid"]}
        framework.ask("ACKNOWLEDGE", acknowledge=body)
    return status


def refusal(framework: Framework, *tasks: str, state: str = "TASK_ERROR") -> tuple[str, str]:
    """The reason and the message with which every one of these is refused, in this state."""
    statuses = [told(framework) for _ in tasks]
    assert [status["task_id"]["value"] for status in statuses] == list(tasks)
    assert {(status["state"], status["source"]) for status in statuses} == {(state, "SOURCE_MASTER")}
    ((reason, message),) = {(status["reason"], status["message"]) for status in statuses}
    return reason, message
