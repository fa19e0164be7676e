"""The allocator that a master's flags ask for."""

from typing import TYPE_CHECKING

from fake_master.allocator.hierarchical.allocator import HierarchicalAllocator
from fake_master.allocator.interface import Allocator
from fake_master.allocator.options import Options
from fake_master.extensions.strict_priority import StrictPriorityAllocator
from fake_master.state.flags import MasterFlags
from mesosctl.model import profile as profile_model
from mesosctl.model.profile import Profile
from mesosctl.model.text import parse_duration

if TYPE_CHECKING:
    from fake_master.extensions.lending_allocator import LendingAllocator
    from fake_master.master import Master


def make(master: "Master") -> Allocator:
    """A new one, which knows nothing yet; its decisions become the master's deeds."""
    flags = master.flags
    options = _options(flags, master.profile)
    if not flags.has_strict_priority:
        return HierarchicalAllocator(options, master.offers.make, master.inverse_offers.make, now=master.now)
    preemption = flags.revocation_grace_seconds is not None
    return StrictPriorityAllocator(
        options,
        master.offers.make,
        master.inverse_offers.make,
        now=master.now,
        priorities=flags.priorities,
        holdings=master.revoking.holdings,
        on_revoke=master.revoking.revoke if preemption else None,
    )


def make_lending(master: "Master") -> "LendingAllocator | None":
    """The allocator of a master that lends idle reservations; None for one that does not."""
    if not master.lends:
        return None
    # Late: hardly any master does.
    from fake_master.extensions.lending_allocator import LendingAllocator

    options = _options(master.flags, master.profile)
    offers = master.offers
    return LendingAllocator(options, offers.make, offers.lent_no_longer, master.inverse_offers.make, now=master.now)


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
        reservations_consume_quota=profile.reservations_consume_quota,
        lendable_names=flags.lendable_names,
    )
