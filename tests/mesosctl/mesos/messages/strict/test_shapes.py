"""The shape of what people write: what msgspec takes has no fault, and of anything else every fault is named."""

import math
from datetime import date, datetime
from typing import Annotated, Any, Literal

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import Meta

from mesosctl.mesos.messages.strict.reading import Fault
from mesosctl.mesos.messages.strict.shapes import Seconds, Table, fit


class Part(Table):
    size: Annotated[str, Meta(min_length=1, examples=["cpus:4"])]
    count: Annotated[int, Meta(ge=1, le=10)] = 1


class Shape(Table):
    """A key of each kind."""

    text: str | None = None
    whole: int | None = None
    number: float | None = None
    bounded: Annotated[float, Meta(ge=0, le=10**15)] | None = None
    above: Annotated[float, Meta(gt=0)] | None = None
    seconds: Annotated[Seconds, Meta(examples=[5])] = 0
    switch: bool | None = None
    day: Annotated[date | None, Meta(examples=[date(2026, 11, 1)])] = None
    word: Literal["accept", "hold"] | None = None
    words: Annotated[list[str], Meta(min_length=1)] | None = None
    either: dict[str, str] | list[str] | None = None
    text_or_number: Annotated[str | float | None, Meta(examples=["10m"])] = None
    part: Part | None = None
    parts: Annotated[list[Part], Meta(max_length=2)] | None = None
    by_name: Annotated[dict[str, Part], Meta(examples=[{"a b": {"size": "cpus:1"}}])] | None = None


PLAIN = (
    st.sampled_from(["", "accept", "x", True, False, 0, 1, 11, -1, 0.5, 10**16, 10**400, -0.0, math.nan, math.inf])
    | st.integers()
    | st.floats()
    | st.dates()
    | st.datetimes()
    | st.just("2026-11-01")
)
KEYS = st.sampled_from(["size", "count", "contu", "a", "b.c", *Shape.__struct_fields__])
VALUES = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12
)
NEARLY = st.fixed_dictionaries(
    {},
    optional={
        key: VALUES | st.sampled_from(["x", 1, {"size": "a"}, [{"size": "a"}, {}]]) for key in Shape.__struct_fields__
    },
)


def takes(document: Any) -> bool:
    try:
        msgspec.convert(document, Shape, builtin_types=(date,))
    except msgspec.ValidationError:
        return False
    return True


@given(VALUES | NEARLY)
@example({"number": 10**400})
@example({"bounded": math.nan})
@example({"whole": 10**400})
def test_there_is_a_fault_exactly_where_msgspec_refuses(document: Any):
    value, faults = fit(document, Shape)
    assert bool(faults) != takes(document)
    assert (value is None) <= bool(faults)


@given(NEARLY)
def test_what_fits_is_kept_and_what_is_left_out_has_a_fault(document: dict[str, Any]):
    value, faults = fit(document, Shape)
    assert isinstance(value, Shape)
    wrong = {fault.path.partition(".")[0].partition("[")[0] for fault in faults}
    for key, written in document.items():
        if key not in wrong:
            assert repr(getattr(value, key)) == repr(
                getattr(msgspec.convert({key: written}, Shape, builtin_types=(date,)), key)
            )


@pytest.mark.parametrize(
    ("document", "path", "sentence", "hint"),
    [
        ({"txet": "a"}, "txet", "there is no such key", "did you mean text? known: text, whole, "),
        ({"text": 3}, "text", "it is not a string", None),
        ({"whole": 1.0}, "whole", "it is not a whole number", None),
        ({"whole": True}, "whole", "it is not a whole number", None),
        ({"bounded": -1}, "bounded", "it is below zero", None),
        ({"above": 0}, "above", "it is not above zero", None),
        ({"bounded": 10**16}, "bounded", "it is too large a number", None),
        ({"number": 10**400}, "number", "it is too large a number", None),
        ({"seconds": "1m30s"}, "seconds", "it is not a number of seconds", "write seconds = 90"),
        ({"seconds": "soon"}, "seconds", "it is not a number of seconds", "write seconds = 5"),
        ({"switch": "yes"}, "switch", "it is not true or false", None),
        ({"day": "2026-11-01"}, "day", "it is not a day", "write day = 2026-11-01"),
        ({"day": datetime(2026, 11, 1)}, "day", "it is not a day", "write day = 2026-11-01"),  # noqa: DTZ001
        ({"word": "decline"}, "word", "it is not accept or hold", None),
        ({"words": []}, "words", "it is empty", None),
        ({"words": "a"}, "words", "it is not a list of strings", None),
        ({"words": ["a", 3]}, "words[1]", "it is not a string", None),
        ({"either": 3}, "either", "it is neither a table of strings nor a list of strings", "write [either]"),
        (
            {"text_or_number": []},
            "text_or_number",
            "it is neither a string nor a number",
            'write text_or_number = "10m"',
        ),
        ({"part": 3}, "part", "it is not a table", "write [part]"),
        ({"part": {}}, "part.size", "it is missing", 'write size = "cpus:4"'),
        ({"part": {"size": ""}}, "part.size", "it is empty", 'write size = "cpus:4"'),
        ({"part": {"size": "a", "count": 11}}, "part.count", "it is not a whole number from 1 to 10", None),
        ({"parts": {}}, "parts", "it is not an array of tables", "write [[parts]]"),
        ({"parts": [{"size": "a"}, 3]}, "parts[1]", "it is not a table", "write [[parts]]"),
        ({"parts": [{"size": "a"}] * 3}, "parts", "it is longer than 2", "write [[parts]]"),
        ({"by_name": 3}, "by_name", "it is not a table", 'write by_name = { "a b" = { size = "cpus:1" } }'),
        ({"by_name": {"a/b": 3}}, "by_name.a/b", "it is not a table", 'write [by_name."a/b"]'),
    ],
)
def test_each_fault_has_its_place_and_says_what_to_write(document: Any, path: str, sentence: str, hint: str | None):
    _, (fault,) = fit(document, Shape)
    assert (fault.path, fault.sentence) == (path, sentence)
    assert fault.hint == hint or (fault.hint or "").startswith(hint or "nothing")


def test_every_fault_is_named_at_once_and_what_is_right_stays():
    document = {"whole": "x", "number": 2, "parts": [{"size": 3}, {"size": "b", "cuont": 3}], "words": ["a", 1]}
    value, faults = fit(document, Shape)
    assert [fault.path for fault in faults] == ["whole", "parts[0].size", "parts[1].cuont", "words[1]"]
    assert value == Shape(number=2.0)


def test_of_what_is_not_a_table_nothing_fits():
    assert fit(3, Part) == (None, [Fault("", "it is not a table")])
    value, (fault,) = fit({}, Part)
    assert (value, fault.path) == (None, "size")
