"""What a snapshot keeps of a master that lends idle reservations; no other snapshot has these keys.

    "lending": {"stop_seconds": 2.0},
    "tasks": [{"id", "framework_id", "agent_id", "role", "standing": "running", "resources": [Resource],
               "executor_id", "executor_resources": [Resource]}],
    "debts": [{"framework_id", "agent_id", "role", "resources": [Resource]}],
    "refusals": [{"framework_id", "agent_id", "role", "resources": [Resource], "seconds": 3600.0}]

A task in an executor has `executor_id`; the first one in it has what that holds.  `standing` is running, waiting
(its agent has no room for it yet), ending (told to), or arriving (its agent has not heard of it).
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

from mesosctl.core import roles
from mesosctl.core.pictured_lending import STANDINGS, Debt, Lending, PicturedTask, Refusal
from mesosctl.core.resources import Resources
from mesosctl.wire.messages import Field, Message
from mesosctl.wire.resource_lists import ResourceLists
from mesosctl.wire.resources import list_to_json
from mesosctl.wire.snapshot_faults import check_unique, wrong

_TEXT = Field("string", "required")
_LIST = Field("any", "repeated")
_PLACE = {"framework_id": _TEXT, "agent_id": _TEXT, "role": _TEXT, "resources": _LIST}
FIELDS: Mapping[str, Field] = {
    "lending": Field(Message("lending", {"stop_seconds": Field("double")})),
    "tasks": Field(
        Message(
            "task",
            {
                **_PLACE,
                "id": _TEXT,
                "standing": Field("string"),
                "executor_id": Field("string"),
                "executor_resources": _LIST,
            },
        ),
        "repeated",
    ),
    "debts": Field(Message("debt", _PLACE), "repeated"),
    "refusals": Field(Message("refusal", {**_PLACE, "seconds": Field("double")}), "repeated"),
}

Check = Callable[[Mapping[str, Any], str], None]
"""Raises RuleViolation for an entry that names an agent or framework which the snapshot does not have."""


def to_json(lending: Lending | None) -> dict[str, Any]:
    """The keys of a snapshot; none for a master that does not lend."""
    if lending is None:
        return {}
    return {
        "lending": {"stop_seconds": lending.stop_seconds},
        "tasks": [_task_to_json(task) for task in lending.tasks],
        "debts": [_place_to_json(debt) for debt in lending.debts],
        "refusals": [_place_to_json(refusal) | {"seconds": refusal.seconds} for refusal in lending.refusals],
    }


def _task_to_json(task: PicturedTask) -> dict[str, Any]:
    written = {"id": task.id, **_place_to_json(task), "standing": task.standing}
    if task.executor_id is not None:
        written["executor_id"] = task.executor_id
        written["executor_resources"] = list_to_json(task.executor_resources, "POST")
    return written


def _place_to_json(held: PicturedTask | Debt | Refusal) -> dict[str, Any]:
    return {
        "framework_id": held.framework_id,
        "agent_id": held.agent_id,
        "role": held.role,
        "resources": list_to_json(held.resources, "POST"),
    }


def from_json(message: Mapping[str, Any], lists: ResourceLists, check: Check) -> Lending | None:
    """What a snapshot has of it.  Raises RuleViolation naming the place."""
    if "lending" not in message:
        return None

    def place(entry: Mapping[str, Any], where: str) -> tuple[str, str, str, Resources]:
        check(entry, where)
        role = roles.check_role(entry["role"], f"{where}.role")
        resources = lists.plain(entry.get("resources", ()), f"{where}.resources")
        return entry["framework_id"], entry["agent_id"], role, resources

    def task(entry: Mapping[str, Any], where: str) -> PicturedTask:
        standing = next((known for known in STANDINGS if known == entry.get("standing", "running")), None)
        if standing is None:
            raise wrong(f"{where}.standing", f"it is one of {', '.join(STANDINGS)}")
        executor = lists.plain(entry.get("executor_resources", ()), f"{where}.executor_resources")
        return PicturedTask(entry["id"], *place(entry, where), entry.get("executor_id"), executor, standing)

    def refusal(entry: Mapping[str, Any], where: str) -> Refusal:
        return Refusal(*place(entry, where), _seconds(entry.get("seconds", 0.0), f"{where}.seconds"))

    tasks, debts, refusals = (list(enumerate(message.get(key, ()))) for key in ("tasks", "debts", "refusals"))
    found = Lending(
        tasks=tuple(task(entry, f"tasks[{index}]") for index, entry in tasks),
        debts=tuple(Debt(*place(entry, f"debts[{index}]")) for index, entry in debts),
        refusals=tuple(refusal(entry, f"refusals[{index}]") for index, entry in refusals),
        stop_seconds=_seconds(message["lending"].get("stop_seconds", 0.0), "lending.stop_seconds"),
    )
    check_unique((task.id for task in found.tasks), "tasks", (task.framework_id for task in found.tasks))
    return found


def _seconds(value: float, where: str) -> float:
    if not 0 <= value < math.inf:
        raise wrong(where, "seconds are counted from 0 on")
    return value
