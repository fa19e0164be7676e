"""Demand that `whatif --add-framework` and `replay` play: the options for it, and how the answer is told."""

from mesosctl.cli.session import Session
from mesosctl.mesos.amounts.notation import parse_span
from mesosctl.mesos.door.replay import DEFAULT_REFUSE, DEFAULT_WAIT_LIMIT, WARN_ABOVE, Replay
from mesosctl.show.html_page import ReportOrigin
from mesosctl.show.report import Report
from mesosctl.whatif.played_demand import ReplayOptions
from mesosctl.whatif.played_demand_report import replay_page


def read_options(
    wait_limit: str | None,
    refuse: str | None,
    *,
    force: bool,
    allow_new_resource: bool,
    uncalibrated: bool = False,
) -> ReplayOptions:
    """The options of that name, as values.  Raises UsageError."""
    return ReplayOptions(
        DEFAULT_WAIT_LIMIT if wait_limit is None else parse_span(wait_limit, "--wait-limit"),
        DEFAULT_REFUSE if refuse is None else parse_span(refuse, "--refuse"),
        uncalibrated,
        force,
        allow_new_resource,
    )


def tell_answer(
    session: Session, shown: Report, answer: Replay, report: str | None, origin: ReportOrigin | None
) -> None:
    """Emit an answer, and if it has an origin, its page; a page on standard output is the only output there."""
    session.end_progress()
    if not session.is_output(report, "--report"):
        session.emit(shown)
    if answer.calibration.distance > WARN_ABOVE:
        session.note(f"the replay differs from the recording: {answer.calibration.sentence}")
    if report is not None and origin is not None:
        session.emit_page(replay_page(answer, origin), report)
