"""Revocation, as the document has it: when, and whom; nobody below what is guaranteed.

Source: docs/explanation/documents.md, "Playing Traffic Cop".
"""

from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota
from tests.fake_master.extensions.strict_priority.market import Market, full_of_batch, lost

# --- When -----------------------------------------------------------------------------------------


def test_nobody_is_revoked_whom_nobody_asks_for() -> None:
    market = full_of_batch()
    market.framework("prod")
    market.wait(10.0)
    assert market.revoked == []


def test_only_when_resources_are_not_being_freed_quickly_enough() -> None:
    market = full_of_batch()
    market.ask(market.framework("prod"), "2/512")
    market.wait(0.5)
    assert market.revoked == []
    market.wait(2.0)
    assert lost(market) == [("batch", "A1")] * 2


def test_nothing_is_revoked_where_enough_is_freed_in_time() -> None:
    market = full_of_batch()
    prod = market.framework("prod")
    market.ask(prod, "1/512")
    market.end(market.tasks()[0])
    market.wait(5.0)
    assert market.revoked == []
    (offer,) = market.offers(prod)
    market.launch(offer, "1/512")
    market.wait(5.0)
    assert market.revoked == [], "what it asked for has come"


def test_preemption_is_off_by_default() -> None:
    market = Market("prod=1", preemption=False)
    market.agent("4/4096")
    batch = market.framework("batch")
    market.wait(0.5)
    market.launch(market.offers(batch)[0], "4/4096")
    market.ask(market.framework("prod"), "1/512")
    market.wait(10.0)
    assert market.revoked == []


def test_an_equal_is_not_revoked_for_an_equal() -> None:
    market = full_of_batch("prod=1,batch=1")
    market.ask(market.framework("prod"), "1/512")
    market.wait(10.0)
    assert market.revoked == []


def test_nothing_is_revoked_on_an_agent_that_the_whitelist_leaves_out() -> None:
    for whitelist, revoked in ((set[str](), 0), ({"elsewhere"}, 0), (None, 2)):
        market = full_of_batch()
        market.allocator.update_whitelist(whitelist)
        market.ask(market.framework("prod"), "2/512")
        market.wait(10.0)
        assert len(market.revoked) == revoked, whitelist


# --- Whom -----------------------------------------------------------------------------------------


def test_a_framework_below_its_guaranteed_allocation_is_never_touched() -> None:
    market = full_of_batch()
    market.quota("batch", "8/4096")
    market.ask(market.framework("prod"), "1/512")
    market.wait(10.0)
    assert market.revoked == []


def test_what_is_above_the_guarantee_may_be_revoked_and_no_more() -> None:
    market = full_of_batch()
    market.quota("batch", "6/1024")
    prod = market.framework("prod")
    market.ask(prod, "3/512")
    market.wait(10.0)
    assert market.revoked == []
    market.ask(prod, "2/512")
    market.wait(3.0)
    assert len(market.revoked) == 2


def test_one_that_shares_an_executor_is_safe_where_all_its_tasks_could_not_go() -> None:
    """The executor may have to be killed "and all its tasks"."""
    market = full_of_batch(executor="e")
    market.quota("batch", "5/512")
    market.ask(market.framework("prod"), "1/512")
    market.wait(10.0)
    assert market.revoked == []
    market.quota("batch", "4/512")
    market.ask(next(f for f, role in market.roles.items() if role == "prod"), "1/512")
    market.wait(3.0)
    assert len(market.revoked) == 1


def test_the_lowest_priority_loses_first_and_there_the_newest_task() -> None:
    market = Market("prod=9,mid=5,low=1")
    agent = market.agent("4/4096")
    for role in ("mid", "low", "mid", "low"):
        framework = market.framework(role)
        market.wait(1.0)
        market.launch(market.offers(framework)[0], "1/512")
        market.allocator.suppress(framework)
    market.ask(market.framework("prod"), "3/512")
    market.wait(3.0)
    oldest_first = [thing for thing in market.tasks() if thing.role == "low"]
    assert market.revoked[:2] == oldest_first[::-1]
    assert lost(market) == [("low", agent), ("low", agent), ("mid", agent)]


