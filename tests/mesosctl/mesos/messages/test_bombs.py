"""Text made to cost its reader much more than it costs its writer: time and memory stay in proportion to its length."""

import time
import tracemalloc
from collections.abc import Callable, Iterator

import pytest

from mesosctl.mesos.errors import BadInput
from mesosctl.mesos.messages.protobuf_json import recordio
from mesosctl.mesos.messages.protobuf_json.decoding import ConversionError, TooManyValues, decode
from mesosctl.mesos.messages.protobuf_json.json_parts import parts
from mesosctl.mesos.messages.snapshots import snapshot
from mesosctl.mesos.messages.strict.reading import read_json

MIB = 1 << 20
BROKEN = [
    b'"' * (8 * MIB),
    b"[" + b'"' * (8 * MIB),
    b'[01,"' + b'","' * (2 * MIB),
    b'[1.,"' + b'"' * (8 * MIB),
    b'["\\ud83d\\ude00' + b"\\\\" * (4 * MIB),
    b"[" + b"0" * (8 * MIB),
    b"[" * (8 * MIB),
    b'{"a":' * MIB,
]


def cost(action: Callable[[], object]) -> tuple[float, int]:
    """Seconds of work, and the most bytes that were held at once."""
    tracemalloc.start()
    started = time.process_time()
    try:
        with pytest.raises((ConversionError, BadInput)):
            action()
        return time.process_time() - started, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def slices(body: bytes, size: int = 1 << 18) -> Iterator[bytes]:
    return (body[at : at + size] for at in range(0, len(body), size))


@pytest.mark.parametrize("body", BROKEN, ids=[repr(body[:12]) for body in BROKEN])
@pytest.mark.parametrize(
    "reader",
    [decode, lambda body: list(parts(slices(body))), snapshot.load],
    ids=["whole", "in parts", "a snapshot"],
)
def test_broken_text_costs_a_few_times_its_length(reader: Callable[[bytes], object], body: bytes) -> None:
    seconds, held = cost(lambda: reader(body))
    assert seconds < 5
    assert held < 6 * len(body)


def test_what_is_broken_at_once_is_not_read_to_its_end() -> None:
    read = 0

    def endless() -> Iterator[bytes]:
        nonlocal read
        while True:
            read += 1
            yield b"[1, 2 x" + b'"' * 65536

    with pytest.raises(ConversionError, match=r"char 6"):
        list(parts(endless()))
    assert read <= 2


def test_numbers_that_are_not_spelled_as_json_are_read_in_short_texts_alone() -> None:
    assert decode(b"[" + b"01," * 100_000 + b"1]")[0] == 1.0
    with pytest.raises(ConversionError, match="Expecting ',' delimiter"):
        decode(b"[" + b"01," * 1_000_000 + b"1]")


@pytest.mark.parametrize("value", [b"1", b"[]", b"{}", b'""', b"[[[]]]"])
def test_values_are_counted_before_they_are_made(value: bytes) -> None:
    body = b"[" + b",".join([value] * 1000) + b"]"
    assert len(decode(body)) == 1000
    seconds, held = cost(lambda: decode(body * 1000, most_values=100_000))
    assert seconds < 1
    assert held < 3 * len(body) * 1000
    with pytest.raises(TooManyValues, match="more than 900 values"):
        decode(body, most_values=900)


def test_a_fault_far_into_a_text_is_told_by_its_place() -> None:
    # With a look at every line for each value, this would take hours.
    with pytest.raises(BadInput, match="line 900001, column 1"):
        read_json('{"a": [' + "1,\n" * 900_000 + "x]}", "cluster.json", 1_000_000)


def test_a_record_that_is_too_long_is_refused_before_it_is_read() -> None:
    read = 0

    def stream() -> Iterator[bytes]:
        nonlocal read
        yield b"5\nhello999999999999\n"
        while True:
            read += 1
            yield b"x" * 65536

    records = recordio.decode(stream())
    assert next(records) == b"hello"
    with pytest.raises(recordio.BrokenRecord, match="a record has 999999999999 bytes, but at most 134217728 are read"):
        next(records)
    assert read == 0
    assert list(recordio.decode([b"3\nabc"], largest=3)) == [b"abc"]
    with pytest.raises(recordio.BrokenRecord, match="but at most 2 are read"):
        list(recordio.decode([b"3\nabc"], largest=2))
