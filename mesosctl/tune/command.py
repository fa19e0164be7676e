"""`mesosctl tune`."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import islice
from pathlib import Path
from typing import Annotated

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
    refuse_to_overwrite,
    save_option,
)
from mesosctl.cli.command import Group, SingleCommand, examples
from mesosctl.cli.environment import named, read_text
from mesosctl.cli.report_origin import origin
from mesosctl.cli.session import Session
from mesosctl.files.desired_state import dump
from mesosctl.files.writing import write_atomically
from mesosctl.history.contents import chosen_cluster
from mesosctl.history.records import Window
from mesosctl.history.sqlite import open_recording
from mesosctl.history.windows import window_of
from mesosctl.mesos.amounts.notation import counted, format_span, parse_span
from mesosctl.mesos.door.replay import DEFAULT_REFUSE, WARN_ABOVE, RecordedDemand
from mesosctl.mesos.errors import UsageError
from mesosctl.mesos.exit_status import ExitStatus, status_of
from mesosctl.replay.work import read_demand
from mesosctl.suggestion import command
from mesosctl.tune.dask_workers import CONNECTING, OnDask
from mesosctl.tune.evidence import EvidenceFile, fingerprint
from mesosctl.tune.goals import load
from mesosctl.tune.report import Tuned, same_window, tuning_page, tuning_report
from mesosctl.tune.search import DEFAULT_TRIES, MOST_TRIES, Candidate, Tuning
from mesosctl.tune.work import InProcesses, Players, TuningOptions, notes_of, space_of
from mesosctl.tune.work import tune as search
from mesosctl.whatif.played_demand import ReplayOptions

Playing = Callable[[RecordedDemand, ReplayOptions], AbstractContextManager[Players]]

app = typer.Typer(cls=Group, rich_markup_mode=None)

GoalsFile = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="The goals of roles, and what may be changed within which bounds, in TOML; - is standard input.",
        show_default=False,
    ),
]
Recording = Annotated[
    Path,
    typer.Option(
        "--replay",
        metavar="FILE",
        parser=named_file("--replay", ONLY_BY_NAME),
        help="The recording whose demand each candidate is replayed on.",
        show_default=False,
    ),
]
Refuse = Annotated[str | None, refuse_option()]
Force = Annotated[bool, typer.Option("--force", help="Skip the capacity check.", show_default=False)]
Tries = Annotated[
    int,
    typer.Option(
        "--tries",
        metavar="N",
        min=2,
        max=MOST_TRIES,
        help="The most candidates to replay before giving up; then some more to make the change smaller.",
    ),
]
Seed = Annotated[
    int, typer.Option("--seed", metavar="N", help="Decides the order of candidates that are equally likely.")
]
For = Annotated[
    str | None,
    typer.Option(
        "--for",
        metavar="SPAN",
        help="Start no more replays after this time, such as 10m, and answer with what was found.",
    ),
]
Workers = Annotated[
    str | None,
    typer.Option(
        "--workers",
        metavar="ADDRESS",
        help="Replay on the workers of a Dask cluster, such as tcp://HOST:8786, instead of on this machine; it needs "
        "mesosctl[dask].",
    ),
]
Save = Annotated[Path | None, save_option("Also write the settings that were found to this file, for plan and apply.")]
Page = Annotated[
    str | None,
    typer.Option(
        "--report",
        metavar="FILE",
        help="Also write an HTML page that draws what stands against what; - writes only the page, to standard output.",
    ),
]


@app.command(
    "tune",
    cls=SingleCommand,
    epilog=examples(
        ("tune goals.toml --replay h.sqlite", "the smallest change that meets the goals"),
        ("tune goals.toml --replay h.sqlite --save wanted.toml", "the same, with a file for plan and apply"),
        ("tune goals.toml --replay h.sqlite --for 10m --report tuning.html", "within ten minutes, with a page"),
        ("tune goals.toml --replay h.sqlite --workers tcp://dask:8786", "on the workers of a Dask cluster"),
    ),
)
def tune(  # noqa: PLR0913  # one parameter an option
    ctx: typer.Context,
    goals: GoalsFile,
    *,
    replay: Recording,
    since: Since = None,
    until: Until = None,
    cluster_id: ClusterId = None,
    refuse: Refuse = None,
    mesos_version: MesosVersion = None,
    uncalibrated: Uncalibrated = False,
    force: Force = False,
    allow_new_resource: AllowNewResource = False,
    tries: Tries = DEFAULT_TRIES,
    seed: Seed = 0,
    time_limit: For = None,
    workers: Workers = None,
    save: Save = None,
    report: Page = None,
) -> ExitStatus:
    """Find quotas, limits and weights that meet goals, by replaying a recording under many of them.

    Goals are about the waits and the hours of roles. The reference page "Goals file" (docs/reference/goals-file.md)
    describes every key. Each candidate is replayed from the beginning of the recording, and nothing counts as met that
    was not replayed. The answer is the smallest change that was found to meet all goals.
    What was replayed is kept, so after an interruption the same command goes on. While a recording grows, give it the
    --until that mesosctl tells. The cluster itself is not changed. The exit status is 1 if no candidate is known
    to meet all goals.
    """
    session: Session = ctx.obj
    refuse_to_overwrite(replay, report, "--report")
    refuse_to_overwrite(replay, save, "--save")
    if save is not None and save.exists():
        if goals != "-" and save.samefile(goals):
            raise UsageError("--save is the goals file, which would be lost", field="--save", hint="name another file")
        session.confirm(
            "Replace it?", f"{save} is there already, and would be lost", "name another file, or use --yes in a script"
        )
    seconds = None if time_limit is None else parse_span(time_limit, "--for")
    declines = DEFAULT_REFUSE if refuse is None else parse_span(refuse, "--refuse")
    wanted = load(read_text(goals, "FILE", session.environment.stdin), named(goals))
    with _connected(session, workers) as playing:  # before a long recording is read
        with open_recording(replay) as recording:
            cluster = chosen_cluster(recording, cluster_id)
            demand = read_demand(recording, cluster, Window(*window_of(cluster, since, until)), mesos_version)
        space = space_of(wanted, demand, allow_new_resource=allow_new_resource)
        for sentence in notes_of(wanted.goals, demand):
            session.note(sentence)
        terms = ReplayOptions(
            refuse=declines, uncalibrated=uncalibrated, force=force, allow_new_resource=allow_new_resource
        )
        store = EvidenceFile(session.environment.variables, fingerprint(demand, terms))
        for sentence in store.told:
            session.warn(sentence)
        told = len(store.told)
        clock = session.environment.clock
        begin = clock()
        try:
            with playing(demand, terms) as players:
                options = TuningOptions(
                    terms,
                    tries,
                    seed,
                    _progress(session, clock, players.at_once),
                    lambda: seconds is None or clock() - begin < seconds,
                )
                tuning = search(demand, space, wanted.goals, players, store, options)
        except KeyboardInterrupt as stopped:
            if store.count:
                stopped.add_note(_kept(store, demand))
            raise
        finally:
            session.end_progress()
            for sentence in store.told[told:]:
                session.warn(sentence)
    return _answer(session, Tuned(demand, tuning, seed), replay, cluster.address, save, report)


@contextmanager
def _connected(session: Session, workers: str | None) -> Iterator[Playing]:
    """Where candidates of a demand are played.  Raises what connecting to the workers raises."""
    if workers is None:
        yield InProcesses
        return

    with OnDask(workers, session.said.timeout or CONNECTING) as cluster:
        yield cluster.playing


def _kept(store: EvidenceFile, demand: RecordedDemand) -> str:

    return (
        f"{counted(store.count, 'finished replay')} of this run kept in {store.path}; the same command with "
        f"{same_window(demand)} goes on from there"
    )


def _progress(session: Session, clock: Callable[[], float], at_once: int) -> Callable[[Tuning, int], None]:
    """Show how many candidates were replayed, how long one takes, and the best so far."""
    begin = clock()
    seen = 0
    nearest: Candidate | None = None

    def tell(tuning: Tuning, played: int) -> None:
        nonlocal seen, nearest
        new = islice(tuning.tried, seen, None)  # candidates are in the order in which they were tried
        nearest = min([*new, *([] if nearest is None else [nearest])], key=tuning.rank, default=None)
        seen = len(tuning.tried)
        sentence = f"{counted(seen, 'candidate')} tried"
        if played:
            each = (clock() - begin) / played
            sentence += f", {format_span(each * at_once)} each and {at_once} at once"
        if nearest is not None and tuning.meets_all(nearest):
            sentence += f"; found {tuning.space.quoted(nearest) or 'nothing to change'}, making it smaller"
        elif nearest is not None:
            sentence += f"; the best meets {sum(tuning.met(nearest))} of {len(tuning.goals)} goals"
        session.progress(sentence)

    return tell


def _answer(
    session: Session, answer: Tuned, replay: Path, recorded: str, save: Path | None, report: str | None
) -> ExitStatus:

    tuning = answer.tuning
    instead = session.is_output(report, "--report")
    if not instead:
        session.emit(tuning_report(answer))
    unchanged = tuning.tried.get(tuning.space.unchanged)
    if unchanged is not None and unchanged.calibration and unchanged.calibration.distance > WARN_ABOVE:
        session.note(f"the replay differs from the recording: {unchanged.calibration.sentence}")
    if save is not None:
        _save(session, tuning, save)
    if report is not None:
        session.emit_page(tuning_page(answer, origin(session, str(replay), recorded)), report)
    return status_of(tuning.answer)


def _save(session: Session, tuning: Tuning, save: Path) -> None:
    """Write the desired state of the answer, if there is something to change."""
    old = "; the old one is still there" if save.exists() else ""
    if tuning.best is None:
        session.note(f"nothing was found, so {save} is not written{old}")
    elif tuning.best == tuning.space.unchanged:
        session.note(f"there is nothing to change, so {save} is not written{old}")
    else:
        write_atomically(save, dump(tuning.space.desired(tuning.best)), field="--save")
        session.note(f"written to {save}; {command('plan', f=save)} shows what it changes")
