"""A whole cluster in one value: reading it from a live master, and keeping it in a file."""

from mesosctl.ops.snapshot.files import write_file
from mesosctl.ops.snapshot.reading import read_picture

__all__ = ["read_picture", "write_file"]
