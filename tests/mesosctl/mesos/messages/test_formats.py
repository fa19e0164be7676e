"""Three formats of a resource, one meaning: whatever is written in one of them is read back as it was."""

import json
from typing import get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mesosctl.mesos.amounts.resource import Labels, Reservation, Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.messages.protobuf_json.messages import read
from mesosctl.mesos.messages.protobuf_json.resource_messages import RESOURCE
from mesosctl.mesos.messages.reservations import Format, labels_to_json
from mesosctl.mesos.messages.resources import list_to_json, to_json, to_model
from tests.helpers.resource_strategies import labels, resources

FORMATS = get_args(Format)
LABELS = Labels([("k", "v"), ("l", None), ("k", "v")])
LABELLED = Resource("cpus", 1000, (Reservation("DYNAMIC", "a", "p", LABELS),))
THREE = tuple(
    Reservation("DYNAMIC", role, principal, Labels([("of", role)]))
    for role, principal in (("a", "p"), ("a/b", None), ("a/b/c", "q"))
)


def read_back(resource: Resource, style: Format) -> Resource:
    """What a reader of messages has of it."""
    return to_model(read(RESOURCE, json.loads(json.dumps(to_json(resource, style)))))


@pytest.mark.parametrize("style", FORMATS)
@given(resource=resources())
@example(LABELLED)
@example(Resource("cpus", 1000, THREE))
@example(Resource("cpus", 1000, THREE[:2]))
def test_what_is_written_in_a_format_is_read_back_with_every_field(style: Format, resource: Resource) -> None:
    if style == "PRE" and resource.is_refined:
        with pytest.raises(ValueError, match="refined"):
            to_json(resource, style)
        return
    assert read_back(resource, style) == resource


@given(resources(most_levels=1))
@example(LABELLED)
def test_whatever_is_not_refined_means_the_same_in_all_formats(resource: Resource) -> None:
    """Also with both forms of one reservation beside each other, as masters show them."""
    before, after = to_json(resource, "PRE"), to_json(resource, "POST")
    assert to_model(read(RESOURCE, before)) == to_model(read(RESOURCE, after))
    assert to_model(read(RESOURCE, before | after)) == resource
    # The old form has the fields of the only level, beside its role; a static one has none.
    (level,) = after.get("reservations", [{"role": "*"}])
    assert before["role"] == level.pop("role")
    assert before.get("reservation", {}) == {key: value for key, value in level.items() if key != "type"}
    assert ("reservation" in before) == (level.get("type") == "DYNAMIC")


@given(labels)
def test_labels_are_read_back_in_their_order_and_none_differs_from_an_empty_list(some: Labels | None) -> None:
    resource = Resource("cpus", 1000, (Reservation("DYNAMIC", "a", None, some),))
    for style in FORMATS:
        found = read_back(resource, style).reservations[0].labels
        assert (found is None) == (some is None)
        assert some is None or list(found or ()) == list(some)
    assert some is None or labels_to_json(some).get("labels", []) == [
        {"key": key} | ({} if value is None else {"value": value}) for key, value in some
    ]


@given(st.lists(resources(), max_size=5), st.sampled_from(["POST", "ENDPOINT"]))
def test_a_list_has_every_entry_of_a_collection_as_often_as_it_is_held(listed: list[Resource], style: Format) -> None:
    some = Resources(listed)
    again = Resources(to_model(read(RESOURCE, entry)) for entry in list_to_json(some, style))
    assert again == some
    assert len(list_to_json(some, style)) == sum(entry.copies for entry in some)
