"""`mesosctl apply`."""

import os
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from mesosctl.cli.diff import File, Prune
from mesosctl.cli.files import Written, named, read_text
from mesosctl.cli.quota.words import AllowNewResource
from mesosctl.cli.reservation.words import TrustMaster, manner
from mesosctl.cli.session import Session
from mesosctl.cli.verb import verb

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mesosctl.client.master import Master
    from mesosctl.core.wanted_plan import Step
    from mesosctl.ops.apply.journal import Journal

Restart = Annotated[
    bool, typer.Option("--restart", help="Forget an interrupted apply, and plan anew.", show_default=False)
]
EXAMPLES = (
    ("apply -f cluster.toml --dry-run", "the steps, in order, and what they would do"),
    ("apply -f cluster.toml", "make them, after a question; a script may only add"),
    ("apply -f cluster.toml --prune --yes", "and take away what the file does not name"),
)


@verb(EXAMPLES, changes=True)
def command(  # one parameter an option
    session: Session,
    *,
    file: File,
    prune: Prune = False,
    restart: Restart = False,
    trust_master: TrustMaster = False,
    allow_new_resource: AllowNewResource = False,
) -> None:
    """Bring quotas, weights and reservations to what a file says, step by step.

    The plan is shown first, in an order in which the master takes every step.  It is refused if the cluster
    changes meanwhile.  Each step is read back and noted in a journal, and an apply that was interrupted, at
    whatever moment, is taken up where it stopped by the next one of the same file: refused, where a step that was
    made is not so any more.  At the end everything is compared with the file once more.

    A person is asked first.  A script must say --yes where the plan takes something away: removes or lowers a
    quota, lowers a weight (as --prune does, to 1), unreserves.
    """
    from mesosctl.ops.apply.journal import About, Journal, digest, folder
    from mesosctl.ops.apply.running import prove as prove_reached
    from mesosctl.ops.apply.state import make_plan
    from mesosctl.wire.places import places_in_toml
    from mesosctl.wire.wanted import load

    text = read_text(file, "--file", session.environment.stdin)
    wanted, written = load(text, named(file)), Written(file, text, places_in_toml)

    def planned(master: "Master") -> "list[Step]":
        with written.refusals():
            return make_plan(master, wanted, prune=prune, allow_new_resource=allow_new_resource)

    name = file if file == "-" else os.path.realpath(file)
    variables, keeps = session.environment.variables, not session.options.dry_run
    prove = partial(prove_reached, wanted=wanted, prune=prune)
    with session.open_master() as master:
        about = About.of(session.identity(master), text, name)
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
    from mesosctl.ops.apply.journal import Entry
    from mesosctl.ops.apply.running import check_same, resume, run
    from mesosctl.render.wanted import plan_report

    left = resume(master, journal, digest)
    entry = left or Entry(digest, planned(master), 0)
    remaining = entry.steps[entry.done :]
    if session.options.dry_run or not entry.steps:
        session.emit(plan_report(entry.steps, entry.done, applied=False))
        if not entry.steps:
            journal.end()  # of an older version of the file
        elif remaining:
            run(master, journal, entry, manner(session, trust_master=trusts), session.progress)
        return
    if not session.options.yes:
        session.show(plan_report(entry.steps, entry.done, applied=False))
    if remaining:
        _ask(session, remaining)
    master.deadline.extend_to(master.settings.timeout)
    if left is None:
        check_same(entry.steps, planned(master))
    # Read back in any case: a step that may not have happened must not be followed by the next.
    how = replace(manner(session, trust_master=trusts), wait=True)
    run(master, journal, entry, how, session.progress)
    master.deadline.extend_to(master.settings.timeout)
    prove(master)
    session.end_progress()
    session.emit(plan_report(entry.steps, len(entry.steps), applied=True))


def _ask(session: Session, steps: "Sequence[Step]") -> None:
    """A script need not be asked where nobody loses anything.  Raises UsageError."""
    from mesosctl.core.wanted_plan import takes_away

    question = f"Apply {len(steps)} step{'s' * (len(steps) != 1)}"
    taking = sum(map(takes_away, steps))
    if taking:
        session.confirm_destructive(f"{question}, of which {taking} take{'s' * (taking == 1)} something away?")
    else:
        session.confirm(f"{question}?")
