"""The JSON of `cleanup -o json`, as models; see `show.document`."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from mesosctl.apply.documents import PlanStep
from mesosctl.mesos.cluster.holdings import plain_text
from mesosctl.show.document import Document, Mirrored, named


class InUse(Mirrored):
    """Resources that tasks or executors use: they stay.  Amounts are as in a file."""

    role: str
    agent: Annotated[str, named("agent.name")]
    agent_id: Annotated[str, named("agent.id")]
    resources: Annotated[str, BeforeValidator(plain_text)]
    volumes: list[str] = Field(description="The ids of those that are volumes.")


class CleanupPlan(Document):
    """`cleanup`: the plan, whether this command has carried it out, and what is in use and stays."""

    kind: Literal["cleanup"] = "cleanup"
    applied: bool
    steps: list[PlanStep]
    left: list[InUse]
