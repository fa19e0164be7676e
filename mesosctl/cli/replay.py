"""`mesosctl whatif --replay`: the options of a replay, and its answer."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from mesosctl.cli.session import Session
from mesosctl.model.errors import UsageError
from mesosctl.model.exit_status import ExitStatus
from mesosctl.model.notation import parse_span
from mesosctl.planning.replay import DEFAULT_REFUSE, DEFAULT_WAIT_LIMIT, WARN_ABOVE
from mesosctl.planning.whatif_changes import Change


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
    from mesosctl.operations.replay import ReplayOptions, TimedChange, compare_replays, read_demand
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
    answer = compare_replays(
        demand, changes, options, added, lambda part: session.progress("playing the recording", part), session.note
    )
    session.end_progress()
    instead = session.is_output(given.report, "--report")
    if not instead:
        session.emit(replay_report(answer))
    if answer.calibration.distance > WARN_ABOVE:
        session.note(f"the replay differs from the recording: {answer.calibration.sentence}")
    if given.report is not None:
        import shlex

        from mesosctl import __version__
        from mesosctl.output.forecasts.page import Origin
        from mesosctl.output.forecasts.replay import replay_page

        command = shlex.join(("mesosctl", *session.environment.words))
        session.emit_page(replay_page(answer, Origin(command, __version__, file=str(given.file))), given.report)
    return ExitStatus.DONE if answer.is_harmless else ExitStatus.ANSWER_IS_NO
