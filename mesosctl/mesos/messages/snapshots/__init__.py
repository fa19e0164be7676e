"""A snapshot of a cluster as JSON."""

LARGEST = 512 << 20
"""The most bytes of a snapshot, as of an answer of a master."""
