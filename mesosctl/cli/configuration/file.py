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

from mesosctl.api.files import reading
from mesosctl.cli.global_options import Setting, Value, known_settings
from mesosctl.file_reading import LARGEST_TEXT, open_file, unreadable_hint, why_unreadable
from mesosctl.model.errors import BadInput, NotFound, printable
from mesosctl.model.roles import closest, did_you_mean
from mesosctl.model.suggestion import command

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
    """The file, checked.  Raises BadInput that names the line."""
    text, state = read_file(path)
    configuration = check(path, text)
    if is_open(state) and holds_secret(configuration):
        raise too_open(path, state)
    return configuration


def read_file(path: Path) -> tuple[str, os.stat_result]:
    """Its text and its state.  Raises BadInput."""
    try:
        with open_file(path) as file:
            return file.read(LARGEST_TEXT).decode("utf-8"), os.fstat(file.fileno())
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
    """The configuration in a text.  Raises BadInput that names the line."""
    document = reading.read_toml(text, str(path))
    settings = {setting.key: setting for setting in known_settings() if setting.in_contexts}
    fault = next(_faults(document, settings), None)
    if fault is not None:
        table, key, sentence = fault
        line = line_of(text, table, key)
        where = ".".join((*table, key))
        in_context = table[1:] and NAME.fullmatch(table[1]) and NAME.fullmatch(key)
        raise BadInput(
            f"{path}: {printable(key)} {sentence}",
            field=printable(f"line {line}, {where}" if line else where),
            hint=f"correct it, or remove it: {command('context set', table[1], unset=key)}" if in_context else None,
        )
    return Configuration(path, text, document.get("current"), document.get("contexts", {}))


def _faults(document: Mapping[str, Any], settings: Mapping[str, Setting]) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """The table, the key and what is wrong there."""
    for key in document:
        if key not in ("current", "contexts"):
            yield (), key, f"is unknown{_likely(key, ('current', 'contexts'))}"
    if not isinstance(document.get("current", ""), str):
        yield (), "current", "must be the name of a context"
    contexts = document.get("contexts", {})
    if not isinstance(contexts, dict):
        yield (), "contexts", "must be a table of contexts, as in [contexts.prod]"
        return
    for name, context in contexts.items():
        if not isinstance(context, dict):
            yield ("contexts",), name, f"must be a table of settings, as in [contexts.{name}]"
        elif not NAME.fullmatch(name):
            yield ("contexts",), name, "is not a name for a context: use letters, digits, - and _"
        else:
            yield from ((("contexts", name), key, wrong) for key, wrong in _faults_of(context, settings))


def _faults_of(context: Mapping[str, Any], settings: Mapping[str, Setting]) -> Iterator[tuple[str, str]]:
    for key, value in context.items():
        setting = settings.get(key)
        if setting is None:
            yield key, f"is unknown{_likely(key, settings)}"
        elif wrong := setting.check(value):
            yield key, wrong
        elif setting.is_secret and rival(key) in context:
            yield key, f"and {rival(key)} cannot be used together: keep one of them"


def rival(key: str) -> str:
    """The keys that contradict this one: a secret and the key of its file contradict each other."""
    return key.removesuffix("-file") if key.endswith("-file") else f"{key}-file"


def _likely(key: str, known: Any) -> str:
    found = closest(key.replace("_", "-"), known)
    return f"; did you mean {found}?" if found else f"; known: {', '.join(known)}"


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
    from mesosctl.api.files.line_numbers import places_in_toml

    return places_in_toml(text).lines.get(".".join((*table, key)))
