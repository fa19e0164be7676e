"""The JSON of -o json for lists of agents, frameworks, roles and weights, as models; see `documents`."""

from typing import Literal, Self

from pydantic import Field

from mesosctl.model.offers import frameworks
from mesosctl.model.quota import status as quota_status
from mesosctl.model.quota.status import Standing
from mesosctl.model.reservations import holdings
from mesosctl.output.documents.quota import Amounts, Document, Mirrored, QuotaValue, Strict, Usage, amounts
from mesosctl.output.documents.reservations import Held


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
    """`agents`; jsonl writes one of `agents` a line, and with --watch one document."""

    kind: Literal["agents.list"] = "agents.list"
    agents: list[Agent]


class Framework(Mirrored):
    """A framework; no ports or sets.  `offers` is how many it has not answered."""

    id: str
    name: str
    roles: list[str]
    principal: str | None
    status: frameworks.FrameworkState
    used: Amounts
    offered: Amounts
    offers: int


class FrameworkList(Document):
    """`frameworks`; jsonl writes one of `frameworks` a line, and with --watch one document."""

    kind: Literal["frameworks.list"] = "frameworks.list"
    frameworks: list[Framework]


class Role(Strict):
    """A role that the master knows; `usage` is null where this principal may not see it."""

    role: str
    standing: Standing
    weight: float | None
    guarantee: Amounts
    limit: Amounts
    missing: Amounts = Field(description="Of the guarantee, neither used nor offered.")
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
    """`roles`; jsonl writes one of `roles` a line, and with --watch one document."""

    kind: Literal["roles.list"] = "roles.list"
    roles: list[Role]


class Weight(Strict):
    """A weight that was set; every other role weighs 1."""

    role: str
    weight: float


class WeightList(Document):
    """`weights` and `weights list`; jsonl writes one of `weights` a line."""

    kind: Literal["weights.list"] = "weights.list"
    weights: list[Weight]


class WeightChange(Mirrored):
    """One weight that was set."""

    role: str
    before: float
    after: float
    confirmed: bool = Field(description="Whether it was read back.")


class WeightChanges(Document):
    """`weights set`; jsonl writes one of `changes` a line, and there is none for a weight that was so already."""

    kind: Literal["weights.changes"] = "weights.changes"
    changes: list[WeightChange]
