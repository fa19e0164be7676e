"""The tasks of a master, as GET_TASKS answers (Mesos documentation, "Operator HTTP API", "GET_TASKS")."""

from collections.abc import Iterable, Mapping

from mesosctl.mesos.messages.elements.tasks import LISTED_TASK_MEMBERS, TASK, ShownTask, TaskReader
from mesosctl.mesos.messages.protobuf_json.buffered_text import Run, Shortcut
from mesosctl.mesos.messages.protobuf_json.json_parts import parts
from mesosctl.mesos.messages.protobuf_json.message_tables import mesos_message
from mesosctl.mesos.messages.protobuf_json.resource_lists import ResourceLists
from mesosctl.mesos.messages.responses import NATURAL, undocumented, wrong

RUNNING = "tasks"
"""The list of the tasks on registered agents, and those that have ended without an acknowledgement."""
PRESENT = ("pending_tasks", RUNNING, "unreachable_tasks")
"""With them, those that a master has yet to authorize, and those whose agents are unreachable."""
ALL = (*PRESENT, "completed_tasks")
"""And as many that have ended as the master keeps."""


def tasks_shown(chunks: Iterable[bytes], *lists: str) -> list[ShownTask]:
    """The tasks in these lists of the answer, read while its chunks arrive.

    Raises UnexpectedAnswer; ConversionError if it is not JSON.
    """
    found: list[ShownTask] = []
    reader, is_told = TaskReader(ResourceLists()), False

    def shortcuts() -> Mapping[str, Shortcut]:
        from mesosctl.mesos.messages.protobuf_json.wanted_members import (  # late: it loads msgspec
            WantedMembers,
            decoded_members,
        )

        task = decoded_members(mesos_message(TASK), *LISTED_TASK_MEMBERS)
        skipped = decoded_members(mesos_message(TASK), "state")
        return {
            name: (WantedMembers(task, reader.listed) if name in lists else WantedMembers(skipped, _nothing)).read
            for name in ALL
        }

    for part in parts(chunks, depth=2, shortcuts=shortcuts):
        is_told = is_told or part.path[:1] == ("get_tasks",)
        if part.place is None:
            expected = {} if part.path == ("get_tasks",) else [] if part.path[1:] in _LISTS else part.value
            if part.value != expected:
                raise wrong(part.value, "an object" if expected == {} else "a list of tasks", part.where)
        elif part.path[-1] in lists:
            try:
                found += part.value.values if isinstance(part.value, Run) else [reader.listed(part.value, part.where)]
            except NATURAL as error:
                raise undocumented(error, part.where) from None
    if not is_told:
        raise wrong(None, "an object", "get_tasks")
    return found


_LISTS = frozenset((name,) for name in ALL)


def _nothing(_: object) -> None:
    """Read no more of a task that is not wanted."""
