"""A cluster file, read as the fake master reads it."""

from pathlib import Path

from fake_master.sources.cluster_file import ClusterSpec
from fake_master.sources.source_file import read_source


def read_cluster_file(path: Path) -> ClusterSpec:
    """Return the cluster of a cluster file.  Raises BadInput."""
    cluster = read_source(path)
    assert isinstance(cluster, ClusterSpec)
    return cluster
