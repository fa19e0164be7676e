"""The journal of an apply: the plan, the number of steps that are done, and whether a step was under way.

One file for each master and desired state, replaced and synced before and after every step, so that it is correct
whenever the program is killed. It is removed after the last step. Only its owner can read it, and it has no
credentials.
"""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from mesosctl.apply.plan import QuotaStep, Step, WeightsStep
from mesosctl.files.reading import read_text_file, why_unreadable
from mesosctl.files.user_folders import state_folder
from mesosctl.files.writing import lock_at_once, make_private_folder, replace_file, sync_folder
from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.desired.reservation_plan import ReservationStep
from mesosctl.mesos.errors import BadInput, Conflict, MesosctlError
from mesosctl.mesos.messages.protobuf_json.decoding import decode
from mesosctl.mesos.messages.protobuf_json.messages import read
from mesosctl.mesos.messages.resources import RESOURCE, list_to_json, to_model
from mesosctl.suggestion import command

SCHEMA_VERSION = 2
_PRIVATE = 0o600


def folder(variables: Mapping[str, str]) -> Path:
    """The folder of journals: below XDG_STATE_HOME, or ~/.local/state."""
    return state_folder(variables) / "apply"


def digest(text: str, *, prune: bool) -> str:
    """Return a digest of the input of a plan."""
    return _hash(f"{prune}\n{text}")


class JournalKey(NamedTuple):
    """The subject of a journal: a master by its identity, and a desired state by its text."""

    master: str
    content: str
    """A hash of the text."""
    file: str
    """The name of the file in sentences."""

    @classmethod
    def of(cls, master: str, text: str, file: str) -> "JournalKey":
        """Return the key of the desired state `text` from `file`, for the master with that `identity`."""
        return cls(master, _hash(text), file)


def _hash(text: str) -> str:
    return hashlib.blake2s(text.encode(errors="surrogateescape")).hexdigest()


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """The content of a journal."""

    digest: str
    steps: Sequence[Step]
    done: int
    """The number of confirmed steps."""


class Journal:
    """The journal of a desired state for one master; locked by one program at a time, with `with`.

    With `keeps` False, for a dry run, it is only read.  `verb` is the command in sentences, and `hint` the one for a
    journal that cannot be read.
    """

    def __init__(
        self,
        where: Path,
        about: JournalKey,
        *,
        verb: str = "apply",
        hint: str | None = None,
        keeps: bool = True,
    ) -> None:
        self.verb = verb
        self._hint = hint or f"compare with {command('diff', f='FILE')}, then start over with --restart"
        self._keeps = keeps
        self._replaced: list[Path] = []
        """The journals of other versions of the same file, which go when the steps of this one begin."""
        name = _hash(f"{about.master}\n{about.content}")[:16]
        self._path = where / f"{name}.json"
        self._lock: int | None = None
        self._has_begun = False
        self._reserve = self._path.with_suffix(".reserve")
        """A file that keeps the space of the next entries, and is given up when there is no other."""
        self._about = about

    def __enter__(self) -> Self:
        """Raises Conflict if another program holds it, BadInput if it cannot be written."""
        try:
            make_private_folder(self._path.parent)
            while self._lock is None:  # again if the program that had it has just removed it
                self._lock = lock_at_once(self._path.with_suffix(".lock"))
        except BlockingIOError:
            self._release()
            raise Conflict(
                f"{self._about.file} is being applied to this master by another command"
                if self.verb == "apply"
                else f"another {self._about.file} is under way on this master",
                hint="wait until it ends",
            ) from None
        except OSError as error:
            self._release()
            raise BadInput(f"the journal {self._path} cannot be written: {error.strerror}") from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._release()

    def _release(self) -> None:
        try:
            self._give_back()
            if self._lock is not None:
                with suppress(OSError):
                    self._path.with_suffix(".lock").unlink()
        finally:
            if self._lock is not None:
                os.close(self._lock)
            self._lock = None

    def read(self) -> JournalEntry | None:
        """Return the entry that an earlier command left; None if the last one was completed.  Raises BadInput."""
        try:
            return _entry(_load(self._path))
        except FileNotFoundError:
            return None
        except (OSError, LookupError, ValueError, TypeError, AttributeError, MesosctlError) as error:
            why = why_unreadable(error) if isinstance(error, OSError | UnicodeDecodeError) else _why_invalid(error)
            raise BadInput(
                f"the journal {self._path} of an interrupted {self.verb} cannot be read: {why}",
                hint=self._hint,
            ) from None

    def replaced(self) -> list[JournalEntry]:
        """Return the entries that applies of other versions of the same file left for this master.

        They are removed with the first entry of this journal, or at its end.
        """
        found = []
        self._replaced.clear()
        for path in sorted(self._path.parent.glob("*.json")):
            with suppress(OSError, LookupError, ValueError, TypeError, AttributeError, MesosctlError):
                value = _load(path)
                about = (value["master"], value["file"])
                if path != self._path and about == (self._about.master, self._about.file) != ("", "-"):
                    found.append(_entry(value))
                    self._replaced.append(path)
        return found

    def _remove_replaced(self) -> None:
        while self._replaced:
            self._replaced.pop().unlink(missing_ok=True)

    def write(self, entry: JournalEntry) -> None:
        """Write it; it is on the disk when this returns.

        Before the first step, space for all entries is reserved. Raises BadInput, which says how many steps are done.
        """
        if not self._keeps:
            return
        try:
            self._write(entry)
            with suppress(OSError):
                self._remove_replaced()
        except OSError as error:
            done = f"{entry.done} of {len(entry.steps)} steps done"
            raise BadInput(
                f"the journal {self._path} cannot be written: {error.strerror}: {done}",
                hint="make room there; the same command then continues" if entry.done else "make room there",
            ) from None

    def _write(self, entry: JournalEntry) -> None:
        """Raises OSError."""
        value: dict[str, Any] = {
            "schema_version": SCHEMA_VERSION,
            "kind": "apply.journal",
            **self._about._asdict(),
            "digest": entry.digest,
            "done": entry.done,
            "steps": [step_to_json(step) for step in entry.steps],
        }
        content = (json.dumps(value, indent=1) + "\n").encode()
        try:
            if not self._has_begun:
                self._keep_space(2 * len(content))
                self._has_begun = True
            replace_file(self._path, content, new_mode=_PRIVATE)
        except OSError:
            if not self._give_back():
                raise
            replace_file(self._path, content, new_mode=_PRIVATE)

    def _keep_space(self, size: int) -> None:
        """Raises OSError if there is no more, or no file of its own for it."""
        descriptor = os.open(self._reserve, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, _PRIVATE)
        try:
            _allocate(descriptor, size)
        except OSError:
            self._give_back()
            raise
        finally:
            os.close(descriptor)

    def _give_back(self) -> bool:
        """Give up the reserved space, and return whether there was any."""
        try:
            self._reserve.unlink()
        except OSError:
            return False
        return True

    def end(self) -> None:
        """Remove it: nothing is left to do.  Raises BadInput."""
        if not self._keeps:
            return
        try:
            self._remove_replaced()
            if not self._path.exists():
                return
            self._path.unlink()
            sync_folder(self._path.parent)
        except OSError as error:
            raise BadInput(
                f"the journal {self._path} cannot be removed: {error.strerror}",
                hint="run the same command again when the disk works: it removes the journal",
            ) from None


