"""Agents that look alike are lent in one go, with the same offers as one by one."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fake_master.allocator.hierarchical.allocator import HierarchicalAllocator
from fake_master.allocator.interface import AgentInfo, Callbacks, FrameworkInfo
from fake_master.allocator.options import Options
from fake_master.extensions.lending import batch as lending_batch
from fake_master.extensions.lending.allocator import LendingAllocator
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.mesos.amounts.resources import Resources
from tests.benchmarks.lending import Case, Market
from tests.helpers.profiles import examples

AGENTS = ("cpus(o):4;mem(o):4096", "cpus:1;mem:512;cpus(o):4;mem(o):4096", "cpus(a):2;cpus(o):2;mem(o):64", "cpus:2")
ROLES = ("a", "b", "c", "o", "b/x")
Offered = list[tuple[str, str, str, dict[str, int]]]

AGENT = st.tuples(st.just("agents"), st.integers(0, 3), st.integers(1, 30))
FRAMEWORK = st.tuples(st.just("framework"), st.integers(0, 4), st.integers(0, 3))
EVENT = st.one_of(
    AGENT,
    FRAMEWORK,
    st.tuples(st.just("answer"), st.integers(0, 5), st.integers(0, 3)),
    st.tuples(st.just("weight"), st.integers(0, 4), st.integers(1, 3)),
    st.tuples(st.just("change"), st.integers(0, 5), st.integers(0, 4)),
    st.tuples(st.just("tick"), st.just(0), st.just(0)),
)


class Run:
    """One allocator that plays events; frameworks have habits that follow from numbers."""

    def __init__(self, sorter: Any = "drf") -> None:
        self.offers: Offered = []
        self.outstanding: list[tuple[str, str, Resources]] = []
        self.names = 0
        self.now = 0.0
        options = Options(role_sorter=sorter, framework_sorter=sorter)
        self.allocator = LendingAllocator(options, Callbacks(self._on_offers), 0.0, on_rescind=self._on_rescind)

    def _on_offers(self, framework: str, by_role: dict[str, dict[str, Resources]]) -> None:
        for role, by_agent in by_role.items():
            for agent, offered in by_agent.items():
                for kind, part in offered.by_revocability().items():
                    self.offers.append((framework, f"{role} {kind}", agent, dict(part.scalar_quantities())))
                    self.outstanding.append((framework, agent, part))

    def _on_rescind(self, framework: str, by_agent: dict[str, Resources]) -> None:
        for agent, taken in by_agent.items():
            self.offers.append((framework, "rescinded", agent, dict(taken.scalar_quantities())))

    def play(self, word: str, one: int, other: int) -> None:
        self.names += 1
        if word == "agents":
            for number in range(other):
                name = f"A{self.names}-{number}"
                self.allocator.add_agent(AgentInfo(name), parse_resources(AGENTS[one]))
        elif word == "framework":
            able = {"MULTI_ROLE"} | ({"REVOCABLE_RESOURCES"} if other else set())
            excludes = {ROLES[one]: lambda agent: agent.id.endswith("3")} if other == 3 else {}
            info = FrameworkInfo(f"F{self.names}", frozenset({ROLES[one]}), frozenset(able), excludes=excludes)
            self.allocator.add_framework(info)
        elif word == "weight":
            self.allocator.update_weights({ROLES[one]: other / 2})
        elif word == "change":
            self._change(sorted(self.allocator.state.frameworks)[one % len(self.allocator.state.frameworks)], other)
        elif word == "answer":
            mine = [offer for index, offer in enumerate(self.outstanding) if index % (one + 1) == 0]
            self.outstanding = [offer for index, offer in enumerate(self.outstanding) if index % (one + 1)]
            for offer in mine:
                self.allocator.recover_resources(*offer, (None, None, 2.0, 1000.0)[other])
        self.now += 1.0
        self.allocator.advance_to(self.now)

    def _change(self, name: str, change: int) -> None:
        """Let a framework change in one of the ways that decide what it may be lent."""
        allocator, info = self.allocator, self.allocator.state.frameworks[name].info
        if change == 0:
            allocator.suppress(name)
        elif change == 1:
            allocator.revive(name)
        elif change == 2:
            allocator.deactivate_framework(name)
        elif change == 3:
            allocator.activate_framework(name)
        else:
            allocator.update_framework(
                replace(info, roles=frozenset({"b", "c"}), capabilities=info.capabilities ^ {"REVOCABLE_RESOURCES"})
            )


def played(events: list[tuple[str, int, int]], sorter: str) -> tuple[Offered, dict[str, Quantities]]:
    run = Run(sorter)
    for event in [("agents", 0, 12), ("framework", 0, 1), ("framework", 1, 1), ("framework", 1, 2), *events]:
        run.play(*event)
    return run.offers, {name: Quantities(one.lent_in_all()) for name, one in run.allocator.lent.agents.items()}


@settings(max_examples=examples(200), deadline=None)
@example([("agents", 1, 30), ("answer", 0, 0), ("tick", 0, 0), ("answer", 1, 1)], "drf")
@example([("framework", 0, 1), ("change", 0, 4), ("agents", 0, 13)], "drf")
@given(st.lists(EVENT, max_size=15), st.sampled_from(["drf", "drf", "random"]))
def test_the_same_offers_as_one_by_one(events: list[tuple[str, int, int]], sorter: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lending_batch, "_MOST_SHORT", 10_000)
        batched = played(events, sorter)
        patch.setattr(lending_batch, "_MOST_SHORT", -1)
        assert played(events, sorter) == batched


@pytest.mark.parametrize("habit", ["pass", "keep"])
def test_the_benchmark_lends_all_that_is_idle(habit: Any) -> None:
    market = Market(Case(6, 2, habit), lends=True)
    assert isinstance(market.allocator, LendingAllocator)
    for _ in range(3):
        market.cycle()
    lent = Quantities.total(Quantities(one.lent_in_all()) for one in market.allocator.lent.agents.values())
    assert lent == Quantities({"cpus": 6 * 12_000, "mem": 6 * 32_768_000})
    without = Market(Case(6, 2, habit), lends=False)
    without.cycle()
    assert type(without.allocator) is HierarchicalAllocator
