"""The audit file: who changed what on which master, and with which exit status.

One file in the state folder of the user, with one JSON object on each line.  A line says that a command begins its
first change, a line names each further request, and a last line has the status and the answer.  The first is on the
disk before anything is sent, so a command that was killed is in the file too, without a status.  Only its owner can
read it.  A full file is renamed, and the oldest one is removed.
"""

import json
import os
import pwd
import uuid
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from mesosctl.changes.audited_commands import Author
from mesosctl.files.user_folders import state_folder
from mesosctl.files.writing import locked, make_private_folder
from mesosctl.mesos.errors import BadInput

_PRIVATE = 0o600
LOCK = ".lock"
"""The ending of the file that is locked while a line is written."""
LARGEST = 1 << 20
"""Bytes after which a file is renamed."""
KEPT = 9
"""The number of full files that are kept."""


def system_user(variables: Mapping[str, str]) -> str:
    """The name of the user who runs this process."""
    try:
        name = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # a container may run as a user that its system does not know
        name = str(os.getuid())
    caller = variables.get("SUDO_USER")
    return f"{caller} as {name}" if caller and caller != name else name


def audit_file(variables: Mapping[str, str]) -> Path:
    """The file that is written now.  Raises BadInput if there is no home folder."""
    return state_folder(variables) / "audit" / "audit.jsonl"


def full_file(path: Path, number: int) -> Path:
    """The full file of a number, from 1 for the last one that was full."""
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
            with locked(self._path.with_suffix(LOCK)):
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
    full_file(path, KEPT).unlink(missing_ok=True)
    for number in range(KEPT - 1, 0, -1):
        with suppress(FileNotFoundError):
            full_file(path, number).replace(full_file(path, number + 1))
    path.replace(full_file(path, 1))


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
