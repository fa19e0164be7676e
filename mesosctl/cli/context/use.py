"""`mesosctl context use`."""

from dataclasses import replace

from mesosctl.cli import configuration_editing
from mesosctl.cli.context.words import Name, tell_completions
from mesosctl.cli.session import Session
from mesosctl.cli.settings import resolve
from mesosctl.cli.verb import verb
from mesosctl.render.contexts import context_change

EXAMPLES = (("context use prod", "every command asks this cluster from now on"),)


@verb(EXAMPLES, obeys_context=False)
def command(session: Session, name: Name) -> None:
    """Make a context the current one."""
    variables = session.environment.variables
    configuration = configuration_editing.use(configuration_editing.place(variables), name)
    tell_completions(configuration, variables)
    session.emit(context_change([name], "used", configuration.current, f"context '{name}' is the current one"))
    session.tell_overruled(resolve(replace(session.said, context=name), variables))
