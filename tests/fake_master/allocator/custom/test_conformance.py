"""The public conformance suite holds for the allocators here, and finds what breaks the interface."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from fake_master.allocator.conformance import MakeAllocator, Violation, check
from fake_master.allocator.hierarchical.allocator import HierarchicalAllocator
from fake_master.allocator.interface import Callbacks, OfferCallback, OffersByRole
from fake_master.allocator.options import Options
from fake_master.extensions.lending.allocator import LendingAllocator
from fake_master.extensions.strict_priority.allocator import StrictPriorityAllocator
from mesosctl.mesos.amounts.quantities import Quota
from mesosctl.mesos.amounts.resource import Reservation
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.roles import Priorities
from tests.helpers.reserving import push

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


@pytest.mark.parametrize("method", ["remove_agent", "deactivate_agent", "remove_framework", "suppress", "revive"])
@pytest.mark.parametrize(
    ("raises", "says"), [(None, "with an unknown id must raise KeyError$"), (OSError, "not OSError")]
)
def test_an_unknown_id_is_an_error(method: str, raises: type[Exception] | None, says: str) -> None:
    def strange(allocator: HierarchicalAllocator, name: str, *words: object) -> None:
        if name != "?":
            getattr(HierarchicalAllocator, method)(allocator, name, *words)
        elif raises is not None:
            raise raises

    broken = type("Broken", (Faulty,), {method: strange})
    with pytest.raises(Violation, match=f"^{method} .*{says}"):
        check(broken)


@pytest.mark.parametrize("unknown", ["framework", "agent"])
def test_what_comes_back_late_is_no_error(unknown: str) -> None:
    class MissesIt(Faulty):
        def recover_resources(self, framework: str, agent: str, *words: Any, **options: Any) -> None:
            if {"framework": framework, "agent": agent}[unknown] == "?":
                raise KeyError
            super().recover_resources(framework, agent, *words, **options)

    with pytest.raises(Violation, match=r"^misuse: KeyError"):
        check(MissesIt)


def test_what_is_not_held_cannot_come_back() -> None:
    class TakesIt(Faulty):
        def recover_resources(self, *words: Any, **options: Any) -> None:
            with suppress(ValueError):
                super().recover_resources(*words, **options)

    with pytest.raises(Violation, match=r"not held must raise ValueError$"):
        check(TakesIt)


def each(change: Callable[[str, str, Resources], tuple[str, str, Resources]]) -> Callable[[OffersByRole], OffersByRole]:
    """A change of offers: `change` gets the role, the agent and the resources of each, and returns others."""

    def change_all(by_role: OffersByRole) -> OffersByRole:
        changed: OffersByRole = {}
        for role, by_agent in by_role.items():
            for agent, offered in by_agent.items():
                other_role, other_agent, other = change(role, agent, offered)
                changed.setdefault(other_role, {})[other_agent] = other
        return changed

    return change_all


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (each(lambda role, agent, _: (role, agent, Resources())), "empty"),
        (each(lambda role, agent, offered: (role, agent, offered + offered)), "more than the agent has"),
        (each(lambda role, agent, offered: (role, agent, offered.allocated_to(None))), "as allocation role"),
        (each(lambda _, agent, offered: ("other", agent, offered.allocated_to("other"))), "not subscribed"),
        (each(lambda role, _, offered: (role, "other", offered)), "an offer of other, which is not known"),
        (
            each(lambda role, agent, offered: (role, agent, push(offered, Reservation("DYNAMIC", "other")))),
            "reserved for other roles",
        ),
    ],
)
def test_a_wrong_offer_is_named(change: Callable[[OffersByRole], OffersByRole], says: str) -> None:
    def make(on_offers: OfferCallback) -> HierarchicalAllocator:
        def on_changed(framework: str, by_role: OffersByRole) -> None:
            on_offers(framework, by_role if framework == "F" else change(by_role))  # that one is always alone

        return HierarchicalAllocator(Options(), Callbacks(on_changed), 0.0)

    with pytest.raises(Violation, match=says):
        check(make)


def test_what_is_raised_in_a_history_is_named_with_its_event() -> None:
    class RaisesLater(Faulty):
        def suppress(self, framework: str, roles: Any = None) -> None:
            if framework == "?":
                raise KeyError
            raise RuntimeError("not now")

    with pytest.raises(Violation, match=r"^history \d+, event \d+: suppress_or_revive: RuntimeError: not now"):
        check(RaisesLater)
