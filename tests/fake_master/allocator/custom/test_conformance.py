"""The public conformance suite holds for the allocators here, and finds what breaks the interface."""

from collections.abc import Callable

import pytest

from fake_master.allocator.conformance import MakeAllocator, Violation, check
from fake_master.allocator.hierarchical.allocator import HierarchicalAllocator
from fake_master.allocator.interface import Callbacks, OfferCallback
from fake_master.allocator.options import Options
from fake_master.extensions.lending.allocator import LendingAllocator
from fake_master.extensions.strict_priority.allocator import StrictPriorityAllocator
from mesosctl.model.quantities import Quota
from mesosctl.model.resources import Resources
from mesosctl.model.roles import Priorities

ALLOCATORS: dict[str, MakeAllocator] = {
    "hierarchical": lambda on_offers: HierarchicalAllocator(Options(), Callbacks(on_offers), 0.0),
    "random": lambda on_offers: HierarchicalAllocator(Options(role_sorter="random"), Callbacks(on_offers), 0.0),
    "strict priority": lambda on_offers: StrictPriorityAllocator(
        Options(), Callbacks(on_offers), 0.0, priorities=Priorities.parse("a=2")
    ),
    "lending": lambda on_offers: LendingAllocator(
        Options(), Callbacks(on_offers), 0.0, on_rescind=lambda _framework, _by_agent: None
    ),
}


@pytest.mark.parametrize("name", ALLOCATORS)
def test_the_allocators_conform(name: str) -> None:
    check(ALLOCATORS[name])


class Faulty(HierarchicalAllocator):
    def __init__(self, on_offers: OfferCallback) -> None:
        super().__init__(Options(), Callbacks(on_offers), 0.0)


class ForgetsRefusals(Faulty):
    def recover_resources(
        self,
        framework: str,
        agent: str,
        resources: Resources,
        refuse_seconds: float | None = None,  # the fault
        *,
        is_allocated: bool = False,
    ) -> None:
        super().recover_resources(framework, agent, resources, is_allocated=is_allocated)


class IgnoresQuota(Faulty):
    def update_quota(self, role: str, quota: Quota) -> None:
        """The fault."""


class IgnoresDeactivation(Faulty):
    def deactivate_agent(self, agent: str) -> None:
        if agent == "?":
            super().deactivate_agent(agent)


class SwallowsErrors(Faulty):
    def remove_agent(self, agent: str) -> None:
        if agent != "?":
            super().remove_agent(agent)


class NeverRuns(Faulty):
    def advance_to(self, now: float) -> None:
        """The fault."""


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (ForgetsRefusals, "refusal"),
        (IgnoresQuota, "limit"),
        (IgnoresDeactivation, "deactivated"),
        (SwallowsErrors, "KeyError"),
        (NeverRuns, "eventually"),
    ],
)
def test_a_fault_is_found(make: Callable[[OfferCallback], Faulty], says: str) -> None:
    with pytest.raises(Violation, match=says):
        check(make)
