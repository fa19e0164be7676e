"""Refusals: what a framework does not want to be offered again for a while (spec/allocator.md §4)."""

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from fake_master.allocator.interface import DEFAULT_REFUSE_SECONDS
from mesosctl.core.resources import Resources

if TYPE_CHECKING:
    from fake_master.allocator.records import Agent, Client

_LONGEST = 365 * 24 * 3600.0
# Mesos keeps durations as 64-bit nanoseconds; what does not fit is not representable.
_REPRESENTABLE = (2**63 - 1) / 1e9


class OfferFilter:
    """A framework refused these resources, in one role and on one agent.

    A scheduler that declines a large cluster for long leaves one for each agent, so it is kept small.
    """

    __slots__ = ("agent", "alive", "client", "refused", "until")

    def __init__(self, client: "Client", agent: "Agent", refused: Resources, until: float) -> None:
        self.client = client
        self.agent = agent
        self.refused = refused
        """Without allocation roles."""
        self.until = until
        """When it ends, on the allocator's clock."""
        self.alive = True

    def expire(self) -> None:
        """Its time is over, unless it has been forgotten before."""
        if not self.alive:
            return
        filters = self.client.filters[self.agent]
        filters.remove(self)
        if not filters:
            del self.client.filters[self.agent]
        self.agent.forget_proofs(self.client.token, self.client.role.token)

    def covers(self, offer: Resources) -> bool:
        """Whether an offer of this, without allocation roles, is filtered.

        Any additional or differently labelled resource defeats the filter; a smaller offer does not.
        """
        return offer is self.refused or self.refused.contains(offer)


class InverseOfferFilter:
    """A framework refused an inverse offer for one agent."""

    __slots__ = ("alive",)

    def __init__(self) -> None:
        self.alive = True


def covered(filters: Iterable[OfferFilter], offer: Resources) -> bool:
    """Whether any of the filters covers an offer of this, without allocation roles."""
    return any(held.covers(offer) for held in filters)


def lifetime(refuse_seconds: float | None, interval: float) -> float | None:
    """Seconds that a filter of offers holds, None where there is to be none; it always outlives the next batch."""
    timeout = 0.0 if refuse_seconds is None else timeout_of(refuse_seconds)
    return max(timeout, interval) if timeout > 0 else None


def timeout_of(refuse_seconds: float) -> float:
    """Seconds that a refusal lasts: five where the number makes no sense, at most a year."""
    if math.isnan(refuse_seconds) or refuse_seconds < 0 or refuse_seconds > _REPRESENTABLE:
        return DEFAULT_REFUSE_SECONDS
    return min(refuse_seconds, _LONGEST)
