"""`mesosctl export`, `diff` and `apply`: a cluster and a file of what is wanted of it."""

import os
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mesosctl.cli.arguments import AllowNewResource, SnapshotSource, TrustMaster, WrittenFile, send_options
from mesosctl.cli.command import ChangeCommand, Command, Group, examples
from mesosctl.cli.environment import Written, named, read_text
from mesosctl.cli.session import Session
from mesosctl.model.errors import UsageError
from mesosctl.model.exit_status import ExitStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mesosctl.client.master import Master
    from mesosctl.operations.apply.journal import Journal
    from mesosctl.planning.desired_state import Actual
    from mesosctl.planning.plan import Step


app = typer.Typer(cls=Group, rich_markup_mode=None)

File = Annotated[
    str,
    typer.Option(
        "--file", "-f", metavar="FILE", help="The desired state in TOML, as export writes it; - is standard input."
    ),
]
Prune = Annotated[
    bool, typer.Option("--prune", help="Also remove what the file's sections do not name.", show_default=False)
]

ComparedToo = Annotated[
    bool, typer.Option("--prune", help="Also show what the file's sections do not name.", show_default=False)
]


@app.command(
    "diff",
    cls=Command,
    epilog=examples(
        ("diff -f cluster.toml", "show the differences"),
        ("diff -f cluster.toml --prune", "also show what the file does not name"),
    ),
)
def diff(
    ctx: typer.Context, *, file: File, prune: ComparedToo = False, allow_new_resource: AllowNewResource = False
) -> ExitStatus:
    """Show where quotas, weights and reservations differ from a file.

    Roles and reservations that the file does not name are ignored unless you give --prune. A quota without a limit
    means what quota set and quota update mean without --limit; "none" means no limit. Nothing is changed. The exit
    status is 1 if there is a difference.
    """
    from mesosctl.api.files.desired_state import load
    from mesosctl.api.files.line_numbers import places_in_toml
    from mesosctl.operations.apply.plan import compare
    from mesosctl.output.plan import wanted_differences

    session: Session = ctx.obj
    written = Written(file, read_text(file, "--file", session.environment.stdin), places_in_toml)
    wanted = load(written.text, named(file))
    with session.open_master() as master, written.refusals():
        found = compare(master, wanted, prune=prune, allow_new_resource=allow_new_resource)
    session.emit(wanted_differences(found))
    return ExitStatus.ANSWER_IS_NO if found else ExitStatus.DONE


Restart = Annotated[
    bool, typer.Option("--restart", help="Discard an interrupted apply, and make a new plan.", show_default=False)
]


@app.command(
    "apply",
    cls=ChangeCommand,
    epilog=examples(
        ("apply -f cluster.toml --dry-run", "show the steps in their order, and what they would do"),
        ("apply -f cluster.toml", "apply the file, after you have confirmed"),
        ("apply -f cluster.toml --prune --yes", "also remove what the file does not name"),
    ),
)
def apply(  # one parameter an option
    ctx: typer.Context,
    *,
    file: File,
    prune: Prune = False,
    restart: Restart = False,
    trust_master: TrustMaster = False,
    allow_new_resource: AllowNewResource = False,
) -> None:
    """Bring quotas, weights and reservations in line with a file, step by step.

    You see the plan first; its steps are in an order that the master accepts. If the cluster changes before you
    confirm, nothing is done. Each step is confirmed and recorded in a journal. If an apply is interrupted, the next
    apply of the same file continues where it stopped, unless the cluster has changed since. At the end, the cluster is
    compared with the file again.

    You are asked before it starts. A script must use --yes if the plan takes something away: if it removes or lowers
    a quota, lowers a weight (--prune sets it to 1), or unreserves.
    """
    from mesosctl.api.files.desired_state import load
    from mesosctl.api.files.line_numbers import places_in_toml
    from mesosctl.operations.apply.journal import Journal, JournalKey, digest, folder
    from mesosctl.operations.apply.plan import make_plan
    from mesosctl.operations.apply.run import prove as prove_reached

    session: Session = ctx.obj
    text = read_text(file, "--file", session.environment.stdin)
    wanted, written = load(text, named(file)), Written(file, text, places_in_toml)

    def planned(master: "Master") -> "list[Step]":
        with written.refusals():
            return make_plan(master, wanted, prune=prune, allow_new_resource=allow_new_resource)

    name = file if file == "-" else os.path.realpath(file)
    variables, keeps = session.environment.variables, not session.options.dry_run
    prove = partial(prove_reached, desired=wanted, prune=prune)
    with session.open_master() as master:
        about = JournalKey.of(session.identity(master), text, name)
        with Journal(folder(variables), about, keeps=keeps) as journal:
            if restart:
                journal.end()
            _go(session, master, journal, digest(text, prune=prune), planned, prove, trusts=trust_master)


def _go(  # the parts of one command
    session: Session,
    master: "Master",
    journal: "Journal",
    digest: str,
    planned: "Callable[[Master], list[Step]]",
    prove: "Callable[[Master], None]",
    *,
    trusts: bool,
) -> None:
    from mesosctl.operations.apply.journal import JournalEntry
    from mesosctl.operations.apply.run import check_same, resume, run
    from mesosctl.output.plan import plan_report

    left = resume(master, journal, digest)
    entry = left or JournalEntry(digest, planned(master), 0)
    remaining = entry.steps[entry.done :]
    if session.options.dry_run or not entry.steps:
        session.emit(plan_report(entry.steps, entry.done, applied=False))
        if not entry.steps:
            journal.end()  # of an older version of the file
        elif remaining:
            run(master, journal, entry, send_options(session, trust_master=trusts), session.progress)
        return
    if not session.options.yes:
        session.show(plan_report(entry.steps, entry.done, applied=False))
    if remaining:
        _ask(session, remaining)
    master.deadline.extend_to(master.settings.timeout)
    if left is None:
        check_same(entry.steps, planned(master))
    # Read back in any case: a step that may not have happened must not be followed by the next.
    how = replace(send_options(session, trust_master=trusts), wait=True)
    run(master, journal, entry, how, session.progress)
    master.deadline.extend_to(master.settings.timeout)
    prove(master)
    session.end_progress()
    session.emit(plan_report(entry.steps, len(entry.steps), applied=True))


