"""The allocators of this project by their names in `--allocator`, and how the flags make one.

To add one, write a class that implements `fake_master.allocator.interface.Allocator`, add it to `_MAKERS`, and add its
name to `BUNDLED_ALLOCATORS` in `fake_master/state/flags.py`, which checks the flags.  `mesosctl/snapshot/work.py`
notes what a snapshot does not show of an allocator.
"""

from collections.abc import Callable, Mapping

from fake_master.allocator.hierarchical.allocator import HierarchicalAllocator
from fake_master.allocator.interface import Allocator, Callbacks
from fake_master.allocator.options import Options, facts_of
from fake_master.extensions.strict_priority.allocator import StrictPriorityAllocator
from fake_master.state.flags import MasterFlags
from fake_master.state.master_state import MasterState
from mesosctl.mesos.amounts.notation import parse_duration
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.rules import version_profile as profile_model
from mesosctl.mesos.rules.version_profile import STRICT_PRIORITY_ALLOCATOR, Profile

RescindLent = Callable[[str, Mapping[str, Resources]], None]
"""(framework id, resources by agent id): what is no longer lent to a framework."""

Maker = Callable[[Options, MasterState, Callbacks, RescindLent], Allocator]


def make_allocator(state: MasterState, master: Callbacks, lent_no_longer: RescindLent) -> Allocator:
    """Return a new allocator, which knows nothing yet.  Raises BadInput for a custom one that cannot be used."""
    flags, options = state.flags, _options(state.flags, state.profile)
    if flags.custom_allocator is not None:
        from fake_master.extensions.guarded_allocator import guarded  # imported late: few masters have one

        return guarded(flags.custom_allocator, options, master, state)
    return _MAKERS[flags.shown["allocator"]](options, state, master, lent_no_longer)


def _hierarchical(
    options: Options, state: MasterState, master: Callbacks, lent_no_longer: RescindLent
) -> HierarchicalAllocator:
    if state.flags.oversubscribe_reservations:
        from fake_master.extensions.lending.allocator import LendingAllocator  # imported late: few masters lend

        return LendingAllocator(options, master, state.now, on_rescind=lent_no_longer)
    return HierarchicalAllocator(options, master, state.now)


def _strict_priority(
    options: Options, state: MasterState, master: Callbacks, _lent_no_longer: RescindLent
) -> StrictPriorityAllocator:
    return StrictPriorityAllocator(
        options,
        master,
        state.now,
        priorities=state.flags.priorities,
        preempts=state.flags.revocation_grace_seconds is not None,
    )


_MAKERS: Mapping[str, Maker] = {
    "hierarchical": _hierarchical,
    "HierarchicalDRF": _hierarchical,  # the real master's second name for it
    STRICT_PRIORITY_ALLOCATOR: _strict_priority,
}


def _options(flags: MasterFlags, profile: Profile) -> Options:
    shown = flags.shown
    return Options(
        allocation_interval=parse_duration(shown["allocation_interval"]),
        min_allocatable_resources=profile_model.minimum(shown),
        filter_gpu_resources=profile_model.filters_gpus(shown),
        role_sorter="random" if shown["role_sorter"] == "random" else "drf",
        framework_sorter="random" if shown["framework_sorter"] == "random" else "drf",
        allocator_agent_recovery_factor=profile_model.recovery_factor(shown),
        allocator_recovery_timeout=profile_model.recovery_seconds(shown),
        fair_sharing_excluded_resource_names=frozenset(
            filter(None, shown.get("fair_sharing_excluded_resource_names", "").split(","))
        ),
        region=flags.region,
        lendable_names=flags.lendable_names,
        **facts_of(profile),
    )
