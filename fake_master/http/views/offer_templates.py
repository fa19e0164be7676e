"""Offers as /state and GET_FRAMEWORKS show them: thousands differ in a few texts alone."""

from dataclasses import replace
from typing import Any, NamedTuple
from uuid import uuid4

from fake_master.http.json_text import Fragment, LikeTexts, ResourceTexts, text_of, without_quotes
from fake_master.http.views.agent_templates import BLANK as BLANK_AGENT
from fake_master.services import v1_messages
from fake_master.state.agents import Agent
from fake_master.state.frameworks import Framework
from fake_master.state.master_state import MasterState
from fake_master.state.offers import Offer


class _ShownOffer(NamedTuple):
    """An offer, and the agent that it is of."""

    offer: Offer
    agent: Agent


_BLANK = _ShownOffer(Offer(uuid4().hex, "", BLANK_AGENT.agent.id, "", BLANK_AGENT.offered), BLANK_AGENT.agent)
"""An offer with texts that are in no other JSON."""


def _blank_like(of: _ShownOffer) -> _ShownOffer:
    blank = _BLANK.agent
    return _ShownOffer(
        replace(of.offer, id=_BLANK.offer.id, resources=_BLANK.offer.resources),
        replace(of.agent, id=blank.id, hostname=blank.hostname, number=blank.number),
    )


def _shape(of: _ShownOffer) -> tuple[Any, ...]:
    """Return everything that the JSON of an offer to one framework depends on, except its own texts."""
    agent = of.agent
    return (of.offer.role, agent.port, agent.ip, agent.domain, *agent.attributes.items())


class OfferTexts:
    """The JSON of the offers to one framework, in one answer."""

    def __init__(self, state: MasterState, to: Framework, texts: ResourceTexts) -> None:
        self._state = state
        self._to = to
        self._texts = texts
        own = (
            lambda of: without_quotes(of.offer.id),
            lambda of: without_quotes(of.agent.id),
            lambda of: without_quotes(of.agent.hostname),
            lambda of: str(of.agent.number),
            lambda of: texts.listed(of.offer.resources, "POST").text,
        )
        self._like: LikeTexts[_ShownOffer] = LikeTexts(own, _BLANK)

    def text(self, offer: Offer) -> Fragment:
        """Return the JSON of an offer."""
        shown = _ShownOffer(offer, self._state.agents[offer.agent_id])
        if self._state.maintenance.unavailability(shown.agent) is not None:
            return Fragment(text_of(self._view(shown)))
        return Fragment(self._like.text(_shape(shown), shown, self._view, _blank_like))

    def _view(self, of: _ShownOffer) -> dict[str, Any]:
        return v1_messages.operator_offer(self._state, self._to, of.offer, of.agent, self._texts.listed)


class OfferSummaries:
    """The JSON of offers as /state and /frameworks show them, in one answer."""

    def __init__(self, texts: ResourceTexts) -> None:
        self._texts = texts
        own = (
            lambda offer: without_quotes(offer.id),
            lambda offer: without_quotes(offer.agent_id),
            lambda offer: texts.summed(offer.resources).text,
        )
        self._like: LikeTexts[Offer] = LikeTexts(own, _BLANK.offer)

    def text(self, offer: Offer) -> Fragment:
        """Return the JSON of an offer."""
        return Fragment(self._like.text((offer.framework_id, offer.role), offer, self._view, _blank_offer_like))

    def _view(self, offer: Offer) -> dict[str, Any]:
        return {
            "id": offer.id,
            "framework_id": offer.framework_id,
            "allocation_info": {"role": offer.role},
            "slave_id": offer.agent_id,
            "resources": self._texts.summed(offer.resources),
        }


def _blank_offer_like(offer: Offer) -> Offer:
    blank = _BLANK.offer
    return replace(offer, id=blank.id, agent_id=blank.agent_id, resources=blank.resources)
