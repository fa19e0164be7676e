"""The tasks that are evicted: worked numbers, and laws that hold for any.

Source: docs/explanation/allocator.md, "Agent: eviction".
"""

from hypothesis import given
from hypothesis import strategies as st

from fake_master.extensions.lending.eviction import AgentOccupancy, Candidate, choose
from mesosctl.mesos.amounts.quantities import Quantities


def q(text: str) -> Quantities:
    """`2/200`: cpus and mem."""
    cpus, mem = text.split("/")
    return Quantities({"cpus": int(cpus) * 1000, "mem": int(mem) * 1000})


def room(occupied: str = "0/0", rev: str = "0/0", evicting: str = "0/0", running: str | None = None) -> AgentOccupancy:
    return AgentOccupancy(q("10/1000"), q(occupied), q(running or occupied), q(rev), Quantities(), q(evicting))


def whole(*texts: str) -> list[Candidate[str]]:
    return [Candidate(f"t{number}", q(text)) for number, text in enumerate(texts, 1)]


def test_the_balance_is_the_formula_of_the_note() -> None:
    assert room("6/600", "3/300").balance() == {"cpus": 1000, "mem": 100000}
    assert room("10/1000", "3/300").balance() == {"cpus": -3000, "mem": -300000}


def test_nothing_is_evicted_while_there_is_room_down_to_the_last_thousandth() -> None:
    lent = Quantities({"cpus": 3_999, "mem": 400_000})
    standing = AgentOccupancy(q("10/1000"), q("6/600"), q("6/600"), lent)
    assert standing.balance() == {"cpus": 1, "mem": 0}
    assert standing.shortfall() == Quantities()
    one_more = Quantities({"cpus": 4_001, "mem": 400_000})
    assert AgentOccupancy(q("10/1000"), q("6/600"), q("6/600"), one_more).shortfall() == Quantities({"cpus": 1})


def test_over_evicting_1_what_ends_by_itself_counts() -> None:
    assert not room("6/600", "4/400", evicting="2/200").shortfall()


def test_over_evicting_2_what_is_going_already_counts() -> None:
    assert not room("8/800", "2/200", evicting="4/400").shortfall()


def test_unnecessary_reject() -> None:
    standing = room("7/700", "2/200", evicting="2/200", running="4/400")
    assert standing.on_revocable_launch(q("1/100")) == "waits"
    assert standing.on_revocable_launch(q("2/200")) == "refused"
    assert room("7/700", "2/200").on_revocable_launch(q("1/100")) == "starts"


def test_newest_first_and_as_few_as_need_be() -> None:
    assert choose(q("3/300"), whole("2/200", "2/200", "2/200")) == ["t3", "t2"]
    assert choose(q("0/500"), whole("1/500")) == ["t1"]


def test_a_pick_that_turns_out_superfluous_stays() -> None:
    assert choose(q("1/300"), whole("3/100", "1/300", "1/100")) == ["t2"]


def test_who_has_not_started_goes_first() -> None:
    waiting = Candidate("w", q("1/100"), started=False)
    assert choose(q("1/100"), [waiting, *whole("1/100", "1/100")]) == ["w"]


amounts = st.builds(
    lambda cpus, mem: Quantities({"cpus": cpus * 500, "mem": mem * 50_000}), st.integers(0, 6), st.integers(0, 6)
)
tenants = st.lists(st.builds(Candidate, st.uuids(), amounts, st.booleans()), max_size=6)


def is_sound(room: AgentOccupancy) -> bool:
    """The invariant: nothing is in use twice."""
    return all(left >= 0 for left in room.free_now().values())


@given(amounts, tenants)
def test_enough_if_it_can_be_and_nobody_without_need(lack: Quantities, candidates: list[Candidate[object]]) -> None:
    chosen = choose(lack, candidates)
    holds = {candidate.task: candidate.holds for candidate in candidates}
    everything = Quantities.total(holds.values())
    freed = Quantities.total(holds[tenant] for tenant in chosen)
    for name, amount in lack.items():
        assert freed.get_amount(name) >= min(amount, everything.get_amount(name))
    for tenant in chosen:
        others = Quantities.total(holds[other] for other in chosen if other is not tenant)
        assert any(others.get_amount(name) < lack[name] for name in lack if name in holds[tenant])


@given(amounts, amounts, amounts, amounts)
def test_nothing_is_evicted_where_the_balance_is_not_negative(
    occupied: Quantities, rev: Quantities, evicting: Quantities, needed: Quantities
) -> None:
    standing = AgentOccupancy(q("10/1000"), occupied, occupied, rev, Quantities(), evicting)
    assert bool(standing.shortfall()) == any(left < 0 for left in standing.balance().values())
    if standing.on_revocable_launch(needed) == "starts" and is_sound(standing):
        after = AgentOccupancy(q("10/1000"), occupied, occupied, rev + needed, Quantities(), evicting)
        assert is_sound(after)
        assert not after.shortfall()
