"""The capacity heuristic: the amounts that a cluster can promise, and whether its quotas fit.

Source: Mesos quota documentation, "Capacity Heuristic Check".
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from mesosctl.model.errors import Conflict
from mesosctl.model.quantities import Quantities, Quota, add_up
from mesosctl.model.resources import Resources
from mesosctl.model.version_profile import Profile


@dataclass(frozen=True, slots=True)
class AgentCapacity:
    """The part of a registered agent that the capacity heuristic reads."""

    total: Resources
    active: bool = True
    """Connected and not deactivated."""


def capacity(agents: Iterable[AgentCapacity], profile: Profile) -> Quantities:
    """Return the amounts that the cluster can promise: `total - statically reserved` of the agents in service.

    On newer masters reserved resources count too, and so do inactive agents.
    """
    sums: dict[str, int] = {}
    for agent in agents:
        if agent.active or profile.capacity_includes_inactive_agents:
            add_up(sums, _promised(agent.total, profile))
    return Quantities(sums)


def _promised(total: Resources, profile: Profile) -> Iterator[tuple[str, int]]:
    """Yield the amounts of one agent that count."""
    for entry in total:
        value = entry.value
        counts = profile.capacity_includes_static_reservations or not entry.is_statically_reserved
        if isinstance(value, int) and not entry.revocable and counts:
            yield entry.name, value


def total_guarantees(quotas: Mapping[str, Quota]) -> Quantities:
    """Return the sum of all guarantees; a parent's guarantee already contains its children's."""
    return Quantities.total(quota.guarantees for role, quota in quotas.items() if "/" not in role)


def check_capacity(quotas: Mapping[str, Quota], available: Quantities) -> None:
    """The heuristic: `available >= total quota`, request included; equality passes.  Raises Conflict."""
    needed = total_guarantees(quotas)
    if not available.contains(needed):
        short = Quantities({name: amount - available.get_amount(name) for name, amount in needed.items()})
        raise Conflict(
            f"not enough capacity: guarantees add up to {needed}, but the cluster has {available} ({short} too much)",
            field="guarantee",
            rule="quota.capacity",
            hint="ask for less, or wait until more agents have registered",
            override="--force",
        )


def unpromised(quotas: Mapping[str, Quota], available: Quantities) -> Quantities:
    """Return the largest quota that would pass for a role without one.

    No quota passes while more of any resource is guaranteed than there is.
    """
    promised = total_guarantees(quotas)
    return available - promised if available.contains(promised) else Quantities()
