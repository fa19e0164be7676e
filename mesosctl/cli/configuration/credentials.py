"""Secrets from a file, a variable, a context, the keyring, or a silent prompt.

They never come from an argument, which everybody who can list processes sees, and never appear in a message.
"""

import os
import stat
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from mesosctl.cli.configuration.settings import Settings
from mesosctl.cli.environment import Environment, OperatorNote
from mesosctl.cli.global_options import GlobalOptions, Setting, known_settings
from mesosctl.files.reading import open_file, unreadable_hint, why_unreadable
from mesosctl.files.redaction import Secrets
from mesosctl.mesos.errors import BadInput, UsageError, extra

if TYPE_CHECKING:
    from mesosctl.client.settings import Credentials, Token


_KEYRING = "mesosctl"
_LARGEST = 1 << 14
"""Characters of a file that holds a secret; no token is nearly as long."""


def find_credentials(
    settings: Settings, said: GlobalOptions, environment: Environment, warn: Callable[[str], None]
) -> "Credentials | Token | None":
    """The token, or the principal with its secret, that the settings name; None if they name none.

    Raises UsageError.
    """
    token = find_token(settings, warn)
    if token is not None:
        return token
    principal = settings.options.principal
    if not principal:
        if said.secret_file is not None:
            raise UsageError("--secret-file needs a principal", field="--principal", hint="give --principal NAME")
        return None
    if ":" in principal:
        raise UsageError("a principal cannot contain a colon", field="--principal", hint=settings.reminder("principal"))
    secret = secret_of(principal, settings, environment, warn)
    environment.secrets.add_pair(principal, secret)
    from mesosctl.client.settings import Credentials

    return Credentials(principal, secret)


def secret_of(principal: str, settings: Settings, environment: Environment, warn: Callable[[str], None]) -> str:
    """The principal's secret, from the place that takes precedence in `settings`.

    `warn` is called for a file that others may open.

    Raises BadInput for a file or a keyring without one, UsageError if there is nobody to ask.
    """
    file, source = settings.options.secret_file, settings.options.secret_from
    if "secret" in settings.secrets:
        return settings.secrets["secret"]
    if file is not None:
        return read_secret_file(file, "--secret-file", warn, settings.reminder("secret_file"))
    if source == "keyring":
        return _from_keyring(principal, settings.context if settings.conflicting is None else None)
    return ask_for_secret(f"Secret of {principal}: ", environment, f"no secret for principal '{principal}'")


def learn_from_variables(variables: Mapping[str, str], secrets: Secrets) -> None:
    """Add every secret in the environment to `secrets`, whether it is used or not."""
    for setting in known_settings():
        if setting.is_secret:
            secrets.add(variables.get(setting.variable))
    for name, value in variables.items():
        # Also the passwords of proxies, which every program of the session can see.
        if name.startswith("MESOSCTL_") or name.lower().endswith("_proxy"):
            secrets.add_address(value)


def ask_for_secret(prompt: str, environment: Environment, otherwise: str) -> str:
    """Return the secret that a person types silently.  Raises UsageError with the sentence `otherwise` in a script."""
    if environment.may_prompt:
        return environment.ask_secret(prompt)
    raise UsageError(otherwise, field="--secret-file", hint="give --secret-file or set MESOSCTL_SECRET")


def read_new_secret(setting: Setting, environment: Environment) -> str:
    """A secret for a context, from a silent prompt or from standard input.  Raises UsageError."""
    if environment.may_prompt:
        secret = ask_for_secret(f"{setting.key.capitalize()}: ", environment, "")
    else:
        secret = environment.stdin.read(_LARGEST + 1).removesuffix("\n").removesuffix("\r")
    wrong = f"holds more than {_LARGEST} characters" if len(secret) > _LARGEST else setting.check(secret)
    if wrong or "\n" in secret:
        raise UsageError(f"the {setting.key} {wrong or 'has more than one line'}", field=setting.key)
    return secret


def read_secret_file(path: str, option: str, warn: Callable[[str], None], hint: str | None = None) -> str:
    """The text of a file that holds a secret, without the end of its line.  Raises BadInput.

    Like ssh, it checks permissions only if the user owns the file and can correct them.
    """
    try:
        with open_file(path) as file:
            state = os.fstat(file.fileno())
            text = file.read(_LARGEST + 1).decode()
    except (OSError, ValueError) as error:
        hint = "; ".join(filter(None, (hint, unreadable_hint(path, error)))) or None
        raise BadInput(f"{path} cannot be read: {why_unreadable(error)}", field=option, hint=hint) from None
    if len(text) > _LARGEST:
        raise BadInput(f"{path} holds more than a secret: it should be one line", field=option, hint=hint)
    secret = text.removesuffix("\n").removesuffix("\r")
    if not secret:
        raise BadInput(f"{path} is empty, but should hold a secret", field=option, hint=hint)
    if stat.S_ISREG(state.st_mode) and state.st_mode & 0o077 and state.st_uid == os.geteuid():
        warn(
            f"other users may open {path} (mode {state.st_mode & 0o777:04o}), which holds a secret: run chmod 600 "
            f"'{path}'"
        )
    return secret


