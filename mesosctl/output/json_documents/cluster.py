"""The JSON of `agents`, `frameworks`, `roles`, `weights` and `top`, as models; see `json_documents`."""

from typing import Literal, Self

from pydantic import Field

from mesosctl.model.offers import frameworks
from mesosctl.model.quota import status as quota_status
from mesosctl.model.quota.status import Standing
from mesosctl.model.reservations import holdings
from mesosctl.output.json_documents.document import Amounts, Document, Mirrored, Strict, amounts
from mesosctl.output.json_documents.quota import QuotaValue, Usage
from mesosctl.output.json_documents.reservations import Held
from mesosctl.planning.cluster_summary import Overview


class Agent(Strict):
    """A registered agent.  `used` is held by tasks and executors, `offered` by offers; `free` is neither.

    `reserved` is the part of `total` that has an owner, by role.
    """

    id: str
    hostname: str
    pid: str
    status: holdings.AgentStatus
    attributes: dict[str, str | float]
    region: str | None
    zone: str | None
    total: Held
    used: Held
    offered: Held
    free: Held
    reserved: dict[str, Amounts]

    @classmethod
    def of(cls, agent: holdings.RegisteredAgent) -> Self:
        """Make it from the value."""
        return cls(
            id=agent.id,
            hostname=agent.hostname,
            pid=agent.pid,
            status=agent.status,
            attributes=dict(agent.attributes),
            region=agent.region,
            zone=agent.zone,
            total=Held.of(agent.total),
            used=Held.of(agent.used),
            offered=Held.of(agent.offered),
            free=Held.of(agent.total - agent.used - agent.offered),
            reserved={role: amounts(held) for role, held in agent.reserved.items()},
        )


class AgentList(Document):
    """`agents`; jsonl writes one of `agents` per line, and with --watch one document."""

    kind: Literal["agents.list"] = "agents.list"
    agents: list[Agent]


class Framework(Mirrored):
    """A framework, without ports and sets. `offers` counts those that it has not answered."""

    id: str
    name: str
    roles: list[str]
    principal: str | None
    status: frameworks.FrameworkState
    used: Amounts
    offered: Amounts
    offers: int


class FrameworkList(Document):
    """`frameworks`; jsonl writes one of `frameworks` per line, and with --watch one document."""

    kind: Literal["frameworks.list"] = "frameworks.list"
    frameworks: list[Framework]


class Role(Strict):
    """A role that the master knows; `usage` is null if this principal may not see it."""

    role: str
    standing: Standing
    weight: float | None
    guarantee: Amounts
    limit: Amounts
    missing: Amounts = Field(description="The part of the guarantee that is neither used nor offered.")
    usage: Usage | None

    @classmethod
    def of(cls, status: quota_status.RoleStatus) -> Self:
        """Make it from the value."""
        quota = QuotaValue.of(status.quota)
        return cls(
            role=status.role,
            standing=status.standing,
            weight=None if status.usage is None else status.usage.weight,
            guarantee=quota.guarantee,
            limit=quota.limit,
            missing=amounts(status.missing),
            usage=None if status.usage is None else Usage.of(status.usage),
        )


class RoleList(Document):
    """`roles`; jsonl writes one of `roles` per line, and with --watch one document."""

    kind: Literal["roles.list"] = "roles.list"
    roles: list[Role]


class Weight(Strict):
    """A weight that was set; every other role has weight 1."""

    role: str
    weight: float


class WeightList(Document):
    """`weights` and `weights list`; jsonl writes one of `weights` per line."""

    kind: Literal["weights.list"] = "weights.list"
    weights: list[Weight]


class WeightChange(Mirrored):
    """One weight that was set."""

    role: str
    before: float
    after: float
    confirmed: bool = Field(description="Whether it was read back.")


class WeightChanges(Document):
    """`weights set`; jsonl writes one of `changes` per line, without weights that were already set."""

    kind: Literal["weights.changes"] = "weights.changes"
    changes: list[WeightChange]


class Waiting(Strict):
    """The offers that a framework has not answered."""

    framework: str
    framework_id: str
    roles: list[str]
    offers: int
    resources: Amounts


class Throttled(Strict):
    """A principal whose messages wait because of a rate limit."""

    principal: str
    waiting: int
    full: bool = Field(description="Whether messages are refused.")


class Top(Document):
    """`top --once`; jsonl writes one of `roles` per line.  `total` is of the agents in service."""

    kind: Literal["top"] = "top"
    taken_at: float = Field(description="In seconds since the epoch.")
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