def _allocate(descriptor: int, size: int) -> None:
    """Take space on the disk.  Raises OSError."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, 0, size)
    else:  # macOS
        os.write(descriptor, bytes(size))


def _load(path: Path) -> Any:
    """The JSON of a file.  Raises OSError, and ValueError for invalid JSON, however deep or long it is."""
    return decode(read_text_file(path))


def _why_invalid(error: Exception) -> str:
    if isinstance(error, LookupError):
        return f"{error} is not in it"
    if isinstance(error, TypeError | AttributeError):
        return "it is not a journal"
    return str(error)


def _entry(value: Mapping[str, Any]) -> JournalEntry:
    """Raises AttributeError, LookupError, MesosctlError, TypeError or ValueError if it is none."""
    if value["schema_version"] != SCHEMA_VERSION:
        raise ValueError("it was written by another version")
    steps = [step_from_json(step) for step in value["steps"]]
    done = value["done"]
    if not isinstance(done, int) or not 0 <= done <= len(steps):
        raise ValueError(f"it says that {done} of {len(steps)} steps are done")
    return JournalEntry(str(value["digest"]), steps, done)


def step_to_json(step: Step) -> dict[str, Any]:
    """One step."""
    if isinstance(step, QuotaStep):
        return {
            "kind": "quota",
            "role": step.role,
            "before": _quota_to_json(step.before),
            "after": _quota_to_json(step.after),
        }
    if isinstance(step, WeightsStep):
        return {"kind": "weights", "before": dict(step.before), "after": dict(step.after)}
    return {
        "kind": step.action,
        "agent_id": step.agent_id,
        "hostname": step.hostname,
        **{key: list_to_json(getattr(step, key), "POST") for key in ("resources", "before", "after")},
    }


def step_from_json(value: Mapping[str, Any]) -> Step:
    """The step again.  Raises KeyError, TypeError or ValueError if it is none."""
    if value["kind"] == "quota":
        return QuotaStep(str(value["role"]), _kept_quota(value["before"]), _kept_quota(value["after"]))
    if value["kind"] == "weights":
        return WeightsStep(dict(value["before"]), dict(value["after"]))
    if value["kind"] not in ("reserved", "unreserved", "destroyed"):
        raise ValueError(f"'{value['kind']}' is not a kind of step")
    parts = {
        key: Resources(to_model(read(RESOURCE, entry)) for entry in value[key])
        for key in ("resources", "before", "after")
    }
    return ReservationStep(str(value["agent_id"]), str(value["hostname"]), value["kind"], **parts)


def _quota_to_json(quota: Quota | None) -> dict[str, Any] | None:
    return None if quota is None else {"guarantees": dict(quota.guarantees), "limits": dict(quota.limits)}


def _kept_quota(value: Mapping[str, Any] | None) -> Quota | None:
    return None if value is None else Quota(Quantities(value["guarantees"]), Limits(value["limits"]))
