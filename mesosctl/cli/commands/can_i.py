"""`mesosctl can-i`."""

from typing import TYPE_CHECKING, Annotated

import typer

from mesosctl.cli.arguments import as_option, role_option
from mesosctl.cli.command import Command, Group, examples
from mesosctl.cli.commands.acls import read_acls_file
from mesosctl.cli.completion import callbacks as completing
from mesosctl.cli.environment import named
from mesosctl.cli.session import Session
from mesosctl.model.errors import BadInput, UsageError
from mesosctl.model.exit_status import ExitStatus
from mesosctl.model.suggestion import command, options_text

if TYPE_CHECKING:
    from mesosctl.model.acls import Acls

app = typer.Typer(cls=Group, rich_markup_mode=None)

Words = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[COMMAND]...",
        autocompletion=completing.permissions,
        help="A command of mesosctl, and a name that it would be about, such as quota set web.",
        show_default=False,
    ),
]
ListAll = Annotated[bool, typer.Option("--list", help="Ask about every command.", show_default=False)]
OfRole = Annotated[str | None, role_option("The role that the command would be about.")]
AclsFile = Annotated[
    str | None,
    typer.Option(
        "--acls",
        metavar="FILE",
        help="Judge by this file of the master's --acls what cannot be tried; - is standard input.",
        show_default=False,
    ),
]
As = Annotated[
    str | None,
    as_option("Judge for this principal, by --acls alone.", "the principal of your credentials asks, or nobody"),
]


@app.command(
    "can-i",
    cls=Command,
    epilog=examples(
        ("can-i reserve --role ads", "may you reserve for the role ads?"),
        ("can-i agents drain", "may you drain agents?"),
        ("can-i quota set web --acls acls.json --as ops", "may ops set the quota of web, by a file?"),
        ("can-i --list --role web", "every command, and whether you may run it for the role web"),
    ),
)
def can_i(
    ctx: typer.Context,
    words: Words = None,
    *,
    list_: ListAll = False,
    role: OfRole = None,
    acls: AclsFile = None,
    judged_for: As = None,
) -> ExitStatus:
    """Ask whether you may run a command, without changing anything.

    A command that only reads is tried. A change is tried as a request that the master authorizes and then cannot carry
    out, if there is one: about an agent that does not exist, or a resource that no agent has. Everything else is judged
    by --acls, or is unknown. The exit status is 0 for yes, and 1 for no and unknown; -o json distinguishes the two.
    --list ends with 0 whatever the answers are: read the column ALLOWED.

    The name is a role for quota, weights, reserve and volumes create, a user for tasks and frameworks, and for
    unreserve, volumes destroy and frameworks teardown the principal of the reservation, volume or framework.
    """
    from mesosctl.model.command_permissions import every_question, judge, parse_question
    from mesosctl.operations.permissions import PermissionsOfMaster
    from mesosctl.output.permissions import permission, permission_list

    session: Session = ctx.obj
    if list_ and words:
        raise UsageError("--list asks about every command", field="--list", hint="leave out --list, or the command")
    if not list_ and not words:
        raise UsageError("no command is given", field="COMMAND", hint="give one, such as quota set web, or --list")
    questions = every_question(role) if list_ else []
    question = None if list_ else parse_question(words or (), role, acls=acls, **{"as": judged_for})
    if judged_for is not None and acls is None:
        raise UsageError("--as needs --acls: a master knows you by your credentials", field="--as", hint="give both")
    known = None if acls is None else _read(session, acls)
    if known is not None and (judged_for is not None or not session.options.master):
        client = judged_for or session.options.principal
        if question is None:
            session.emit(permission_list([judge(one, known, client) for one in questions], client))
            return ExitStatus.DONE
        found = judge(question, known, client)
    else:
        try:
            opened = session.open_master()
        except UsageError as error:
            if known is not None and error.field == "--secret-file":
                alone = options_text(**{"as": session.options.principal})
                error.hint = f"{error.hint}; {alone} instead of --principal judges by --acls alone"
            raise
        with opened as master:
            permissions = PermissionsOfMaster(master, known, session.progress)
            client = permissions.principal
            if question is None:
                answers = [permissions.ask(one) for one in questions]
                session.emit(permission_list(answers, client))
                return ExitStatus.DONE
            found = permissions.ask(question)
    session.emit(permission(found, client))
    if not found.known and known is None:
        session.note("--acls FILE judges it by the file of the master's --acls")
    return ExitStatus.DONE if found.allowed else ExitStatus.ANSWER_IS_NO


def _read(session: Session, path: str) -> "Acls":
    """The ACLs in a file.  Raises BadInput if there is an error."""
    acls, findings = read_acls_file(session, path, "--acls")
    if acls is None:
        first = findings[0]
        line = "" if first.line is None or first.field.startswith("line ") else f"line {first.line}, "
        raise BadInput(
            f"{named(path)}: {line}{first.field}: {first.sentence}",
            field="--acls",
            rule=first.rule,
            hint=f"{command('acls check', path)} shows every error",
        )
    return acls
