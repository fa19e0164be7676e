"""A scheduler in the master's own process, which gets values where others get events."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from fake_master.state.offers import OutstandingOffer
from fake_master.state.streams import EventStream
from fake_master.state.tasks import KnownTask, TaskStatus


class LocalScheduler(Protocol):
    """A scheduler in the master's own process.  It gets values instead of events, and only those that it can use."""

    def offered(self, offers: Sequence[OutstandingOffer]) -> None:
        """Take notice of new offers; called during an allocation run, so answer them later."""

    def updated(self, task: KnownTask, status: TaskStatus) -> None:
        """Take notice of the new status of a task; acknowledge it if it has a uuid."""

    def refused(self, message: str) -> None:
        """Take notice of an ERROR: the subscription was refused, or has ended."""


class LocalStream(EventStream):
    """The stream to a scheduler in this process: nothing is written, and nothing waits."""

    is_read = False

    def __init__(self, scheduler: LocalScheduler) -> None:
        super().__init__()
        self.scheduler = scheduler

    def send(self, event: Mapping[str, Any]) -> None:
        """Pass on an ERROR; the scheduler needs none of the other events."""
        if event["type"] == "ERROR":
            self.scheduler.refused(event["error"]["message"])
