"""`mesosctl replay`."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from mesosctl.cli.arguments import (
    ONLY_BY_NAME,
    AllowNewResource,
    ClusterId,
    MesosVersion,
    Since,
    Uncalibrated,
    Until,
    named_file,
    refuse_option,
    refuse_options,
    refuse_to_overwrite,
)
from mesosctl.cli.command import Group, SingleCommand, examples
from mesosctl.cli.meanings import Meaning
from mesosctl.cli.report_origin import origin
from mesosctl.cli.session import Session
from mesosctl.history.contents import chosen_cluster
from mesosctl.history.interface import Recording
from mesosctl.history.records import RecordedCluster, Window, to_seconds
from mesosctl.history.sqlite import open_recording
from mesosctl.history.windows import parse_time, window_of
from mesosctl.mesos.door.added_framework import FrameworkToAdd
from mesosctl.mesos.errors import MesosctlError, UsageError
from mesosctl.mesos.exit_status import ExitStatus
from mesosctl.mesos.rules.version_profile import Profile
from mesosctl.replay.report import (
    expected_wait_page,
    expected_wait_report,
    largest_replay_report,
    replayed_alternatives_report,
)
from mesosctl.replay.wait_runs import expected_wait
from mesosctl.replay.work import read_demand, replayed_variants, search_range
from mesosctl.whatif.added_frameworks import OF_ONE_TASK, parse_added_framework
from mesosctl.whatif.change_options import (
    Added,
    Attribute,
    Count,
    Force,
    Fraction,
    Lost,
    Several,
    added_framework_option,
    changes_of,
    each_option,
    find_largest_option,
    read_changes,
    read_several,
    wait_limit_option,
)
from mesosctl.whatif.changes import Change
from mesosctl.whatif.completion import replayed_changes as replayed_changes_offered
from mesosctl.whatif.played_demand import (
    PlayedDemand,
    ReplayOptions,
    TimedChange,
    check_replayable,
    compare_replays,
    play_unchanged,
)
from mesosctl.whatif.played_demand_answer import read_options, tell_answer
from mesosctl.whatif.played_demand_report import replay_report
from mesosctl.whatif.work import check_upgrade, named_changes

app = typer.Typer(cls=Group, rich_markup_mode=None)

AT = "at:"
"""Begins a word that is the moment from which the changes after it hold."""
RecordingFile = Annotated[
    Path,
    typer.Argument(
        metavar="RECORDING",
        parser=named_file("RECORDING", ONLY_BY_NAME),
        help="The recording, a SQLite file that history record or history import has written.",
        show_default=False,
    ),
]
Words = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[CHANGES...]",
        autocompletion=replayed_changes_offered,
        help="'quota:ROLE=cpus:12;mem:6GiB', limit:ROLE=cpus:16 (or none), remove-quota:ROLE, weight:ROLE=2, "
        "'reserve:AGENT=cpus(ROLE):2' (refined: cpus(ads>ads/video):2), 'unreserve:AGENT=cpus(ROLE):2', "
        "'create:AGENT=ID:disk(ROLE):1GiB', destroy:AGENT=ID. They hold from the beginning on, or from TIME on if "
        "at:TIME stands before them.",
        show_default=False,
    ),
    Meaning.AMOUNTS,
]
AddedFrameworks = Annotated[list[str] | None, added_framework_option("from the beginning on"), Meaning.AMOUNTS]
Each = Annotated[
    list[str] | None,
    each_option("Play each of the changes that the braces list, after one replay without them"),
    Meaning.AMOUNTS,
]
Largest = Annotated[str | None, find_largest_option("makes no role wait much longer"), Meaning.AMOUNTS]
Wait = Annotated[
    str | None,
    typer.Option(
        "--wait",
        metavar="TASK",
        help="Instead of a replay, say when one more task would start after the end: 'role=db;task=cpus:4'. The "
        "lifetimes on record say when what runs then will end.",
    ),
    Meaning.AMOUNTS,
]
Upgrade = Annotated[
    str | None,
    typer.Option(
        "--upgrade",
        metavar="VERSION",
        help="A master of this release of Mesos leads from the beginning on, or of an older one. It has taken over the "
        "recorded quotas, and the changes are made there.",
    ),
]
WaitLimit = Annotated[str | None, wait_limit_option()]
Refuse = Annotated[str | None, refuse_option()]
Page = Annotated[
    str | None,
    typer.Option(
        "--report",
        metavar="FILE",
        help="Also write the answer as an HTML page; - writes only the page, to standard output.",
    ),
]


@app.command(
    "replay",
    cls=SingleCommand,
    epilog=examples(
        ("replay h.sqlite 'quota:web=cpus:12'", "whether anybody would have waited under another quota"),
        ("replay h.sqlite at:2026-03-01T10:45Z limit:web=cpus:8", "the same for a limit from a moment on"),
        ("replay h.sqlite --each 'quota:web=cpus:{8,12,16}'", "three quotas, compared"),
        ("replay h.sqlite --upgrade 1.11", "whether anybody would have waited under another release of Mesos"),
        (
            "replay h.sqlite --add-framework 'role=db;task=cpus:2,mem:4GiB;tasks=200;every=10s;lasts=1h'",
            "when the tasks of another framework would start, and whom they would delay",
        ),
        ("replay h.sqlite --wait 'role=db;task=cpus:4'", "when one more task of db would start"),
        ("replay h.sqlite 'quota:web=cpus:12' -o jsonl", "each task: when it was asked for, and would have started"),
    ),
)
def replay(  # noqa: PLR0913  # one parameter an option
    ctx: typer.Context,
    recording: RecordingFile,
    words: Words = None,
    *,
    lose_agent: Lost = None,
    lose_fraction: Fraction = None,
    add_agent: Added = None,
    count: Count = None,
    attribute: Attribute = None,
    add_framework: AddedFrameworks = None,
    each: Each = None,
    find_largest: Largest = None,
    upgrade: Upgrade = None,
    wait: Wait = None,
    since: Since = None,
    until: Until = None,
    cluster_id: ClusterId = None,
    wait_limit: WaitLimit = None,
    refuse: Refuse = None,
    mesos_version: MesosVersion = None,
    uncalibrated: Uncalibrated = False,
    force: Force = False,
    allow_new_resource: AllowNewResource = False,
    report: Page = None,
) -> ExitStatus:
    """Play a recording without changes and with them: who would have waited, and for how long.

    A recording says which tasks were wanted, and when. The allocator of Mesos is asked for them again: agents come and
    go first, and then CHANGES are made. No cluster is asked or changed. The answer also says how close a replay without
    changes is to the recording. The exit status is 1 if a change is refused, or if in some role the tasks that wait
    longer than --wait-limit, or until the end, grow by more than one in a hundred. It is also 1 if that is unknown,
    because a recording of a master does not say when tasks were asked for. With --each, it is 1 only if this is so for
    every alternative. With --wait, it is 1 if the task would most likely not start within the longest lifetime on
    record.
    """
    session: Session = ctx.obj
    wanted = read_changes(
        lose_agent=lose_agent,
        lose_fraction=lose_fraction,
        add_agent=add_agent,
        count=count,
        attribute=attribute,
    )
    options = read_options(
        wait_limit, refuse, force=force, allow_new_resource=allow_new_resource, uncalibrated=uncalibrated
    )
    profile = None if upgrade is None else check_upgrade(upgrade)
    asked = _Asked(recording, since, until, cluster_id, mesos_version, options, report, profile)
    refuse_to_overwrite(recording, report, "--report")
    with _about_the_recording():
        if wait is None:
            several = read_several(each, find_largest, report)
            if several is not None:
                refuse_options({"--upgrade": upgrade}, "cannot be used with --each or --find-largest", "leave it out")
            added = [parse_added_framework(word) for word in add_framework or ()]
            return _answer_replay(session, asked, wanted, words or (), added, several)
        instead = {
            "CHANGES": words, "--lose-agent": lose_agent, "--lose-fraction": lose_fraction, "--add-agent": add_agent,
            "--add-framework": add_framework, "--each": each, "--find-largest": find_largest, "--upgrade": upgrade,
            "--wait-limit": wait_limit, "--uncalibrated": uncalibrated or None, "--force": force or None,
        }  # fmt: skip
        refuse_options(instead, "cannot be used with --wait", "leave one of them out")
        return _answer_wait(session, asked, parse_added_framework(wait, OF_ONE_TASK))


class _Asked(NamedTuple):
    """The subject of a question, and how it is answered."""

    file: Path
    since: str | None
    until: str | None
    cluster_id: str | None
    mesos_version: str | None
    options: ReplayOptions
    report: str | None
    upgrade: Profile | None
    """Of the master that leads instead of the recorded one."""

    @contextmanager
    def opened(self) -> Iterator[tuple[Recording, RecordedCluster, Window]]:
        """Yield the recording, the cluster in it and the time.  Raises UsageError, BadInput."""
        with open_recording(self.file) as recording:
            cluster = chosen_cluster(recording, self.cluster_id)
            yield recording, cluster, Window(*window_of(cluster, self.since, self.until))


@contextmanager
def _about_the_recording() -> Iterator[None]:
    """Name the argument in errors about a recording, for which other commands have an option."""
    try:
        yield
    except MesosctlError as error:
        if error.field in ("--history", "--replay"):
            error.field = "RECORDING"
        raise


def _answer_replay(
    session: Session,
    asked: _Asked,
    wanted: Sequence[tuple[str, Change]],
    words: Sequence[str],
    added: Sequence[FrameworkToAdd],
    several: Several | None,
) -> ExitStatus:
    """Replay a recording; `wanted` are the changes that options name, `words` those of CHANGES with at:TIME between.

    Raises UsageError, BadInput, and Conflict if the replay is too far from the recording.
    """
    alternatives = [TimedChange(*change) for change in changes_of(several)]
    with asked.opened() as (recording, cluster, window):
        changes = [*(TimedChange(*change) for change in wanted), *_timed(words, cluster, window)]
        check_replayable([*changes, *alternatives])
        each_task = several is None and session.form == "jsonl"
        demand = read_demand(recording, cluster, window, asked.mesos_version, with_ids=each_task)

    def progress(part: float) -> None:
        session.progress("playing the recording", part)

    if several is not None:
        unchanged = play_unchanged(demand, asked.options, progress)
        return _answer_several(session, asked, unchanged, changes, added, several, cluster.address)
    answer = compare_replays(demand, changes, asked.options, added, progress, session.note, asked.upgrade)
    page_of = origin(session, str(asked.file), cluster.address)
    tell_answer(session, replay_report(answer), answer, asked.report, page_of)
    return ExitStatus.DONE if answer.is_harmless else ExitStatus.ANSWER_IS_NO


def _timed(words: Sequence[str], cluster: RecordedCluster, window: Window) -> Iterator[TimedChange]:
    """The changes of CHANGES, each from the moment of the last at:TIME on.  Raises UsageError, RuleViolation."""
    assert window.since is not None, "the window is that of the command"
    assert window.until is not None, "the window is that of the command"
    at: float | None = None
    for word, following in zip_longest(words, words[1:]):
        if not word.startswith(AT):
            yield from (TimedChange(name, change, at) for name, change in named_changes([word]))
            continue
        if following is None or following.startswith(AT):
            raise UsageError(
                f"no change comes after '{word}'",
                field="CHANGES",
                hint="write the changes that hold from then on after it",
            )
        moment = parse_time(word.removeprefix(AT), "CHANGES", cluster.last_seen or window.until)
        at = to_seconds(moment)
        if not to_seconds(window.since) <= at < to_seconds(window.until):
            raise UsageError(f"'{word}' is not in the time that is replayed", field="CHANGES")


def _answer_several(
    session: Session,
    asked: _Asked,
    unchanged: PlayedDemand,
    changes: Sequence[TimedChange],
    added: Sequence[FrameworkToAdd],
    several: Several,
    recorded: str,
) -> ExitStatus:

    variants = replayed_variants(unchanged, changes, added, session.progress)
    if isinstance(several, tuple):
        found = list(variants.each([word for word, _ in several]))
        tell_answer(session, replayed_alternatives_report(found), found[0].answer, asked.report, None)
        return ExitStatus.DONE if any(variant.answer.is_harmless for variant in found) else ExitStatus.ANSWER_IS_NO
    largest = variants.find_largest(several, search_range(several, unchanged, changes))
    shown = largest.best or largest.beyond
    answer = unchanged.play_with(()) if shown is None else shown.answer
    page_of = None if largest.best is None else origin(session, str(asked.file), recorded)
    tell_answer(session, largest_replay_report(largest), answer, asked.report, page_of)
    return ExitStatus.ANSWER_IS_NO if largest.best is None else ExitStatus.DONE


def _answer_wait(session: Session, asked: _Asked, wanted: FrameworkToAdd) -> ExitStatus:
    """Say when one more task would start.  Raises UsageError and BadInput."""
    with asked.opened() as (recording, cluster, window):
        answer = expected_wait(recording, cluster, window, wanted, asked.options, asked.mesos_version, session.progress)
    session.end_progress()
    if not session.is_output(asked.report, "--report"):
        session.emit(expected_wait_report(answer))
    if asked.report is not None:
        page = expected_wait_page(answer, origin(session, str(asked.file), cluster.address))
        session.emit_page(page, asked.report)
    return ExitStatus.DONE if answer.percentile(50) is not None else ExitStatus.ANSWER_IS_NO
