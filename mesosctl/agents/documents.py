"""The JSON of the verbs of `agents` that change something, as models; see `show.document`."""

from typing import Annotated, Literal

from pydantic import Field

from mesosctl.mesos.cluster import holdings
from mesosctl.show.document import Amounts, Document, Mirrored, named
from mesosctl.show.held_resources import HeldResources


class LeavingAgent(Mirrored):
    """An agent that would leave, and what would end there."""

    id: str
    hostname: str
    status: holdings.AgentStatus
    tasks: int
    without_room: dict[str, int] = Field(
        description="How many of the tasks fit on no other agent now, by the name of their framework."
    )
    out_of_reach: dict[str, int] = Field(
        default={},
        description="How many of the tasks are on an unreachable agent, by the name of their framework.",
    )


class DrainPlanDocument(Document):
    """The plan of `agents drain` and `agents gone`, one of the answers in `would` of a dry run."""

    kind: Literal["agents.plan"] = "agents.plan"
    agents: list[LeavingAgent]


class ServiceChange(Mirrored):
    """One agent and the status that it has now; `gone` is one that the master does not list any more."""

    id: Annotated[str, named("agent.id")]
    hostname: Annotated[str, named("agent.hostname")]
    asked: holdings.ServiceVerb
    status: holdings.StatusAfter
    sent: bool = Field(description="Whether a change was sent; false if the agent was so already.")
    confirmed: bool = Field(description="Whether it was read back.")


class ServiceChanges(Document):
    """`agents drain`, `deactivate`, `reactivate` and `gone`; jsonl writes one of `changes` per line."""

    kind: Literal["agents.changes"] = "agents.changes"
    changes: list[ServiceChange]


class Agent(Mirrored):
    """A registered agent.  `used` is held by tasks and executors, `offered` by offers; `free` is neither.

    Nothing of an agent is free while it is out of service, because nothing of it is offered.
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


class UnlistedAgent(Mirrored):
    """An agent that stopped answering, and may register again."""

    id: str
    since: float = Field(description="In seconds since the epoch.")


class AgentList(Document):
    """`agents`; jsonl writes one of `agents` per line, or with --watch one document per change."""

    kind: Literal["agents.list"] = "agents.list"
    agents: list[Agent]
    unreachable: list[UnlistedAgent] = Field(default=[], description="Agents that are unreachable, and so not listed.")
