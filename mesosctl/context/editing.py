"""Edits of the configuration file, which change nothing else, keep every comment, and happen completely or not at all.

tomlkit keeps the order and the comments of the file. Its result is read again and checked before it replaces the file.
"""

import os
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import InlineTable

from mesosctl.cli.configuration.file import (
    NAME,
    Configuration,
    check,
    holds_secret,
    is_open,
    no_context,
    read_file,
    rival,
    too_open,
)
from mesosctl.cli.configuration.settings import configuration_path
from mesosctl.cli.global_options import Setting, Value
from mesosctl.client.address import parse_address
from mesosctl.files.writing import locked, make_private_folder, write_atomically
from mesosctl.mesos.errors import BadInput, Bug, NotFound, UsageError, printable
from mesosctl.mesos.messages.strict import reading
from mesosctl.mesos.roles import did_you_mean
from mesosctl.suggestion import command

_PRIVATE = 0o600


def use(path: Path, name: str) -> Configuration:
    """Make a context the current one.  Raises NotFound."""
    with _edited(path) as document:
        _context(document, name)
        document["current"] = name
    return check(path, read_file(path)[0])


def change(
    path: Path,
    name: str,
    values: Mapping[str, Value],
    unset: Iterable[str],
    agree: Callable[[Sequence[str]], None] = lambda _: None,
) -> tuple[Configuration, list[str]]:
    """Set and remove values of a context, which is created if it does not exist; the first one becomes current.

    A secret replaces the key of its file, and the reverse; the removed keys are returned too. `agree` is called with
    them first, and raises if they must stay. Raises UsageError for an invalid name, NotFound for a key that does not
    exist.
    """
    if not NAME.fullmatch(name):
        raise UsageError(f"'{printable(name)}' is not a name for a context", hint="use letters, digits, - and _")
    with _edited(path) as document:
        contexts = document.setdefault("contexts", tomlkit.table(is_super_table=True))
        if not contexts and "current" not in document:
            # A top-level key comes before the first table.
            document.pop("contexts")
            document["current"] = name
            document["contexts"] = contexts = tomlkit.table(is_super_table=True)
        if name not in contexts:
            contexts[name] = tomlkit.inline_table() if _has_no_headers(contexts, document) else tomlkit.table()
        context = contexts[name]
        for key in unset:
            if key not in context:
                raise NotFound(
                    f"context '{name}' has no setting {printable(key)}",
                    field="--unset",
                    hint=did_you_mean(key, context, f"{command('context show', name)} shows its settings"),
                )
            del context[key]
        replaced = [rival(key) for key in values if rival(key) in context and rival(key) not in values]
        if replaced:
            agree(replaced)
        for key in replaced:
            del context[key]
        for key, value in values.items():
            context[key] = value
    return check(path, read_file(path)[0]), replaced


def remove(path: Path, names: Iterable[str]) -> Configuration:
    """Remove contexts.  Raises NotFound, and removes none, if one of them does not exist."""
    with _edited(path) as document:
        known = dict.fromkeys(names)
        for name in known:
            _context(document, name)
        for name in known:
            del document["contexts"][name]
            if document.get("current") == name:
                del document["current"]
        if not document["contexts"]:
            del document["contexts"]  # a table that contains only tables has no line
    return check(path, read_file(path)[0])


def place(variables: Mapping[str, str]) -> Path:
    """The path of the file, which may not exist yet. Raises BadInput without a home."""
    path = configuration_path(variables)
    if path is None:
        raise BadInput(
            "there is no folder for a configuration file", hint="set HOME, XDG_CONFIG_HOME or MESOSCTL_CONFIG"
        )
    return path


def _context(document: Mapping[str, Any], name: str) -> None:
    known = document.get("contexts", {})
    if name not in known:
        raise no_context(name, known)


@contextmanager
def _edited(path: Path) -> Iterator[Any]:
    """The document, written back when the block ends without an error.

    A lock keeps other processes from changing it meanwhile.
    """
    with ExitStack() as held:
        try:
            make_private_folder(path.parent)
            held.enter_context(locked(path.parent))
        except OSError as error:
            raise BadInput(f"{path} cannot be written: {error.strerror}") from None
        text, state = read_file(path) if path.exists() else ("", None)
        if not _has_tables(reading.read_toml(text, str(path))):
            check(path, text)  # names the line
        try:
            document = tomlkit.parse(text)
        except (TOMLKitError, RecursionError) as error:
            raise BadInput(f"{path} cannot be edited: {printable(str(error))}") from None
        yield document
        written = tomlkit.dumps(document)
        configuration = check(path, written)
        if tomllib.loads(written) != document.unwrap():
            raise Bug(f"{path} was not changed, because the change cannot be written safely", hint="edit it by hand")
        if state is not None and is_open(state) and holds_secret(configuration):
            raise too_open(path, state)
        if written != text:
            write_atomically(path, written, new_mode=_PRIVATE)


def _has_no_headers(contexts: Mapping[str, Any], document: tomlkit.TOMLDocument) -> bool:
    """Whether contexts are written without headers, as inline tables or dotted keys; TOML has no header among those."""
    if not contexts:
        return isinstance(contexts, InlineTable)
    return not re.search(r"^\s*\[\s*[\"']?contexts\b", tomlkit.dumps(document), re.MULTILINE)


def _has_tables(document: Mapping[str, Any]) -> bool:
    """Whether contexts are tables, so that they can be edited; other faults can be corrected."""
    contexts = document.get("contexts", {})
    return isinstance(contexts, dict) and all(isinstance(context, dict) for context in contexts.values())


def lasting(setting: Setting, value: Value) -> Value:
    """A value that means the same in every folder. Raises UsageError for an invalid address."""
    if setting.name == "master" and isinstance(value, str):
        address = parse_address(value)
        return _fake_placed(value) if address.fake else value
    if isinstance(value, float) and value.is_integer():
        return int(value)  # write 7, not 7.0, as the user typed it
    if setting.is_file and isinstance(value, str) and not value.startswith("~/"):
        return os.path.abspath(value)  # noqa: PTH100  # of a link, not of what it leads to
    return value


def _fake_placed(address: str) -> str:
    """A fake: address with the absolute path of its cluster file."""
    path, mark, question = address.removeprefix("fake:").partition("?")
    return f"fake:{os.path.abspath(path) if path else ''}{mark}{question}"  # noqa: PTH100
