"""Sizes in bytes, as people write and read them."""

import pytest

from mesosctl.mesos.amounts.notation import format_bytes, parse_bytes
from mesosctl.mesos.errors import UsageError


@pytest.mark.parametrize(
    ("text", "size"),
    [("1024", 1024), ("1KiB", 1024), ("2GB", 2**31), ("0.5 MiB", 2**19), ("1b", 1), ("3b", 3), ("1t", 2**40)],
)
def test_sizes(text, size):
    assert parse_bytes(text, "--memory") == size


@pytest.mark.parametrize("text", ["", "0", "GiB", "-1KiB", "1XB", "1e9", "one"])
def test_what_is_no_size(text):
    with pytest.raises(UsageError, match="is not a size") as raised:
        parse_bytes(text, "--memory")
    assert raised.value.field == "--memory"
    assert "MiB" in str(raised.value.hint)


def test_sizes_for_people():
    assert [format_bytes(size) for size in (0, 1023, 1536, 3 * 2**20, -(2**30), 5 * 2**40)] == [
        "0 B",
        "1023 B",
        "1.5 KiB",
        "3 MiB",
        "-1 GiB",
        "5 TiB",
    ]
