"""Quota as it was sent, doubles and all, and what it means."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from mesosctl.model.quantities import Quota, to_milli
from mesosctl.model.quota.rules import quota_of_config


@dataclass(frozen=True)
class SentQuota:
    """A role's quota as it was sent, doubles and all, and what it means.

    The real master shows amounts as they came and rounds only when it compares.
    """

    guarantees: Mapping[str, float]
    limits: Mapping[str, float]

    @cached_property
    def meaning(self) -> Quota:
        """The quota that rules and the allocator work with."""
        return quota_of_config(self.guarantees, self.limits)

    def kept(self) -> "SentQuota":
        """Return it as a master keeps it: guarantees of nothing vanish; limits of nothing forbid, and stay."""
        return SentQuota(
            {name: sent for name, sent in sorted(self.guarantees.items()) if to_milli(sent) > 0},
            dict(sorted(self.limits.items())),
        )

    def to_record(self) -> dict[str, Any]:
        """Return the record of it for the registry."""
        return {"guarantees": dict(self.guarantees), "limits": dict(self.limits)}
