"""Snapshots as reports."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from mesosctl.mesos.cluster.snapshot import ClusterSnapshot
from mesosctl.show.lists import list_report, rows_of
from mesosctl.show.report import Column, Report
from mesosctl.snapshot import documents
from mesosctl.snapshot.differences import SnapshotDifference


def snapshot_taken(snapshot: ClusterSnapshot, file: str) -> Report:
    """The contents of a snapshot in figures, and its file."""

    def document() -> documents.SnapshotTaken:
        return documents.SnapshotTaken.of(snapshot, file)

    counts = {
        "agents": len(snapshot.agents),
        "frameworks": len(snapshot.frameworks),
        "tasks": sum(usage.tasks for usage in snapshot.usages),
        "offers": len(snapshot.offers),
        "quotas": len(snapshot.quotas),
        "weights": len(snapshot.weights),
    }
    return Report(
        [Column("FILE"), Column("MESOS"), *(Column(name.upper(), kind="number") for name in counts)],
        [
            [
                file,
                snapshot.profile.name if snapshot.profile.is_documents else snapshot.version,
                *map(str, counts.values()),
            ]
        ],
        [file],
        document,
        remark=["", "what the master does not show:", *(f"  {sentence}" for sentence in snapshot.unknown)]
        if snapshot.unknown
        else (),
        done=f"written to {file}",
    )


def snapshot_differences(found: Sequence[SnapshotDifference], agents: Mapping[str, str]) -> Report:
    """Differences between two snapshots; a terminal shows `agents`, names by id, instead of the ids."""
    columns: Sequence[Column[SnapshotDifference]] = (
        Column("KIND", lambda difference: difference.kind),
        Column("NAME", lambda difference: difference.name, rank=-1),
        Column("WHAT", lambda difference: difference.what),
        Column("BEFORE", lambda difference: difference.before, kind="sentence", rank=1),
        Column("AFTER", lambda difference: difference.after, kind="sentence"),
    )
    shown = list_report(
        documents.SnapshotComparison(changes=[]),
        found,
        columns,
        name=lambda difference: f"{difference.kind}/{difference.name}",
        empty="no difference",
    )
    named = [_with_names(difference, agents) for difference in found]
    return shown._replace(terminal=lambda: shown._replace(rows=rows_of(columns, named)))


def _with_names(change: SnapshotDifference, agents: Mapping[str, str]) -> SnapshotDifference:
    """The change of an agent, or of the agent of a task, with the names of agents."""
    if change.kind == "agent":
        return replace(change, name=agents[change.name])
    if change.what == "agent":
        before, after = (agents.get(agent_id or "", agent_id) for agent_id in (change.before, change.after))
        return replace(change, before=before, after=after)
    return change
