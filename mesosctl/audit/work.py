"""The work of `audit list`: it reads the audit file, whose lines may be damaged, and which may be renamed meanwhile."""

import fcntl
import json
import math
import os
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from io import BufferedReader
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec

from mesosctl.changes.audit import KEPT, LOCK, full_file
from mesosctl.changes.audited_commands import AuditedCommand, AuditFilter, Author
from mesosctl.files.reading import LARGEST_TEXT, open_file, why_unreadable
from mesosctl.mesos.errors import BadInput
from mesosctl.reading.selection import SortKey, sort_entries


class AuditedCommands(NamedTuple):
    """The commands in the audit files, the oldest first, and the number of lines that cannot be read."""

    commands: list[AuditedCommand]
    unreadable: int


def read_audit(
    path: Path,
    wanted: AuditFilter = AuditFilter(),  # noqa: B008  # it cannot change
    sort: str | None = None,
) -> AuditedCommands:
    """Return the selected commands in the file and in the full ones before it, by default the oldest first.

    Raises BadInput, and UsageError for a key that is not one of `AUDIT_KEYS`.
    """
    found: dict[str, AuditedCommand] = {}
    unreadable = 0
    for line in _lines(path):
        try:
            _take(found, json.loads(line, parse_constant=_finite, parse_float=_finite))
        except (ValueError, LookupError, TypeError, RecursionError, msgspec.ValidationError):
            unreadable += 1
    chosen = [audited for audited in found.values() if wanted.accepts(audited)]
    keys: dict[str, SortKey[AuditedCommand]] = {
        "time": lambda audited: audited.begun,
        "user": lambda audited: audited.author.user,
        "master": lambda audited: audited.author.master,
        "status": lambda audited: (audited.status is None, audited.status),
        "command": lambda audited: audited.author.command,
    }
    return AuditedCommands(sort_entries(chosen, sort, keys), unreadable)


def _finite(text: str) -> float:
    """A number of JSON.  Raises ValueError for one that no line has."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


def _lines(path: Path) -> Iterator[bytes]:
    """Every line that is not empty, the oldest first; of one that is far too long, nothing but its beginning."""
    with ExitStack() as stack:
        try:
            for file in _opened(path, stack):
                while line := file.readline(LARGEST_TEXT):
                    begins, ends = file.tell() - len(line), line.endswith(b"\n")
                    while not ends and (more := file.readline(LARGEST_TEXT)):
                        ends = more.endswith(b"\n")
                    if not ends:
                        line = _whole_last_line(path, file, begins)
                    if line.strip():
                        yield line
        except OSError as error:
            raise _unreadable(path, error) from None


def _opened(path: Path, stack: ExitStack) -> list[BufferedReader]:
    """The files, the oldest first.  Raises BadInput.

    They are opened from the newest on, since files that are renamed meanwhile move in this direction too: so none is
    missed, and one that was met before is met again at most.
    """
    found: dict[tuple[int, int], BufferedReader] = {}
    for place in (path, *(full_file(path, number) for number in range(1, KEPT + 1))):
        try:
            file = stack.enter_context(open_file(place))
        except FileNotFoundError:
            continue
        except OSError as error:
            raise _unreadable(place, error) from None
        state = os.fstat(file.fileno())
        found.setdefault((state.st_dev, state.st_ino), file)
    return list(reversed(found.values()))


def _unreadable(path: Path, error: OSError) -> BadInput:
    return BadInput(f"the audit file {path} cannot be read: {why_unreadable(error)}")


def _whole_last_line(path: Path, file: BufferedReader, begins: int) -> bytes:
    """The last line of a file, which has no end: read again if no command is writing, and else empty."""
    with suppress(FileNotFoundError), open_file(path.with_suffix(LOCK)) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return b""
        file.seek(begins)
        return file.readline(LARGEST_TEXT)
    file.seek(begins)
    return file.readline(LARGEST_TEXT)


_Moment = Annotated[float, msgspec.Meta(ge=0, le=253_402_214_400)]
"""Seconds since 1970, until the last day of Python's calendar but one: a day is left for time zones."""


class _Begins(msgspec.Struct):
    """The line of a first change."""

    id: str
    at: _Moment
    request: str
    user: str
    principal: str | None
    context: str | None
    master: str
    command: str


class _Ends(msgspec.Struct):
    """The line of an end."""

    at: _Moment
    status: Annotated[int, msgspec.Meta(ge=0, le=255)]
    answer: dict[str, Any] | None
    failure: str | None


def _take(found: dict[str, AuditedCommand], line: Any) -> None:
    """Add one line.  Raises LookupError, TypeError, ValueError or ValidationError if it is none."""
    if "command" in line:
        begins = msgspec.convert(line, _Begins)
        author = Author(*(getattr(begins, name) for name in Author._fields))
        found[begins.id] = AuditedCommand(begins.id, begins.at, author, [begins.request])
        return
    audited = found.get(line["id"])
    if audited is None:  # its beginning was in a file that has been removed
        return
    if "request" in line:
        audited.requests.append(msgspec.convert(line["request"], str))
        return
    ends = msgspec.convert(line, _Ends)
    audited.ended, audited.status, audited.answer, audited.failure = ends.at, ends.status, ends.answer, ends.failure
