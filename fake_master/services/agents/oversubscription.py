"""Slack of use: what an agent's resource estimator reports (Mesos oversubscription documentation)."""

from dataclasses import replace

from fake_master.allocator.interface import Allocator
from fake_master.services.offers import Offers
from fake_master.state.agents import Agent
from fake_master.state.master_state import MasterState
from mesosctl.model.errors import RuleViolation
from mesosctl.model.resources import Resources


def slack_of_use(reported: Resources, *, throttleable: bool) -> Resources:
    """Return plain amounts as what they are to a master.  Raises RuleViolation for what cannot be oversubscribed."""
    for entry in reported:
        if entry.is_reserved or entry.disk is not None or entry.shared:
            raise RuleViolation(f"{entry} cannot be oversubscribed: only plain amounts can", field="oversubscribed")
    return Resources(replace(entry, revocable=True, throttleable=throttleable) for entry in reported)


class Oversubscription:
    """Takes estimates of agents."""

    def __init__(self, state: MasterState, allocator: Allocator, offers: Offers) -> None:
        self._state = state
        self._allocator = allocator
        self._offers = offers

    def report(self, agent: Agent, reported: Resources) -> None:
        """Replace an agent's estimate, and rescind offers with the old one, as a whole.  Raises RuleViolation.

        The allocator hears of it first.
        """
        rules = self._state.revocability
        slack = slack_of_use(reported, throttleable=rules.throttles)
        if slack == agent.oversubscribed:
            return
        agent.oversubscribed = slack
        self._allocator.update_agent(agent.allocator_info(), agent.whole)
        for offer in self._state.offers.on_agent(agent.id):
            if any(rules.is_slack_of_use(entry) for entry in offer.resources):
                self._offers.rescind(offer)
