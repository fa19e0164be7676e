"""A trial says what the next run would decide of each agent for a client that is alone, and changes nothing."""

from collections.abc import Collection, Mapping
from typing import Any

import pytest

from fake_master.allocator.hierarchical.allocator import HierarchicalAllocator
from fake_master.allocator.hierarchical.stages.run import Rejection
from fake_master.allocator.hierarchical.stages.trial_run import Decision, Trial, try_offers
from fake_master.allocator.interface import AgentInfo, Callbacks, FrameworkInfo, OffersByRole
from fake_master.allocator.options import Options
from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota
from mesosctl.mesos.amounts.resources import Resources
from tests.fake_master.allocator.words import expand

INTERVAL = 1.0
WEB = Quantities({"cpus": 1000})


class Market:
    """An allocator, and what it has offered to each framework."""

    def __init__(self, agents: Mapping[str, str], *, whole: bool = False, **quotas: Quota) -> None:
        self.offers: dict[str, OffersByRole] = {}
        self.allocator = HierarchicalAllocator(
            Options(
                min_allocatable_resources=(Quantities({"cpus": 10}), Quantities({"mem": 32000})),
                quota_takes_whole_agents=whole,
            ),
            Callbacks(self.offers.__setitem__),
            0.0,
        )
        for role, quota in quotas.items():
            self.allocator.update_quota(role, quota)
        for name, text in agents.items():
            self.allocator.add_agent(AgentInfo(name), expand(text))

    def join(self, name: str, role: str, *, active: bool = True, suppressed: Collection[str] = ()) -> None:
        self.allocator.add_framework(FrameworkInfo(name, frozenset({role})), active=active, suppressed=suppressed)

    def decide(self, framework: str, role: str) -> Mapping[str, Decision]:
        return self.trial(framework, role).decisions

    def offered(self, framework: str, role: str) -> dict[str, Resources]:
        return {agent: decision.offered for agent, decision in self.decide(framework, role).items()}

    def trial(self, framework: str, role: str) -> Trial:
        (trial,) = self.trials((framework, role))
        return trial

    def trials(self, *subjects: tuple[str, str]) -> list[Trial]:
        return list(try_offers(self.allocator.state, subjects))

    def run(self) -> dict[str, OffersByRole]:
        self.offers.clear()
        self.allocator.advance_to((self.allocator.next_deadline() or 0.0) + INTERVAL)
        return self.offers


def cpus(amount: int, **more: int) -> Quota:
    return Quota(Quantities({"cpus": amount * 1000, **more}), Limits())


def test_agrees_with_the_next_run_and_changes_nothing() -> None:
    market = Market({"A": "4/2048", "B": "cpus(other):2;cpus:1;mem:64"})
    market.join("F", "ads")
    tried = market.offered("F", "ads")
    offered = market.run()["F"]["ads"]
    assert tried == {agent: resources.allocated_to(None) for agent, resources in offered.items()}


def test_each_is_tried_as_if_it_were_alone() -> None:
    """A run gives the first framework everything; each would be offered all of it if the others did not ask."""
    market = Market({"A": "4/2048"}, ads=Quota(Quantities(), Limits({"cpus": 4000})))
    market.join("F", "ads")
    market.join("G", "web")
    trials = market.trials(("F", "ads"), ("G", "web"), ("F", "ads"))
    assert [trial.decisions["A"].offered for trial in trials] == [expand("4/2048")] * 3


def test_what_is_offered_of_one_agent_is_not_offered_of_the_next() -> None:
    """Both agents could each give 2 cpus beside the guarantee and within the limit, but not at the same time."""
    of_guarantee = Market({"A": "12/6144", "B": "8/4096"}, web=cpus(18, mem=4096000))
    of_limit = Market({"A": "12/6144", "B": "8/4096"}, ads=Quota(Quantities(), Limits({"cpus": 2000, "mem": 6144000})))
    for market in (of_guarantee, of_limit):
        market.join("F", "ads")
        tried = market.offered("F", "ads")
        assert tried == {"A": expand("2/6144"), "B": Resources()}
        assert market.run() == {"F": {"ads": {"A": expand("2/6144").allocated_to("ads")}}}


def test_the_second_stage_adds_to_what_the_first_offered() -> None:
    """The first stage meets the guarantee with regular resources, and slack of use comes in the second."""
    market = Market({"A": "4/2048;cpus{REV}:2", "B": "4/2048"}, whole=True, ads=cpus(2), web=cpus(4))
    market.allocator.add_framework(
        FrameworkInfo("F", frozenset({"ads"}), capabilities=frozenset({"REVOCABLE_RESOURCES"}))
    )
    tried = market.offered("F", "ads")
    assert tried == {"A": expand("4/2048;cpus{REV}:2"), "B": Resources()}
    assert market.run() == {"F": {"ads": {"A": tried["A"].allocated_to("ads")}}}


