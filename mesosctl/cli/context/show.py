"""`mesosctl context show`."""

from dataclasses import replace
from typing import Annotated

import typer

from mesosctl.cli.configuration import Configuration, no_context, without_password
from mesosctl.cli.context.words import read_configuration
from mesosctl.cli.session import Session
from mesosctl.cli.settings import Settings, Value, declared, resolve
from mesosctl.cli.verb import verb
from mesosctl.client.trace import STRUCK_OUT
from mesosctl.render.contexts import InEffect, context_show

OptionalName = Annotated[
    str | None,
    typer.Argument(metavar="CONTEXT", help="The one in effect unless given.", show_default=False),
]
ShowOrigin = Annotated[bool, typer.Option("--origin", help="Also where each comes from.", show_default=False)]
EXAMPLES = (
    ("context show", "what holds for the next command"),
    ("context show --origin", "and which flag, variable, context or default says so"),
    ("context show prod -o json", "what would hold with another context, for a program"),
)


@verb(EXAMPLES, obeys_context=False)
def command(session: Session, name: OptionalName = None, *, origin: ShowOrigin = False) -> None:
    """Show the settings in effect: flags before the environment before the context before defaults.

    Secrets are struck out.
    """
    variables = session.environment.variables
    configuration = read_configuration(session)
    said = session.said
    if name is not None:
        if configuration is None or name not in configuration.contexts:
            raise no_context(name, configuration.contexts if configuration else ())
        said = replace(said, context=name)
    settings = resolve(said, variables)
    session.emit(context_show(settings.context, _shown(settings, configuration), with_origin=origin))
    session.tell_overruled(settings)


def _shown(settings: Settings, configuration: Configuration | None) -> list[InEffect]:
    found = []
    for setting in declared():
        if not setting.in_contexts:
            continue
        where = settings.origin(setting.name)
        value = STRUCK_OUT if setting.name in settings.secrets else getattr(settings.options, setting.name, None)
        if value is None or (where.kind == "default" and not value):
            continue
        place = _place(configuration, where.name, setting.key) if configuration and where.kind == "context" else ""
        found.append(InEffect(setting.key, without_password(_text(value)), where.kind, where.name, place))
    return found


def _place(configuration: Configuration, context: str, key: str) -> str:
    line = configuration.line(context, key)
    return f"{configuration.path}:{line}" if line else str(configuration.path)


def _text(value: Value) -> str:
    """A value as it would be typed."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)
