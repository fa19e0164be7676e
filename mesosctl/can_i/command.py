"""`mesosctl can-i` and `mesosctl who-can`."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from mesosctl.acls.command import read_acls_file
from mesosctl.can_i.command_permissions import By, deciding, every_question, judge, who_can
from mesosctl.can_i.completion import permissions as permissions_offered
from mesosctl.can_i.questions import Reader, TypedCommand, Values, parse_command
from mesosctl.can_i.report import permission, permission_list, who_can_list
from mesosctl.can_i.work import PermissionsOfMaster
from mesosctl.cli.arguments import as_option, role_option
from mesosctl.cli.command import Command, Group, examples
from mesosctl.cli.environment import named
from mesosctl.cli.session import Session
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.mesos.errors import BadInput, UsageError
from mesosctl.mesos.exit_status import ExitStatus
from mesosctl.mesos.rules.acls import Acls
from mesosctl.suggestion import command, options_text

app = typer.Typer(cls=Group, rich_markup_mode=None)

Words = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[COMMAND]...",
        autocompletion=permissions_offered,
        help="A command of mesosctl, as you would type it, or with a name alone, such as quota set web.",
        show_default=False,
    ),
]
ListAll = Annotated[
    bool,
    typer.Option("--list", help="Ask about every list and every change.", show_default=False),
]
OfRole = Annotated[str | None, role_option("The role that the command would be about.")]


def _acls_option(help_text: str) -> Any:
    return typer.Option("--acls", metavar="FILE", help=f"{help_text}; - is standard input.", show_default=False)


AclsFile = Annotated[str | None, _acls_option("Judge by this file of the master's --acls what cannot be tried")]
AclsToAsk = Annotated[
    str | None, _acls_option("Judge by this file of a master's --acls. The default is what the master shows")
]
As = Annotated[
    str | None,
    as_option("Judge for this principal, by --acls alone.", "the principal of your credentials asks, or nobody"),
]
_ANY_COMMAND = {"ignore_unknown_options": True}
"""The options of the command that follows are its words."""


@app.command(
    "can-i",
    cls=Command,
    context_settings=_ANY_COMMAND,
    epilog=examples(
        ("can-i reserve --role ads", "may you reserve for the role ads?"),
        ("can-i quota set dev cpus:4 --limit cpus:8", "may you run this command?"),
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
    by --acls, or by the ACLs that the master shows to those who may see its flags. The exit status is 0 for yes, and 1
    for no and unknown; -o json distinguishes the two. --list ends with 0 whatever the answers are: read the column
    ALLOWED.

    Any command may follow as you would type it. A name alone is a role for quota, weights, reserve and volumes create,
    a user for tasks and frameworks, and for unreserve, volumes destroy and frameworks teardown the principal of the
    reservation, volume or framework.
    """
    session: Session = ctx.obj
    if list_ and words:
        raise UsageError("--list asks about every command", field="--list", hint="leave out --list, or the command")
    if not list_ and not words:
        raise UsageError("no command is given", field="COMMAND", hint="give one, such as quota set web, or --list")
    everything = every_question(role) if list_ else []
    typed = None if list_ else _typed(ctx, words or (), role, acls=acls, **{"as": judged_for})
    if judged_for is not None and acls is None:
        raise UsageError("--as needs --acls: a master knows you by your credentials", field="--as", hint="give both")
    known = None if acls is None else _read(session, acls)
    needs_file = False
    if known is not None and (judged_for is not None or not session.options.master):
        client = judged_for or session.options.principal
        found = [judge(question, known, client) for question in (everything if typed is None else typed.questions)]
    else:
        with _opened(session, known) as master:
            permissions = PermissionsOfMaster(master, known, session.progress)
            client = permissions.principal
            asked = everything if typed is None else permissions.questions(typed)
            found = [permissions.ask(question) for question in asked]
            needs_file = known is None and not permissions.sees_acls
    if list_:
        session.emit(permission_list(found, client))
        return ExitStatus.DONE
    session.emit(permission(found, client))
    if needs_file and not deciding(found).known:
        session.note("--acls FILE judges it by the file of the master's --acls")
    if acls is not None and all(answer.by == "master" for answer in found):
        session.note(f"the master itself answered, so {acls} did not count; --as PRINCIPAL asks the file")
    return ExitStatus.DONE if deciding(found).allowed else ExitStatus.ANSWER_IS_NO


@app.command(
    "who-can",
    cls=Command,
    context_settings=_ANY_COMMAND,
    epilog=examples(
        ("who-can quota set web", "who may set the quota of web, by the ACLs of the master?"),
        ("who-can agents gone --acls acls.json", "the same of a file, before a master reads it"),
    ),
)
def who_can_(ctx: typer.Context, words: Words = None, *, role: OfRole = None, acls: AclsToAsk = None) -> None:
    """Show who may run a command, by ACLs.

    It lists every principal that a rule names, all others, and clients without a principal. A master shows its ACLs to
    those who may see its flags. YOU marks the client that your credentials are of.
    """
    session: Session = ctx.obj
    if not words:
        raise UsageError("no command is given", field="COMMAND", hint="give one, such as quota set web")
    typed = _typed(ctx, words, role, acls=acls)
    by: By = "acls"
    if acls is not None:
        known, questions = _read(session, acls), typed.questions
    else:
        with session.open_master() as master:
            permissions = PermissionsOfMaster(master, progress=session.progress)
            known, questions, by = permissions.acls(), permissions.questions(typed), "master"
    names = ", ".join(question.name for question in questions if question.name is not None)
    found = who_can(questions, known, by, session.options.principal)
    session.emit(who_can_list(found, f"{typed.verb.command} {names}".strip()))


def _typed(ctx: typer.Context, words: Sequence[str], role: str | None, **given: str | None) -> TypedCommand:
    """The command that follows.  Raises UsageError, RuleViolation."""
    return parse_command(words, reader(ctx), role, **given)


def reader(ctx: Any) -> Reader:
    """Reads the words after a command with its own parser.

    Words that it needs may be missing: `can-i quota set` is about every role.
    """
    root = ctx.find_root()

    def read(path: str, words: Sequence[str]) -> Values:
        found: Any = root.command
        for word in path.split():
            found = found.get_command(root, word)
        below = found.context_class(found, info_name=path, parent=root)
        values, rest, _ = found.make_parser(below).parse_args(args=list(words))
        if rest:
            raise UsageError(
                f"mesosctl {path} does not take '{rest[0]}'", field="COMMAND", hint=f"see mesosctl {path} --help"
            )
        return {**{parameter.name: None for parameter in found.get_params(below)}, **values}

    return read


def _opened(session: Session, known: Acls | None) -> LeadingMaster:
    """The master.  Raises UsageError, which names what to do without its credentials if a file judges."""
    try:
        return session.open_master()
    except UsageError as error:
        if known is not None and error.field == "--secret-file":
            alone = options_text(**{"as": session.options.principal})
            error.hint = f"{error.hint}; {alone} instead of --principal judges by --acls alone"
        raise


def _read(session: Session, path: str) -> Acls:
    """The ACLs in a file.  Raises BadInput if there is an error."""
    acls, findings = read_acls_file(session, path, "--acls")
    if acls is None:
        first = findings[0]
        line = "" if first.line is None or first.column is not None else f"line {first.line}, "
        raise BadInput(
            f"{named(path)}: {line}{first.field}: {first.sentence}",
            field="--acls",
            rule=first.rule,
            hint=f"{command('acls check', path)} shows every error",
        )
    return acls
