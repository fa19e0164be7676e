"""`mesosctl acls`, and what it shares with `can-i`."""

from typing import Annotated

import typer

from mesosctl.acls.file import AclsFile, read_acls
from mesosctl.acls.report import CheckedAcls, acls_check
from mesosctl.cli.arguments import FileWord, as_option, the_file
from mesosctl.cli.command import Group, SingleCommand, examples
from mesosctl.cli.environment import named, read_text
from mesosctl.cli.session import Session
from mesosctl.mesos.exit_status import ExitStatus
from mesosctl.mesos.messages.acls import OBJECT_FIELDS

app = typer.Typer(cls=Group, rich_markup_mode=None)

AclsToCheck = Annotated[
    str | None,
    typer.Option(
        "--file",
        "-f",
        metavar="FILE",
        help="A JSON file for the master's --acls; - is standard input.",
        show_default=False,
    ),
]
As = Annotated[str | None, as_option("Show what this principal may do.", "only the findings are shown")]
Strict = Annotated[
    bool, typer.Option("--strict", help="End with exit status 1 if there are warnings.", show_default=False)
]


def read_acls_file(session: Session, path: str, field: str) -> AclsFile:
    """The ACLs in a file, and everything that is wrong in it.  Raises BadInput if it cannot be read."""
    return read_acls(read_text(path, field, session.environment.stdin))


@app.command(
    "check",
    cls=SingleCommand,
    epilog=examples(
        ("acls check acls.json", "would a master start with this file, and obey all of it?"),
        ("acls check acls.json --as ops", "and what may the principal ops do?"),
    ),
)
def check(
    ctx: typer.Context,
    word: FileWord = None,
    option: AclsToCheck = None,
    *,
    judged_for: As = None,
    strict: Strict = False,
) -> ExitStatus:
    """Check a file of ACLs before a master reads it.

    It shows every error at once: actions and keys that a master would ignore, and values with which it would not start.
    If a file is not JSON, it shows where the JSON first breaks. Warnings are about rules without the effect that you
    probably want: rules that an earlier one hides, rules that keep nobody out, names of roles that match nothing, and a
    file with which no agent or framework can register. The exit status is 3 if there is an error.

    With --as, it shows for every action what the principal may do it to: to all, to none, or to which names. A name
    such as dev/% stands for all roles below dev.
    """
    session: Session = ctx.obj
    file = the_file(word, option)
    acls, findings = read_acls_file(session, file, "FILE")
    access = None
    if judged_for is not None and acls is not None:
        access = {action: (kind, acls.access(action, judged_for)) for action, kind in OBJECT_FIELDS.items()}
    checked = CheckedAcls(file, named(file), findings, judged_for, access)
    session.emit(acls_check(checked))
    if not checked.valid:
        return ExitStatus.INVALID
    return ExitStatus.ANSWER_IS_NO if strict and findings else ExitStatus.DONE
