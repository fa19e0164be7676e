"""The contents of a recording: its clusters, how long each was seen, and the imported files."""

from dataclasses import dataclass

from mesosctl.history.interface import Recording
from mesosctl.history.records import Import, Micros, RecordedCluster, RowCounts
from mesosctl.mesos.errors import NotFound, UsageError
from mesosctl.suggestion import command, options_text


@dataclass(frozen=True, slots=True)
class ClusterContents:
    """A cluster, and how many rows it has."""

    cluster: RecordedCluster
    counts: RowCounts
    unseen: Micros
    """The length of all gaps together."""


@dataclass(frozen=True, slots=True)
class Contents:
    """All of a recording."""

    clusters: tuple[ClusterContents, ...]
    imports: tuple[Import, ...]


def contents(recording: Recording) -> Contents:
    """The clusters and imports of a recording."""
    return Contents(
        tuple(
            ClusterContents(
                cluster,
                recording.counts(cluster.cluster_id),
                sum(gap.end - gap.start for gap in recording.gaps(cluster.cluster_id)),
            )
            for cluster in recording.clusters()
        ),
        tuple(recording.imports()),
    )


def recording_commands() -> str:
    """The commands that write recordings, for a hint."""
    imported = command("history import", "LOG", format="csv", history="FILE")
    return f"{command('history record', history='FILE')} and {imported}"


def chosen_cluster(recording: Recording, cluster_id: str | None) -> RecordedCluster:
    """The cluster that --cluster-id names, or the only one.  Raises UsageError."""
    clusters = {cluster.cluster_id: cluster for cluster in recording.clusters()}
    known = ", ".join(clusters)
    if cluster_id is not None:
        if cluster_id not in clusters:
            raise UsageError(
                f"the recording has no cluster '{cluster_id}'",
                field="--cluster-id",
                hint=f"it has {known}" if known else "it is empty",
            )
        return clusters[cluster_id]
    if len(clusters) != 1:
        if not clusters:
            raise NotFound("the recording is empty", hint=f"{recording_commands()} fill it")
        raise UsageError(
            f"the recording has {len(clusters)} clusters, and none is chosen",
            field="--cluster-id",
            hint=f"give one of them: {' or '.join(options_text(cluster_id=cluster_id) for cluster_id in clusters)}",
        )
    return next(iter(clusters.values()))
