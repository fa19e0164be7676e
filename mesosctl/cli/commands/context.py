"""`mesosctl context`: its verbs, one module each."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated

import typer

from mesosctl.cli.configuration import Configuration, no_context, read, without_password
from mesosctl.cli.declared_settings import Value, declared
from mesosctl.cli.names import forget, keep_contexts
from mesosctl.cli.session import Session
from mesosctl.cli.settings import Settings, existing_configuration, resolve
from mesosctl.cli.verb import group, verb
from mesosctl.model.redaction import REDACTED
from mesosctl.output.contexts import InEffect, Kept, context_list, context_show

app = group(
    "Keep settings under a name, and choose one by --context, MESOSCTL_CONTEXT or mesosctl context use.",
    {
        "list": "mesosctl.cli.commands.context:list_",
        "remove": "mesosctl.cli.commands.context_editing:remove",
        "set": "mesosctl.cli.commands.context_editing:set_",
        "show": "mesosctl.cli.commands.context:show",
        "use": "mesosctl.cli.commands.context_editing:use",
    },
)


Name = Annotated[str, typer.Argument(metavar="CONTEXT", help="The name of a context.", show_default=False)]


def read_configuration(session: Session) -> Configuration | None:
    """The file, None where there is none."""
    variables = session.environment.variables
    path = existing_configuration(variables)
    configuration = read(path) if path is not None else None
    keep_contexts(sorted(configuration.contexts) if configuration else (), variables)
    return configuration


def tell_completions(configuration: Configuration, variables: Mapping[str, str]) -> None:
    """Names that were kept for a context may be another cluster's now."""
    forget(variables)
    keep_contexts(sorted(configuration.contexts), variables)


_LIST_EXAMPLES = (
    ("context list", "every context, the current one marked"),
    ("context list -o name", "their names, for a script"),
)


@verb(_LIST_EXAMPLES, obeys_context=False)
def list_(session: Session) -> None:
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


OptionalName = Annotated[
    str | None,
    typer.Argument(metavar="CONTEXT", help="The one in effect unless given.", show_default=False),
]
ShowOrigin = Annotated[bool, typer.Option("--origin", help="Also where each comes from.", show_default=False)]
_SHOW_EXAMPLES = (
    ("context show", "what holds for the next command"),
    ("context show --origin", "and which flag, variable, context or default says so"),
    ("context show prod -o json", "what would hold with another context, for a program"),
)


@verb(_SHOW_EXAMPLES, obeys_context=False)
def show(session: Session, name: OptionalName = None, *, origin: ShowOrigin = False) -> None:
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
    session.tell_conflicts(settings)


def _shown(settings: Settings, configuration: Configuration | None) -> list[InEffect]:
    found = []
    for setting in declared():
        if not setting.in_contexts:
            continue
        where = settings.origin(setting.name)
        value = REDACTED if setting.name in settings.secrets else getattr(settings.options, setting.name, None)
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
