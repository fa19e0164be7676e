"""Commands that a hint suggests.  People paste them, and frameworks choose some of the names in them."""

import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

_cluster: ContextVar[Mapping[str, str]] = ContextVar("cluster")
"""The options with which the command line has named its cluster."""
_OF_NO_CLUSTER = ("context", "audit", "completion")
"""Commands that no cluster has to be named for."""


@contextmanager
def on_cluster(**options: str | None) -> Iterator[None]:
    """Within it, suggested commands have these options too, so that pasting them does not reach another cluster."""
    token = _cluster.set({name: value for name, value in options.items() if value is not None})
    try:
        yield
    finally:
        _cluster.reset(token)


def command(verb: str, *arguments: object, **options: object) -> str:
    """`mesosctl volumes destroy agent-1 v1 --role web`: quoted for a shell, so that pasting it runs only this.

    `options` are by their names: True is one without a value, None is left out, and an underscore stands for a hyphen.
    The options that named the cluster of the present command come first; see `on_cluster`.  A test checks that the
    command line has every verb and every option that is suggested.
    """
    if verb.partition(" ")[0] not in _OF_NO_CLUSTER:
        options = {**_cluster.get({}), **options}
    given = _words_of(options)
    texts = [str(argument) for argument in arguments]
    if any(text.startswith("-") and text != "-" for text in texts):
        return shlex.join(["mesosctl", *verb.split(), *given, "--", *texts])
    return shlex.join(["mesosctl", *verb.split(), *texts, *given])


def options_text(**options: object) -> str:
    """`--under 'a;b' --role web`: options to add to the present command, named and quoted as those of `command`."""
    return shlex.join(_words_of(options))


def _words_of(options: Mapping[str, object]) -> list[str]:
    words: list[str] = []
    for name, value in options.items():
        if value is None:
            continue
        words.append(f"-{name}" if len(name) == 1 else "--" + name.replace("_", "-"))
        if value is not True:
            words.append(str(value))
    return words
