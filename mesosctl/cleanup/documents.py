"""The JSON of `cleanup -o json`, as models; see `show.document`."""

from typing import Annotated, Literal

from pydantic import Field

from mesosctl.apply.documents import PlanStep
from mesosctl.show.document import Document, Mirrored, named
from mesosctl.show.held_resources import HeldResources


class InUse(Mirrored):
    """Resources that tasks or executors use: they stay."""

    role: str
    agent: Annotated[str, named("agent.name")]
    agent_id: Annotated[str, named("agent.id")]
    resources: HeldResources
    volumes: list[str] = Field(description="The ids of those that are volumes.")


class CleanupPlan(Document):
    """`cleanup`: the plan, whether this command has carried it out, and what is in use and stays."""

    schema_version: Literal[2] = 2  # type: ignore[assignment]  # a version of its own
    kind: Literal["cleanup"] = "cleanup"
    applied: bool
    steps: list[PlanStep]
    left: list[InUse]
