"""The calls of the operator API about one agent: gone, drained, in service or not (spec/endpoints.md §4)."""

from collections.abc import Mapping
from typing import Any

from fake_master.http.exchange import Refusal, refusing
from fake_master.master.master import Master
from mesosctl.wire.messages import Field, Message

_AGENT = {"agent_id": Field(Message("AgentID", {"value": Field("string", "required")}), "required")}
_NANOSECONDS = 1_000_000_000
MARK_GONE = Message("Call.MarkAgentGone", _AGENT)
DRAIN = Message(
    "Call.DrainAgent",
    {
        **_AGENT,
        # A duration of protobuf's own, unlike all others of Mesos; it is shown as one of Mesos's.
        "max_grace_period": Field(Message("Duration", {"seconds": Field("int64"), "nanos": Field("int32")})),
        "mark_gone": Field("bool"),
    },
)
DEACTIVATE = Message("Call.DeactivateAgent", _AGENT)
REACTIVATE = Message("Call.ReactivateAgent", _AGENT)

Body = Mapping[str, Any]


def mark_gone(master: Master, body: Body, principal: str | None) -> None:
    """MARK_AGENT_GONE: for good.  Raises Refusal (404) or Forbidden."""
    master.flags.authorizer.require("mark_agents_gone", principal, None)
    if not master.leaving.mark_gone(_id(body)):
        raise Refusal(404, f"Agent '{_id(body)}' not found")


def drain(master: Master, body: Body, principal: str | None) -> None:
    """DRAIN_AGENT.  Raises Refusal (400) or Forbidden."""
    master.flags.authorizer.require("drain_agents", principal, None)
    given = body.get("max_grace_period")
    grace = None
    if given is not None:
        grace = {"nanoseconds": given.get("seconds", 0) * _NANOSECONDS + given.get("nanos", 0)}
    with refusing():
        master.draining.drain(_id(body), grace, mark_gone=body.get("mark_gone", False))


def deactivate(master: Master, body: Body, principal: str | None) -> None:
    """DEACTIVATE_AGENT.  Raises Refusal (400) or Forbidden."""
    master.flags.authorizer.require("deactivate_agents", principal, None)
    with refusing():
        master.draining.deactivate(_id(body))


def reactivate(master: Master, body: Body, principal: str | None) -> None:
    """REACTIVATE_AGENT.  Raises Refusal (400, 409) or Forbidden."""
    master.flags.authorizer.require("reactivate_agents", principal, None)
    with refusing(in_conflict=""):
        master.draining.reactivate(_id(body))


def _id(body: Body) -> str:
    return str(body["agent_id"]["value"])
