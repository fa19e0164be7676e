"""`mesosctl diff`."""

from typing import Annotated

import typer

from mesosctl.cli.files import named, read_text
from mesosctl.cli.session import Session
from mesosctl.cli.verb import verb
from mesosctl.core.errors import ExitStatus

File = Annotated[
    str,
    typer.Option("--file", "-f", metavar="FILE", help="The wanted state in TOML, as export writes it; - reads it."),
]
Prune = Annotated[
    bool,
    typer.Option(
        "--prune",
        help="What the file does not name should go, in the sections that it has.",
        show_default=False,
    ),
]
EXAMPLES = (
    ("diff -f cluster.toml", "what is not as the file says"),
    ("diff -f cluster.toml --prune", "and what it does not name"),
)


@verb(EXAMPLES)
def command(session: Session, *, file: File, prune: Prune = False) -> ExitStatus:
    """Say what of a cluster is not as a file wants it: quotas, weights, reservations.

    Roles and reservations that the file does not name are left alone unless --prune is given.  Nothing
    is changed.  The exit status is 1 where there is a difference.
    """
    from mesosctl.ops.apply.state import compare
    from mesosctl.render.wanted import wanted_differences
    from mesosctl.wire.wanted import load

    wanted = load(read_text(file, "--file", session.environment.stdin), named(file))
    with session.open_master() as master:
        found = compare(master, wanted, prune=prune)
    session.emit(wanted_differences(found))
    return ExitStatus.ANSWER_IS_NO if found else ExitStatus.DONE
