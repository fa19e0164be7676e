"""`mesosctl context`: its verbs."""

from collections.abc import Mapping, Sequence
from typing import Annotated

import typer

from mesosctl.cli.command import ContextCommand, Group, examples
from mesosctl.cli.completion import callbacks as completing
from mesosctl.cli.completion.names import forget, keep_contexts
from mesosctl.cli.configuration.credentials import read_new_secret
from mesosctl.cli.configuration.file import Configuration, no_context, read, rival, without_password
from mesosctl.cli.configuration.settings import Settings, existing_configuration, resolve
from mesosctl.cli.global_options import Setting, Value, known_settings
from mesosctl.cli.session import Session
from mesosctl.context.documents import Context, SettingInEffect
from mesosctl.context.report import context_change, context_list, context_show
from mesosctl.files.redaction import REDACTED
from mesosctl.mesos.amounts.quantities import format_double
from mesosctl.mesos.errors import UsageError, printable
from mesosctl.mesos.roles import did_you_mean

app = typer.Typer(cls=Group, rich_markup_mode=None)


def _keys() -> list[str]:
    """The settings that a context may hold."""
    return [setting.key for setting in known_settings() if setting.in_contexts]


def _keys_with_values() -> list[str]:
    """The same as they are set: a secret is its name alone, as it is asked for."""
    kept = [setting for setting in known_settings() if setting.in_contexts]
    begun = completing.begun(*(f"{setting.key}=" for setting in kept if not setting.is_secret))
    return [*(setting.key for setting in kept if setting.is_secret), *begun]


Name = Annotated[
    str,
    typer.Argument(
        metavar="CONTEXT", autocompletion=completing.contexts, help="The name of a context.", show_default=False
    ),
]


def read_configuration(session: Session) -> Configuration | None:
    """The file, None if there is none."""
    variables = session.environment.variables
    path = existing_configuration(variables)
    configuration = read(path) if path is not None else None
    keep_contexts(sorted(configuration.contexts) if configuration else (), variables)
    return configuration


def tell_completions(configuration: Configuration, variables: Mapping[str, str]) -> None:
    """Names that were kept for a context may be another cluster's now."""
    forget(variables)
    keep_contexts(sorted(configuration.contexts), variables)


@app.command(
    "list",
    cls=ContextCommand,
    epilog=examples(
        ("context list", "every context, with the current one marked"),
        ("context list -o name", "their names, for a script"),
    ),
)
def list_(ctx: typer.Context) -> None:
    """Show every context; the current one is marked."""
    session: Session = ctx.obj
    configuration = read_configuration(session)
    contexts = configuration.contexts if configuration else {}
    chosen = session.settings.context or (configuration.current if configuration else None)
    session.emit(
        context_list(
            [
                Context(
                    name=name,
                    current=name == chosen,
                    master=without_password(str(kept.get("master", ""))) or None,
                    principal=str(kept.get("principal", "")) or None,
                )
                for name, kept in sorted(contexts.items())
            ]
        )
    )


OptionalName = Annotated[
    str | None,
    typer.Argument(
        metavar="CONTEXT",
        autocompletion=completing.contexts,
        help="The default is the context in effect.",
        show_default=False,
    ),
]
ShowOrigin = Annotated[
    bool, typer.Option("--origin", help="Also show where each setting comes from.", show_default=False)
]


@app.command(
    "show",
    cls=ContextCommand,
    epilog=examples(
        ("context show", "the settings of the next command"),
        ("context show --origin", "with the option, variable, context or default that each comes from"),
        ("context show prod -o json", "the settings of another context, as JSON"),
    ),
)
def show(ctx: typer.Context, name: OptionalName = None, *, origin: ShowOrigin = False) -> None:
    """Show the settings in effect.

    An option overrides a variable, a variable overrides a context, and a context overrides a default. Secrets are
    hidden.
    """
    session: Session = ctx.obj
    variables = session.environment.variables
    configuration = read_configuration(session)
    said = session.said
    if name is not None:
        if configuration is None or name not in configuration.contexts:
            raise no_context(name, configuration.contexts if configuration else ())
        said = said._replace(context=name)
    settings = resolve(said, variables)
    session.emit(context_show(settings.context, _shown(settings, configuration), with_origin=origin))
    session.tell_conflicts(settings)


def _shown(settings: Settings, configuration: Configuration | None) -> list[SettingInEffect]:
    found = []
    for setting in known_settings():
        if not setting.in_contexts:
            continue
        where = settings.origin(setting.name)
        value = REDACTED if setting.name in settings.secrets else getattr(settings.options, setting.name, None)
        if value is None or (where.kind == "default" and not value):
            continue
        place = configuration.line_of(where.name, setting.key) if configuration and where.kind == "context" else ""
        found.append(
            SettingInEffect(
                key=setting.key,
                value=without_password(_text(value)),
                origin=where.kind,
                name=where.name or None,
                place=place or None,
            )
        )
    return found


def _text(value: Value) -> str:
    """A value as it would be typed."""
    if isinstance(value, bool):
        return str(value).lower()
    return format_double(value) if isinstance(value, float) else str(value)


