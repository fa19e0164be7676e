"""A cluster in a file of either kind: a snapshot (JSON), or a cluster file (TOML)."""

from dataclasses import replace
from io import BufferedIOBase
from pathlib import Path

from fake_master.sources.cluster_file import ClusterSpec, read_cluster
from fake_master.sources.snapshot import RestoredCluster, fingerprint_of, read_snapshot
from mesosctl.files.reading import open_file, read_within, unreadable_hint, why_unreadable
from mesosctl.mesos.errors import BadInput
from mesosctl.mesos.messages.snapshots.snapshot import rewindable

Source = ClusterSpec | RestoredCluster
_ENOUGH = 256
"""The bytes that tell which kind it is."""


def read_source(path: Path, mesos_version: str | None = None) -> Source:
    """Return the cluster in a file; `mesos_version` replaces its own.  Raises BadInput."""
    try:
        with open_file(path) as opened:
            file = rewindable(opened, str(path))
            source = read_opened(file, str(path), mesos_version)
            if isinstance(source, RestoredCluster):
                return replace(source, fingerprint=fingerprint_of(file))
            return source
    except (OSError, ValueError) as error:
        raise BadInput(f"{path} cannot be read: {why_unreadable(error)}", hint=unreadable_hint(path, error)) from error


def read_opened(file: BufferedIOBase, where: str, mesos_version: str | None = None) -> Source:
    """Return the cluster in a file that is open at its beginning; a pipe will do.  Raises BadInput and OSError."""
    file = rewindable(file, where)
    start = file.read(_ENOUGH)
    file.seek(0)
    if where.endswith(".json") or start.lstrip().startswith(b"{"):
        try:
            return read_snapshot(file, where, mesos_version)
        except BadInput as error:
            if error.rule == "file.snapshot":
                error.hint = "mesosctl snapshot --master ADDRESS -f FILE writes one"
            raise
    try:
        cluster = read_cluster(read_within(file).decode(), where)
        return cluster if mesos_version is None else replace(cluster, mesos_version=mesos_version)
    except UnicodeDecodeError as error:
        raise BadInput(
            f"{where} cannot be read: {why_unreadable(error)}", hint=unreadable_hint(where, error)
        ) from error
