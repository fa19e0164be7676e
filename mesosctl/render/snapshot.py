"""Snapshots as reports."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mesosctl.core.picture import ClusterPicture
from mesosctl.core.picture_changes import PictureChange
from mesosctl.render.report import NOTHING, Column, Report

if TYPE_CHECKING:
    from mesosctl.render import snapshot_documents as documents


def snapshot_taken(picture: ClusterPicture, file: str) -> Report:
    """What a snapshot holds, and where it is."""

    def document() -> "documents.SnapshotTaken":
        from mesosctl.render import snapshot_documents as documents

        return documents.SnapshotTaken.of(picture, file)

    counts = {
        "agents": len(picture.agents),
        "frameworks": len(picture.frameworks),
        "tasks": sum(usage.tasks for usage in picture.usages),
        "offers": len(picture.offers),
        "quotas": len(picture.quotas),
        "weights": len(picture.weights),
    }
    return Report(
        [Column("FILE"), Column("MESOS"), *(Column(name.upper()) for name in counts)],
        [[file, picture.version, *map(str, counts.values())]],
        [file],
        document,
        lambda: [document()],
        remark=["", "not told by the master:", *(f"  {sentence}" for sentence in picture.untold)]
        if picture.untold
        else (),
        done=f"{file} is written",
    )


def picture_changes(found: Sequence[PictureChange]) -> Report:
    """What is different between two snapshots."""

    def items() -> "list[documents.SnapshotChange]":
        from mesosctl.render import snapshot_documents as documents

        return [documents.SnapshotChange.of(change) for change in found]

    def document() -> "documents.SnapshotComparison":
        from mesosctl.render import snapshot_documents as documents

        return documents.SnapshotComparison(changes=items())

    return Report(
        [Column("KIND"), Column("NAME"), Column("WHAT"), Column("BEFORE"), Column("AFTER")],
        [
            [change.kind, change.name, change.what or NOTHING, change.before or NOTHING, change.after or NOTHING]
            for change in found
        ],
        [f"{change.kind}/{change.name}" for change in found],
        document,
        items,
        empty="no difference",
    )
