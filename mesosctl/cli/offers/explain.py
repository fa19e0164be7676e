"""`mesosctl offers explain`."""

from typing import Annotated

import typer

from mesosctl.cli.session import Session
from mesosctl.cli.verb import verb
from mesosctl.render.offers import offer_explain

Target = Annotated[
    str, typer.Argument(metavar="ROLE|FRAMEWORK", help="A role, or a framework by id or name.", show_default=False)
]
EXAMPLES = (
    ("offers explain ads", "every framework of a role"),
    ("offers explain marathon -o json", "every role of a framework, for a program"),
)


@verb(EXAMPLES)
def command(session: Session, target: Target) -> None:
    """Say why a role or framework is or is not offered anything, reason by reason with figures.

    Reasons that the master's figures show come first, those that no master tells last.
    """
    from mesosctl.ops.offers.explaining import explain

    with session.open_master() as master:
        session.emit(offer_explain(explain(master, target)))
