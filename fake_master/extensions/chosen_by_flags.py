"""The allocator, the agents' runtime and the rules that a master's flags ask for: Mesos's, or an extension's."""

from collections.abc import Callable, Iterable, Mapping

from fake_master.allocator.hierarchical.allocator import HierarchicalAllocator
from fake_master.allocator.interface import Allocator, Callbacks
from fake_master.allocator.options import Options
from fake_master.extensions.strict_priority import StrictPriorityAllocator
from fake_master.services.task_runner import TaskRunner
from fake_master.state.extension_points import AgentRuntime, RevocabilityRules
from fake_master.state.flags import MasterFlags
from fake_master.state.frameworks import Framework
from fake_master.state.master_state import MasterState
from mesosctl.model import version_profile as profile_model
from mesosctl.model.resource import Resource, Revocability
from mesosctl.model.resources import Resources
from mesosctl.model.text import parse_duration
from mesosctl.model.version_profile import Profile

RescindLent = Callable[[str, Mapping[str, Resources]], None]
"""(framework id, resources by agent id): what is lent to a framework no longer."""


def make_rules(flags: MasterFlags) -> RevocabilityRules:
    """Return the rules of revocable resources that the flags ask for."""
    return LendingRules() if flags.oversubscribe_reservations else RevocabilityRules()


def make_allocator(state: MasterState, master: Callbacks, lent_no_longer: RescindLent) -> Allocator:
    """Return a new allocator, which knows nothing yet.  Raises BadInput for a custom one that cannot be used."""
    flags, options = state.flags, _options(state.flags, state.profile)
    offer, inverse = master.offers, master.inverse_offers
    if flags.oversubscribe_reservations:
        from fake_master.extensions.lending_allocator import LendingAllocator  # late: hardly any master lends

        return LendingAllocator(options, offer, lent_no_longer, inverse, now=state.now)
    if flags.custom_allocator is not None:
        from fake_master.extensions.guarded_allocator import guarded  # late: hardly any master has one

        return guarded(flags.custom_allocator, options, master, state)
    if not flags.has_strict_priority:
        return HierarchicalAllocator(options, offer, inverse, now=state.now)
    preemption = flags.revocation_grace_seconds is not None
    return StrictPriorityAllocator(
        options,
        offer,
        inverse,
        now=state.now,
        priorities=flags.priorities,
        holdings=master.holdings,
        on_revoke=master.revoke if preemption else None,
    )


def make_runtime(state: MasterState, allocator: Allocator, task_runner: TaskRunner) -> AgentRuntime:
    """Return how agents run tasks on a master with this allocator."""
    if not state.flags.oversubscribe_reservations:
        return AgentRuntime()
    from fake_master.extensions.lending_allocator import LendingAllocator  # late: hardly any master lends
    from fake_master.extensions.revocable_tasks import RevocableTasks

    assert isinstance(allocator, LendingAllocator), "a master that lends has an allocator that does"
    return RevocableTasks(state, allocator, task_runner)


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
        quota_takes_whole_agents=profile.quota_takes_whole_agents,
        lendable_names=flags.lendable_names,
    )


class LendingRules(RevocabilityRules):
    """The rules with lending: lent resources and slack of use are offered apart, and no quota counts them."""

    throttles = True
    counts_revocable = False

    def kinds(self, resources: Resources) -> Iterable[tuple[Revocability, Resources]]:
        """See `RevocabilityRules.kinds`."""
        return resources.by_revocability().items()

    def kind_of(self, offered: Resources) -> Revocability | None:
        """See `RevocabilityRules.kind_of`."""
        kind = offered.revocability
        return None if kind == "mixed" else kind

    def counted_offers(self, framework: Framework) -> Iterable[Resource]:
        """See `RevocabilityRules.counted_offers`."""
        return (entry for offer in framework.offers.values() if offer.kind == "regular" for entry in offer.resources)

    def is_slack_of_use(self, entry: Resource) -> bool:
        """See `RevocabilityRules.is_slack_of_use`."""
        return entry.throttleable
