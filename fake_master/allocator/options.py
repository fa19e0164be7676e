"""Options of an allocator, by the names of the master's flags."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from random import Random
from typing import Any, Literal

from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.mesos.rules import version_profile as profile

SorterName = Literal["drf", "random"]
Shuffle = Callable[[list[Any]], None]


def keep_order(_items: list[Any]) -> None:
    """Shuffle nothing: agents in the order of registration, entries in their own."""


@dataclass(frozen=True, slots=True)
class Options:
    """Flags, and the three dependencies on the outside: the shuffle, random numbers and the stopwatch."""

    allocation_interval: float = 1.0
    min_allocatable_resources: tuple[Quantities, ...] = profile.minimum({})
    filter_gpu_resources: bool = profile.filters_gpus({})
    fair_sharing_excluded_resource_names: frozenset[str] = frozenset()
    role_sorter: SorterName = "drf"
    framework_sorter: SorterName = "drf"
    allocator_agent_recovery_factor: float = profile.recovery_factor({})
    allocator_recovery_timeout: float = profile.recovery_seconds({})
    region: str | None = None
    """Region of the master's own fault domain."""
    lendable_names: frozenset[str] = profile.lendable_names({})
    """The names of idle reserved resources that an allocator lends, if it lends at all."""
    reservations_consume_quota: bool = True
    """Depends on the master's version, as do the next; see `mesosctl.mesos.rules.version_profile`."""
    quota_takes_whole_agents: bool = False
    guarantee_is_limit: bool = False
    agents_keep_headroom_whole: bool = False
    subroles_consume_quota: bool = True
    stages_share_an_order: bool = False
    framework_leaves_nothing: bool = True
    guarantees_have_own_sorter: bool = False
    framework_shares_are_of_role: bool = False
    revive_ends_all_filters: bool = False
    resubscribing_ends_filters: bool = True
    longest_refusal: float = profile.A_YEAR
    filters_outlive_agents: bool = False
    random_order_keeps_subtrees_together: bool = False
    inner_weights_stay: bool = True
    shuffle: Shuffle = keep_order
    """Called with the agents of a run twice, and with the entries of a shrink whose names repeat."""
    random: Random = field(default_factory=lambda: Random(0))  # noqa: S311  # no secrets here
    """Source of the random sorter's draws."""
    perf_counter: Callable[[], float] = time.perf_counter
    """Seconds, for the metric allocation_run_ms alone; no decision hangs on it."""


def facts_of(release: profile.Profile) -> dict[str, Any]:
    """The options that depend on the master's version alone: those that its profile has under the same names."""
    return {option.name: getattr(release, option.name) for option in fields(Options) if option.name in release._fields}
