"""JSON as a master writes it."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_master.http.json_text import (
    AnswerPart,
    Fragment,
    JsonPieces,
    ResourceTexts,
    dumps,
    json_pieces,
    text_of,
    values_of,
    with_short_numbers,
)
from fake_master.state.streams import encoded
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.messages.resources import list_to_json, summary

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda parts: st.lists(parts, max_size=4) | st.dictionaries(st.text(), parts, max_size=4),
)


@given(JSON)
def test_a_value_is_written_as_the_standard_library_writes_it(value: Any) -> None:
    assert text_of(value) == json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def test_doubles_that_json_has_no_number_for() -> None:
    """A real master quotes infinity, and writes NaN, which it refuses to read, without quotes."""
    assert text_of([math.inf, -math.inf, math.nan]) == '["Infinity","-Infinity",NaN]'


@given(JSON, JSON)
def test_a_fragment_stands_for_its_value_wherever_it_is(one: Any, other: Any) -> None:
    plain = {"a": one, "b": {"c": [one, {"d": other}]}}
    known = {"a": Fragment(text_of(one)), "b": {"c": [one, {"d": Fragment(text_of(other))}]}}
    assert text_of(known) == text_of(plain)


def test_bytes_that_were_no_utf_8_go_out_as_they_came() -> None:
    assert dumps({"name": b"\xff".decode(errors="surrogateescape")}) == b'{"name":"\xff"}'


def test_resources_are_written_once_for_all_that_hold_them() -> None:
    texts, resources = ResourceTexts(), parse_resources("cpus:0.1;mem:64;ports:[1-2]")
    assert texts.summed(resources) is texts.summed(resources)
    assert texts.summed(resources).text == text_of(summary(resources))
    assert texts.listed(resources, "POST").text == text_of(list_to_json(resources, "POST"))
    assert texts.listed(resources, "ENDPOINT").text == text_of(list_to_json(resources, "ENDPOINT"))


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_an_event_writes_doubles_without_a_number_as_an_answer_does(value):
    """A health check may be told to wait without end, and its task is shown to subscribers."""
    check = {"delay_seconds": value, "timeout_seconds": 2.5}
    event = {"type": "TASK_ADDED", "task_added": {"task": {"health_check": check, "statuses": [{"timestamp": value}]}}}
    length, _, record = encoded(event).partition(b"\n")
    assert record == dumps(event)
    assert int(length) == len(record)
    shown = json.loads(record)["task_added"]["task"]["health_check"]["delay_seconds"]
    assert shown in ("Infinity", "-Infinity") or math.isnan(shown)


def test_an_object_may_hold_what_is_written_already_at_any_depth() -> None:
    pieces = JsonPieces((b"[1,", b"2]"))
    part = AnswerPart(lambda: pieces, lambda: [1, 2])
    whole = {"a": part, "b": {"c": {"d": part, "e": 0.5}}, "f": pieces, "g": {}}
    assert bytes(json_pieces(whole)) == b'{"a":[1,2],"b":{"c":{"d":[1,2],"e":0.5}},"f":[1,2],"g":{}}'
    assert values_of(whole) == json.loads(bytes(json_pieces(whole)))


def test_short_numbers_that_json_lacks_and_texts_that_look_like_them():
    text = rb'{"weight":"Infinity","name":"Infinity","a \" 1.50":"NaN","b":[NaN,"x\\",1.50],"failover_timeout":NaN}'
    short = rb'{"weight":inf,"name":"Infinity","a \" 1.50":"NaN","b":[nan,"x\\",1.5],"failover_timeout":nan}'
    assert with_short_numbers(text) == short


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (b"1.7149999999999999", b"1.715"), (b"-2.0", b"-2.0"), (b"100.0", b"100.0"), (b"1e+300", b"1e+3"),
        (b"1e-310", b"9.99999999999997e-311"), (b"7.0000000000000001e-05", b"7e-05"), (b"17", b"17"),
    ],
)  # fmt: skip
def test_numbers_are_short_and_texts_stay(written, shown):
    text = b'{"%s":[%s,"%s",{"a\\"%s":%s}]}'
    assert with_short_numbers(text % (written, written, written, written, written)) == text % (
        written, shown, written, written, shown,
    )  # fmt: skip
