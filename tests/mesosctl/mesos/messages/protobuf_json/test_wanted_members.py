"""Elements that are decoded many at once are those that a reader of JSON finds."""

import json

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from mesosctl.mesos.messages.protobuf_json.wanted_members import WantedMembers


class Named(msgspec.Struct):
    name: str


NESTED = {"name": "x", "more": [{"name": "inner"}, {"name": "inner", "id": 1}]}


def written(*elements):
    return "[" + ",".join(json.dumps(element, separators=(",", ":")) for element in elements)


def names(text, at=1):
    """The elements of a list as a run, and where it ends."""
    found = WantedMembers(Named, lambda entry: entry.name).read(text, at)
    return None if found is None else (found[0].values, found[1])


def test_a_run_ends_before_the_last_element_that_begins_like_the_first():
    first, second = {"name": "a", "id": 1}, {"name": "b", "id": 2}
    assert names(written(first, NESTED, second)) == (["a", "x"], len(written(first, NESTED)))
    assert names(written(first, second, first, NESTED)) == (["a", "b"], len(written(first, second)))
    assert names(written(first)) is None
    assert names(written(first, {"name": 5}, second)) is None


@given(st.lists(st.sampled_from([1, 20, 3000]), min_size=3, max_size=40), st.integers(1, 30))
def test_a_run_ends_where_its_list_does_though_another_follows(sizes, more):
    elements = [{"name": f"{number}", "id": "x" * size} for number, size in enumerate(sizes)]
    text = written(*elements) + '],"others":' + written(*elements * more) + "]"
    found: list[str] = []
    at, end = 1, len(written(*elements))
    reader = WantedMembers(Named, lambda entry: entry.name)
    while at < end:
        run = reader.read(text, at)
        values, at = (run[0].values, run[1]) if run else _one(text, at)
        found += values
        at += 1
    assert found == [element["name"] for element in elements]


def _one(text, at):
    element, end = json.JSONDecoder().raw_decode(text, at)
    return [element["name"]], end


def test_a_list_of_other_elements_is_hardly_tried():
    tried = []

    def refuse(entry):
        tried.append(entry)
        raise ValueError

    elements = [{"name": "a", "id": number} for number in range(2000)]
    reader = WantedMembers(Named, refuse)
    text = written(*elements)
    assert not any(reader.read(text, at) for at in range(1, len(text)) if text.startswith("{", at))
    assert 0 < len(tried) < len(elements)
