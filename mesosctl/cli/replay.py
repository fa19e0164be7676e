"""`mesosctl whatif --replay`: the options of a replay, and its answer."""

from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from mesosctl.cli.session import Session
from mesosctl.model.errors import BadInput, UsageError
from mesosctl.model.exit_status import ExitStatus
from mesosctl.model.notation import parse_span
from mesosctl.planning.replay import DEFAULT_REFUSE, DEFAULT_WAIT_LIMIT, WARN_ABOVE
from mesosctl.planning.whatif_changes import Change

if TYPE_CHECKING:
    from mesosctl.operations.replay import PlayedDemand, ReplayOptions, TimedChange
    from mesosctl.output.formats.html_page import Origin
    from mesosctl.output.formats.report import Report
    from mesosctl.planning.added_framework import AddedFramework
    from mesosctl.planning.replay import Replay
    from mesosctl.planning.whatif_variants import Template

    Several = tuple[tuple[str, Change], ...] | Template


class ReplayWords(NamedTuple):
    """The options of a replay, as they are typed."""

    file: Path | None
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
    from mesosctl.cli.report_origin import origin
    from mesosctl.history.contents import chosen_cluster
    from mesosctl.history.records import MICROS, Window, to_seconds
    from mesosctl.history.sqlite import open_recording
    from mesosctl.history.windows import parse_time, window_of
    from mesosctl.operations.replay import (
        TimedChange,
        check_replayable,
        compare_replays,
        play_unchanged,
        read_demand,
    )
    from mesosctl.operations.whatif import named_changes
    from mesosctl.output.forecasts.replay import replay_report
    from mesosctl.planning.added_framework import parse_added_framework

    assert given.file is not None, "a recording is replayed"
    added = [parse_added_framework(word) for word in given.add_frameworks]
    with open_recording(given.file) as recording:
        cluster = chosen_cluster(recording, given.cluster_id)
        start, end = window_of(cluster, given.since, given.until)
        changes = [TimedChange(word, change) for word, change in wanted]
        at: float | None = None
        for word, following in zip_longest(words, words[1:]):
            if word.startswith(AT):
                if following is None or following.startswith(AT):
                    raise UsageError(
                        f"no change comes after '{word}'",
                        field="CHANGES",
                        hint="write the changes that hold from then on after it",
                    )
                at = to_seconds(parse_time(word.removeprefix(AT), "CHANGES", cluster.last_seen or end))
                if not start / MICROS <= at < end / MICROS:
                    raise UsageError(f"'{word}' is not in the time that is replayed", field="CHANGES")
                continue
            changes += [TimedChange(name, change, at) for name, change in named_changes([word])]
        demand = read_demand(recording, cluster, Window(start, end), given.mesos_version)

    options = _options(given)
    if given.several is not None:
        several = given.several
        check_replayable([*changes, *(TimedChange(*one) for one in (several if isinstance(several, tuple) else ()))])
        unchanged = play_unchanged(demand, options, lambda part: session.progress("playing the recording", part))
        return _answer_several(session, given, unchanged, changes, added, cluster.address)
    answer = compare_replays(
        demand, changes, options, added, lambda part: session.progress("playing the recording", part), session.note
    )
    session.end_progress()
    _tell(session, replay_report(answer), answer, given, origin(session, str(given.file), cluster.address))
    return ExitStatus.DONE if answer.is_harmless else ExitStatus.ANSWER_IS_NO


def _options(given: ReplayWords) -> "ReplayOptions":
    from mesosctl.operations.replay import ReplayOptions

    return ReplayOptions(
        DEFAULT_WAIT_LIMIT if given.wait_limit is None else parse_span(given.wait_limit, "--wait-limit"),
        DEFAULT_REFUSE if given.refuse is None else parse_span(given.refuse, "--refuse"),
        given.uncalibrated,
        given.force,
        given.allow_new_resource,
    )


