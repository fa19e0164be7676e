"""A token that proves who asks: from a file, the environment or a context, never from an argument."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from mesosctl.cli.secrets import read_secret_file
from mesosctl.cli.settings import Settings
from mesosctl.core.errors import BadInput, UsageError

if TYPE_CHECKING:
    from mesosctl.client.credentials import Token

_SECRETS = ("secret", "secret_file", "secret_from")
_TOKENS = ("token", "token_file")


def find_token(settings: Settings, warn: Callable[[str], None]) -> "Token | None":
    """The token that was given, None where there is none; `warn` is told of a file that others may open.

    Raises UsageError where a secret is given as well, and nothing says which counts, BadInput for
    what cannot be a token.
    """
    token, secret = _first(settings, _TOKENS), _first(settings, _SECRETS)
    if token is None:
        if settings.origin("token_scheme").kind == "flag":
            raise UsageError("--token-scheme is about a token", field="--token-scheme", hint="give --token-file FILE")
        return None
    one = settings.origin(token).name
    if secret is not None:
        other = settings.origin(secret).name
        raise UsageError(f"{one} and {other} are two ways to prove who asks", field=one, hint="give one of them")
    options = settings.options
    if "token" in settings.secrets:
        text = settings.secrets["token"]
    else:
        one = str(options.token_file)
        text = read_secret_file(one, "--token-file", warn, settings.reminder("token_file"))
    from mesosctl.client.credentials import Token

    return Token(_bare(text.strip(), one), options.token_scheme or "bearer", options.principal or None)


def _first(settings: Settings, names: tuple[str, ...]) -> str | None:
    """The first of these that was said."""
    return next((name for name in names if settings.origin(name).kind != "default"), None)


def _bare(text: str, source: str) -> str:
    """What may stand in a header; the text itself is never told."""
    if not text:
        raise BadInput(f"{source} is empty, and should hold a token", field="--token-file")
    if not text.isascii() or not text.isprintable() or " " in text:
        raise BadInput(
            f"{source} holds something else than a token: it should be one word",
            field="--token-file",
            hint="leave out 'Bearer' and the like; --token-scheme says how it is shown",
        )
    return text
