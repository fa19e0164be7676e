"""Amounts of memory in bytes, as a person types them."""

import re

from mesosctl.core.errors import UsageError

_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)\s*([KMGT]?)(?:i?B)?", re.ASCII | re.IGNORECASE)
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}


def parse_bytes(text: str, field: str) -> int:
    """Bytes of "2GiB", "512MB" or "1024"; KB to TB are powers of 1024, as in Mesos.

    Raises UsageError unless at least one byte.
    """
    match = _SIZE.fullmatch(text.strip())
    size = int(float(match[1]) * 1024 ** _POWERS[match[2].upper()]) if match is not None else 0
    if size < 1:
        raise UsageError(f"'{text}' is not a size", field=field, hint="write for example 2GiB, 512MiB or 1KiB")
    return size


def format_bytes(size: int) -> str:
    """Bytes for people: "1.5 GiB"; below zero with a sign."""
    value, sign = float(abs(size)), "-" if size < 0 else ""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{sign}{round(value, 2):g} {unit}"
        value /= 1024
    return f"{sign}{round(value, 2):g} TiB"
