"""`--dry-run`: a command runs as usual, but on a fake master that starts from a snapshot of the cluster."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mesosctl.cli.environment import named, opened
from mesosctl.cli.report_origin import origin
from mesosctl.cli.session import Question, Session
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.client.settings import ClientSettings, Credentials, Token
from mesosctl.mesos.cluster.message_rates import RecordedTraffic
from mesosctl.mesos.door.forecast import DEFAULT_CYCLES, AnsweredChange, Assumption, DryRunOptions, Forecast
from mesosctl.mesos.errors import DeadlinePassed
from mesosctl.mesos.exit_status import ExitStatus
from mesosctl.ratelimit.work import limits_if_allowed
from mesosctl.reading.notes import NO_LIMIT_OPTION, note_limit
from mesosctl.show.output_formats import ROWS_ALONE
from mesosctl.show.report import Report
from mesosctl.whatif.page import page
from mesosctl.whatif.report import forecast_report
from mesosctl.whatif.sentences import answer_text
from mesosctl.whatif.work import attempt, open_dry_run, start_dry_run_of_file, start_dry_run_of_master

if TYPE_CHECKING:
    from fake_master import DryRun


_NO_LIMIT_CHANGE = "limit:{role}=none sets no limit"
_NO_LIMIT = {
    "quota set": NO_LIMIT_OPTION,
    "quota update": NO_LIMIT_OPTION,
    "apply": 'limit = "none" in the file sets no limit',
}
"""How a command that is tried sets no limit; others cannot."""


class DryRunSession(Session):
    """A session whose master is the dry run's, so that nothing reaches a real one."""

    def __init__(self, session: Session, dry_run: "DryRun") -> None:
        self._live = session
        clock = dry_run.clock
        # Waiting is virtual too, and there are no questions, because nothing really happens.
        environment = replace(session.environment, clock=clock, sleep=clock.sleep, notes=[])
        super().__init__(environment, session.options._replace(no_wait=True, yes=True))
        self.verb = session.verb
        self._dry_run = dry_run
        self.reports: list[Report] = []

    def client_settings(self) -> ClientSettings:
        """The usual settings, with changes allowed; they are not real, and so not in the audit file."""
        return super().client_settings()._replace(may_change=True, changing=lambda _: None)

    def credentials(self) -> Credentials | Token | None:
        """Those of the live master."""
        return self._live.credentials()

    def open_master(self) -> LeadingMaster:
        """The dry run's."""
        return open_dry_run(self._dry_run, self.client_settings())

    def repeat_live(self, repeat: Callable[[LeadingMaster, LeadingMaster], object]) -> None:
        """See `Session.repeat_live`."""
        with self._live.open_master() as live, self.open_master() as master:
            self._dry_run.prepare(lambda: repeat(live, master))

    def identity(self, master: LeadingMaster) -> str:
        """Secrets of the live master; a dry run has none of its own."""
        del master
        with self._live.open_master() as live:
            return self._live.identity(live)

    def emit(self, report: Report) -> None:
        """Keep a report: it is part of the forecast."""
        self.reports.append(report)

    def agree(self, question: Question) -> None:
        """Nothing is asked, so a note says what would be lost."""
        if question.loss is not None:
            self.note(question.loss)

    def show(self, report: Report) -> None:
        """Nothing is asked, so nothing is shown before it."""


def start_dry_run(session: Session, name: str, run: Callable[[Session], object], report: str | None) -> ExitStatus:
    """Run the verb `name` in a dry run of the live master, and emit the forecast.  Raises what reading raises."""
    with session.open_master() as master:
        dry_run = start_dry_run_of_master(master, terms_of(session), session.progress)
    acting = DryRunSession(session, dry_run)
    returned: list[object] = []
    try:
        attempt(dry_run, lambda: returned.append(run(acting)), name=name)
    finally:
        acting.end_progress()
    session.environment.notes += acting.environment.take_notes()
    told = tell(session, dry_run.forecast(), report, acting.reports, no_limit=no_limit_of(name))
    return ExitStatus.ANSWER_IS_NO if ExitStatus.ANSWER_IS_NO in returned else told


