"""`mesosctl diff`."""

from typing import Annotated

import typer

from mesosctl.cli.files import Written, named, read_text
from mesosctl.cli.quota.words import AllowNewResource
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
def command(
    session: Session, *, file: File, prune: Prune = False, allow_new_resource: AllowNewResource = False
) -> ExitStatus:
    """Say what of a cluster is not as a file wants it: quotas, weights, reservations.

    Roles and reservations that the file does not name are left alone unless --prune is given.  A quota
    without limit means what quota set and quota update mean without --limit; "none" is no limit.  Nothing
    is changed.  The exit status is 1 where there is a difference.
    """
    from mesosctl.ops.apply.state import compare
    from mesosctl.render.wanted import wanted_differences
    from mesosctl.wire.places import places_in_toml
    from mesosctl.wire.wanted import load

    written = Written(file, read_text(file, "--file", session.environment.stdin), places_in_toml)
    wanted = load(written.text, named(file))
    with session.open_master() as master, written.refusals():
        found = compare(master, wanted, prune=prune, allow_new_resource=allow_new_resource)
    session.emit(wanted_differences(found))
    return ExitStatus.ANSWER_IS_NO if found else ExitStatus.DONE
