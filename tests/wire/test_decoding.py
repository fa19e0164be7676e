"""JSON as a master takes it: bytes that are no text, numbers of strtod, and what is refused."""

import pytest

from mesosctl.wire.decoding import ConversionError, decode


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
    with pytest.raises(ConversionError, match="half a character"):
        decode(body)


@pytest.mark.parametrize("body", [b'"' + b'\\"' * 200_000, b'{"a": "' + b"x" * 200_000 + b"\\", b'["' * 100])
def test_a_string_without_an_end_is_looked_at_once(body: bytes) -> None:
    with pytest.raises(ConversionError, match="Not JSON"):
        decode(body)
