"""Objects that are told apart by what they are."""

from hypothesis import given
from hypothesis import strategies as st

from mesosctl.mesos.amounts.identity import IdentityCache, numbering, occurrences


def test_a_value_is_made_once_for_the_same_objects_in_the_same_order():
    made = []

    def make(*objects):
        made.append(objects)
        return len(made)

    cache = IdentityCache(make)
    one, equal, other = [1], [1], [2]
    asked = [(one,), (equal,), (one, other), (other, one), (one,), (one, other), (equal,)]
    assert [cache.of(*objects) for objects in asked] == [1, 2, 3, 4, 1, 3, 2]
    assert made == asked[:4]
    assert cache.of(equal, other) == 5, "the first object counts, too"
    for number in range(10_000):
        assert cache.of([number]) == 6 + number, "an object that is gone is never taken for another"


def test_a_cache_without_bound_never_makes_a_value_again():
    made = []
    bounded, unbounded = (
        IdentityCache(lambda one, kind=kind: made.append((kind, one[0])), most)
        for kind, most in (("bounded", 2), ("unbounded", None))
    )
    objects = [[number] for number in range(5)]
    for _ in range(2):
        for one in objects:
            bounded.of(one)
            unbounded.of(one)
    assert [one for kind, one in made if kind == "unbounded"] == [0, 1, 2, 3, 4]
    assert len([one for kind, one in made if kind == "bounded"]) > 5
    unbounded.clear()
    unbounded.of(objects[0])
    assert made[-1] == ("unbounded", 0)


@given(st.lists(st.integers(0, 4)))
def test_equal_objects_are_counted_apart_and_numbered_apart(places):
    objects = [[1], [1], [2], [1], []]
    number = numbering()
    counted = occurrences(objects[place] for place in places)
    assert [(next(place for place in places if objects[place] is one), times) for one, times in counted] == [
        (place, places.count(place)) for place in dict.fromkeys(places)
    ]
    numbers = [number(objects[place]) for place in places]
    assert len(set(zip(places, numbers, strict=True))) == len(set(places)) == len(set(numbers))
