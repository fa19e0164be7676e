"""The JSON of `top -o json`, as models; see `documents`."""

from typing import Literal, Self

from pydantic import Field

from mesosctl.output.documents.cluster import Role
from mesosctl.output.documents.quota import Amounts, Document, Strict, amounts
from mesosctl.planning.cluster_summary import Overview


class Waiting(Strict):
    """The offers that a framework has not answered."""

    framework: str
    framework_id: str
    roles: list[str]
    offers: int
    resources: Amounts


class Throttled(Strict):
    """A principal of which messages wait because of a rate limit."""

    principal: str
    waiting: int
    full: bool = Field(description="Whether messages are refused.")


class Top(Document):
    """`top --once`; jsonl writes one of `roles` a line.  `total` is of the agents in service."""

    kind: Literal["top"] = "top"
    taken_at: float = Field(description="In seconds since 1970.")
    version: str
    agents: dict[str, int]
    frameworks: int
    total: Amounts
    used: Amounts
    offered: Amounts
    roles: list[Role]
    offers: list[Waiting]
    throttled: list[Throttled]
    unknown: list[str]

    @classmethod
    def of(cls, overview: Overview) -> Self:
        """Make it from the value."""
        return cls(
            taken_at=overview.taken_at,
            version=overview.version,
            agents=dict(overview.agents),
            frameworks=overview.frameworks,
            total=amounts(overview.total),
            used=amounts(overview.used),
            offered=amounts(overview.offered),
            roles=[Role.of(role) for role in overview.roles],
            offers=[
                Waiting(
                    framework=one.framework,
                    framework_id=one.framework_id,
                    roles=list(one.roles),
                    offers=one.offers,
                    resources=amounts(one.resources),
                )
                for one in overview.offers
            ],
            throttled=[
                Throttled(principal=one.principal, waiting=one.backlog, full=one.is_full) for one in overview.throttled
            ],
            unknown=list(overview.unknown),
        )


DOCUMENTS: tuple[type[Document], ...] = (Top,)
"""All of them, for the reference page and the test that holds their shapes."""
