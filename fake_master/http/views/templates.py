"""JSON that thousands of agents or offers share, and the texts in which each of them differs."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any, NamedTuple
from uuid import uuid4

from fake_master.http.json_text import Fragment, LikeTexts, ResourceTexts, text_of, without_quotes
from fake_master.services import v1_messages
from fake_master.state.agents import Agent
from fake_master.state.clock import NANOSECONDS
from fake_master.state.master_state import MasterState
from fake_master.state.offers import Offer
from mesosctl.model.resource import Resource
from mesosctl.model.resources import Resources

# --- Agents -----------------------------------------------------------------------------------------


class ShownAgent(NamedTuple):
    """An agent and what is offered of it."""

    agent: Agent
    offered: Resources


def own_texts_of_agents(texts: ResourceTexts) -> Sequence[Callable[[ShownAgent], str]]:
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
BLANK_AGENT = ShownAgent(
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


def blank_agent_like(of: ShownAgent) -> ShownAgent:
    """Return an agent of the same shape with the texts of the blank one."""
    agent, offered = of
    blank = replace(
        agent,
        **_OWN_FIELDS,
        reregistered_time=None if agent.reregistered_time is None else _REREGISTERED,
        used=_USED if agent.used else agent.used,
    )
    return ShownAgent(blank, _OFFERED if offered else offered)


_shared_fields = attrgetter(
    "port", "ip", "capabilities", "version", "domain", "connected", "deactivated", "drain_start"
)


def shape_of_agent(of: ShownAgent) -> tuple[Any, ...]:
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


# --- Offers -----------------------------------------------------------------------------------------


class _ShownOffer(NamedTuple):
    """An offer, and the agent that it is of."""

    offer: Offer
    agent: Agent


_BLANK_OFFER = _ShownOffer(
    Offer(uuid4().hex, uuid4().hex, BLANK_AGENT.agent.id, uuid4().hex, BLANK_AGENT.offered), BLANK_AGENT.agent
)
"""An offer with texts that are in no other JSON."""


def _blank_offer_like(of: _ShownOffer) -> _ShownOffer:
    blank = _BLANK_OFFER.agent
    agent = replace(of.agent, id=blank.id, hostname=blank.hostname, number=blank.number)
    return _ShownOffer(_BLANK_OFFER.offer, agent)


def _shape_of_offer(of: _ShownOffer) -> tuple[Any, ...]:
    """Return everything that the JSON of an offer depends on, except its own texts."""
    agent = of.agent
    return (agent.port, agent.ip, agent.domain, *agent.attributes.items())


class OfferTexts:
    """The JSON of offers in one answer: as GET_FRAMEWORKS shows them, and as /state and /frameworks do."""

    def __init__(self, state: MasterState) -> None:
        self._state = state
        texts = self.resources = ResourceTexts()
        own = (
            lambda of: without_quotes(of.offer.id),
            lambda of: without_quotes(of.offer.framework_id),
            lambda of: without_quotes(of.offer.role),
            lambda of: without_quotes(of.agent.id),
            lambda of: without_quotes(of.agent.hostname),
            lambda of: str(of.agent.number),
            lambda of: texts.listed(of.offer.resources, "POST").text,
        )
        self._like: LikeTexts[_ShownOffer] = LikeTexts(own, _BLANK_OFFER)
        own_of_summary = (
            lambda offer: without_quotes(offer.id),
            lambda offer: without_quotes(offer.framework_id),
            lambda offer: without_quotes(offer.role),
            lambda offer: without_quotes(offer.agent_id),
            lambda offer: texts.summed(offer.resources).text,
        )
        self._like_summary: LikeTexts[Offer] = LikeTexts(own_of_summary, _BLANK_OFFER.offer)

    def described(self, offer: Offer) -> Fragment:
        """Return an offer as GET_FRAMEWORKS shows it."""
        shown = _ShownOffer(offer, self._state.agents[offer.agent_id])
        if self._state.maintenance.unavailability(shown.agent) is not None:
            return Fragment(text_of(self._describe(shown)))
        return Fragment(self._like.text(_shape_of_offer(shown), shown, self._describe, _blank_offer_like))

    def summary(self, offer: Offer) -> Fragment:
        """Return an offer as /state and /frameworks show it."""
        return Fragment(self._like_summary.text(None, offer, self._summarise, lambda _offer: _BLANK_OFFER.offer))

    def _describe(self, of: _ShownOffer) -> dict[str, Any]:
        return v1_messages.operator_offer(self._state, of.offer, of.agent, self.resources.listed)

    def _summarise(self, offer: Offer) -> dict[str, Any]:
        return {
            "id": offer.id,
            "framework_id": offer.framework_id,
            "allocation_info": {"role": offer.role},
            "slave_id": offer.agent_id,
            "resources": self.resources.summed(offer.resources),
        }
