"""`mesosctl context remove`."""

from typing import Annotated

import typer

from mesosctl.cli import configuration_editing
from mesosctl.cli.context.words import tell_completions
from mesosctl.cli.session import Session
from mesosctl.cli.verb import verb
from mesosctl.render.contexts import context_change

Names = Annotated[list[str], typer.Argument(metavar="CONTEXT...", help="The names of contexts.", show_default=False)]
EXAMPLES = (
    ("context remove old", "forget one"),
    ("context remove old older --yes", "forget two without being asked"),
)


@verb(EXAMPLES, obeys_context=False)
def command(session: Session, names: Names) -> None:
    """Remove contexts; none is removed unless every one of them is there.

    On a terminal, removing several asks first.
    """
    variables = session.environment.variables
    if len(set(names)) > 1:
        session.confirm(f"Remove the contexts {', '.join(names)}?")
    configuration = configuration_editing.remove(configuration_editing.place(variables), names)
    tell_completions(configuration, variables)
    session.emit(context_change(names, "removed", configuration.current, f"removed: {', '.join(names)}"))
    if configuration.current is None:
        session.note("there is no current context now")
