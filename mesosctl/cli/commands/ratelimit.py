"""`mesosctl ratelimit`: its verbs."""

import math
from typing import Annotated

import typer

from mesosctl.cli.command import Command, Group, examples
from mesosctl.cli.commands import ratelimit_traffic
from mesosctl.cli.commands.ratelimit_traffic import ConfigFile, read_config
from mesosctl.cli.environment import STANDARD_INPUT, named
from mesosctl.cli.session import Session
from mesosctl.model.errors import UsageError
from mesosctl.model.exit_status import ExitStatus
from mesosctl.model.rate_limits import LARGEST_CAPACITY, RateLimit
from mesosctl.operations.rate_limits_file import Change, edit
from mesosctl.output.rate_limits import file_edit
from mesosctl.planning.message_rates import FileEdit

app = typer.Typer(cls=Group, rich_markup_mode=None)
app.add_typer(ratelimit_traffic.app)


EditedFile = Annotated[
    str, typer.Option("--file", "-f", metavar="FILE", help="The file to edit. It is created if it does not exist.")
]
ExistingFile = Annotated[str, typer.Option("--file", "-f", metavar="FILE", help="The file to edit.")]
Principal = Annotated[
    str, typer.Argument(metavar="PRINCIPAL", help="A principal, as in FrameworkInfo.principal.", show_default=False)
]
Qps = Annotated[
    float | None,
    typer.Option("--qps", metavar="NUMBER", help="Messages per second. By default, the principal is never throttled."),
]
SharedQps = Annotated[
    float | None,
    typer.Option(
        "--qps",
        metavar="NUMBER",
        help="Messages per second of all unlisted principals together. Give either this or --none.",
    ),
]
Capacity = Annotated[
    int | None,
    typer.Option(
        "--capacity",
        metavar="NUMBER",
        min=0,
        max=LARGEST_CAPACITY,
        help="Messages that may wait. By default, any number may wait.",
    ),
]


def limit_of(qps: float | None, capacity: int | None) -> RateLimit:
    """The limit in the options.  Raises UsageError for a rate that no file can hold."""
    if qps is not None and not (qps > 0 and math.isfinite(qps)):
        raise UsageError(f"{qps:g} is not a rate: it must be above zero", field="--qps")
    return RateLimit(qps, capacity)


def edit_and_tell(session: Session, path: str, change: Change) -> FileEdit:
    """Edit a file, print the diff, and say when it will matter; with --dry-run the file is left alone.

    Raises UsageError for standard input, and what `edit` raises.
    """
    if path == STANDARD_INPUT:
        raise UsageError("the file is edited in place, so it cannot be -", field="--file", hint="name a file")
    made = edit(path, change, write=not session.options.dry_run)
    session.emit(file_edit(made))
    if made.written:
        session.note(
            "a master reads its rate limits when it starts: restart every master with --rate_limits and the path of "
            "this file, the leading one last"
        )
    return made


@app.command(
    "show",
    cls=Command,
    epilog=examples(
        ("ratelimit show", "the limits with live figures"),
        ("ratelimit show -o json", "the same as JSON"),
    ),
)
def show(ctx: typer.Context) -> None:
    """Show the limits of a master, and what each principal sends.

    The limits are those that the master was started with. A real master throttles and counts only frameworks that
    use a driver; the counters of frameworks that use the HTTP API stay at 0.
    """
    from mesosctl.operations.rate_limits import show
    from mesosctl.output.rate_limits import principal_statuses

    session: Session = ctx.obj
    with session.open_master() as master:
        session.emit(principal_statuses(show(master)))


@app.command(
    "set",
    cls=Command,
    epilog=examples(
        ("ratelimit set batch --qps 50 --capacity 10000 -f limits.json", "throttle a principal"),
        ("ratelimit set production -f limits.json", "never throttle a principal, whatever the default is"),
    ),
)
def set_(
    ctx: typer.Context,
    who: Principal,
    file: EditedFile,
    qps: Qps = None,
    capacity: Capacity = None,
) -> None:
    """Give a principal its own limit in a limits file.

    All frameworks with that principal share it. Everything else in the file stays as it is, and the diff is shown.
    """
    from mesosctl.operations.rate_limits_file import set_limit

    session: Session = ctx.obj
    edit_and_tell(session, file, set_limit(who, limit_of(qps, capacity)))


@app.command(
    "unset",
    cls=Command,
    epilog=examples(
        ("ratelimit unset batch -f limits.json", "let the default apply to a principal"),
    ),
)
def unset(ctx: typer.Context, who: Principal, file: ExistingFile) -> None:
    """Remove a principal from a limits file.

    From then on, the default applies to it. The diff is shown.
    """
    from mesosctl.operations.rate_limits_file import unset_limit

    session: Session = ctx.obj
    edit_and_tell(session, file, unset_limit(who))


Remove = Annotated[
    bool,
    typer.Option(
        "--none",
        help="Remove the default, so that unlisted principals are not throttled.",
        show_default=False,
    ),
]


@app.command(
    "default",
    cls=Command,
    epilog=examples(
        ("ratelimit default --qps 333 --capacity 1000000 -f limits.json", "set what all others share"),
        ("ratelimit default --none -f limits.json", "do not throttle the others"),
    ),
)
def default(
    ctx: typer.Context,
    file: EditedFile,
    qps: SharedQps = None,
    capacity: Capacity = None,
    remove: Remove = False,
) -> None:
    """Set the limit that all unlisted principals share.

    The rate and the capacity apply to all of them together, including frameworks without a principal. The diff is
    shown.
    """
    from mesosctl.operations.rate_limits_file import set_default

    session: Session = ctx.obj
    if remove == (qps is not None):
        raise UsageError("give either --qps or --none", field="--qps", hint="--none removes the limit")
    if remove and capacity is not None:
        raise UsageError(
            "--none and --capacity cannot be used together", field="--capacity", hint="a capacity needs --qps"
        )
    edit_and_tell(session, file, set_default(limit_of(qps, capacity)))


Live = Annotated[
    bool, typer.Option("--live", help="Also ask the master which principals its frameworks use.", show_default=False)
]
Strict = Annotated[
    bool, typer.Option("--strict", help="End with exit status 1 if there are warnings.", show_default=False)
]


@app.command(
    "validate",
    cls=Command,
    epilog=examples(
        ("ratelimit validate limits.json", "would a master start with this file?"),
        ("ratelimit validate limits.json --live -o wide", "and which principals are in use?"),
    ),
)
def validate(ctx: typer.Context, file: ConfigFile, live: Live = False, strict: Strict = False) -> ExitStatus:
    """Check a limits file before a master reads it.

    It shows everything that would keep a master from starting, and everything that is unwise. For broken JSON, it shows
    the line, the column and what was expected there. The exit status is 3 if a master would not start.
    """
    from mesosctl.operations.rate_limits_file import validate
    from mesosctl.output.rate_limits import validation

    session: Session = ctx.obj
    text = read_config(session, file)
    if live:
        with session.open_master() as master:
            check = validate(text, file, named(file), master)
    else:
        check = validate(text, file, named(file))
    session.emit(validation(check))
    if not check.valid:
        return ExitStatus.INVALID
    return ExitStatus.ANSWER_IS_NO if strict and check.remarks else ExitStatus.DONE
