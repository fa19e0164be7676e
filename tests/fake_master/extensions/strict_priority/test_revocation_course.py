"""How revocation goes on once somebody is asked to leave (docs/explanation/documents.md, "Playing Traffic Cop")."""

import pytest

from tests.fake_master.extensions.strict_priority.market import GRACE, full_of_batch, lost

TWO_OF_ONE_AGENT = pytest.mark.parametrize(
    "requests", [["2/512"], ["1/512", "1/512"], ["1/1024", "1/512"]], ids=" and ".join
)
"""Requests for which two tasks of one agent are asked to go."""


def test_an_executor_that_does_not_respond_is_killed_with_all_its_tasks() -> None:
    market = full_of_batch(executor="e")
    market.ask(market.framework("prod"), "1/512")
    market.wait(2.0)
    (asked,) = market.revoked
    assert asked.told_at is not None
    market.wait(GRACE - 0.5 - (market.now - asked.told_at))
    assert market.killed == []
    market.wait(1.0)
    assert asked in market.killed
    assert [(thing.agent, thing.executor) for thing in market.killed] == [(asked.agent, "e")] * 4


def test_what_comes_back_bit_by_bit_is_kept_together_for_whom_it_was_asked() -> None:
    market = full_of_batch()
    batch = next(name for name, role in market.roles.items() if role == "batch")
    prod = market.framework("prod")
    market.ask(prod, "3/512")
    market.wait(2.0)
    market.allocator.revive(batch)
    assert len(market.revoked) == 3
    for thing in list(market.revoked):
        assert market.offers() == []
        market.end(thing)
        market.wait(1.0)
    (offer,) = market.offers()
    assert (offer.framework, offer.resources.scalar_quantities().get_amount("cpus")) == (prod, 3000)


def test_one_of_still_higher_priority_need_not_wait() -> None:
    market = full_of_batch("top=9,prod=1")
    market.ask(market.framework("prod"), "3/512")
    market.wait(2.0)
    top = market.framework("top")
    market.end(market.revoked[0])
    market.wait(1.0)
    assert [offer.framework for offer in market.offers()] == [top]


def test_a_request_that_is_withdrawn_kills_nobody() -> None:
    market = full_of_batch()
    prod = market.framework("prod")
    market.ask(prod, "2/512")
    market.wait(2.0)
    assert len(market.revoked) == 2
    market.ask(prod)
    market.wait(10.0)
    assert market.killed == []


def test_what_ends_of_its_own_choice_spares_what_was_asked_for() -> None:
    market = full_of_batch()
    prod = market.framework("prod")
    market.ask(prod, "1/512")
    market.wait(2.0)
    (asked,) = market.revoked
    market.end(next(task for task in market.tasks() if task.agent == asked.agent and task is not asked))
    market.wait(1.0)
    assert [offer.framework for offer in market.offers()] == [prod]
    market.wait(10.0)
    assert market.killed == []


def test_a_guarantee_set_in_the_grace_period_saves_the_executor() -> None:
    market = full_of_batch()
    prod = market.framework("prod")
    market.ask(prod, "2/512")
    market.wait(2.0)
    market.quota("batch", "8/4096")
    market.wait(10.0)
    assert market.killed == []


def test_to_ask_for_the_same_again_changes_nothing() -> None:
    market = full_of_batch()
    prod = market.framework("prod")
    market.ask(prod, "2/512")
    market.wait(2.0)
    told = list(market.revoked)
    market.ask(prod, "2/512")
    market.wait(4.0)
    assert market.revoked == told
    assert {thing.id for thing in market.killed} == {thing.id for thing in told}
    assert [offer.framework for offer in market.offers()] == [prod]


@TWO_OF_ONE_AGENT
def test_what_was_to_be_met_on_an_agent_that_is_lost_is_met_elsewhere(requests: list[str]) -> None:
    market = full_of_batch()
    prod = market.framework("prod")
    market.ask(prod, *requests)
    market.wait(2.0)
    assert {thing.agent for thing in market.revoked} == {"A1"}
    market.lose("A1")
    market.wait(2.0)
    assert [thing.agent for thing in market.revoked[2:]] == ["A2", "A2"]


def test_who_asks_again_after_it_was_of_no_use_is_served_again() -> None:
    market = full_of_batch("top=9,prod=1")
    prod, top = market.framework("prod"), market.framework("top")
    market.ask(prod, "2/512")
    market.wait(2.0)
    for thing in list(market.revoked):
        market.end(thing)
    market.wait(2.0)
    for offer in market.offers(top):
        market.launch(offer, "2/512")
    market.ask(prod, "2/512")
    market.wait(3.0)
    assert len(market.revoked) == 4


@TWO_OF_ONE_AGENT
def test_no_second_revocation_for_one_request(requests: list[str]) -> None:
    """Whatever becomes of what was freed: who needs more asks again."""
    market = full_of_batch("top=9,prod=1")
    prod, top = market.framework("prod"), market.framework("top")
    market.ask(prod, *requests)
    market.wait(2.0)
    for thing in list(market.revoked):
        market.end(thing)
    market.wait(2.0)
    assert {offer.framework for offer in market.offers()} == {top}
    market.wait(20.0)
    assert len(market.revoked) == 2


def test_what_the_master_refuses_to_revoke_is_not_waited_for() -> None:
    """Nobody was asked to go there, so it is tried again; what was asked back on another agent goes on."""
    market = full_of_batch()
    first, second = market.totals
    market.refused = {first}
    prod = market.framework("prod")
    market.ask(prod, "3/512", "3/512")
    market.wait(4.0)
    assert lost(market) == [("batch", second)] * 3
    for thing in list(market.revoked):
        market.end(thing)
    market.refused = set()
    market.wait(1.0)
    (offer,) = market.offers()
    assert (offer.framework, offer.agent) == (prod, second)
    market.launch(offer, "3/512")
    market.wait(2.0)
    assert lost(market)[3:] == [("batch", first)] * 3


def test_an_agent_where_a_revocation_was_refused_is_offered_to_others() -> None:
    market = full_of_batch("prod=2,mid=1")
    first, _ = market.totals
    market.refused = set(market.totals)
    prod = market.framework("prod")
    market.ask(prod, "3/512")
    market.wait(2.0)
    assert market.revoked == []
    mid = market.framework("mid")
    market.allocator.suppress(prod)
    market.end(next(task for task in market.tasks() if task.agent == first))
    market.wait(1.0)
    assert [(offer.framework, offer.agent) for offer in market.offers()] == [(mid, first)]
