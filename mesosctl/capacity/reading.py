"""The losses of a dry run, played for a command or for metrics."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from mesosctl.capacity.losses import Spare
from mesosctl.capacity.work import SpareTerms, find_spare
from mesosctl.cli.session import Session
from mesosctl.whatif.dry_run import DryRunSession
from mesosctl.whatif.work import ChangeRunner

if TYPE_CHECKING:
    from fake_master import DryRun


def play_losses(
    session: Session, dry_run: "DryRun", asked: Sequence[SpareTerms], progress: Callable[[str], None]
) -> list[Spare]:
    """Play the losses on the master of the dry run.  Raises UsageError."""
    acting = DryRunSession(session, dry_run)
    with acting.open_master() as master, acting.held_notes():
        return find_spare(dry_run, ChangeRunner(dry_run, master), asked, progress)
