"""The JSON of `agents`, `frameworks`, `roles`, `weights` and `top`, as models; see `json_documents`."""

from typing import Annotated, Literal

from pydantic import Field

from mesosctl.model.offers import frameworks
from mesosctl.model.quota.role_status import Standing
from mesosctl.model.reservations import holdings
from mesosctl.output.json_documents.document import Amounts, Document, Mirrored, Strict, named
from mesosctl.output.json_documents.quota import Usage
from mesosctl.output.json_documents.reservations import HeldResources


class Agent(Mirrored):
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
    total: HeldResources
    used: HeldResources
    offered: HeldResources
    free: HeldResources
    lent: HeldResources = Field(description="The part of idle reservations that is lent to other roles.")
    reserved: dict[str, Amounts]


class AgentList(Document):
    """`agents`; jsonl writes one of `agents` per line, or with --watch one document per change."""

    kind: Literal["agents.list"] = "agents.list"
    agents: list[Agent]


class Framework(Mirrored):
    """A framework; its ports and sets are left out. `offers` counts those that it has not answered."""

    id: str
    name: str
    roles: list[str]
    principal: str | None
    status: frameworks.FrameworkState
    used: Amounts
    offered: Amounts
    offers: int


class FrameworkList(Document):
    """`frameworks`; jsonl writes one of `frameworks` per line, or with --watch one document per change."""

    kind: Literal["frameworks.list"] = "frameworks.list"
    frameworks: list[Framework]


class Role(Mirrored):
    """A role that the master knows; `usage` is null if this principal may not see it."""

    role: str
    standing: Standing
    weight: float | None
    guarantee: Annotated[Amounts, named("quota.guarantees")]
    limit: Annotated[Amounts, named("quota.limits")]
    missing: Amounts = Field(
        description="The part of the guarantee that is neither `consumed` (`allocated` before Mesos 1.9) nor `offered`."
    )
    usage: Usage | None


class RoleList(Document):
    """`roles`; jsonl writes one of `roles` per line, or with --watch one document per change."""

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
    """`weights set`; jsonl writes one of `changes` per line, without weights that the roles already had."""

    kind: Literal["weights.changes"] = "weights.changes"
    changes: list[WeightChange]


class Waiting(Mirrored):
    """The offers that a framework has not answered."""

    framework: str
    framework_id: str
    roles: list[str]
    offers: int
    resources: Amounts


class Throttled(Mirrored):
    """A principal whose messages wait because of a rate limit."""

    principal: str
    waiting: Annotated[int, named("backlog")]
    full: Annotated[bool, named("is_full")] = Field(description="Whether messages are refused.")


class Top(Document, Mirrored):
    """`top --once`; jsonl writes one of `roles` per line.  `total` counts every registered agent."""

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
