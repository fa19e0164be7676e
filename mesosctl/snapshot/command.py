"""`mesosctl snapshot`."""

from pathlib import Path
from typing import Annotated

import typer

from mesosctl.cli.arguments import SnapshotSource, WrittenFile
from mesosctl.cli.command import Group, SingleCommand, examples
from mesosctl.cli.environment import STANDARD_INPUT, named, opened
from mesosctl.cli.questions import OTHER_CONTENT
from mesosctl.cli.session import Session
from mesosctl.files.writing import holds_another_text
from mesosctl.mesos.cluster.anonymisation import anonymised
from mesosctl.mesos.cluster.snapshot import ClusterSnapshot
from mesosctl.mesos.errors import UsageError
from mesosctl.mesos.exit_status import ExitStatus
from mesosctl.mesos.messages.snapshots import snapshot as snapshot_api
from mesosctl.mesos.roles import display_names
from mesosctl.reading.unreachable import unreachable_in_words
from mesosctl.snapshot.differences import changes
from mesosctl.snapshot.report import snapshot_differences, snapshot_taken
from mesosctl.snapshot.work import read_snapshot, write_file

app = typer.Typer(cls=Group, rich_markup_mode=None)

Anonymise = Annotated[
    bool,
    typer.Option(
        "--anonymize", "--anonymise", help="Keep amounts and structure, but replace the names.", show_default=False
    ),
]
Compare = Annotated[
    Path | None,
    typer.Option(
        "--compare",
        metavar="FILE",
        help="Show what has changed since this snapshot, and write no snapshot; - is standard input.",
    ),
]


@app.command(
    "snapshot",
    cls=SingleCommand,
    epilog=examples(
        ("snapshot -f cluster.json", "the whole cluster in one file"),
        ("--master fake:cluster.json quota set dev cpus:12", "try a change on a copy of the cluster"),
        ("snapshot --compare cluster.json", "what has changed since"),
        ("snapshot --compare monday.json --from friday.json", "two snapshots, no master"),
        ("snapshot --anonymize -f shape.json", "a snapshot to pass on"),
    ),
)
def snapshot(
    ctx: typer.Context,
    *,
    file: WrittenFile = None,
    source: SnapshotSource = None,
    anonymise: Anonymise = False,
    compare: Compare = None,
) -> ExitStatus:
    """Write a whole cluster to a file: agents, frameworks and what they hold, offers, quotas, weights, flags.

    --master fake:FILE makes a fake master from it. The file lists what the master does not show, and what is assumed
    instead. If FILE exists with other content, you are asked on a terminal before it is replaced. It is not written
    through a link that another user made. Nothing is changed. With --compare, the exit status is 1 if there is a
    difference.
    """
    session: Session = ctx.obj
    if compare is not None and (file is not None or anonymise):
        raise UsageError("--compare writes no snapshot", field="--compare", hint="leave out --file and --anonymize")
    if compare is not None:
        return _compare(session, compare, source)

    if file is not None and str(file) != "-" and session.environment.may_prompt and holds_another_text(file, ""):
        confirm_replacing(session, file)
    snapshot = take_snapshot(session, source)
    if anonymise:
        snapshot = anonymised(snapshot)
    if file is None or str(file) == "-":
        session.emit_pieces(session.kept(snapshot_api.lines(snapshot), "the snapshot"))
        return ExitStatus.DONE

    write_file(file, snapshot, lambda pieces: session.kept(pieces, str(file)))
    session.emit(snapshot_taken(snapshot, str(file)))
    return ExitStatus.DONE


def confirm_replacing(session: Session, file: object, case: str = OTHER_CONTENT) -> None:
    """Ask before a file with other content is replaced.  Raises UsageError."""
    session.confirm(
        "Replace it?",
        f"{file} has other content, which would be lost",
        "name another file, or use --yes in a script",
        case=case,
    )


def take_snapshot(session: Session, source: Path | None) -> ClusterSnapshot:
    """The snapshot in a file, or of the master."""
    if source is not None:
        return _kept(session, source, "--from")
    try:
        with session.open_master() as master:
            snapshot = read_snapshot(master, progress=session.progress)
    finally:
        session.end_progress()
    if snapshot.unreachable:
        names = {framework.id: framework.name or framework.id for framework in snapshot.frameworks}
        whose = [names[task.framework_id] for task in snapshot.unreachable_tasks]
        session.note(f"{unreachable_in_words(len(snapshot.unreachable), whose)}; the snapshot has the ids of both")
    return snapshot


def _kept(session: Session, path: Path, field: str) -> ClusterSnapshot:

    with opened(path, field, session.environment.stdin) as file:
        return snapshot_api.read(file, named(path))


def _compare(session: Session, before: Path, source: Path | None) -> ExitStatus:

    if str(before) == str(source) == STANDARD_INPUT:
        raise UsageError("standard input holds one snapshot, not two", field="--compare", hint="name a file")
    old = _kept(session, before, "--compare")
    new = take_snapshot(session, source)
    found = changes(old, new)
    names = display_names({agent.id: agent.hostname for snapshot in (old, new) for agent in snapshot.agents})
    session.emit(snapshot_differences(found, names))
    return ExitStatus.ANSWER_IS_NO if found else ExitStatus.DONE
