"""JSON that a person wrote: what is refused, and the place that is named."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesosctl.mesos.errors import BadInput
from mesosctl.mesos.messages.strict.json_faults import fault_of
from mesosctl.mesos.messages.strict.reading import read_json


@pytest.mark.parametrize(
    ("text", "line", "column", "expected"),
    [
        ("", 1, 1, "a value"),
        ("\n  x", 2, 3, "a value"),
        ('\n "limits": []', 2, 2, "'{', which opens the object"),
        ('{"limits": [\n  "principal": "p"]}', 2, 3, "'{', because an entry of an array is an object"),
        ('{"limits": [{"principal": "p"\n "qps": 1}]}', 2, 2, "',' or '}'"),
        ('{"limits": [1 2]}', 1, 15, "',' or ']'"),
        ('{"limits": [{"principal": "p"}', 1, 31, "']' and '}'"),
        ('{"limits"', 1, 10, "'}'"),
        ('{"limits" 1}', 1, 11, "':'"),
        ("{limits: 1}", 1, 2, "a name in double quotes, or '}'"),
        ('{"a": }', 1, 7, "a value"),
        ('{"a": 1,\n}', 1, 8, "there is a comma too many before '}'"),
        ('{"a": [1, ]}', 1, 9, "there is a comma too many before ']'"),
        ('{"a": 1} x', 1, 10, "there is more after the end"),
        ('{"a": "p}', 1, 7, "a closing '\"' for this string"),
        ('{"a": "x\\"y": 1}', 1, 13, "',' or '}'"),
    ],
)
def test_where_json_is_broken(text, line, column, expected):
    with pytest.raises(BadInput) as refused:
        read_json(text, "file")
    assert refused.value.field == f"line {line}, column {column}"
    says = expected if expected.startswith("there is") else f"expected {expected}, found"
    assert refused.value.message.startswith(f"file is not JSON: line {line}, column {column}: {says}")


def test_json_that_is_not_broken():
    assert read_json(' {"a": [1, {"b": "}"}]}\n', "file") == {"a": [1, {"b": "}"}]}


@given(st.text(alphabet='{}[]",:ab1 \n\\'))
def test_every_text_is_json_or_has_a_place_where_it_is_not(text):
    try:
        json.loads(text, parse_int=float)
    except ValueError:
        with pytest.raises(BadInput) as refused:
            read_json(text, "file")
        match = re.fullmatch(r"line (\d+), column (\d+)", refused.value.field or "")
        assert match is not None
        line, column = map(int, match.groups())
        lines = text.split("\n")
        assert 1 <= line <= len(lines)
        assert 1 <= column <= len(lines[line - 1]) + 1


@given(st.text(alphabet="{}[]\",:<>'ab1 .…/#\n\\"))
def test_a_fault_of_a_text_quotes_it_where_it_is(text):
    lines = text.split("\n")
    fault = fault_of(text)
    if fault is not None:
        quoted = re.search(r"found '(.*?)(…)?'$", fault.sentence, re.DOTALL)
        if quoted is not None:
            assert lines[fault.line - 1][fault.column - 1 :].lstrip().startswith(quoted[1])


@pytest.mark.parametrize(
    ("text", "field", "sentence"),
    [
        ('{"a": 1, "a": 2}', "a", "the key 'a' appears twice in one object"),
        ('{"b": [0, {"a": 1, "a": 1}]}', "b[1].a", "the key 'a' appears twice in one object"),
        ('{"a": {"b": 1, "b": 1}, "a": 2}', "a", "the key 'a' appears twice in one object"),
        ('{"a": [NaN]}', "a[0]", "it should be a finite number"),
        ('{"a": -Infinity}', "a", "it should be a finite number"),
        ('{"a": 1e999}', "a", "it should be a finite number"),
        ('{"a": ' + "9" * 5000 + "}", "a", "it should be a finite number"),
        ('{"a": "\\ud800"}', "a", "the text contains half of a surrogate pair"),
        ('{"b": {"\\ud800": 1}}', "b", "the text contains half of a surrogate pair"),
        ("NaN", None, "the top level: it should be a finite number"),
    ],
)
def test_what_json_allows_and_nobody_can_mean(text, field, sentence):
    with pytest.raises(BadInput) as refused:
        read_json(text, "file")
    assert refused.value.field == field
    assert refused.value.message == f"file: {field}: {sentence}" if field else f"file: {sentence}"


@pytest.mark.parametrize("depth", [500, 5000, 200_000])
def test_a_depth_that_nobody_writes(depth):
    with pytest.raises(BadInput, match=r"file is (nested too deeply|not JSON)"):
        read_json('{"a":' * depth, "file")
    with pytest.raises(BadInput, match="file is nested too deeply"):
        read_json("[" * max(depth, 2000) + "]" * max(depth, 2000), "file")


def test_an_integer_beyond_64_bits_is_a_double():
    assert read_json("[18446744073709551615, 1000000000000000000000]", "file") == [2**64 - 1, 1e21]
