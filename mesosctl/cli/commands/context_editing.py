"""`mesosctl context set`."""

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

import typer

from mesosctl.cli import configuration_editing
from mesosctl.cli.commands.context import Name, tell_completions
from mesosctl.cli.configuration import rival
from mesosctl.cli.credentials import ask_for_secret
from mesosctl.cli.declared_settings import Setting, Value, declared
from mesosctl.cli.session import Session
from mesosctl.cli.settings import resolve
from mesosctl.cli.verb import verb
from mesosctl.client.address import parse_address
from mesosctl.model.errors import UsageError, printable
from mesosctl.model.roles import did_you_mean
from mesosctl.output.contexts import context_change

Words = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[KEY=VALUE]...",
        help="timeout=60 and the like; a secret is KEY alone, and is asked for or read from standard input.",
        show_default=False,
    ),
]
Unset = Annotated[list[str] | None, typer.Option("--unset", metavar="KEY", help="Take a setting away; repeat.")]
_OF_THIS_COMMAND = frozenset({"context", "output", "quiet", "verbose", "yes"})

_SET_EXAMPLES = (
    ("context set prod --master http://host:5050 --principal ops --secret-file ops.secret", "make or change one"),
    ("context set prod output=json timeout=60", "how its answers are written, and how long they may take"),
    ("context set prod secret < ops.secret", "keep the secret itself in the file, which is yours alone"),
    ("context set prod --unset timeout", "take a setting away"),
)


@verb(_SET_EXAMPLES, obeys_context=False)
def set_(session: Session, name: Name, words: Words = None, *, unset: Unset = None) -> None:
    """Make a context, or change one; everything else in the file stays as it is, comments included.

    A setting is called as its option is. Those that concern the connection may be given as options
    too. Files are kept with their whole path. The first context becomes the current one.
    """
    settings = {setting.key: setting for setting in declared() if setting.in_contexts}
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
                hint=did_you_mean(key.replace("_", "-"), settings, f"there are {', '.join(settings)}"),
            )
        values[key] = _value(settings[key], text if equals else None, session)
    both = next((key for key in values if rival(key) in values), None)
    if both is not None:
        raise UsageError(f"{both} and {rival(both)} contradict each other", field=both, hint="say one of them")
    kept = {key: _placed(settings[key], value) for key, value in values.items()}
    if not kept and not unset:
        raise UsageError("nothing to set was named", hint="for example: mesosctl context set prod --master ADDRESS")
    variables = session.environment.variables
    path = configuration_editing.place(variables)
    had_none = not path.exists()

    def agree(keys: Sequence[str]) -> None:
        secrets = [key for key in keys if settings[key].is_secret]
        if secrets:
            session.confirm_destructive(
                "Replace it?",
                f"context '{name}' keeps a {' and a '.join(secrets)}, which would be lost",
                f"take it away yourself: --unset {secrets[0]}; or in a script say --yes",
            )

    configuration, replaced = configuration_editing.change(path, name, kept, unset or (), agree)
    tell_completions(configuration, variables)
    session.emit(context_change([name], "set", configuration.current, f"context '{name}' is set in {path}"))
    for key in replaced:
        session.note(f"{key} was there too, and is gone: it would contradict {rival(key)}")
    if had_none:
        session.note(f"'{name}' is the current context: it counts where no other is named")


def _value(setting: Setting, text: str | None, session: Session) -> Value:
    """The value of one word.  Raises UsageError."""
    if setting.is_secret:
        if text is not None:
            raise UsageError(
                f"a {setting.key} is never an argument, as everybody can list processes",
                field=setting.key,
                hint=f"say {setting.key} alone: it is asked for, or read from standard input",
            )
        return _asked(setting, session)
    if text is None:
        raise UsageError(f"{setting.key} needs a value", field=setting.key, hint=f"write {setting.key}=VALUE")
    return setting.parse(text, setting.key)


def _asked(setting: Setting, session: Session) -> str:
    environment = session.environment
    if environment.may_prompt:
        secret = ask_for_secret(f"{setting.key.capitalize()}: ", environment, "")
    else:
        secret = environment.stdin.read().removesuffix("\n").removesuffix("\r")
    wrong = setting.check(secret)
    if wrong or "\n" in secret:
        raise UsageError(f"the {setting.key} {wrong or 'has more than one line'}", field=setting.key)
    return secret


def _placed(setting: Setting, value: Value) -> Value:
    """A value that means the same in every folder.  Raises UsageError for an address that is none."""
    if setting.name == "master" and isinstance(value, str):
        address = parse_address(value)
        return _fake_placed(value) if address.fake else value
    if isinstance(value, float) and value.is_integer():
        return int(value)  # 7 was typed, and is 7 in a file for people too
    if setting.is_file and isinstance(value, str) and not value.startswith("~/"):
        return os.path.abspath(value)  # noqa: PTH100  # of a link, not of what it leads to
    return value


def _fake_placed(address: str) -> str:
    """A fake: address with the whole path of its cluster file."""
    path, mark, question = address.removeprefix("fake:").partition("?")
    return f"fake:{os.path.abspath(path) if path else ''}{mark}{question}"  # noqa: PTH100


_USE_EXAMPLES = (("context use prod", "every command asks this cluster from now on"),)


@verb(_USE_EXAMPLES, obeys_context=False)
def use(session: Session, name: Name) -> None:
    """Make a context the current one."""
    variables = session.environment.variables
    configuration = configuration_editing.use(configuration_editing.place(variables), name)
    tell_completions(configuration, variables)
    session.emit(context_change([name], "used", configuration.current, f"context '{name}' is the current one"))
    session.tell_conflicts(resolve(replace(session.said, context=name), variables))


Names = Annotated[list[str], typer.Argument(metavar="CONTEXT...", help="The names of contexts.", show_default=False)]
_REMOVE_EXAMPLES = (
    ("context remove old", "forget one"),
    ("context remove old older --yes", "forget two without being asked"),
)


@verb(_REMOVE_EXAMPLES, obeys_context=False)
def remove(session: Session, names: Names) -> None:
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
