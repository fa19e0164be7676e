"""What an agent's resource estimator reports: slack of use, offered as revocable (spec/oversubscription.md §1, §4)."""

from dataclasses import replace
from typing import TYPE_CHECKING

from fake_master.master.agents import Agent
from mesosctl.core.errors import RuleViolation
from mesosctl.core.resource import Resource
from mesosctl.core.resources import Resources

if TYPE_CHECKING:
    from fake_master.master.master import Master


def slack_of_use(reported: Resources, *, throttleable: bool) -> Resources:
    """Plain amounts as what they are to a master.  Raises RuleViolation for what cannot be oversubscribed."""
    for entry in reported:
        if entry.is_reserved or entry.disk is not None or entry.shared:
            raise RuleViolation(f"{entry} cannot be oversubscribed: only plain amounts can", field="oversubscribed")
    return Resources(replace(entry, revocable=True, throttleable=throttleable) for entry in reported)


def report(master: "Master", agent: Agent, reported: Resources) -> None:
    """Another estimate.  The allocator hears of it first; then offers with the old one are rescinded, as a whole."""
    slack = slack_of_use(reported, throttleable=master.lends)
    if slack == agent.oversubscribed:
        return
    agent.oversubscribed = slack
    master.allocator.update_agent(agent.allocator_info(), agent.whole)
    for offer in master.offers.on_agent(agent.id):
        if any(_is_slack_of_use(entry, master) for entry in offer.resources):
            master.offers.rescind(offer)


def _is_slack_of_use(entry: Resource, master: "Master") -> bool:
    return entry.throttleable if master.lends else entry.revocable
