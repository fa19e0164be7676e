"""The JSON about snapshots; the snapshot itself is `mesosctl.wire.snapshot`'s."""

from typing import Literal, Self

from mesosctl.core.picture import ClusterPicture
from mesosctl.core.picture_changes import PictureChange
from mesosctl.render.documents import Document, Strict


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
    """What the master does not tell, each with what is assumed in its place."""

    @classmethod
    def of(cls, picture: ClusterPicture, file: str) -> Self:
        """From a value of core."""
        return cls(
            file=file,
            mesos_version=picture.version,
            agents=len(picture.agents),
            frameworks=len(picture.frameworks),
            tasks=sum(usage.tasks for usage in picture.usages),
            offers=len(picture.offers),
            quotas=len(picture.quotas),
            weights=len(picture.weights),
            untold=list(picture.untold),
        )


class SnapshotChange(Strict):
    """One difference; `before` or `after` is null where the thing is not there at all."""

    of_kind: str
    name: str
    what: str
    before: str | None
    after: str | None

    @classmethod
    def of(cls, change: PictureChange) -> Self:
        """From a value of core."""
        return cls(of_kind=change.kind, name=change.name, what=change.what, before=change.before, after=change.after)


class SnapshotComparison(Document):
    """`snapshot --compare`."""

    kind: Literal["snapshot.comparison"] = "snapshot.comparison"
    changes: list[SnapshotChange]
