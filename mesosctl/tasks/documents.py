"""The JSON of `tasks`, as models; see `show.document`."""

from typing import Annotated, Literal

from pydantic import Field

from mesosctl.show.document import Document, Mirrored, UtcTime, named
from mesosctl.show.held_resources import HeldResources


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
    since: UtcTime | None = Field(description="When its last status was made, in UTC; null without a status.")


class TaskList(Document):
    """`tasks`; jsonl writes one of `tasks` per line, or with --watch one document per change."""

    kind: Literal["tasks.list"] = "tasks.list"
    tasks: list[Task]
