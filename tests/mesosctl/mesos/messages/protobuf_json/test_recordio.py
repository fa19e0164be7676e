"""RecordIO: a stream comes in any pieces, and a record of it is read whole or in pieces."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesosctl.mesos.messages.protobuf_json.recordio import BrokenRecord, Records, decode, encode


def divided(stream, cuts):
    edges = [0, *sorted(cut % (len(stream) + 1) for cut in cuts), len(stream)]
    return [stream[start:end] for start, end in pairwise(edges)]


@given(
    st.lists(st.tuples(st.binary(max_size=40), st.booleans()), max_size=6), st.lists(st.integers(0, 300), max_size=9)
)
def test_records_are_the_same_whole_and_in_pieces(records, cuts):
    stream = b"".join(encode(record) for record, _ in records)
    assert list(decode(divided(stream, cuts))) == [record for record, _ in records]
    reading = Records(divided(stream, cuts))
    for record, in_pieces in records:
        whole = b"".join(reading.next_in_pieces() or ()) if in_pieces else reading.next_whole()
        assert whole == record
    assert reading.next_in_pieces() is None


@given(st.binary(min_size=1, max_size=20), st.integers(0, 20))
def test_a_stream_that_ends_inside_a_record_is_broken(record, left):
    stream = encode(record)[: -1 - left] or b"1"
    with pytest.raises(BrokenRecord):
        list(decode([stream]))
    with pytest.raises(BrokenRecord):
        b"".join(Records([stream]).next_in_pieces() or ())


def test_a_record_that_is_too_large_is_refused_before_it_is_read():
    with pytest.raises(BrokenRecord, match="at most 10 are read"):
        Records([b"11\n"]).next_whole(10)
