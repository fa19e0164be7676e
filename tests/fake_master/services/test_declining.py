"""DECLINE of several offers: each is refused for as long as the call says, by this framework alone."""

from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from tests.helpers.lab import Lab, Scheduler
from tests.helpers.profiles import examples

AGENTS = ("cpus:4;mem:64", "cpus:5;mem:64", "cpus:6;mem:64", "cpus:7;mem:64")


@settings(max_examples=examples(40))
@example(declined=[0, 1, 2], unknown_at=None)
@example(declined=[3, 0], unknown_at=0)
@given(
    declined=st.lists(st.sampled_from(range(len(AGENTS))), min_size=2, unique=True),
    unknown_at=st.one_of(st.none(), st.integers(0, 3)),
)
def test_every_offer_of_a_call_is_refused_for_its_time(declined: list[int], unknown_at: int | None) -> None:
    """An id of an offer that is no longer there is passed over, wherever it stands."""
    lab = Lab(*AGENTS)
    framework = Scheduler(lab)
    offers = framework.offers()
    assert len(offers) == len(AGENTS)
    agents = [offers[number]["agent_id"]["value"] for number in declined]
    ids = [offers[number]["id"] for number in declined]
    if unknown_at is not None:
        ids.insert(unknown_at, {"value": "gone"})
    framework.ask("DECLINE", offer_ids=ids, filters={"refuse_seconds": 30})
    event(f"{len(declined)} of {len(AGENTS)}")
    assert framework.offers() == []
    other = Scheduler(lab, name="g")
    taken = other.offers()
    assert {offer["agent_id"]["value"] for offer in taken} == set(agents)
    other.ask("DECLINE", offer_ids=[offer["id"] for offer in taken], filters={"refuse_seconds": 1000})
    lab.wait(20)
    assert framework.offers() == []
    lab.wait(10)
    assert {offer["agent_id"]["value"] for offer in framework.offers()} == set(agents)
    assert other.offers() == []
