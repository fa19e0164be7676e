"""The journal of an apply: what was planned, how far it came, and whether a step was under way.

One file for each master and file of wishes, written whole and synced before and after every step, so that it says
the truth whenever the program is killed.  It is gone when the last step is done.
"""

import fcntl
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from mesosctl.core.errors import BadInput, Conflict
from mesosctl.core.reading import why_unreadable
from mesosctl.core.wanted_plan import Step
from mesosctl.ops.files import sync_folder, write_atomically
from mesosctl.wire.steps import from_json, to_json

SCHEMA_VERSION = 1


def folder(variables: Mapping[str, str]) -> Path:
    """Where journals are: below XDG_STATE_HOME, or ~/.local/state."""
    base = variables.get("XDG_STATE_HOME", os.environ.get("XDG_STATE_HOME", ""))
    return (Path(base) if base.startswith("/") else Path.home() / ".local" / "state") / "mesosctl" / "apply"


def digest(text: str, *, prune: bool) -> str:
    """What a plan was made from: other wishes make another plan."""
    return hashlib.blake2s(f"{prune}\n{text}".encode(errors="surrogateescape")).hexdigest()


@dataclass(frozen=True, slots=True)
class Entry:
    """What a journal says."""

    digest: str
    steps: Sequence[Step]
    done: int
    """How many steps were seen to be done."""


class Journal:
    """The journal of one file of wishes for one master; held by one program at a time, with `with`.

    One that does not keep (`keeps` False, for a dry run) is read and never written.
    """

    def __init__(self, where: Path, master: str, file: str, *, keeps: bool = True) -> None:
        self._keeps = keeps
        self._forgotten = False
        name = hashlib.blake2s(f"{master}\n{file}".encode(errors="surrogateescape"), digest_size=8).hexdigest()
        self._path = where / f"{name}.json"
        self._lock: int | None = None
        self._about = {"master": master, "file": file}

    def __enter__(self) -> Self:
        """Raises Conflict where another program holds it, BadInput where it cannot be kept."""
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = os.open(self._path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._release()
            raise Conflict(
                f"{self._about['file']} is being applied to this master by another program", hint="wait until it ends"
            ) from None
        except OSError as error:
            self._release()
            raise BadInput(f"the journal {self._path} cannot be kept: {error.strerror}") from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._release()

    def _release(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def read(self) -> Entry | None:
        """What an earlier apply left; None where the last one came to its end.  Raises BadInput."""
        if self._forgotten:
            return None
        try:
            value = json.loads(self._path.read_text(encoding="utf-8"))
            return _entry(value)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            why = why_unreadable(error) if isinstance(error, OSError | UnicodeDecodeError) else error
            raise BadInput(
                f"the journal {self._path} of an interrupted apply cannot be read: {why}",
                hint="look at the cluster with mesosctl diff, then start over with --restart",
            ) from None

    def write(self, entry: Entry) -> None:
        """Keep it; on the disk when this returns.  Raises BadInput."""
        if not self._keeps:
            return
        value: dict[str, Any] = {
            "schema_version": SCHEMA_VERSION,
            "kind": "apply.journal",
            **self._about,
            "digest": entry.digest,
            "done": entry.done,
            "steps": [to_json(step) for step in entry.steps],
        }
        write_atomically(self._path, json.dumps(value, indent=1) + "\n")

    def end(self) -> None:
        """Nothing is left to be done."""
        if not self._keeps:
            self._forgotten = True
            return
        if self._path.exists():
            self._path.unlink()
            sync_folder(self._path.parent)


def _entry(value: Mapping[str, Any]) -> Entry:
    if value["schema_version"] != SCHEMA_VERSION:
        raise ValueError("it was written by another version")
    steps = [from_json(step) for step in value["steps"]]
    return Entry(str(value["digest"]), steps, min(int(value["done"]), len(steps)))
