"""A cluster in a file of either kind: a snapshot (JSON), or a cluster file (TOML)."""

from dataclasses import replace
from io import BufferedIOBase
from pathlib import Path

from fake_master.sources.cluster_file import ClusterSpec, read_cluster
from fake_master.sources.snapshot import RestoredCluster, fingerprint_of, read_snapshot
from mesosctl.api.files import reading
from mesosctl.api.snapshots.snapshot import rewindable
from mesosctl.file_reading import open_file, unreadable_hint, why_unreadable
from mesosctl.model.errors import BadInput
from mesosctl.model.suggestion import on_cluster

Source = ClusterSpec | RestoredCluster
_ENOUGH = 256
"""The bytes that tell which kind it is."""


def read_source(path: Path, mesos_version: str | None = None) -> Source:
    """Return the cluster in a file; `mesos_version` replaces a snapshot's own.  Raises BadInput."""
    try:
        with open_file(path) as opened:
            file = rewindable(opened)
            with on_cluster(master="ADDRESS"):  # no hint asks the cluster that cannot be read
                source = read_opened(file, str(path), mesos_version)
            if isinstance(source, RestoredCluster):
                return replace(source, fingerprint=fingerprint_of(file))
            return source
    except (OSError, ValueError) as error:
        raise BadInput(f"{path} cannot be read: {why_unreadable(error)}", hint=unreadable_hint(path, error)) from error


def read_opened(file: BufferedIOBase, where: str, mesos_version: str | None = None) -> Source:
    """Return the cluster in a file that is open at its beginning; a pipe will do.  Raises BadInput and OSError."""
    file = rewindable(file)
    start = file.read(_ENOUGH)
    file.seek(0)
    if where.endswith(".json") or start.lstrip().startswith(b"{"):
        return read_snapshot(file, where, mesos_version)
    try:
        return read_cluster(file.read(reading.LONGEST + 1).decode(), where)
    except UnicodeDecodeError as error:
        raise BadInput(
            f"{where} cannot be read: {why_unreadable(error)}", hint=unreadable_hint(where, error)
        ) from error