def _ask(session: Session, steps: "Sequence[Step]") -> None:
    """A script need not be asked where nobody loses anything.  Raises UsageError."""
    from mesosctl.planning.plan import takes_away

    question = f"Apply {len(steps)} step{'s' * (len(steps) != 1)}"
    taking = sum(map(takes_away, steps))
    if taking:
        session.confirm_destructive(f"{question}, {taking} of which take{'s' * (taking == 1)} something away?")
    else:
        session.confirm(f"{question}?")


_FORMS = ("table", "json", "jsonl", "yaml")
"""The first, which holds unless another is said, is TOML."""


WholeCluster = Annotated[
    bool,
    typer.Option(
        "--cluster",
        help="Write a cluster file for the fake master, with agents and frameworks.",
        show_default=False,
    ),
]


@app.command(
    "export",
    cls=Command,
    epilog=examples(
        ("export -f cluster.toml", "write the current state to a file, to edit it"),
        ("diff -f cluster.toml", "show the differences"),
        ("apply -f cluster.toml", "apply the file"),
        (
            "export --cluster --from prod.json -f lab.toml",
            "write a snapshot as a cluster file, to edit and simulate it",
        ),
    ),
)
def export(
    ctx: typer.Context, *, file: WrittenFile = None, cluster: WholeCluster = False, source: SnapshotSource = None
) -> None:
    """Write the quotas, weights and dynamic reservations of a cluster as TOML, for diff and apply.

    A quota is a table [quotas.ROLE] with guarantee = "cpus:12;mem:6GiB" and limit = "cpus:24"; a resource that limit
    does not name is not limited, and limit = "none" limits nothing.  A weight is ROLE = NUMBER below [weights]. A
    reservation is an entry of [[reservations]] with agent (host name or id), role and resources =
    "cpus:2;ports:[31000-31009]"; under = ["dept"] names the roles that it refines, from the bottom up; principal and
    labels = { why = "batch" } distinguish it from others. A note names anything that cannot be written this way.
    Nothing is changed.

    With --cluster, the file describes the whole cluster: agents, frameworks and what they run, quotas, weights,
    reservations and volumes. --master fake:FILE, mesos-fake-master --cluster and offers simulate read it.

    If FILE exists with other content, you are asked before it is replaced; a script uses --yes. Nothing is written
    through a link that another user made.

    On standard output, -o json, jsonl and yaml write JSON or YAML. All other formats, and FILE, are TOML.
    """
    from mesosctl.api.files.desired_state import content, dump
    from mesosctl.output.plan import wanted_state
    from mesosctl.planning.desired_state import exported

    session: Session = ctx.obj
    writes_file = file is not None and str(file) != "-"
    # Said here, it is meant for this; a setting is meant for every command.
    if session.said.output is not None and (writes_file or cluster or session.form not in _FORMS):
        what = "a cluster file in TOML" if cluster else "its file in TOML" if writes_file else "TOML, JSON or YAML"
        raise UsageError(
            f"export writes {what}, not {session.form}",
            field="--output",
            hint="leave out -o" if cluster else f"leave out -o, or use -o json{' without -f' * writes_file}",
        )
    if cluster:
        import fake_master
        from mesosctl.cli.commands.snapshot import take_snapshot

        text, left_out = fake_master.cluster_file(take_snapshot(session, source))
    else:
        wanted, left_out = exported(_actual(session, source))
        text = dump(wanted)
    for sentence in left_out:
        session.note(f"not written: {sentence}")
    if file is not None and writes_file:
        _write(session, file, _plain(session, text, str(file)))
    elif session.form in _FORMS[1:] and not cluster:
        session.emit(wanted_state(content(wanted)))
    else:
        session.emit_text(_plain(session, text, "the document"))


def _actual(session: Session, source: Path | None) -> "Actual":
    """The state to write, of a master or of a snapshot file."""
    if source is None:
        from mesosctl.operations.apply.plan import read_actual

        with session.open_master() as master:
            return read_actual(master)
    from mesosctl.cli.commands.snapshot import take_snapshot
    from mesosctl.planning.desired_state import Actual, registered_agents

    snapshot = take_snapshot(session, source)
    return Actual(snapshot.quotas, snapshot.weights, registered_agents(snapshot.agents))


def _write(session: Session, file: Path, text: str) -> None:
    from mesosctl.files import holds_another_text, write_atomically

    if holds_another_text(file, text):
        session.confirm_destructive(
            "Replace it?",
            f"{file} has other content, which would be lost",
            "name another file, or in a script, use --yes",
        )
    write_atomically(file, text)
    session.note(f"written to {file}")


def _plain(session: Session, text: str, what: str) -> str:
    """The text without any secret; said so, as it is not what the cluster has."""
    plain = session.environment.secrets.redact_data(text)
    if plain != text:
        session.warn(f"{what} differs from what was read: it contained a secret of this command, which is hidden")
    return plain
