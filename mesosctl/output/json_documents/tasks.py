"""The JSON of `tasks`, as models; see `json_documents`."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from mesosctl.model.notation import utc_text
from mesosctl.output.json_documents.document import Document, Mirrored, named
from mesosctl.output.json_documents.reservations import HeldResources


def _as_time(seconds: object) -> object:
    return utc_text(seconds) if isinstance(seconds, int | float) else seconds


class Task(Mirrored):
    """A task, and what it uses itself: the resources of its executor are not among them."""

    id: str = Field(description="Unique only in its framework.")
    name: str
    framework: str
    framework_id: str
    role: str
    agent: Annotated[str | None, named("hostname")] = Field(
        description="The host name of its agent; null if the agent is not registered."
    )
    agent_id: str
    state: str = Field(description="As Mesos names it, such as TASK_RUNNING.")
    resources: HeldResources = Field(description="What it uses, or has used: one that has ended holds nothing.")
    since: Annotated[str | None, BeforeValidator(_as_time)] = Field(
        description="When its last status was made, in UTC; null without a status."
    )


class TaskList(Document):
    """`tasks`; jsonl writes one of `tasks` per line, or with --watch one document per change."""

    kind: Literal["tasks.list"] = "tasks.list"
    tasks: list[Task]
