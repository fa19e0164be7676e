"""JSON in chunks of any size gives what it gives whole."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mesosctl.mesos.messages.protobuf_json.decoding import ConversionError, decode
from mesosctl.mesos.messages.protobuf_json.json_parts import JsonPart, parts
from tests.helpers.profiles import examples

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=25)


def in_chunks(body, sizes):
    """The body cut at pieces of these sizes, again and again."""
    at = 0
    while at < len(body):
        for size in sizes:
            yield body[at : at + size]
            at += size


def together(found):
    """The value that parts are of."""
    top: dict[str, Any] = {}
    for path, index, value in found:
        inner = top
        for name in ("top", *path)[:-1]:
            inner = inner[name]
        if index is None:
            inner[("top", *path)[-1]] = value
        else:
            assert index == len(inner[path[-1]])
            inner[path[-1]].append(value)
    return top["top"]


@settings(max_examples=examples(300), deadline=None)
@given(VALUES, st.lists(st.integers(1, 9), min_size=1), st.integers(1, 3), st.booleans())
def test_the_parts_make_up_the_whole(value, sizes, depth, plain):
    body = json.dumps(value, ensure_ascii=plain, indent=1 if plain else None).encode()
    try:
        whole = decode(body)
    except ConversionError:
        with pytest.raises(ConversionError):
            list(parts(in_chunks(body, sizes), depth))
        return
    assert together(parts(in_chunks(body, sizes), depth)) == whole


@settings(max_examples=examples(500), deadline=None)
@given(st.text('{}[]",:\\ue0123+-. tnNI\n', max_size=12), st.integers(1, 4), st.integers(1, 3))
def test_what_is_no_json_whole_is_none_in_chunks(text, size, depth):
    def accepted(read):
        try:
            read()
        except ConversionError:
            return False
        return True

    body = text.encode()
    assert accepted(lambda: list(parts(in_chunks(body, [size]), depth))) == accepted(lambda: decode(body))


def test_lists_come_with_their_beginning_and_elements_in_place():
    body = b'{"slaves": [{"id": 1}, {"id": 2}], "none": [], "frozen": true, "deep": {"list": [1]}}'
    assert list(parts([body])) == [
        JsonPart((), None, {}),
        JsonPart(("slaves",), None, []),
        JsonPart(("slaves",), 0, {"id": 1}),
        JsonPart(("slaves",), 1, {"id": 2}),
        JsonPart(("none",), None, []),
        JsonPart(("frozen",), None, True),
        JsonPart(("deep",), None, {"list": [1]}),
    ]
    assert [part.where for part in parts([body], 2)][-2:] == ["deep.list", "deep.list[0]"]


def test_an_element_is_there_before_the_next_has_come():
    def arriving():
        yield b'{"slaves": [{"id": 1}'
        yield b', {"id": 2}'
        pytest.fail("nobody has asked for more")

    found = parts(arriving())
    assert [next(found).value for _ in range(3)] == [{}, [], {"id": 1}]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"a": [1, 2', "',' delimiter (char 11)"),
        (b'{"a": [1, {"b": ]}', "Expecting value (char 16)"),
        (b'{"a": 1} x', "Extra data (char 9)"),
        (b"", "Expecting value (char 0)"),
        (b'{"a": NaN}', "NaN"),
        (b'{"a": [1e999]}', "out of range"),
        (b'{"a": "\\ud800"}', "half of a surrogate pair"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(body, said):
    with pytest.raises(ConversionError) as caught:
        list(parts(in_chunks(body, [3])))
    assert said in str(caught.value)


def test_bytes_that_are_no_utf_8_stay_what_they_are():
    _, part = parts(in_chunks('{"name": "rö'.encode() + b'\xff"}', [1]))
    assert part.value.encode(errors="surrogateescape") == "rö".encode() + b"\xff"
