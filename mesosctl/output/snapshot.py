"""Snapshots as reports."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from mesosctl.output.formats.report import NOTHING, Column, Report
from mesosctl.planning.snapshot import ClusterSnapshot
from mesosctl.planning.snapshot_differences import SnapshotDifference

if TYPE_CHECKING:
    from mesosctl.output.json_documents import snapshot as documents


def snapshot_taken(snapshot: ClusterSnapshot, file: str) -> Report:
    """The contents of a snapshot in figures, and its file."""

    def document() -> "documents.SnapshotTaken":
        from mesosctl.output.json_documents import snapshot as documents

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
        [[file, snapshot.version, *map(str, counts.values())]],
        [file],
        document,
        lambda: [document()],
        remark=["", "what the master does not show:", *(f"  {sentence}" for sentence in snapshot.unknown)]
        if snapshot.unknown
        else (),
        done=f"written to {file}",
    )


def snapshot_differences(found: Sequence[SnapshotDifference], agents: Mapping[str, str]) -> Report:
    """Differences between two snapshots; a terminal shows `agents`, names by id, instead of the ids."""

    def items() -> "list[documents.SnapshotChange]":
        from mesosctl.output.json_documents import snapshot as documents

        return [documents.SnapshotChange.of(change) for change in found]

    def document() -> "documents.SnapshotComparison":
        from mesosctl.output.json_documents import snapshot as documents

        return documents.SnapshotComparison(changes=items())

    shown = Report(
        [
            Column("KIND"),
            Column("NAME", rank=-1),
            Column("WHAT"),
            Column("BEFORE", kind="sentence", rank=1),
            Column("AFTER", kind="sentence"),
        ],
        [_row(change) for change in found],
        [f"{change.kind}/{change.name}" for change in found],
        document,
        items,
        empty="no difference",
    )
    return shown._replace(terminal=lambda: shown._replace(rows=[_row(_with_names(one, agents)) for one in found]))


def _row(change: SnapshotDifference) -> list[str]:
    return [change.kind, change.name, change.what or NOTHING, change.before or NOTHING, change.after or NOTHING]


def _with_names(change: SnapshotDifference, agents: Mapping[str, str]) -> SnapshotDifference:
    """The change of an agent, or of the agent of a task, with the names of agents."""
    if change.kind == "agent":
        return replace(change, name=agents[change.name])
    if change.what == "agent":
        before, after = (agents.get(one or "", one) for one in (change.before, change.after))
        return replace(change, before=before, after=after)
    return change
