"""The JSON of `frameworks teardown`, as a model; see `show.document`."""

from typing import Annotated, Literal

from pydantic import Field

from mesosctl.mesos.rules.offers import frameworks
from mesosctl.show.document import Amounts, Document, Mirrored, named


class TornDownFramework(Mirrored):
    """A framework that was removed, with what it used until then."""

    id: Annotated[str, named("framework.id")]
    name: Annotated[str, named("framework.name")]
    tasks: int = Field(description="The tasks that it had, and that were killed.")
    used: Annotated[Amounts, named("framework.used")]
    confirmed: bool = Field(description="Whether it was read back.")


class TeardownDocument(Document, Mirrored):
    """`frameworks teardown`: the frameworks that were removed; the other fields are those of the first.

    jsonl writes one of `frameworks` per line if there are several.
    """

    kind: Literal["frameworks.teardown"] = "frameworks.teardown"
    frameworks: list[TornDownFramework]
    id: Annotated[str, named("framework.id")]
    name: Annotated[str, named("framework.name")]
    tasks: int = Field(description="The tasks that it had, and that were killed.")
    used: Annotated[Amounts, named("framework.used")]
    confirmed: bool = Field(description="Whether it was read back.")


class Framework(Mirrored):
    """A framework; its ports and sets are left out. `offers` counts those that it has not answered."""

    id: str
    name: str
    roles: list[str]
    principal: str | None
    status: frameworks.FrameworkState
    failover_timeout: float = Field(
        default=0.0, description="Seconds for which the master waits for it while it is disconnected."
    )
    registered: float | None = Field(
        default=None, description="When it registered first, in seconds since the epoch; null if that is unknown."
    )
    ended: float | None = Field(default=None, description="When a completed framework was removed.")
    used: Amounts
    offered: Amounts
    offers: int


class FrameworkList(Document):
    """`frameworks`; jsonl writes one of `frameworks` per line, or with --watch one document per change."""

    kind: Literal["frameworks.list"] = "frameworks.list"
    frameworks: list[Framework]
    unreachable_tasks: dict[str, int] = Field(
        default={},
        description="How many tasks are on unreachable agents, by the id of their framework; empty in a selection.",
    )