Words = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[KEY=VALUE]...",
        autocompletion=_keys_with_values,
        help="Settings such as timeout=60. For a secret, give KEY alone: you are prompted for the value, or it is read "
        "from standard input.",
        show_default=False,
    ),
]
Unset = Annotated[
    list[str] | None,
    typer.Option("--unset", metavar="KEY", autocompletion=_keys, help="Remove a setting. Repeat for several."),
]
_OF_THIS_COMMAND = frozenset({"context", "output", "quiet", "verbose", "yes"})


@app.command(
    "set",
    cls=ContextCommand,
    epilog=examples(
        (
            "context set prod --master http://host:5050 --principal ops --secret-file ops.secret",
            "create or change a context",
        ),
        ("context set prod output=json timeout=60", "set its output format and its deadline"),
        ("context set prod secret < ops.secret", "store the secret in the configuration file, which only you can read"),
        ("context set prod --unset timeout", "remove a setting"),
    ),
)
def set_(ctx: typer.Context, name: Name, words: Words = None, *, unset: Unset = None) -> None:
    """Create a context, or change one.

    A setting has the name of its option. You can also give connection settings as options. File paths are stored as
    absolute paths. The first context becomes the current one. Everything else in the file stays as it is, comments
    included.
    """
    from mesosctl.context import editing as configuration_editing  # brings tomlkit

    session: Session = ctx.obj
    settings = {setting.key: setting for setting in known_settings() if setting.in_contexts}
    values: dict[str, Value] = {
        setting.key: said
        for setting in settings.values()
        if setting.name not in _OF_THIS_COMMAND and (said := getattr(session.said, setting.name, None)) is not None
    }
    for word in words or ():
        key, equals, text = word.partition("=")
        if key not in settings:
            raise UsageError(
                f"there is no setting '{printable(key)}'",
                field="KEY",
                hint=did_you_mean(key.replace("_", "-"), settings, f"known: {', '.join(settings)}"),
            )
        values[key] = _value(settings[key], text if equals else None, session)
    both = next((key for key in values if rival(key) in values), None)
    if both is not None:
        raise UsageError(f"{both} and {rival(both)} cannot be used together", field=both, hint="give one of them")
    kept = {key: configuration_editing.lasting(settings[key], value) for key, value in values.items()}
    if not kept and not unset:
        raise UsageError("no setting is given", hint="for example, mesosctl context set prod --master ADDRESS")
    variables = session.environment.variables
    path = configuration_editing.place(variables)
    had_none = not path.exists()

    def agree(keys: Sequence[str]) -> None:
        secrets = [key for key in keys if settings[key].is_secret]
        if secrets:
            session.confirm(
                "Replace it?",
                f"context '{name}' has a {' and a '.join(secrets)}, which would be lost",
                f"remove it first with --unset {secrets[0]}, or use --yes in a script",
            )

    configuration, replaced = configuration_editing.change(path, name, kept, unset or (), agree)
    tell_completions(configuration, variables)
    session.emit(context_change([name], "set", configuration.current, f"context '{name}' is set in {path}"))
    for key in replaced:
        session.note(f"{key} is removed, because it would contradict {rival(key)}")
    if had_none:
        session.note(f"'{name}' is the current context: it is used unless you name another one")


def _value(setting: Setting, text: str | None, session: Session) -> Value:
    """The value of one word.  Raises UsageError."""
    if setting.is_secret:
        if text is not None:
            raise UsageError(
                f"a {setting.key} cannot be an argument, because every user can see it in the process list",
                field=setting.key,
                hint=f"give {setting.key} alone: you are prompted for the value, or it is read from standard input",
            )
        return read_new_secret(setting, session.environment)
    if text is None:
        raise UsageError(f"{setting.key} needs a value", field=setting.key, hint=f"write {setting.key}=VALUE")
    return setting.parse(text, setting.key)


@app.command(
    "use",
    cls=ContextCommand,
    epilog=examples(
        ("context use prod", "use this cluster for all later commands"),
    ),
)
def use(ctx: typer.Context, name: Name) -> None:
    """Make a context the current one."""
    from mesosctl.context import editing as configuration_editing  # brings tomlkit

    session: Session = ctx.obj
    variables = session.environment.variables
    configuration = configuration_editing.use(configuration_editing.place(variables), name)
    tell_completions(configuration, variables)
    session.emit(context_change([name], "used", configuration.current, f"context '{name}' is the current one"))
    session.tell_conflicts(resolve(session.said._replace(context=name), variables))


Names = Annotated[
    list[str],
    typer.Argument(
        metavar="CONTEXT...", autocompletion=completing.contexts, help="The names of contexts.", show_default=False
    ),
]


@app.command(
    "remove",
    cls=ContextCommand,
    epilog=examples(
        ("context remove old", "remove one"),
        ("context remove old older --yes", "remove two without being asked"),
    ),
)
def remove(ctx: typer.Context, names: Names) -> None:
    """Remove contexts.

    If one of them does not exist, none is removed. On a terminal you are asked before several are removed.
    """
    from mesosctl.context import editing as configuration_editing  # brings tomlkit

    session: Session = ctx.obj
    variables = session.environment.variables
    if len(set(names)) > 1:
        session.confirm(f"Remove the contexts {', '.join(names)}?")
    configuration = configuration_editing.remove(configuration_editing.place(variables), names)
    tell_completions(configuration, variables)
    session.emit(context_change(names, "removed", configuration.current, f"removed: {', '.join(names)}"))
    if configuration.current is None:
        session.note("there is no current context now")
