"""The shape of an agent, which thousands share, and the texts that each agent has to itself."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any, NamedTuple
from uuid import uuid4

from fake_master.http.json_text import ResourceTexts, without_quotes
from fake_master.state.agents import Agent
from fake_master.state.clock import NANOSECONDS
from mesosctl.model.resource import Resource
from mesosctl.model.resources import Resources


class ShownAgent(NamedTuple):
    """An agent and what is offered of it."""

    agent: Agent
    offered: Resources


def own_texts(texts: ResourceTexts) -> Sequence[Callable[[ShownAgent], str]]:
    """Return the texts that differ from agent to agent, whatever shows them."""
    return (
        lambda of: without_quotes(of.agent.id),
        lambda of: without_quotes(of.agent.hostname),
        lambda of: str(of.agent.number),
        lambda of: repr(of.agent.registered_time),
        lambda of: str(int(of.agent.registered_time * NANOSECONDS)),
        lambda of: repr(of.agent.reregistered_time),
        lambda of: str(int((of.agent.reregistered_time or 0.0) * NANOSECONDS)),
        lambda of: texts.summed(of.agent.used).text,
        lambda of: texts.listed(of.agent.used, "ENDPOINT").text,
        lambda of: texts.summed(of.offered).text,
        lambda of: texts.listed(of.offered, "ENDPOINT").text,
    )


def _unlike_any() -> Resources:
    return Resources([Resource(uuid4().hex, 1000)])


_OWN_FIELDS: dict[str, Any] = {
    "id": uuid4().hex,
    "hostname": uuid4().hex,
    "number": uuid4().int,
    "registered_time": float(uuid4().int),
}
"""Values that no agent has."""
_REREGISTERED, _USED, _OFFERED = float(uuid4().int), _unlike_any(), _unlike_any()
_NOTHING = Resources()
BLANK = ShownAgent(
    Agent(
        **_OWN_FIELDS,
        port=0,
        configured=_NOTHING,
        total=_NOTHING,
        applied=_NOTHING,
        capabilities=(),
        version="",
        reregistered_time=_REREGISTERED,
        used=_USED,
    ),
    _OFFERED,
)
"""An agent with texts that are in no other JSON."""


def blank_like(of: ShownAgent) -> ShownAgent:
    """Return an agent of the same shape with the texts of the blank one."""
    agent, offered = of
    blank = replace(
        agent,
        **_OWN_FIELDS,
        reregistered_time=None if agent.reregistered_time is None else _REREGISTERED,
        used=_USED if agent.used else agent.used,
    )
    return ShownAgent(blank, _OFFERED if offered else offered)


_shared_fields = attrgetter("port", "ip", "capabilities", "version", "domain", "connected", "deactivated", "drain_start")


def shape(of: ShownAgent) -> tuple[Any, ...]:
    """Return everything that the JSON of an agent depends on, except its own texts.

    Resources are there by their identity: they are equal in any order, but their JSON differs.
    """
    agent = of.agent
    return (
        *_shared_fields(agent),
        id(agent.configured),
        id(agent.total),
        id(agent.oversubscribed) if agent.oversubscribed else None,
        id(agent.drain_info),
        agent.reregistered_time is None,
        not agent.used,
        not of.offered,
        *agent.attributes.items(),
    )
