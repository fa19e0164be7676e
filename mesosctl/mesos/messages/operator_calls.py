"""The v1 calls about agents and frameworks: DRAIN_AGENT and its kin, and TEARDOWN.

Source: Mesos documentation, "Operator HTTP API".
"""

from typing import Literal

from mesosctl.mesos.messages.base_model import MesosModel
from mesosctl.mesos.messages.table_models import master_call


def drain_agent(agent_id: str, max_grace_period: float | None, *, mark_gone: bool) -> MesosModel:
    """The call that drains an agent; the grace period is in seconds."""
    part = {"agent_id": {"value": agent_id}, "mark_gone": mark_gone}
    if max_grace_period is not None:
        # A duration of protobuf, unlike all others in Mesos.
        seconds, nanos = divmod(round(max_grace_period * 1e9), 10**9)
        part["max_grace_period"] = {"seconds": seconds, "nanos": nanos}
    return master_call("DRAIN_AGENT", part)


def agent_call(kind: Literal["DEACTIVATE_AGENT", "REACTIVATE_AGENT", "MARK_AGENT_GONE"], agent_id: str) -> MesosModel:
    """A call that says nothing but the agent."""
    return master_call(kind, {"agent_id": {"value": agent_id}})


def tear_down_framework(framework_id: str) -> MesosModel:
    """The call that removes a framework; a framework's own is another."""
    return master_call("TEARDOWN", {"framework_id": {"value": framework_id}})
