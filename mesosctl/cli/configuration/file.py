"""The configuration file: contexts in TOML, read and checked whole.

    current = "prod"

    [contexts.prod]
    master = "https://master.example:5050"
    principal = "ops"
    secret-file = "ops.secret"      # beside this file

Imported only if there is such a file.
"""

import os
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mesosctl.cli.global_options import Setting, Value, known_settings
from mesosctl.files.reading import open_file, read_within, unreadable_hint, why_unreadable
from mesosctl.mesos.errors import BadInput, NotFound, printable
from mesosctl.mesos.messages.strict import reading
from mesosctl.mesos.messages.strict.reading import Fault
from mesosctl.mesos.roles import closest, did_you_mean
from mesosctl.suggestion import command

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
"""Valid names of contexts: a bare key of TOML that no shell has to quote."""
_PASSWORD = re.compile(r"//[^/@\s]+@")


@dataclass(frozen=True, slots=True)
class Configuration:
    """The content of the file; every value has the type of its setting."""

    path: Path
    text: str
    current: str | None
    contexts: Mapping[str, Mapping[str, Value]]

    def of(self, name: str) -> Mapping[str, Value] | None:
        """The values of one context by key, None if there is no such context."""
        return self.contexts.get(name)

    def place(self, file: str, variables: Mapping[str, str]) -> str:
        """The path of a file that a context names, which may be relative to the folder of the configuration file."""
        if file.startswith("~/") and variables.get("HOME"):
            return variables["HOME"] + file[1:]
        return str(self.path.parent / file)

    def place_of(self, key: str) -> str:
        """The file and the line of a top-level key, in errors."""
        line = line_of(self.text, (), key)
        return f"{self.path}, line {line}: {key}" if line else str(self.path)

    def line_of(self, context: str, key: str) -> str:
        """The file and the line of `key`, as `PATH:LINE`."""
        line = line_of(self.text, ("contexts", context), key)
        return f"{self.path}:{line}" if line else str(self.path)


def read(path: Path) -> Configuration:
    """The file, checked.  Raises BadInput that names every fault with its line."""
    text, state = read_file(path)
    configuration = check(path, text)
    if is_open(state) and holds_secret(configuration):
        raise too_open(path, state)
    return configuration


def read_file(path: Path) -> tuple[str, os.stat_result]:
    """Its text and its state.  Raises BadInput."""
    try:
        with open_file(path) as file:
            return read_within(file).decode("utf-8"), os.fstat(file.fileno())
    except (OSError, ValueError) as error:
        raise BadInput(f"{path} cannot be read: {why_unreadable(error)}", hint=unreadable_hint(path, error)) from None


def is_open(state: os.stat_result) -> bool:
    """Whether others may read or write a file that the user owns; the user cannot correct another's."""
    return bool(state.st_mode & 0o077) and state.st_uid == os.geteuid()


def too_open(path: Path, state: os.stat_result) -> BadInput:
    """The error for a secret that others may read."""
    return BadInput(
        f"{path} holds a secret, but other users may open it (mode {state.st_mode & 0o777:04o})",
        hint=f"chmod 600 '{path}'",
    )


def check(path: Path, text: str) -> Configuration:
    """The configuration in a text.  Raises BadInput that names every fault with its line.

    A `Setting` describes its key here, its option and its variable, and every command reads this file; so it is not
    read by `files.typed_file`, whose tables would describe the keys again, and take 15 ms to load.
    """
    document = reading.read_toml(text, str(path))
    found = list(_faults(document))
    if found:
        from mesosctl.files.text_file import TextFile  # late, as the next: most files have no fault
        from mesosctl.mesos.messages.strict.line_numbers import places_in_toml

        raise TextFile(str(path), text, places_in_toml).refusal(found)
    return Configuration(path, text, document.get("current"), document.get("contexts", {}))


def _faults(document: Mapping[str, Any]) -> Iterator[Fault]:
    for key in document:
        if key not in ("current", "contexts"):
            yield Fault(key, "there is no such key", _likely(key, ("current", "contexts")))
    if not isinstance(document.get("current", ""), str):
        yield Fault("current", "it must be the name of a context")
    contexts = document.get("contexts", {})
    if not isinstance(contexts, dict):
        yield Fault("contexts", "it must be a table of contexts", "write [contexts.prod]")
        return
    settings = {setting.key: setting for setting in known_settings() if setting.in_contexts}
    for name, context in contexts.items():
        where = f"contexts.{name}"
        if not isinstance(context, dict):
            yield Fault(where, "it must be a table of settings", f"write [{where}]")
        elif not NAME.fullmatch(name):
            yield Fault(where, "this is not a name for a context", "use letters, digits, - and _")
        else:
            yield from _faults_of(name, context, settings)


def _faults_of(name: str, context: Mapping[str, Any], settings: Mapping[str, Setting]) -> Iterator[Fault]:
    for key, value in context.items():
        setting, wrong = settings.get(key), ""
        if setting is None:
            wrong = f"there is no such key; {_likely(key, settings)}"
        elif problem := setting.check(value):
            wrong = f"it {problem}"
        elif setting.is_secret and rival(key) in context:
            wrong = f"it cannot be used together with {rival(key)}: keep one of them"
        if wrong:
            remove = f"correct it, or remove it: {command('context set', name, unset=key)}"
            yield Fault(f"contexts.{name}.{key}", wrong, remove if NAME.fullmatch(key) else None)


def rival(key: str) -> str:
    """The keys that contradict this one: a secret and the key of its file contradict each other."""
    return key.removesuffix("-file") if key.endswith("-file") else f"{key}-file"


def _likely(key: str, known: Collection[str]) -> str:
    found = closest(key.replace("_", "-"), known)
    return f"did you mean {found}?" if found else f"known: {', '.join(known)}"


def no_context(name: str, known: Collection[str]) -> NotFound:
    """The error for a context that does not exist; `known` are the names of the others."""
    return NotFound(
        f"there is no context '{printable(name)}'",
        field="context",
        hint=did_you_mean(name, known, "mesosctl context list shows them")
        if known
        else "there are none yet; mesosctl context set NAME --master ADDRESS creates one",
    )


def holds_secret(configuration: Configuration) -> bool:
    """Whether a secret is in the file itself, a password in an address included."""
    secret = {setting.key for setting in known_settings() if setting.is_secret}
    return any(
        key in secret or (isinstance(value, str) and _PASSWORD.search(value))
        for context in configuration.contexts.values()
        for key, value in context.items()
    )


def without_password(text: str) -> str:
    """The text of an address, with the part before an @ hidden."""
    return _PASSWORD.sub("//***@", text)


def line_of(text: str, table: tuple[str, ...], key: str) -> int | None:
    """The line of a key in a file that is laid out line by line; None otherwise."""
    from mesosctl.mesos.messages.strict.line_numbers import places_in_toml

    return places_in_toml(text).lines.get(".".join((*table, key)))
