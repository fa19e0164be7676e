"""`GET /frameworks`: the frameworks of a master (Mesos documentation, "HTTP Endpoints")."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from mesosctl.api.protobuf.messages import read
from mesosctl.api.resources import RESOURCE, to_core
from mesosctl.api.responses import NATURAL, text, texts, undocumented, wrong
from mesosctl.model.offers.frameworks import ListedFramework
from mesosctl.model.resources import Resources
from mesosctl.model.roles import DEFAULT_ROLE


@dataclass(frozen=True, slots=True)
class FrameworkStatus:
    """One framework that is not gone."""

    id: str
    name: str
    roles: tuple[str, ...]
    active: bool
    connected: bool
    capabilities: frozenset[str]
    offer_constraints: Mapping[str, Any]
    """The message; empty where it has none."""
    offers: dict[str, int]
    """How many it holds, by role."""


def frameworks(answer: Any) -> list[FrameworkStatus]:
    """Every framework that this principal may see.  Raises UnexpectedAnswer."""
    listed = answer.get("frameworks") if isinstance(answer, dict) else None
    if not isinstance(listed, list):
        raise wrong(listed, "a list", "frameworks")
    return [_framework(entry, f"frameworks[{index}]") for index, entry in enumerate(listed)]


def _framework(entry: Any, where: str) -> FrameworkStatus:
    try:
        roles = texts(entry["roles"]) if "roles" in entry else (text(entry["role"]),)
        held: dict[str, int] = {}
        for offer in entry.get("offers", ()):
            role = offer.get("allocation_info", {}).get("role", roles[0] if roles else DEFAULT_ROLE)
            held[role] = held.get(role, 0) + 1
        return FrameworkStatus(
            id=text(entry["id"]),
            name=text(entry["name"]),
            roles=roles,
            active=entry["active"] is True,
            connected=entry.get("connected", entry["active"]) is True,
            capabilities=frozenset(texts(entry.get("capabilities", []))),
            offer_constraints=dict(entry.get("offer_constraints", {})),
            offers=held,
        )
    except NATURAL as error:
        raise undocumented(error, where) from None


def listed_frameworks(answer: Any) -> list[ListedFramework]:
    """GET_FRAMEWORKS: every framework that is not gone, in the master's order.  Raises UnexpectedAnswer."""
    told = answer.get("get_frameworks", {}) if isinstance(answer, dict) else None
    listed = told.get("frameworks", []) if isinstance(told, dict) else None
    if not isinstance(listed, list):
        raise wrong(told, "a list of frameworks", "get_frameworks")
    found = []
    for index, entry in enumerate(listed):
        try:
            found.append(_listed_framework(entry))
        except NATURAL as error:
            raise undocumented(error, f"get_frameworks.frameworks[{index}]") from None
    return found


def _listed_framework(entry: Any) -> ListedFramework:
    info = entry["framework_info"]
    roles = texts(info["roles"]) if "roles" in info else (text(info.get("role", DEFAULT_ROLE)),)
    connected, active = entry.get("connected") is True, entry.get("active") is True
    recovered = entry.get("recovered") is True
    return ListedFramework(
        id=text(info["id"]["value"]),
        name=text(info["name"]),
        roles=roles,
        principal=text(info["principal"]) if "principal" in info else None,
        status="recovered" if recovered else "active" if active else "inactive" if connected else "disconnected",
        used=_resources(entry.get("allocated_resources", ())).quantities(),
        offered=_resources(entry.get("offered_resources", ())).quantities(),
        offers=len(entry.get("offers", ())),
    )


_STAYING = ("TASK_STAGING", "TASK_STARTING", "TASK_RUNNING")
_Container = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class RevocableTask:
    """One task that has not ended, in a container that holds something lent."""

    id: str
    framework_id: str
    agent_id: str
    executor_id: str | None
    """None for a command."""
    resources: Resources
    """Without allocation roles; the first task in an executor has the executor's, too."""
    started: float | None
    """When it was started, in seconds since the epoch; None while it waits."""

    @property
    def container(self) -> _Container:
        """The container in which it lives, and with which it ends: its executor, or itself."""
        return self.framework_id, self.agent_id, self.executor_id or f"\0{self.id}"

    @property
    def lent(self) -> Resources:
        """The part of its resources that is lent."""
        return self.resources.filter(lambda entry: entry.revocability == "non-throttleable")


def revocable_tasks(tasks: Any, executors: Any) -> list[RevocableTask]:
    """Every task that neither ended nor is being killed and whose container holds something lent, as they started.

    Those that wait come last.  Raises UnexpectedAnswer.
    """
    try:
        found = [_task(entry) for entry in tasks["get_tasks"].get("tasks", ()) if entry["state"] in _STAYING]
        held = dict(_executor(entry) for entry in executors["get_executors"].get("executors", ()))
    except NATURAL as error:
        raise undocumented(error, "get_tasks") from None
    complete = [
        replace(task, resources=task.resources + held.pop(task.container, Resources()))
        for task in sorted(found, key=lambda task: (task.started is None, task.started or 0.0))
    ]
    lent = {task.container for task in complete if task.lent}
    return [task for task in complete if task.container in lent]


def _task(entry: Any) -> RevocableTask:
    statuses = entry.get("statuses", ())
    return RevocableTask(
        id=text(entry["task_id"]["value"]),
        framework_id=text(entry["framework_id"]["value"]),
        agent_id=text(entry["agent_id"]["value"]),
        executor_id=text(entry["executor_id"]["value"]) if "executor_id" in entry else None,
        resources=_resources(entry["resources"]),
        started=float(statuses[0]["timestamp"]) if statuses else None,
    )


def _executor(entry: Any) -> tuple[_Container, Resources]:
    info = entry["executor_info"]
    container = (
        text(info["framework_id"]["value"]),
        text(entry["agent_id"]["value"]),
        text(info["executor_id"]["value"]),
    )
    return container, _resources(info.get("resources", ()))


def _resources(entries: Any) -> Resources:
    return Resources(to_core(read(RESOURCE, part)) for part in entries).allocated_to(None)
