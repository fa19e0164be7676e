"""What a framework hears of its offer operations: only of those with an id, and until it acknowledges.

What a Mesos 1.11.0 master sends: OPERATION_ERROR with a message and without a uuid, so there is nothing to
acknowledge; OPERATION_FINISHED from the agent with a uuid, sent again after 10 s, 20 s, and so on.
"""

import base64
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from fake_master.master.frameworks import Framework

if TYPE_CHECKING:
    from fake_master.master.state import Master

FIRST_RETRY_SECONDS = 10.0
LONGEST_RETRY_SECONDS = 600.0


def dropped(master: "Master", framework: Framework, operation: Mapping[str, Any], problem: str) -> None:
    """The master did not do it."""
    if "id" in operation:
        master.tell.operation(
            framework, {"operation_id": operation["id"], "state": "OPERATION_ERROR", "message": problem}
        )


def finished(master: "Master", framework: Framework, agent_id: str, operation: Mapping[str, Any]) -> None:
    """The agent did it."""
    if "id" not in operation:
        return
    uuid = base64.b64encode(uuid4().bytes).decode()
    framework.operation_statuses[uuid] = {
        "operation_id": operation["id"],
        "state": "OPERATION_FINISHED",
        "uuid": {"value": uuid},
        "agent_id": {"value": agent_id},
    }
    _send(master, framework, uuid, FIRST_RETRY_SECONDS)


def acknowledge(framework: Framework, operation_id: str, uuid: str) -> None:
    """ACKNOWLEDGE_OPERATION_STATUS: it is not told again."""
    status = framework.operation_statuses.get(uuid)
    if status is not None and status["operation_id"]["value"] == operation_id:
        del framework.operation_statuses[uuid]


def _send(master: "Master", framework: Framework, uuid: str, wait: float) -> None:
    status = framework.operation_statuses.get(uuid)
    if status is None or master.frameworks.get(framework.id) is not framework:
        return
    master.tell.operation(framework, status)
    master.timers.at(master.now + wait, lambda: _send(master, framework, uuid, min(2 * wait, LONGEST_RETRY_SECONDS)))
