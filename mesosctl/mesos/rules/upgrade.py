"""The quotas that are left when a master of another release takes over the registry of a cluster.

Up to 1.8, a master keeps guarantees, and a master from 1.9 on reads each as a guarantee and a limit of the same amount.
Masters from 1.9 on keep another record, which needs their capability QUOTA_V2: from 1.7 on, a master without it does
not start on such a registry, and an older one starts and reads no quota.  Seen on real masters, one after the other on
one registry (docs/explanation/releases.md, "One release after another").
"""

from collections.abc import Collection
from typing import Literal

from mesosctl.mesos.amounts.amount_text import enumerated
from mesosctl.mesos.rules.version_profile import Profile

_KEEPS_LIMITS = "QUOTA_V2"
"""The capability of masters that keep guarantees and limits."""
Read = Literal["as it is", "with limits", "not"]
"""How a master reads what another has kept: the same, each guarantee as a limit too, or not at all."""


def quotas_read(before: Profile, after: Profile) -> Read:
    """How a master of the profile `after` reads the quotas that one of the profile `before` has kept."""
    kept, reads = (_KEEPS_LIMITS in profile.master_capabilities for profile in (before, after))
    if kept == reads:
        return "as it is"
    return "with limits" if reads else "not"


def loses_quota(before: Profile, after: Profile) -> bool:
    """Whether a master of the profile `after` reads no quota that one of the profile `before` has kept."""
    return quotas_read(before, after) == "not"


def why_it_does_not_start(roles: Collection[str], before: Profile, after: Profile) -> str | None:
    """The reason why a master does not start on the registry of another, where these roles have quota, if so."""
    if not roles or not loses_quota(before, after) or not after.checks_minimum_capabilities:
        return None
    return f"{before} keeps the quota of {enumerated(sorted(roles))} in the registry, which needs {_KEEPS_LIMITS}"