def test_what_counts_towards_a_guarantee_above_its_role_frees_as_much_in_the_next_run() -> None:
    """A role below one with quota is not served in the first stage."""
    market = Market({"A": "cpus:1", "B": "cpus:2"}, db=cpus(2))
    market.join("F", "db/x")
    assert market.offered("F", "db/x") == {"A": expand("cpus:1"), "B": expand("cpus:2")}
    assert market.offered("F", "db/x") == {"A": expand("cpus:1"), "B": expand("cpus:2")}, "and it was undone"


def test_only_the_subject_is_decided_about_and_all_take_part_again_afterwards() -> None:
    market = Market({"A": "4/2048", "B": "4/2048"}, web=cpus(4))
    market.join("F", "ads")
    market.join("G", "web")
    assert set(market.decide("F", "ads")) == {"A", "B"}
    assert sorted(market.run()) == ["F", "G"]


@pytest.mark.parametrize("more", [{"active": False}, {"suppressed": ("ads",)}])
def test_whether_the_subject_wants_offers_now_is_left_out_of_account(more: dict[str, Any]) -> None:
    market = Market({"A": "4/2048"})
    market.join("F", "ads", **more)
    assert market.decide("F", "ads")["A"].offered == expand("4/2048")
    assert market.run() == {}, "and afterwards it is as it was"


def test_a_filter_is_the_reason_until_it_ends() -> None:
    market = Market({"A": "4/2048"})
    market.join("F", "ads")
    offered = market.run()["F"]["ads"]["A"]
    market.allocator.recover_resources("F", "A", offered, 5.0)
    assert market.decide("F", "ads")["A"].rejection is Rejection.FILTER
    assert market.run() == {}


def test_an_agent_that_the_constraints_exclude_is_told_of() -> None:
    market = Market({"A": "4/2048", "B": "4/2048"})
    market.allocator.add_framework(
        FrameworkInfo("F", frozenset({"ads"}), excludes={"ads": lambda agent: agent.id == "A"})
    )
    tried = market.decide("F", "ads")
    assert tried["A"].rejection is Rejection.EXCLUDED
    assert market.offered("F", "ads") == {"A": Resources(), "B": expand("4/2048")}


def test_what_guarantees_lack_is_not_offered_to_others() -> None:
    market = Market({"A": "4/2048"}, web=cpus(3))
    market.join("F", "ads")
    trial = market.trial("F", "ads")
    assert trial.lacking == trial.still_lacking == {"web": Quantities({"cpus": 3000})}
    assert trial.decisions["A"].bounds.spare == Quantities(), "after what is offered"
    assert trial.decisions["A"].offered == expand("1/2048")


def test_the_bounds_of_whole_agents_are_told_too() -> None:
    market = Market({"A": "4/2048", "B": "cpus:1;mem:64;cpus{REV}:2"}, whole=True, web=cpus(3))
    market.join("F", "ads")
    tried = market.decide("F", "ads")
    assert tried["A"].bounds.spare == Quantities({"cpus": 1000, "mem": 2048000}), "after B, which fits"
    assert (tried["A"].offered, tried["B"].offered) == (Resources(), expand("cpus:1;mem:64"))


def test_too_little_of_a_limit_is_left() -> None:
    market = Market({"A": "cpus:4"}, ads=Quota(Quantities(), Limits({"cpus": 0})))
    market.join("F", "ads")
    trial = market.trial("F", "ads")
    assert trial.decisions["A"].offered == Resources()
    assert not trial.decisions["A"].refused
    assert trial.limits_left == Limits({"cpus": 0})


def test_a_filter_on_what_a_limit_leaves_is_told() -> None:
    market = Market({"A": "4/2048"}, ads=Quota(Quantities(), Limits({"cpus": 1000})))
    market.join("F", "ads")
    offered = market.run()["F"]["ads"]["A"]
    assert offered.allocated_to(None) == expand("1/2048")
    market.allocator.recover_resources("F", "A", offered, 5.0)
    assert market.decide("F", "ads")["A"].refused


def test_a_guarantee_of_its_own_is_served_first() -> None:
    market = Market({"A": "4/2048"}, ads=cpus(3), web=cpus(1))
    market.join("F", "ads")
    trial = market.trial("F", "ads")
    assert (trial.lacking, trial.still_lacking) == ({"ads": Quantities({"cpus": 3000}), "web": WEB}, {"web": WEB})
    assert trial.decisions["A"].offered.scalar_quantities()["cpus"] == 3000


def test_agents_that_are_out_of_service_are_not_decided_about() -> None:
    market = Market({"A": "4/2048", "B": "1/512"})
    market.join("F", "ads")
    market.allocator.deactivate_agent("A")
    assert set(market.decide("F", "ads")) == {"B"}


def test_alike_agents_each_have_a_decision() -> None:
    """A run looks at only one of many agents that are alike where quota leaves nothing."""
    market = Market({f"A{n}": "cpus:1" for n in range(4)}, web=cpus(9))
    market.join("F", "ads")
    assert market.offered("F", "ads") == {f"A{n}": Resources() for n in range(4)}
