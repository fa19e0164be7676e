"""`mesosctl whatif --replay`: the options of a replay, and its answer."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from mesosctl.cli.session import Session
from mesosctl.model.errors import UsageError
from mesosctl.model.exit_status import ExitStatus
from mesosctl.model.notation import parse_span
from mesosctl.planning.replay import DEFAULT_REFUSE, DEFAULT_WAIT_LIMIT, WARN_ABOVE
from mesosctl.planning.whatif_changes import Change

if TYPE_CHECKING:
    from mesosctl.operations.replay import PlayedDemand, TimedChange
    from mesosctl.output.formats.report import Report
    from mesosctl.planning.added_framework import AddedFramework
    from mesosctl.planning.replay import Replay
    from mesosctl.planning.whatif_variants import Template

    Several = tuple[tuple[str, Change], ...] | Template


class ReplayWords(NamedTuple):
    """The options of a replay, as they are typed."""

    file: Path
    since: str | None
    until: str | None
    cluster_id: str | None
    wait_limit: str | None
    refuse: str | None
    mesos_version: str | None
    uncalibrated: bool
    force: bool
    allow_new_resource: bool
    report: str | None
    add_frameworks: Sequence[str] = ()
    several: "Several | None" = None
    """Of --each or --find-largest."""


AT = "at:"
"""Begins a word that is the moment from which the changes after it hold."""


def answer_replay(
    session: Session, given: ReplayWords, wanted: Sequence[tuple[str, Change]], words: Sequence[str]
) -> ExitStatus:
    """Replay a recording; `wanted` are the changes that options name, `words` those of CHANGES with at:TIME between.

    Raises UsageError, BadInput, and Conflict if the replay is too far from the recording.
    """
    from mesosctl.history.contents import chosen_cluster
    from mesosctl.history.records import MICROS, Window, to_seconds
    from mesosctl.history.sqlite import open_recording
    from mesosctl.history.windows import parse_time, window_of
    from mesosctl.operations.replay import (
        ReplayOptions,
        TimedChange,
        check_replayable,
        compare_replays,
        play_unchanged,
        read_demand,
    )
    from mesosctl.operations.whatif import named_changes
    from mesosctl.output.forecasts.replay import replay_report
    from mesosctl.planning.added_framework import parse_added_framework

    added = [parse_added_framework(word) for word in given.add_frameworks]
    with open_recording(given.file) as recording:
        cluster = chosen_cluster(recording, given.cluster_id)
        start, end = window_of(cluster, given.since, given.until)
        changes = [TimedChange(word, change) for word, change in wanted]
        at: float | None = None
        for word in words:
            if word.startswith(AT):
                at = to_seconds(parse_time(word.removeprefix(AT), "CHANGES", cluster.last_seen or end))
                if not start / MICROS <= at < end / MICROS:
                    raise UsageError(f"'{word}' is not in the time that is replayed", field="CHANGES")
                continue
            changes += [TimedChange(name, change, at) for name, change in named_changes([word])]
        demand = read_demand(recording, cluster, Window(start, end), given.mesos_version)

    options = ReplayOptions(
        DEFAULT_WAIT_LIMIT if given.wait_limit is None else parse_span(given.wait_limit, "--wait-limit"),
        DEFAULT_REFUSE if given.refuse is None else parse_span(given.refuse, "--refuse"),
        given.uncalibrated,
        given.force,
        given.allow_new_resource,
    )
    if given.several is not None:
        several = given.several
        check_replayable([*changes, *(TimedChange(*one) for one in (several if isinstance(several, tuple) else ()))])
        unchanged = play_unchanged(demand, options, lambda part: session.progress("playing the recording", part))
        return _answer_several(session, given, unchanged, changes, added)
    answer = compare_replays(
        demand, changes, options, added, lambda part: session.progress("playing the recording", part), session.note
    )
    session.end_progress()
    _tell(session, replay_report(answer), answer, given)
    return ExitStatus.DONE if answer.is_harmless else ExitStatus.ANSWER_IS_NO


def _tell(session: Session, shown: "Report", answer: "Replay", given: ReplayWords, *, with_page: bool = True) -> None:
    """Emit an answer, and the page of its replay; a page on standard output is the only output there."""
    if not session.is_output(given.report, "--report"):
        session.emit(shown)
    if answer.calibration.distance > WARN_ABOVE:
        session.note(f"the replay differs from the recording: {answer.calibration.sentence}")
    if given.report is None or not with_page:
        return
    import shlex

    from mesosctl import __version__
    from mesosctl.output.forecasts.page import Origin
    from mesosctl.output.forecasts.replay import replay_page

    command = shlex.join(("mesosctl", *session.environment.words))
    session.emit_page(replay_page(answer, Origin(command, __version__, file=str(given.file))), given.report)


def _answer_several(
    session: Session,
    given: ReplayWords,
    unchanged: "PlayedDemand",
    changes: "Sequence[TimedChange]",
    added: "Sequence[AddedFramework]",
) -> ExitStatus:
    from mesosctl.operations.whatif_variants import ReplayedVariants
    from mesosctl.output.forecasts.variants import largest_replay_report, replayed_alternatives_report

    variants = ReplayedVariants(unchanged, changes, added, session.progress)
    if isinstance(given.several, tuple):
        found = list(variants.each([word for word, _ in given.several]))
        session.end_progress()
        _tell(session, replayed_alternatives_report(found), found[0].answer, given)
        return ExitStatus.DONE if any(one.answer.is_harmless for one in found) else ExitStatus.ANSWER_IS_NO
    assert given.several is not None, "several are given"
    largest = variants.find_largest(given.several)
    session.end_progress()
    shown = largest.best or largest.beyond
    answer = unchanged.play_with(()) if shown is None else shown.answer
    _tell(session, largest_replay_report(largest), answer, given, with_page=largest.best is not None)
    return ExitStatus.ANSWER_IS_NO if largest.best is None else ExitStatus.DONE
