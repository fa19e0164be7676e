"""The rules of a master that lends: which resources count as revocable.  Its allocator and its agents are beside it.

`make_rules` and `make_runtime` choose between these and the rules of Mesos by the flags.
"""

from collections.abc import Iterable

from fake_master.allocator.interface import Allocator
from fake_master.services.task_runner import TaskRunner
from fake_master.state.extension_points import AgentRuntime, RevocabilityRules
from fake_master.state.flags import MasterFlags
from fake_master.state.frameworks import KnownFramework
from fake_master.state.master_state import MasterState
from mesosctl.mesos.amounts.resource import Resource, Revocability
from mesosctl.mesos.amounts.resources import Resources


def make_rules(flags: MasterFlags) -> RevocabilityRules:
    """Return the rules of revocable resources that the flags ask for."""
    return LendingRules() if flags.oversubscribe_reservations else RevocabilityRules()


def make_runtime(state: MasterState, allocator: Allocator, task_runner: TaskRunner) -> AgentRuntime:
    """Return how agents run tasks on a master with this allocator."""
    if not state.flags.oversubscribe_reservations:
        return AgentRuntime()
    from fake_master.extensions.lending.allocator import LendingAllocator  # imported late: few masters lend
    from fake_master.extensions.lending.revocable_tasks import RevocableTasks

    assert isinstance(allocator, LendingAllocator), "a master that lends has an allocator that does"
    return RevocableTasks(state, allocator, task_runner)


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

    def counted_offers(self, framework: KnownFramework) -> Iterable[Resource]:
        """See `RevocabilityRules.counted_offers`."""
        return (entry for offer in framework.offers.values() if offer.kind == "regular" for entry in offer.resources)

    def is_slack_of_use(self, entry: Resource) -> bool:
        """See `RevocabilityRules.is_slack_of_use`."""
        return entry.throttleable
