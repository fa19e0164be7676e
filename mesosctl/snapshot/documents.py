"""The JSON about snapshots; the snapshot itself is `mesosctl.mesos.messages.snapshots.snapshot`'s."""

from typing import Annotated, Literal, Self

from mesosctl.mesos.cluster.snapshot import ClusterSnapshot
from mesosctl.show.document import Document, Mirrored, named


class SnapshotTaken(Document):
    """`snapshot -f FILE`."""

    kind: Literal["snapshot.taken"] = "snapshot.taken"
    file: str
    mesos_version: str
    mesos_profile: str
    agents: int
    frameworks: int
    tasks: int
    offers: int
    quotas: int
    weights: int
    untold: list[str]
    """Facts that the master does not show, each with the assumption instead."""

    @classmethod
    def of(cls, snapshot: ClusterSnapshot, file: str) -> Self:
        """Make it from the value."""
        return cls(
            file=file,
            mesos_version=snapshot.version,
            mesos_profile=snapshot.profile.name,
            agents=len(snapshot.agents),
            frameworks=len(snapshot.frameworks),
            tasks=sum(usage.tasks for usage in snapshot.usages),
            offers=len(snapshot.offers),
            quotas=len(snapshot.quotas),
            weights=len(snapshot.weights),
            untold=list(snapshot.unknown),
        )


class SnapshotChange(Mirrored):
    """One difference; `before` or `after` is null if it does not exist."""

    of_kind: Annotated[str, named("kind")]
    name: str
    what: str
    before: str | None
    after: str | None


class SnapshotComparison(Document):
    """`snapshot --compare`."""

    kind: Literal["snapshot.comparison"] = "snapshot.comparison"
    changes: list[SnapshotChange]
