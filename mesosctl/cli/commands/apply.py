"""`mesosctl diff` and `apply`: a cluster is compared with its desired state in a file, and brought in line with it."""

import os
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from mesosctl.cli.arguments import AllowNewResource, FileWord, TrustMaster, note_role, send_options, the_file
from mesosctl.cli.command import ChangeCommand, Command, Group, examples
from mesosctl.cli.environment import named, read_text
from mesosctl.cli.session import Session
from mesosctl.model.exit_status import ExitStatus
from mesosctl.model.suggestion import command

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mesosctl.client.leading_master import Master
    from mesosctl.operations.apply.journal import Journal
    from mesosctl.planning.desired_state import DesiredState
    from mesosctl.planning.plan import Step


app = typer.Typer(cls=Group, rich_markup_mode=None)

File = Annotated[
    str | None,
    typer.Option(
        "--file", "-f", metavar="FILE", help="The desired state in TOML, as export writes it; - is standard input."
    ),
]
Prune = Annotated[
    bool, typer.Option("--prune", help="Also remove what the file's sections do not name.", show_default=False)
]

AllowEmpty = Annotated[
    bool, typer.Option("--allow-empty", help="Accept a file that names nothing.", show_default=False)
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
    ctx: typer.Context,
    word: FileWord = None,
    *,
    option: File = None,
    prune: ComparedToo = False,
    allow_empty: AllowEmpty = False,
    allow_new_resource: AllowNewResource = False,
) -> ExitStatus:
    """Show where quotas, weights and reservations differ from a file.

    Roles and reservations that the file does not name are ignored unless you give --prune. A quota to which
    the file gives no limit gets the one that quota set or quota update would give it without --limit; "none" means no
    limit. Nothing is changed. The exit status is 1 if there is a difference, or if the file names nothing and
    --allow-empty is not given. Notes say if the file names nothing, and how much exists that it does not name.
    """
    from mesosctl.api.files.desired_state import load
    from mesosctl.api.files.line_numbers import places_in_toml
    from mesosctl.api.files.text_file import TextFile
    from mesosctl.operations.apply.plan import compare
    from mesosctl.output.plan import unnamed_text, wanted_differences

    session: Session = ctx.obj
    file = the_file(word, option)
    written = TextFile(named(file), _read(session, file), places_in_toml)
    wanted = load(written.text, named(file))
    is_complete = _names_something(session, wanted, named(file), prune=prune) or allow_empty
    with session.open_master() as master:
        with written.refusals():
            everything = compare(master, wanted, prune=True, allow_new_resource=allow_new_resource)
        found = [one for one in everything if prune or one.is_named]
        unnamed = [one for one in everything if not one.is_named]
        session.emit(wanted_differences(found, prune=prune))
        if unnamed and not prune:
            session.note(unnamed_text(unnamed))
        for role in dict.fromkeys(one.role for one in found if one.is_named):
            note_role(session, master, role)
    return ExitStatus.DONE if is_complete and not found else ExitStatus.ANSWER_IS_NO


def _names_something(session: Session, wanted: "DesiredState", name: str, *, prune: bool) -> bool:
    """Whether a file has anything to compare; if not, a note says so, as it may have been emptied by mistake."""
    names = wanted.covers_something(prune=prune)
    if not names:
        session.note(f"{name} names no quota, weight or reservation; --allow-empty accepts that")
    return names


def _read(session: Session, file: str) -> str:
    """The text of the file with the desired state.  Raises BadInput."""
    missing = f"{command('export', f=file)} writes one"
    return read_text(file, "--file", session.environment.stdin, missing=missing)


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
def apply(  # noqa: PLR0913  # one parameter an option
    ctx: typer.Context,
    word: FileWord = None,
    *,
    option: File = None,
    prune: Prune = False,
    restart: Restart = False,
    trust_master: TrustMaster = False,
    allow_empty: AllowEmpty = False,
    allow_new_resource: AllowNewResource = False,
) -> ExitStatus:
    """Bring quotas, weights and reservations in line with a file, step by step.

    You see the plan first; its steps are in an order that the master accepts. If the cluster changes before you
    confirm, nothing is done. Each step is confirmed and recorded in a journal. If an apply is interrupted, the next
    apply of the same file continues where it stopped, unless the cluster has changed since. At the end, the cluster is
    compared with the file again.

    You are asked before it starts. A script must use --yes if the plan takes something away: if it removes or lowers
    a quota, lowers a weight (--prune sets it to 1), or unreserves. For a file that names nothing, the exit status is 1
    unless you give --allow-empty.
    """
    from mesosctl.api.files.desired_state import load
    from mesosctl.api.files.line_numbers import places_in_toml
    from mesosctl.api.files.text_file import TextFile
    from mesosctl.operations.apply.journal import Journal, JournalKey, digest, folder
    from mesosctl.operations.apply.plan import make_plan
    from mesosctl.operations.apply.run import prove as prove_reached

    session: Session = ctx.obj
    file = the_file(word, option)
    text = _read(session, file)
    wanted, written = load(text, named(file)), TextFile(named(file), text, places_in_toml)
    is_complete = _names_something(session, wanted, named(file), prune=prune) or allow_empty

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
    return ExitStatus.DONE if is_complete else ExitStatus.ANSWER_IS_NO


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
    from mesosctl.planning.plan import roles_given

    left = resume(master, journal, digest)
    entry = left or JournalEntry(digest, planned(master), 0)
    remaining = entry.steps[entry.done :]
    for role in roles_given(remaining):
        note_role(session, master, role)
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
    """A script need not be asked if nobody loses anything.  Raises UsageError."""
    from mesosctl.output.plan import losses_text

    question = f"Apply {len(steps)} step{'s' * (len(steps) != 1)}"
    losses = losses_text(steps)
    if losses:
        session.confirm_destructive(f"{question}{losses}?")
    else:
        session.confirm(f"{question}?")
