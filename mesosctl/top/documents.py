"""The JSON of `top -o json`, as models; see `show.document`."""

from typing import Annotated, Literal

from pydantic import Field

from mesosctl.roles.documents import Role
from mesosctl.show.document import Amounts, Document, Mirrored, named


class Waiting(Mirrored):
    """The offers that a framework has not answered."""

    framework: str
    framework_id: str
    roles: list[str]
    offers: int
    amounts: Annotated[Amounts, named("resources")]


class Throttled(Mirrored):
    """A principal whose messages wait because of a rate limit."""

    principal: str
    waiting: Annotated[int, named("backlog")]
    full: Annotated[bool, named("is_full")] = Field(description="Whether messages are refused.")


class Top(Document, Mirrored):
    """`top --once`; jsonl writes one of `roles` per line.  `total` counts every registered agent."""

    schema_version: Literal[2] = 2  # type: ignore[assignment]  # a version of its own
    kind: Literal["top"] = "top"
    taken_at: float = Field(description="In seconds since the epoch.")
    version: str
    agents: dict[str, int]
    frameworks: int
    total: Amounts
    used: Amounts
    offered: Amounts
    revocable: Amounts = Field(description="In use beyond `used`: lent, or slack of use; under the plain names.")
    roles: list[Role]
    offers: list[Waiting]
    throttled: list[Throttled]
    unknown: list[str]
