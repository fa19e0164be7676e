"""`mesosctl ratelimit validate`."""

from typing import Annotated

import typer

from mesosctl.cli.files import named
from mesosctl.cli.ratelimit.words import ConfigFile, read_config
from mesosctl.cli.session import Session
from mesosctl.cli.verb import verb
from mesosctl.core.errors import ExitStatus

Live = Annotated[
    bool, typer.Option("--live", help="Ask the master which principals its frameworks use.", show_default=False)
]
Strict = Annotated[bool, typer.Option("--strict", help="Warnings make the exit status 1.", show_default=False)]

EXAMPLES = (
    ("ratelimit validate limits.json", "would a master start with that?"),
    ("ratelimit validate limits.json --live -o wide", "and does anybody use these principals?"),
)


@verb(EXAMPLES)
def command(session: Session, file: ConfigFile, live: Live = False, strict: Strict = False) -> ExitStatus:
    """Check a file of rate limits: everything that stops a master, and everything unwise.

    Broken JSON is shown with line, column and what was expected there.  The exit status is 3 where
    a master would not start.
    """
    from mesosctl.ops.ratelimit.validating import validate
    from mesosctl.render.ratelimit import validation

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
