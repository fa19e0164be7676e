"""The tasks of a master that hold resources."""

from typing import Any

from mesosctl.api.elements.tasks import HeldResources, TaskReader
from mesosctl.api.frameworks import listed_frameworks
from mesosctl.api.protobuf_json.resource_lists import ResourceLists
from mesosctl.api.responses import NATURAL, undocumented, wrong
from mesosctl.client.leading_master import Master
from mesosctl.model.version_profile import TERMINAL_STATES
from mesosctl.planning.displacement import RunningTask


def read_tasks(master: Master) -> list[HeldResources]:
    """Every task that has not ended and that this principal may see.  Raises UnexpectedAnswer."""
    answer: Any = master.ask("GET_TASKS")
    told = answer.get("get_tasks", {}) if isinstance(answer, dict) else None
    listed = told.get("tasks", []) if isinstance(told, dict) else None
    if not isinstance(listed, list):
        raise wrong(told, "a list of tasks", "get_tasks")
    found, reader = [], TaskReader(ResourceLists())
    for index, entry in enumerate(listed):
        try:
            task = reader.of_message(entry)
        except NATURAL as error:
            raise undocumented(error, f"get_tasks.tasks[{index}]") from None
        if task.state not in TERMINAL_STATES and task.state != "TASK_UNREACHABLE":
            found.append(task)
    return found


def running_tasks(master: Master, *, agents: frozenset[str]) -> list[RunningTask]:
    """The tasks on these agents, with the names of their frameworks."""
    held = [task for task in read_tasks(master) if task.agent_id in agents]
    if not held:
        return []
    names = {one.id: one.title for one in listed_frameworks(master.ask("GET_FRAMEWORKS"))}
    return [
        RunningTask(one.id, names.get(one.framework_id, one.framework_id), one.agent_id, one.role, one.resources)
        for one in held
    ]
