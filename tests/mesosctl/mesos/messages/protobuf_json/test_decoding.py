"""JSON as a master takes it: bytes that are no text, numbers of strtod, and what is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesosctl.mesos.messages.protobuf_json.decoding import ConversionError, decode
from mesosctl.mesos.messages.protobuf_json.json_parts import parts


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b'{"a": 1., "b": 01}', {"a": 1.0, "b": 1.0}),
        (b'"\\ud83d\\ude00"', "\U0001f600"),
        (b'"\\\\ud800"', "\\ud800"),
        (b'["\xff", "\\u0001"]', ["\udcff", "\x01"]),
        (b'{"a\\u0061": "\xe9"}', {"aa": "\udce9"}),
    ],
)
def test_what_is_taken(body: bytes, value: object) -> None:
    assert decode(body) == value


@pytest.mark.parametrize(
    "body",
    [b'"\\ud800"', b'"\\udc00"', b'"\\ud800\\u0061"', b'"\\udc00\\ud800"', b'"\\udcff"', b'{"\\uD800": 1}'],
)
def test_half_a_character_is_none(body: bytes) -> None:
    with pytest.raises(ConversionError, match="half of a surrogate pair"):
        decode(body)


@pytest.mark.parametrize("body", [b'"' + b'\\"' * 200_000, b'{"a": "' + b"x" * 200_000 + b"\\", b'["' * 100])
def test_a_string_without_an_end_is_looked_at_once(body: bytes) -> None:
    with pytest.raises(ConversionError, match="Not JSON"):
        decode(body)


NUMBERS = st.sampled_from(["1", "01", "1.", "0.5e3", "-01.e+2", "-1.50", "1e5"])


@given(st.lists(NUMBERS), st.sampled_from([" ", "\n", "\t "]), st.sampled_from(["]]", "x", ",", "1 2", '"', "--", ""]))
def test_a_mistake_is_told_where_it_was_typed(numbers: list[str], blank: str, mistake: str) -> None:
    """However the numbers before it are spelled: as where each is a text of the same length."""
    texts = [f'"{"a" * (len(number) - 2)}"' if len(number) > 1 else number for number in numbers]
    said = []
    for values in (numbers, texts):
        with pytest.raises(ConversionError) as caught:
            decode("[" + f",{blank}".join([*values, mistake]))
        said.append(str(caught.value))
        with pytest.raises(ConversionError) as caught:
            list(parts([b'{"a": [', f",{blank}".join([*values, mistake]).encode()]))
        said.append(str(caught.value))
    assert said[:2] == said[2:]


@pytest.mark.parametrize("body", [b"1e999", b"-1.e999", b"[01, 1e999]", b'{"a": 1., "b": -1e999}'])
def test_a_number_that_no_double_holds_is_told_as_that(body: bytes) -> None:
    with pytest.raises(ConversionError, match="a number is out of range"):
        decode(body)
