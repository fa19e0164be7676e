"""The audit file: who changed what on which master, and with which exit status.

One file in the state folder of the user, with one JSON object on each line.  A line says that a command begins its
first change, a line names each further request, and a last line has the status and the answer.  The first is on the
disk before anything is sent, so a command that was killed is in the file too, without a status.  Only its owner can
read it.  A full file is renamed, and the oldest one is removed.
"""

import json
import os
import uuid
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from mesosctl.file_reading import read_text_file, why_unreadable
from mesosctl.file_writing import locked, make_private_folder
from mesosctl.model.audited_commands import AuditedCommand, AuditFilter, Author
from mesosctl.model.errors import BadInput
from mesosctl.operations.list_selection import SortKey, sort_entries
from mesosctl.user_folders import state_folder

_PRIVATE = 0o600
LARGEST = 1 << 20
"""Bytes after which a file is renamed."""
KEPT = 9
"""The number of full files that are kept."""


def system_user(variables: Mapping[str, str]) -> str:
    """The name of the user who runs this process."""
    import pwd

    try:
        name = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # a container may run as a user that its system does not know
        name = str(os.getuid())
    caller = variables.get("SUDO_USER")
    return f"{caller} as {name}" if caller and caller != name else name


def audit_file(variables: Mapping[str, str]) -> Path:
    """The file that is written now.  Raises BadInput if there is no home folder."""
    return state_folder(variables) / "audit" / "audit.jsonl"


def _full_file(path: Path, number: int) -> Path:
    return path.with_name(f"audit.{number}.jsonl")


class AuditTrail:
    """The lines of one command in the audit file, which begin with its first change.

    Its methods raise BadInput if the file cannot be written.
    """

    def __init__(self, path: Path, author: Author) -> None:
        self._path = path
        self._author = author
        self._id = uuid.uuid4().hex
        self.has_begun = False

    def sends(self, request: str, now: float) -> None:
        """Write down that a change is sent now."""
        if self.has_begun:
            self._append({"request": request, "at": now})
            return
        self._append({"schema_version": 1, "at": now, **self._author._asdict(), "request": request}, begins=True)
        self.has_begun = True

    def ends(self, status: int, answer: Mapping[str, Any] | None, failure: str | None, now: float) -> None:
        """Write down the end of the command, if it has sent a change."""
        if self.has_begun:
            self._append({"at": now, "status": status, "answer": answer, "failure": failure})

    def _append(self, line: Mapping[str, Any], *, begins: bool = False) -> None:
        text = (json.dumps({"id": self._id, **line}) + "\n").encode()
        try:
            make_private_folder(self._path.parent)
            with locked(self._path.with_suffix(".lock")):
                if begins:
                    _rotate(self._path)
                _append(self._path, text)
        except OSError as error:
            raise BadInput(f"the audit file {self._path} cannot be written: {error.strerror}") from None


def _rotate(path: Path) -> None:
    """Rename a full file.  Raises OSError."""
    try:
        if path.stat().st_size < LARGEST:
            return
    except FileNotFoundError:
        return
    _full_file(path, KEPT).unlink(missing_ok=True)
    for number in range(KEPT - 1, 0, -1):
        with suppress(FileNotFoundError):
            _full_file(path, number).replace(_full_file(path, number + 1))
    path.replace(_full_file(path, 1))


def _append(path: Path, line: bytes) -> None:
    """Add a line, after one that a kill left incomplete; it is on the disk when this returns.  Raises OSError."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, _PRIVATE)
    try:
        size = os.fstat(descriptor).st_size
        if size and os.pread(descriptor, 1, size - 1) != b"\n":
            line = b"\n" + line
        while line:
            line = line[os.write(descriptor, line) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# --- Reading ----------------------------------------------------------------------------------------


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
            _take(found, json.loads(line))
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            unreadable += 1
    chosen = [one for one in found.values() if wanted.accepts(one)]
    keys: dict[str, SortKey[AuditedCommand]] = {
        "time": lambda one: one.begun,
        "user": lambda one: one.author.user,
        "master": lambda one: one.author.master,
        "status": lambda one: (one.status is None, one.status),
        "command": lambda one: one.author.command,
    }
    return AuditedCommands(sort_entries(chosen, sort, keys), unreadable)


def _lines(path: Path) -> Iterable[str]:
    for one in (*(_full_file(path, number) for number in range(KEPT, 0, -1)), path):
        try:
            yield from filter(None, read_text_file(one).split("\n"))
        except FileNotFoundError:
            continue
        except (OSError, UnicodeDecodeError) as error:
            raise BadInput(f"the audit file {one} cannot be read: {why_unreadable(error)}") from None


def _take(found: dict[str, AuditedCommand], line: Mapping[str, Any]) -> None:
    """Add one line.  Raises LookupError, TypeError, ValueError or AttributeError if it is none."""
    if "command" in line:
        texts = {name: line[name] for name in Author._fields}
        if not all(isinstance(text, str | None) for text in texts.values()):
            raise TypeError
        begun = AuditedCommand(str(line["id"]), float(line["at"]), Author(**texts), [str(line["request"])])
        found[begun.id] = begun
        return
    one = found.get(str(line["id"]))
    if one is None:  # its beginning was in a file that has been removed
        return
    if "request" in line:
        one.requests.append(str(line["request"]))
        return
    answer, failure = line["answer"], line["failure"]
    if not isinstance(answer, dict | None) or not isinstance(failure, str | None):
        raise TypeError
    one.ended, one.status, one.answer, one.failure = float(line["at"]), int(line["status"]), answer, failure
