"""Offers that a master holds back after a failover, until most agents are back."""

from collections.abc import Mapping

from mesosctl.client.leading_master import LeadingMaster
from mesosctl.mesos.errors import Denied
from mesosctl.mesos.messages import responses
from mesosctl.mesos.messages.elements.listed_agents import AgentsInService, agents_in_service
from mesosctl.mesos.rules import version_profile as profile


def recovery(
    flags: Mapping[str, str], present: int, awaited: int, figures: Mapping[str, float], *, has_quotas: bool
) -> str:
    """Return how far recovery has come, if offers are held back for it; empty otherwise.

    If any role has quota, a master makes no offers after a failover until most agents are back or the time is over
    (docs/explanation/allocator.md, "Events").
    """
    up = figures.get("master/uptime_secs")
    if not awaited or not has_quotas or up is None:
        return ""
    try:
        needed = int((awaited + present) * profile.recovery_factor(flags))
        longest = profile.recovery_seconds(flags)
    except ValueError:  # a flag that no master of these versions would accept
        return ""
    if present >= needed or up >= longest:
        return ""
    return (
        f"{present} of {present + awaited} agents {'is' if present == 1 else 'are'} back after a failover; "
        f"nothing is offered until {needed} are back, "
        f"or until the master has been up for {longest:g} s; it has been up for {up:.0f} s"
    )


def recovery_if_shown(master: LeadingMaster) -> str:
    """The same, of a master that offers nothing; empty if this principal may not see what it depends on."""
    try:
        figures = master.get("/metrics/snapshot")
        flags = responses.flags(master.get("/flags"))
        if float(figures.get("master/uptime_secs", 0)) >= profile.recovery_seconds(flags):
            return ""  # before the agents are read, which are many
        quotas = responses.quotas(master.get("/quota"))
        agents: AgentsInService = master.stream("/slaves", agents_in_service)
    except (Denied, ValueError):
        return ""
    return recovery(flags, agents.registered, agents.awaited, figures, has_quotas=bool(quotas))
