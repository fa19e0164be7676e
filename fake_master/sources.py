"""A cluster in a file, whichever of the two kinds it is: a snapshot (JSON), or a cluster file (TOML)."""

import errno
import os
import stat
from io import BufferedIOBase, BufferedReader
from pathlib import Path

from fake_master.cluster import ClusterSpec, read_cluster
from fake_master.pictured import Pictured, read_snapshot
from mesosctl.core.errors import BadInput
from mesosctl.core.reading import why_unreadable
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


def open_file(path: Path) -> BufferedReader:
    """A file that is open to be read, without waiting.  Raises BadInput for what is none, as a device, and OSError."""
    # Whoever opens a pipe otherwise waits for somebody to write.
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    kind = stat.S_IFMT(os.fstat(descriptor).st_mode)
    if kind == stat.S_IFREG:
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    if kind == stat.S_IFDIR:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    raise BadInput(f"{path} cannot be read: it is no regular file", field=str(path))


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
