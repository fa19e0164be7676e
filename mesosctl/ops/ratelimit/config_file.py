"""The configuration file: read with all that is in it, and written back as a whole or not at all."""

import json
import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mesosctl.core.errors import BadInput
from mesosctl.core.ratelimit import RateLimits
from mesosctl.wire.json_faults import find_fault
from mesosctl.wire.messages import ConversionError, decode
from mesosctl.wire.ratelimit import from_json

_NEW_FILE_MODE = 0o644
_INDENT = "  "


@dataclass(frozen=True, slots=True)
class Configuration:
    """The JSON of a file, everything unknown included, and what a master reads in it."""

    document: dict[str, Any]
    limits: RateLimits


def parse(text: str, name: str) -> Configuration:
    """The configuration in `text`; `name` stands for it in errors.

    Raises BadInput: for broken JSON with line, column and what was expected there, for a field of
    the wrong type with its path.  The rules of core are not checked.
    """
    fault = find_fault(text)
    if fault is not None:
        raise BadInput(f"{name}: {fault}", field=f"line {fault.line}, column {fault.column}", rule="ratelimit.json")
    try:
        document = decode(text)
        return Configuration(document, from_json(document))
    except ConversionError as error:
        raise BadInput(f"{name}: {error}", field=error.path or None, rule="ratelimit.fields") from None


def write_atomically(path: Path, text: str) -> None:
    """Replace a file, or the file a link leads to, keeping its permissions.  Raises BadInput."""
    target = Path(os.path.realpath(path))
    try:
        before = target.stat() if target.exists() else None
        descriptor, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            if before is not None:
                # Only root may give a file away; for everybody else it was theirs to begin with.
                with suppress(PermissionError):
                    os.chown(temporary, before.st_uid, before.st_gid)
            Path(temporary).chmod(_NEW_FILE_MODE if before is None else before.st_mode & 0o7777)
            Path(temporary).replace(target)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise BadInput(f"{path} cannot be written: {error.strerror}", field="--file") from None


def dump(document: dict[str, Any], like: str = "") -> str:
    """The document as text, in the layout of `like`, as far as that is known."""
    original = _decoded(like)
    if original is None:
        return _with_short_entries(document, _INDENT)
    # Of the two layouts that people write, the one that says more of the old text in the same lines.
    lines = set(like.splitlines())
    layouts = (_with_short_entries, _with_long_entries)
    layout = max(layouts, key=lambda layout: len(lines & set(layout(original, _indent(like)).splitlines())))
    return layout(document, _indent(like))


def _decoded(text: str) -> dict[str, Any] | None:
    try:
        value = decode(text)
    except ConversionError:
        return None
    return value if isinstance(value, dict) else None


def _indent(text: str) -> str:
    indented = next((line for line in text.splitlines() if line[:1] in (" ", "\t") and line.strip()), _INDENT)
    return indented[: len(indented) - len(indented.lstrip())]


def _with_long_entries(document: dict[str, Any], indent: str) -> str:
    return json.dumps(document, indent=indent, ensure_ascii=False) + "\n"


def _with_short_entries(document: dict[str, Any], indent: str) -> str:
    """Each field on a line, and each entry of an array too, as in Mesos's own document."""
    fields = []
    for name, value in document.items():
        text = _in_one_line(value)
        if isinstance(value, list) and value:
            entries = f",\n{indent}{indent}".join(map(_in_one_line, value))
            text = f"[\n{indent}{indent}{entries}\n{indent}]"
        fields.append(f"{indent}{_in_one_line(name)}: {text}")
    return "{\n" + ",\n".join(fields) + "\n}\n" if fields else "{}\n"


def _in_one_line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
