"""The JSON about snapshots; the snapshot itself is `mesosctl.api.snapshots.snapshot`'s."""

from typing import Literal, Self

from mesosctl.output.documents.quota import Document, Strict
from mesosctl.planning.snapshot import ClusterSnapshot
from mesosctl.planning.snapshot_differences import SnapshotDifference


class SnapshotTaken(Document):
    """`snapshot -f FILE`."""

    kind: Literal["snapshot.taken"] = "snapshot.taken"
    file: str
    mesos_version: str
    agents: int
    frameworks: int
    tasks: int
    offers: int
    quotas: int
    weights: int
    untold: list[str]
    """Facts that the master does not tell, each with the assumption in its place."""

    @classmethod
    def of(cls, snapshot: ClusterSnapshot, file: str) -> Self:
        """Make it from the value."""
        return cls(
            file=file,
            mesos_version=snapshot.version,
            agents=len(snapshot.agents),
            frameworks=len(snapshot.frameworks),
            tasks=sum(usage.tasks for usage in snapshot.usages),
            offers=len(snapshot.offers),
            quotas=len(snapshot.quotas),
            weights=len(snapshot.weights),
            untold=list(snapshot.unknown),
        )


class SnapshotChange(Strict):
    """One difference; `before` or `after` is null if it does not exist."""

    of_kind: str
    name: str
    what: str
    before: str | None
    after: str | None

    @classmethod
    def of(cls, change: SnapshotDifference) -> Self:
        """Make it from the value."""
        return cls(of_kind=change.kind, name=change.name, what=change.what, before=change.before, after=change.after)


class SnapshotComparison(Document):
    """`snapshot --compare`."""

    kind: Literal["snapshot.comparison"] = "snapshot.comparison"
    changes: list[SnapshotChange]
