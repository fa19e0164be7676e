"""`mesosctl context list`."""

from mesosctl.cli.configuration import without_password
from mesosctl.cli.context.words import read_configuration
from mesosctl.cli.session import Session
from mesosctl.cli.verb import verb
from mesosctl.render.contexts import Kept, context_list

EXAMPLES = (
    ("context list", "every context, the current one marked"),
    ("context list -o name", "their names, for a script"),
)


@verb(EXAMPLES, obeys_context=False)
def command(session: Session) -> None:
    """Show every context; the current one is marked."""
    configuration = read_configuration(session)
    contexts = configuration.contexts if configuration else {}
    chosen = session.settings.context or (configuration.current if configuration else None)
    session.emit(
        context_list(
            [
                Kept(
                    name,
                    current=name == chosen,
                    master=without_password(str(kept.get("master", ""))),
                    principal=str(kept.get("principal", "")),
                )
                for name, kept in sorted(contexts.items())
            ]
        )
    )