def no_limit_of(verb: str) -> str | None:
    """How a command that is tried sets no limit, for a note; None if it cannot."""
    return _NO_LIMIT.get(verb)


def begin_dry_run(
    session: Session, source: Path | None, terms: DryRunOptions, traffic: RecordedTraffic | None
) -> "tuple[DryRun, RecordedTraffic | None]":
    """The dry run, and the traffic with the present rate limits, as far as they are known."""
    wants_limits = traffic is not None and traffic.today is None
    if source is not None:
        with opened(source, "--from", session.environment.stdin) as file:
            dry_run = start_dry_run_of_file(file, named(source), terms)
        for note in dry_run.notes:
            session.note(note)
        today = dry_run.rate_limits
        if wants_limits and today is None:
            session.note("a snapshot has no rate limits: give the present ones with --before FILE to compare with them")
    else:
        with session.open_master() as master:
            dry_run = start_dry_run_of_master(master, terms, session.progress)
            today = limits_if_allowed(master) if wants_limits else None
    return dry_run, replace(traffic, today=today) if traffic is not None and wants_limits else traffic


def terms_of(
    session: Session, cycles: int | None = None, assume: Assumption = "hold", mesos_version: str | None = None
) -> DryRunOptions:
    """The terms of a dry run, with this session's progress bar; a --timeout that was given limits it."""
    clock, seconds = session.environment.clock, session.said.timeout
    give_up = None if seconds is None else clock() + seconds

    def progress(part: float) -> None:
        if give_up is not None and clock() > give_up:
            raise DeadlinePassed(
                f"the forecast took longer than {seconds:g} s; {part * 100:.0f}% of the allocations were made",
                may_have_happened=False,
                hint="give a longer --timeout",
            )
        session.progress("making the allocations", part)

    return DryRunOptions(cycles or DEFAULT_CYCLES, assume, progress, mesos_version)


def tell(
    session: Session,
    forecast: Forecast,
    report: str | None,
    would: list[Report],
    source: str | None = None,
    no_limit: str | None = _NO_LIMIT_CHANGE,
) -> ExitStatus:
    """Emit a forecast and write its page; the exit status is 1 if it would do harm.  Raises BadInput.

    A page on standard output is the only output there.  `no_limit` says in a note how the command sets no limit.
    """
    emit_with_page(session, forecast_report(forecast, would), forecast, report, would, source, no_limit)
    return ExitStatus.DONE if forecast.is_harmless else ExitStatus.ANSWER_IS_NO


def emit_with_page(
    session: Session,
    answer: Report,
    forecast: Forecast,
    report: str | None,
    would: list[Report],
    source: str | None = None,
    no_limit: str | None = _NO_LIMIT_CHANGE,
) -> None:
    """Emit an answer and write the page of its forecast; a page on standard output is the only output there.

    `source` names the file that was read instead of a live master.  Raises BadInput.
    """
    session.end_progress()
    instead = session.is_output(report, "--report")
    if not instead:
        emit_answer(session, answer, [answered for answered in forecast.answers if not answered.accepted])
    for status in forecast.at_limit:
        note_limit(session, status, no_limit, would=True)
    if report is not None:
        session.emit_page(page(forecast, would, origin(session, source)), report)


def emit_answer(session: Session, answer: Report, refused: Sequence[AnsweredChange] = ()) -> None:
    """Emit an answer; csv and names have only its rows, so notes give the reason if the answer is no."""
    session.emit(answer)
    if session.form in ROWS_ALONE:
        for answered in refused:
            session.note(f"refused: {answer_text(answered)}")
        for verdict in (answer.terminal() if answer.terminal else answer).verdicts:
            if verdict.meaning == "not met":
                session.note(verdict.sentence)