def test_an_unanswered_offer_goes_before_any_task() -> None:
    market = full_of_batch()
    market.end(market.tasks()[0])
    waiting = market.framework("waiting")
    market.wait(1.0)
    assert len(market.offers(waiting)) == 1
    prod = market.framework("prod")
    market.ask(prod, "1/512")
    market.wait(3.0)
    assert [(thing.role, thing.is_task) for thing in market.revoked] == [("waiting", False)]
    assert len(market.offers(prod)) == 1


def test_own_offers_that_are_too_small_become_part_of_one_that_is_not() -> None:
    market = full_of_batch()
    prod = market.framework("prod")
    market.end(market.tasks()[0])
    market.wait(1.0)
    assert len(market.offers(prod)) == 1
    market.ask(prod, "2/512")
    market.wait(2.5)
    assert [(thing.role, thing.is_task) for thing in market.revoked] == [("prod", False), ("batch", True)]
    market.end(market.revoked[1])
    market.wait(1.0)
    (offer,) = market.offers(prod)
    assert offer.resources.scalar_quantities().get_amount("cpus") == 2000


def test_who_has_an_offer_that_is_enough_need_only_answer() -> None:
    market = full_of_batch()
    prod = market.framework("prod")
    market.end(market.tasks()[0])
    market.wait(1.0)
    market.ask(prod, "1/512")
    market.wait(10.0)
    assert market.revoked == []


def test_where_it_costs_the_fewest_tasks() -> None:
    market = Market("prod=1")
    batch = market.framework("batch")
    for text in ("1/512", "2/512"):
        agent = market.agent("2/4096")
        market.wait(0.5)
        market.launch(next(offer for offer in market.offers(batch) if offer.agent == agent), text, 2)
    market.ask(market.framework("prod"), "2/512")
    market.wait(4.0)
    assert lost(market) == [("batch", agent)]


def test_fewest_tasks_means_those_that_are_needed() -> None:
    """The newest would go first, but what an older one frees makes it superfluous."""
    market = Market("prod=1")
    batch = market.framework("batch")
    for texts in (("2/512", "2/512"), ("3/512", "1/512")):
        agent = market.agent("4/1024")
        for text in texts:
            market.wait(1.0)
            market.launch(next(offer for offer in market.offers(batch) if offer.agent == agent), text)
    market.ask(market.framework("prod"), "3/512")
    market.wait(4.0)
    assert lost(market) == [("batch", agent)]
    assert market.revoked[0].resources.scalar_quantities().get_amount("cpus") == 3000


def test_a_guarantee_holds_over_all_that_is_asked_for_at_once() -> None:
    market = full_of_batch()
    market.quota("batch", "2/1024")
    market.ask(market.framework("prod"), "4/512", "4/512")
    market.wait(3.0)
    assert lost(market) == [("batch", "A1")] * 4


def test_a_guarantee_counts_what_is_still_ending_as_gone() -> None:
    market = full_of_batch()
    market.quota("batch", "2/1024")
    market.ask(market.framework("prod"), "4/512")
    market.wait(2.0)
    market.ask(market.framework("prod/more"), "4/512")
    market.wait(2.0)
    assert market.killed == []
    assert lost(market) == [("batch", "A1")] * 4


def test_what_is_ending_anyway_is_waited_for() -> None:
    """The note on oversubscription calls the opposite over evicting."""
    market = full_of_batch()
    prod = market.framework("prod")
    task = market.tasks()[0]
    market.kill_slowly(task)
    market.ask(prod, "1/512")
    market.wait(10.0)
    assert market.revoked == []
    market.end(task)
    market.wait(1.0)
    assert [offer.framework for offer in market.offers()] == [prod]


