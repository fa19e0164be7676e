"""The v1 calls that take an agent out of service and back: DRAIN_AGENT and its kin.

Source: Mesos documentation, "Operator HTTP API", "DRAIN_AGENT", "DEACTIVATE_AGENT", "REACTIVATE_AGENT" and
"MARK_AGENT_GONE".
"""

from typing import Literal, Self

from mesosctl.api.agent_operations import AgentId
from mesosctl.api.base_model import Bool, MesosModel


class Duration(MesosModel):
    """A duration of protobuf, unlike all others in Mesos."""

    seconds: int
    nanos: int

    @classmethod
    def of(cls, seconds: float) -> Self:
        """This many seconds, to the nanosecond."""
        whole, nanos = divmod(round(seconds * 1e9), 10**9)
        return cls(seconds=whole, nanos=nanos)


class DrainAgent(MesosModel):
    """`drain_agent` of the v1 call."""

    agent_id: AgentId
    max_grace_period: Duration | None = None
    mark_gone: Bool = False


class DrainAgentCall(MesosModel):
    """The v1 call DRAIN_AGENT."""

    type: Literal["DRAIN_AGENT"] = "DRAIN_AGENT"
    drain_agent: DrainAgent

    @classmethod
    def of(cls, agent_id: str, max_grace_period: float | None, *, mark_gone: bool) -> Self:
        """The call that drains an agent; the grace period is in seconds."""
        grace = None if max_grace_period is None else Duration.of(max_grace_period)
        agent = AgentId(value=agent_id)
        return cls(drain_agent=DrainAgent(agent_id=agent, max_grace_period=grace, mark_gone=mark_gone))


class DeactivateAgent(MesosModel):
    """`deactivate_agent` of the v1 call."""

    agent_id: AgentId


class DeactivateAgentCall(MesosModel):
    """The v1 call DEACTIVATE_AGENT."""

    type: Literal["DEACTIVATE_AGENT"] = "DEACTIVATE_AGENT"
    deactivate_agent: DeactivateAgent

    @classmethod
    def of(cls, agent_id: str) -> Self:
        """The call that deactivates an agent."""
        return cls(deactivate_agent=DeactivateAgent(agent_id=AgentId(value=agent_id)))


class ReactivateAgent(MesosModel):
    """`reactivate_agent` of the v1 call."""

    agent_id: AgentId


class ReactivateAgentCall(MesosModel):
    """The v1 call REACTIVATE_AGENT."""

    type: Literal["REACTIVATE_AGENT"] = "REACTIVATE_AGENT"
    reactivate_agent: ReactivateAgent

    @classmethod
    def of(cls, agent_id: str) -> Self:
        """The call that reactivates an agent."""
        return cls(reactivate_agent=ReactivateAgent(agent_id=AgentId(value=agent_id)))


class MarkAgentGone(MesosModel):
    """`mark_agent_gone` of the v1 call."""

    agent_id: AgentId


class MarkAgentGoneCall(MesosModel):
    """The v1 call MARK_AGENT_GONE."""

    type: Literal["MARK_AGENT_GONE"] = "MARK_AGENT_GONE"
    mark_agent_gone: MarkAgentGone

    @classmethod
    def of(cls, agent_id: str) -> Self:
        """The call that marks an agent as gone."""
        return cls(mark_agent_gone=MarkAgentGone(agent_id=AgentId(value=agent_id)))
