"""A cleanup as a report."""

from collections.abc import Sequence

from mesosctl.apply.plan import Step
from mesosctl.apply.report import plan_report
from mesosctl.cleanup import documents
from mesosctl.cleanup.unused import Cleanup, CleanupSelection, ResourcesInUse
from mesosctl.mesos.amounts.notation import listed
from mesosctl.show.report import MOST_LINES, Report, rest_line


def in_use_text(left: Sequence[ResourcesInUse]) -> str:
    """The resources that a cleanup leaves, as one sentence."""
    return listed([in_use.sentence for in_use in left], MOST_LINES)


def cleanup_report(
    steps: Sequence[Step], done: int, *, applied: bool, cleanup: Cleanup, wanted: CleanupSelection
) -> Report:
    """The plan of a cleanup like any other, with what is in use and stays."""
    left = cleanup.left

    def document() -> documents.CleanupPlan:
        return documents.CleanupPlan(applied=applied, steps=[], left=list(map(documents.InUse.of, left)))

    lines = [f"  {in_use.sentence}" for in_use in left[:MOST_LINES]]
    if len(left) > MOST_LINES:
        lines.append(rest_line(len(left) - MOST_LINES))
    return plan_report(steps, done, applied=applied)._replace(
        document=document,
        empty="" if left else _nothing_to_clean_up(cleanup, wanted),
        remark=["", "in use, and left:", *lines] if left else [],
    )


def _nothing_to_clean_up(cleanup: Cleanup, wanted: CleanupSelection) -> str:
    """Why a cleanup has no steps: nothing is reserved for what is selected, or only by an agent's configuration."""
    selected = wanted.in_words
    if cleanup.static:
        only = "only static reservations, which are part of an agent's configuration"
        return f"nothing to clean up: {selected} has {only}"
    return f"nothing to clean up: {selected} has no volumes and no reservations"