def test_what_frees_nothing_that_is_short_is_left_alone() -> None:
    market = Market("prod=1")
    market.agent("4/4096")
    batch = market.framework("batch")
    market.wait(1.0)
    market.launch(market.offers(batch)[0], "mem:4000", 1)
    market.wait(1.0)
    market.launch(market.offers(batch)[0], "4/32", 1)
    market.ask(market.framework("prod"), "2/32")
    market.wait(4.0)
    (task,) = market.revoked
    assert task.resources.scalar_quantities() == Quantities({"cpus": 4000, "mem": 32000})


def test_what_a_limit_forbids_is_not_taken() -> None:
    market = full_of_batch()
    market.allocator.update_quota("prod", Quota(Quantities(), Limits({"cpus": 1500})))
    prod = market.framework("prod")
    market.ask(prod, "2/512")
    market.wait(10.0)
    assert market.revoked == []
    market.ask(prod, "1/512", "1/512")
    market.wait(3.0)
    assert len(market.revoked) == 1


def test_a_guarantee_that_lacks_something_does_not_stand_in_its_own_way() -> None:
    """Neither by the headroom that is kept for it, nor by the small offer that it holds."""
    market = full_of_batch()
    market.quota("prod", "3/1024")
    market.end(market.tasks()[0])
    prod = market.framework("prod")
    market.wait(1.0)
    assert len(market.offers(prod)) == 1
    market.ask(prod, "2/1024")
    market.wait(3.0)
    assert [(thing.role, thing.is_task) for thing in market.revoked] == [("prod", False), ("batch", True)]


def with_a_small_offer(*asks: str) -> Market:
    """Prod holds an offer of 1/1024, and asks."""
    market = full_of_batch()
    market.end(market.tasks()[0])
    prod = market.framework("prod")
    market.wait(1.0)
    assert [offer.framework for offer in market.offers()] == [prod]
    market.ask(prod, *asks)
    return market


def test_an_own_offer_that_comes_back_counts_once_against_a_limit() -> None:
    market = with_a_small_offer("2/512")
    market.allocator.update_quota("prod", Quota(Quantities(), Limits({"cpus": 2000})))
    market.wait(3.0)
    assert lost(market) == [("prod", "A1"), ("batch", "A1")]


def test_an_offer_that_became_part_of_a_larger_one_answers_nothing_else() -> None:
    market = with_a_small_offer("2/512", "1/512")
    market.wait(3.0)
    assert lost(market) == [("prod", "A1"), ("batch", "A1"), ("batch", "A1")]


def test_what_is_promised_for_a_guarantee_is_not_kept_for_it_twice() -> None:
    market = full_of_batch()
    market.quota("prod", "3/1024")
    market.ask(market.framework("prod"), "2/1024", "2/1024", "2/1024")
    market.wait(3.0)
    assert len(market.revoked) == 6


def test_an_offer_that_is_enough_for_one_request_is_not_enough_for_two() -> None:
    market = full_of_batch()
    prod = market.framework("prod")
    market.end(market.tasks()[0])
    market.wait(1.0)
    market.ask(prod, "1/512", "1/512")
    market.wait(3.0)
    assert lost(market) == [("batch", "A1")]


def test_among_equals_who_has_most_loses_first() -> None:
    market = Market("prod=9,a=1,b=1")
    for role, text in (("a", "1/512"), ("b", "3/512"), ("a", "1/512")):
        agent = market.agent("4/512")
        framework = market.framework(role)
        market.wait(1.0)
        market.launch(next(offer for offer in market.offers(framework) if offer.agent == agent), text)
        market.allocator.suppress(framework)
    newest = market.agent("2/2048")
    for role in ("b", "a"):
        framework = market.framework(role)
        market.wait(1.0)
        market.launch(next(offer for offer in market.offers(framework) if offer.agent == newest), "1/1024")
        market.allocator.suppress(framework)
    market.ask(market.framework("prod"), "1/1024")
    market.wait(4.0)
    assert lost(market) == [("b", newest)]


def test_what_others_are_still_guaranteed_is_not_taken() -> None:
    market = full_of_batch()
    market.quota("other", "8/8192")
    market.ask(market.framework("prod"), "1/512")
    market.wait(10.0)
    assert market.revoked == []
