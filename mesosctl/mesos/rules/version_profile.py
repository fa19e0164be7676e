"""The differences between the master of the documents (about 1.4) and the last release, 1.11.

The differences are data, chosen once by a master's version (Mesos documentation, "Quota", of 1.4 and of 1.11); all
other code uses the profile, never the version.
"""

import json
import re
from collections.abc import Mapping
from typing import NamedTuple

from mesosctl.mesos.amounts.quantities import Quantities


class Profile(NamedTuple):
    """The behaviour of one master, as far as masters differ."""

    name: str
    version: str
    default_role_may_have_quota: bool
    """Whether "*" may be given a quota."""
    quota_sets_limits: bool
    """Whether a v0 quota is also an upper bound."""
    reservations_consume_quota: bool
    """Whether reservations of a role count towards its quota."""
    quota_takes_whole_agents: bool
    """Whether guarantees are met with whole agents, and what they lack is kept back from the rest of the cluster."""
    capacity_includes_static_reservations: bool
    """Whether the capacity heuristic counts static reservations."""
    capacity_includes_inactive_agents: bool
    """Whether the capacity heuristic counts registered agents that are disconnected or deactivated."""
    guarantee_shows_role: bool
    """Whether GET /quota writes `"role": "*"` into each guarantee."""
    configs_always_shown: bool
    """Whether GET /quota writes `configs` even when no role has limits."""
    delete_path_may_contain_slash: bool
    """Whether DELETE /quota/a/b names the role a/b."""
    knows_update_quota: bool
    """Whether the master supports the v1 call UPDATE_QUOTA."""
    whitelist_shows_roles_above: bool
    """Whether /roles also shows the roles above those of `--roles`."""
    sends_whole_checkpoint: bool
    """Whether a master sends an agent every checkpointed resource with each operation, not the operation alone."""
    master_capabilities: tuple[str, ...]
    """The capabilities that the master shows in /state."""
    agent_capabilities: tuple[str, ...]
    """The capabilities with which an agent of the same version registers."""


MESOS_1_4 = Profile(
    name="1.4",
    version="1.4.0",
    default_role_may_have_quota=False,
    quota_sets_limits=False,
    reservations_consume_quota=False,
    quota_takes_whole_agents=True,
    capacity_includes_static_reservations=False,
    capacity_includes_inactive_agents=False,
    guarantee_shows_role=True,
    configs_always_shown=False,
    delete_path_may_contain_slash=False,
    knows_update_quota=False,
    whitelist_shows_roles_above=False,
    sends_whole_checkpoint=True,
    master_capabilities=(),
    agent_capabilities=("MULTI_ROLE", "HIERARCHICAL_ROLE", "RESERVATION_REFINEMENT"),
)

MESOS_1_11 = Profile(
    name="1.11",
    version="1.11.0",
    default_role_may_have_quota=True,
    quota_sets_limits=True,
    reservations_consume_quota=True,
    quota_takes_whole_agents=False,
    capacity_includes_static_reservations=True,
    capacity_includes_inactive_agents=True,
    guarantee_shows_role=False,
    configs_always_shown=True,
    delete_path_may_contain_slash=True,
    knows_update_quota=True,
    whitelist_shows_roles_above=True,
    sends_whole_checkpoint=False,
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
_OLDEST = (1, 4)
_VERSION = re.compile(r"([0-9]{1,9})\.([0-9]{1,9})(?![0-9])")  # longer numbers are not versions


def profile_of(version: str) -> Profile:
    """The profile of a master of this version ("1.11.0"); an invalid version counts as new."""
    release = _release(version)
    return MESOS_1_4 if release is not None and release < _FIRST_WITH_LIMITS else MESOS_1_11


def is_too_old(version: str) -> bool:
    """Whether a master is older than those of the design documents: its answers have other shapes."""
    release = _release(version)
    return release is not None and release < _OLDEST


def is_version(text: str) -> bool:
    """Whether `profile_of` can read a version; of one that it cannot, the rules are only assumed."""
    return _release(text) is not None


def _release(version: str) -> tuple[int, int] | None:
    """The first two numbers of a version; None if it has none."""
    match = _VERSION.match(version)
    return None if match is None else (int(match[1]), int(match[2]))


DEFAULTS: Mapping[str, str] = {
    "allocator_agent_recovery_factor": "0.8",
    "allocator_recovery_timeout": "10mins",
    "filter_gpu_resources": "true",
    "min_allocatable_resources": "cpus:0.01|mem:32",
    "offer_constraints_re2_max_mem": "4KB",
    "offer_constraints_re2_max_program_size": "100",
}
STRICT_PRIORITY_ALLOCATOR = "strict-priority"
"""The name of the allocator that shares by strict priority (an extension; no release of Mesos has it)."""
LENDS = "oversubscribe_reservations"
LENDABLE_NAMES = "cpus,mem"
"""The flag for lending idle reservations, and the default of --lendable_names; no Mesos has them."""


def flag_value(flags: Mapping[str, str], name: str) -> str:
    """A flag of `DEFAULTS`, as given or by default."""
    return flags.get(name, DEFAULTS[name])


def minimum(flags: Mapping[str, str]) -> tuple[Quantities, ...]:
    """The alternatives of --min_allocatable_resources.  Raises ValueError."""
    from mesosctl.mesos.rules.offers.frameworks import parse_minimum  # late: few commands need offers

    return parse_minimum(flag_value(flags, "min_allocatable_resources"))


def recovery_factor(flags: Mapping[str, str]) -> float:
    """The fraction of the agents that recovery waits for.  Raises ValueError."""
    return float(flag_value(flags, "allocator_agent_recovery_factor"))


def recovery_seconds(flags: Mapping[str, str]) -> float:
    """The longest time that it waits. Raises ValueError."""
    from mesosctl.mesos.amounts.notation import parse_duration  # late, as above

    return parse_duration(flag_value(flags, "allocator_recovery_timeout"))


def filters_gpus(flags: Mapping[str, str]) -> bool:
    """Whether agents with GPUs are kept for frameworks with GPU_RESOURCES."""
    return flag_value(flags, "filter_gpu_resources") == "true"


def lendable_names(flags: Mapping[str, str]) -> frozenset[str]:
    """Return the names of the resources that are lent from idle reservations.  Raises ValueError."""
    return parse_names(flags.get("lendable_names", LENDABLE_NAMES))


def parse_names(text: str) -> frozenset[str]:
    """`NAME,NAME…`.  Raises ValueError for one that is empty."""
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise ValueError(f"'{text}' is not NAME,NAME…")
    return frozenset(names)


def region(flags: Mapping[str, str]) -> str | None:
    """The region in --domain; None if there is none, or if the flag names a file."""
    try:
        return str(json.loads(flags["domain"])["fault_domain"]["region"]["name"])
    except (KeyError, TypeError, ValueError):
        return None


TERMINAL_STATES = frozenset(
    {
        "TASK_FINISHED",
        "TASK_FAILED",
        "TASK_KILLED",
        "TASK_ERROR",
        "TASK_LOST",
        "TASK_DROPPED",
        "TASK_GONE",
        "TASK_GONE_BY_OPERATOR",
    }
)
