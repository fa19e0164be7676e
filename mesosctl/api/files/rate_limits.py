"""The documented JSON of rate limits (Mesos documentation, "Framework Rate Limiting"), as a file that people write.

`api.rate_limits` reads what masters take and show, without pydantic.
"""

from typing import Self

from mesosctl.api.base_model import DoubleOrInfinity, MesosModel, Uint64
from mesosctl.model import rate_limits as core


class RateLimit(MesosModel):
    """The limit of a principal: messages a second, and how many may wait."""

    principal: str
    qps: DoubleOrInfinity | None = None
    capacity: Uint64 | None = None


class RateLimits(MesosModel):
    """The value of the master's --rate_limits."""

    limits: list[RateLimit] | None = None
    aggregate_default_qps: DoubleOrInfinity | None = None
    aggregate_default_capacity: Uint64 | None = None

    @classmethod
    def of(cls, limits: core.RateLimits) -> Self:
        """The JSON of a configuration."""
        entries = [
            RateLimit(principal=principal, qps=limit.qps, capacity=limit.capacity)
            for principal, limit in limits.entries
        ]
        return cls(
            limits=entries or None,
            aggregate_default_qps=limits.default.qps,
            aggregate_default_capacity=limits.default.capacity,
        )

    def to_core(self) -> core.RateLimits:
        """The configuration that it means; the rules of the model are not checked."""
        return core.RateLimits(
            tuple((entry.principal, core.RateLimit(entry.qps, entry.capacity)) for entry in self.limits or ()),
            core.RateLimit(self.aggregate_default_qps, self.aggregate_default_capacity),
        )