def answer_wait(session: Session, given: ReplayWords, word: str) -> ExitStatus:
    """Answer --wait from a recording.  Raises UsageError and BadInput."""
    from mesosctl.cli.report_origin import origin
    from mesosctl.history.contents import chosen_cluster
    from mesosctl.history.records import Window
    from mesosctl.history.sqlite import open_recording
    from mesosctl.history.windows import window_of
    from mesosctl.operations.expected_wait import expected_wait
    from mesosctl.output.forecasts.replay import expected_wait_page, expected_wait_report
    from mesosctl.planning.added_framework import OF_ONE_TASK, parse_added_framework

    assert given.file is not None, "lifetimes are those of a recording"
    wanted = parse_added_framework(word, OF_ONE_TASK)
    with open_recording(given.file) as recording:
        cluster = chosen_cluster(recording, given.cluster_id)
        window = Window(*window_of(cluster, given.since, given.until))
        answer = expected_wait(
            recording, cluster, window, wanted, _options(given), given.mesos_version, session.progress
        )
    session.end_progress()
    if not session.is_output(given.report, "--report"):
        session.emit(expected_wait_report(answer))
    if given.report is not None:
        session.emit_page(expected_wait_page(answer, origin(session, str(given.file), cluster.address)), given.report)
    return ExitStatus.DONE if answer.percentile(50) is not None else ExitStatus.ANSWER_IS_NO


def answer_added(
    session: Session, given: ReplayWords, wanted: Sequence[tuple[str, Change]], source: Path | None, cycles: int
) -> ExitStatus:
    """Play the tasks of --add-framework on the cluster as it is, or on a snapshot of it.

    Raises UsageError, BadInput, and what reading raises.
    """
    from mesosctl.cli.dry_run import begin_dry_run, terms_of
    from mesosctl.cli.environment import named
    from mesosctl.cli.report_origin import origin
    from mesosctl.operations.replay import add_to_snapshot
    from mesosctl.output.forecasts.replay import replay_report
    from mesosctl.planning.added_framework import OPTION, parse_added_framework

    added = [parse_added_framework(word) for word in given.add_frameworks]
    terms = terms_of(session, cycles)
    snapshot = begin_dry_run(session, source, terms, None)[0].snapshot
    if not snapshot.agents:
        raise BadInput(
            "a cluster file says how frameworks will behave, and not what runs now",
            field="--from",
            hint=f"{OPTION} takes a snapshot, or --master fake:FILE for the cluster of the file as it is now",
        )
    answer = add_to_snapshot(snapshot, wanted, _options(given), added, terms, session.note)
    session.end_progress()
    where = None if source is None else named(source)
    _tell(session, replay_report(answer), answer, given, origin(session, where))
    return ExitStatus.DONE if answer.is_harmless else ExitStatus.ANSWER_IS_NO


def _tell(session: Session, shown: "Report", answer: "Replay", given: ReplayWords, origin: "Origin | None") -> None:
    """Emit an answer, and if it has an origin, its page; a page on standard output is the only output there."""
    if not session.is_output(given.report, "--report"):
        session.emit(shown)
    if answer.calibration.distance > WARN_ABOVE:
        session.note(f"the replay differs from the recording: {answer.calibration.sentence}")
    if given.report is not None and origin is not None:
        from mesosctl.output.forecasts.replay import replay_page

        session.emit_page(replay_page(answer, origin), given.report)


def _answer_several(
    session: Session,
    given: ReplayWords,
    unchanged: "PlayedDemand",
    changes: "Sequence[TimedChange]",
    added: "Sequence[AddedFramework]",
    recorded: str,
) -> ExitStatus:
    from mesosctl.cli.report_origin import origin
    from mesosctl.operations.whatif_variants import ReplayedVariants
    from mesosctl.output.forecasts.variants import largest_replay_report, replayed_alternatives_report

    variants = ReplayedVariants(unchanged, changes, added, session.progress)
    if isinstance(given.several, tuple):
        found = list(variants.each([word for word, _ in given.several]))
        session.end_progress()
        _tell(session, replayed_alternatives_report(found), found[0].answer, given, None)
        return ExitStatus.DONE if any(one.answer.is_harmless for one in found) else ExitStatus.ANSWER_IS_NO
    assert given.several is not None, "several are given"
    largest = variants.find_largest(given.several)
    session.end_progress()
    shown = largest.best or largest.beyond
    answer = unchanged.play_with(()) if shown is None else shown.answer
    page_of = None if largest.best is None else origin(session, str(given.file), recorded)
    _tell(session, largest_replay_report(largest), answer, given, page_of)
    return ExitStatus.ANSWER_IS_NO if largest.best is None else ExitStatus.DONE
