"""What differs between the master of the documents (about 1.4) and the last release, 1.11.

The differences are data, chosen once by a master's version (spec/quota.md §2); everything else
asks the profile and never the version.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Profile:
    """One master's answers to the questions on which masters differ."""

    name: str
    version: str
    default_role_may_have_quota: bool
    """Whether "*" may be given a quota."""
    quota_sets_limits: bool
    """Whether a v0 quota is also an upper bound."""
    reservations_consume_quota: bool
    """Whether what is reserved for a role counts as consumed from its quota."""
    capacity_includes_static_reservations: bool
    """Whether the capacity heuristic counts what agents reserve statically."""
    capacity_includes_inactive_agents: bool
    """Whether the capacity heuristic counts registered agents that are disconnected or deactivated."""
    guarantee_shows_role: bool
    """Whether GET /quota writes `"role": "*"` into each guarantee."""
    configs_always_shown: bool
    """Whether GET /quota writes `configs` even when no role has limits."""
    delete_path_may_contain_slash: bool
    """Whether DELETE /quota/a/b names the role a/b."""
    knows_update_quota: bool
    """Whether a tool may count on the v1 call UPDATE_QUOTA."""
    master_capabilities: tuple[str, ...]
    """What the master says of itself in /state."""
    agent_capabilities: tuple[str, ...]
    """What an agent of the same version registers with."""


MESOS_1_4 = Profile(
    name="1.4",
    version="1.4.0",
    default_role_may_have_quota=False,
    quota_sets_limits=False,
    reservations_consume_quota=False,
    capacity_includes_static_reservations=False,
    capacity_includes_inactive_agents=False,
    guarantee_shows_role=True,
    configs_always_shown=False,
    delete_path_may_contain_slash=False,
    knows_update_quota=False,
    master_capabilities=(),
    agent_capabilities=("MULTI_ROLE", "HIERARCHICAL_ROLE", "RESERVATION_REFINEMENT"),
)

MESOS_1_11 = Profile(
    name="1.11",
    version="1.11.0",
    default_role_may_have_quota=True,
    quota_sets_limits=True,
    reservations_consume_quota=True,
    capacity_includes_static_reservations=True,
    capacity_includes_inactive_agents=True,
    guarantee_shows_role=False,
    configs_always_shown=True,
    delete_path_may_contain_slash=True,
    knows_update_quota=True,
    master_capabilities=("AGENT_UPDATE", "AGENT_DRAINING", "QUOTA_V2"),
    agent_capabilities=(
        "MULTI_ROLE",
        "HIERARCHICAL_ROLE",
        "RESERVATION_REFINEMENT",
        "RESOURCE_PROVIDER",
        "RESIZE_VOLUME",
        "AGENT_OPERATION_FEEDBACK",
        "AGENT_DRAINING",
        "TASK_RESOURCE_LIMITS",
    ),
)

PROFILES = {profile.name: profile for profile in (MESOS_1_4, MESOS_1_11)}

# UPDATE_QUOTA, limits and the newer capacity rule arrived together.
_FIRST_WITH_LIMITS = (1, 9)


def profile_of(version: str) -> Profile:
    """The profile of a master that calls itself `version` ("1.11.0"); unreadable ones count as new."""
    match = re.match(r"(\d{1,9})\.(\d{1,9})", version)  # no number of a version is longer
    if match is not None and (int(match[1]), int(match[2])) < _FIRST_WITH_LIMITS:
        return MESOS_1_4
    return MESOS_1_11