def _from_keyring(principal: str, context: str | None) -> str:
    """The secret in the system's keyring; each context has its own."""
    from importlib import import_module

    service = _KEYRING if context is None else f"{_KEYRING}/{context}"
    try:
        found = import_module("keyring").get_password(service, principal)
    except ImportError:
        raise BadInput("no keyring is available", field="--secret-from", hint=extra("keyring")) from None
    except Exception as error:  # noqa: BLE001  # each keyring has errors of its own, which may tell too much
        raise BadInput(f"the keyring does not answer ({type(error).__name__})", field="--secret-from") from None
    if not found:
        raise BadInput(
            f"the keyring has no secret for {principal}",
            field="--secret-from",
            hint=f"keyring set '{service}' '{principal}'",
        )
    return str(found)


_SECRETS = ("secret", "secret_file", "secret_from")
_TOKENS = ("token", "token_file")


def find_token(settings: Settings, warn: Callable[[str], None]) -> "Token | None":
    """The token that was given, or None; `warn` is called for a file that others may open.

    Raises UsageError if a secret is given too and neither takes precedence, BadInput for text that cannot be a token.
    """
    token, secret = _first(settings, _TOKENS), _first(settings, _SECRETS)
    if token is None:
        if settings.origin("token_scheme").kind == "flag":
            raise UsageError("--token-scheme needs a token", field="--token-scheme", hint="give --token-file FILE")
        return None
    named = settings.origin(token).name
    if secret is not None:
        other = settings.origin(secret).name
        raise UsageError(f"{named} and {other} are two ways to authenticate", field=named, hint="give one of them")
    options = settings.options
    if "token" in settings.secrets:
        text = settings.secrets["token"]
    else:
        named = str(options.token_file)
        text = read_secret_file(named, "--token-file", warn, settings.reminder("token_file"))
    from mesosctl.client.settings import Token

    return Token(_bare(text.strip(), named), options.token_scheme or "bearer", options.principal or None)


def _first(settings: Settings, names: tuple[str, ...]) -> str | None:
    """The first of these that was given."""
    return next((name for name in names if settings.origin(name).kind != "default"), None)


def _bare(text: str, source: str) -> str:
    """Return a text that is valid in a header; errors do not contain the text itself."""
    if not text:
        raise BadInput(f"{source} is empty, but should hold a token", field="--token-file")
    if not text.isascii() or not text.isprintable() or " " in text:
        raise BadInput(
            f"{source} does not hold a token, which is one word",
            field="--token-file",
            hint="leave out words such as 'Bearer'; --token-scheme says how the token is sent",
        )
    return text


def refuse_two_clusters(settings: Settings) -> None:
    """Raise UsageError if --context names one cluster and MESOSCTL_MASTER another.

    The variable would override the
    context, which somebody who has just typed the name of a context does not expect. With --master there is no doubt.
    """
    if settings.conflicting is None or _kinds(settings) != ("flag", "environment"):
        return
    raise UsageError(
        f"--context {settings.context} means {_plain(settings.conflicting.master)}, but MESOSCTL_MASTER means "
        f"{_plain(settings.options.master)}",
        field="--context",
        hint="unset MESOSCTL_MASTER, or give --master, which overrides both",
    )


def find_conflicts(settings: Settings) -> OperatorNote | None:
    """A note or a warning if the master is not the context's; None if there is nothing surprising."""
    if settings.conflicting is None:
        return None
    named = f"{settings.origin('master').name} names {_plain(settings.options.master)}"
    meant = f"context '{settings.context}' is for {_plain(settings.conflicting.master)}"
    kept = ", ".join(settings.conflicting.left_out)
    left_out = f"; ignored from that context: {kept}" if kept else ""
    if _kinds(settings) in (("environment", "environment"), ("flag", "environment")):
        return OperatorNote("warning", f"{named}, so mesosctl uses that master; {meant}{left_out}")
    return OperatorNote("note", f"{named}, but {meant}{left_out}") if kept else None


def _kinds(settings: Settings) -> tuple[str, str]:
    """Where the context was named, and where the master."""
    return settings.origin("context").kind, settings.origin("master").kind


def _plain(address: str | None) -> str:
    from mesosctl.cli.configuration.file import without_password  # it has been read, or there is no context

    return f"'{without_password(address or '')}'"
