"""A cluster in a file, whichever of the two kinds it is: a snapshot (JSON), or a cluster file (TOML)."""

from io import BufferedIOBase
from pathlib import Path

from fake_master.cluster import ClusterSpec, read_cluster
from fake_master.pictured import Pictured, read_snapshot
from mesosctl.core.errors import BadInput
from mesosctl.core.reading import open_file, why_unreadable
from mesosctl.wire import toml_text
from mesosctl.wire.snapshot import rewindable

Source = ClusterSpec | Pictured
_ENOUGH = 256
"""Bytes that tell which it is."""


def read_source(path: Path, mesos_version: str | None = None) -> Source:
    """The cluster in a file; `mesos_version` for another than a snapshot's own.  Raises BadInput."""
    try:
        with open_file(path) as file:
            return read_opened(file, str(path), mesos_version)
    except (OSError, ValueError) as error:
        raise BadInput(f"{path} cannot be read: {why_unreadable(error)}") from error


def read_opened(file: BufferedIOBase, where: str, mesos_version: str | None = None) -> Source:
    """The same, of one that is open at its beginning; a pipe will do.  Raises BadInput, and OSError."""
    file = rewindable(file)
    start = file.read(_ENOUGH)
    file.seek(0)
    if where.endswith(".json") or start.lstrip().startswith(b"{"):
        return read_snapshot(file, where, mesos_version)
    try:
        return read_cluster(file.read(toml_text.LONGEST + 1).decode(), where)
    except UnicodeDecodeError as error:
        raise BadInput(f"{where} cannot be read: {why_unreadable(error)}") from error
