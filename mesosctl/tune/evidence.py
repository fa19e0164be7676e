"""The evidence of replays of candidates, kept from one run of `tune` to the next.

One file for each recorded demand, below the folder of state: a JSON object on each line, added when a replay ends, so
that an interruption loses only what was under way.  Each line has a digest of its content and of the demand.  A line
that is damaged is left alone, and its replay is made again.  A file to which nothing was added for 90 days is removed.
"""

import hashlib
import json
import os
import shlex
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from mesosctl import __version__
from mesosctl.files.reading import open_file, read_within, why_unreadable
from mesosctl.files.user_folders import state_folder
from mesosctl.files.writing import make_private_folder
from mesosctl.mesos.amounts.identity import IdentityCache
from mesosctl.mesos.amounts.notation import counted
from mesosctl.mesos.door.replay import RecordedDemand, ReplayDeviation
from mesosctl.tune.search import Evidence, RoleFigures
from mesosctl.whatif.played_demand import ReplayOptions

_PRIVATE = 0o600
_FORM = 4
"""The form of the lines; files of another form have other names, and are not read."""
_KEPT = 90 * 86_400.0
"""Seconds for which a file is kept after its last replay."""


def fingerprint(demand: RecordedDemand, options: ReplayOptions) -> str:
    """Return a digest of everything that a replay depends on, beside the changes."""
    digest = hashlib.blake2s(f"{_FORM}\n{__version__}\n{demand.profile.name}\n{options}".encode())
    digest.update(f"\n{demand.since}\n{demand.until}".encode())
    for agent in demand.agents:
        digest.update(f"{agent.agent.id}\n{agent.agent.total}\n{agent.start}\n{agent.end}\n".encode())
    for framework in demand.frameworks.values():
        digest.update(f"{framework}\n".encode(errors="surrogatepass"))
    size = IdentityCache(str)
    for task in demand.tasks:
        times = f"{task.asked}\n{task.lasts}\n{task.started}\n{task.age}"
        kinds = f"{task.is_executor}\n{task.ran_from_the_beginning}\n{task.start_is_known}\n{task.asked_is_known}"
        digest.update(
            f"{task.framework_id}\n{task.role}\n{size.of(task.resources)}\n{times}\n{task.host}\n{kinds}\n".encode(
                errors="surrogatepass"
            )
        )
    for setting in demand.settings:
        digest.update(f"{setting}\n".encode(errors="surrogatepass"))
    for absence in demand.absences:
        digest.update(f"{absence}\n".encode())
    digest.update(f"{demand.first_run}".encode())
    return digest.hexdigest()[:16]


class EvidenceFile:
    """The evidence about one demand.

    `told` are sentences for the operator: what could not be read, or written.
    """

    def __init__(self, variables: Mapping[str, str], key: str) -> None:
        self._key = key
        self._path = state_folder(variables) / "tune" / f"{key}.jsonl"
        self._known: dict[tuple[str, ...], Evidence] = {}
        self._is_written = True
        self.count = 0
        """How many replays were kept by this run."""
        self.told: list[str] = []
        self._read()

    @property
    def path(self) -> Path:
        """The file."""
        return self._path

    def _read(self) -> None:
        try:
            with open_file(self._path) as file:
                lines = read_within(file).split(b"\n")
        except FileNotFoundError:
            return
        except OSError as error:
            self.told.append(f"{self._path} cannot be read, so its replays are made again: {why_unreadable(error)}")
            return
        broken = 0
        for number, line in enumerate(lines):
            if not line:
                continue
            try:
                words, evidence = _from_json(json.loads(line), self._key)
            except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
                broken += number < len(lines) - 1  # the last may be torn: its replay was under way
                continue
            self._known[words] = evidence
        if broken:
            self.told.append(
                f"{counted(broken, 'line')} of {self._path} cannot be read: mesosctl leaves them there and makes their "
                f"replays again; after rm {shlex.quote(str(self._path))}, it makes all of them again and tells this no "
                "more"
            )

    def get(self, words: Sequence[str]) -> Evidence | None:
        """Return what the replay of these changes showed; None if it is unknown."""
        return self._known.get(tuple(words))

    def add(self, words: Sequence[str], evidence: Evidence) -> None:
        """Keep what it showed; it is on the disk when this returns."""
        self._known[tuple(words)] = evidence
        if not self._is_written:
            return
        line = _compact(_to_json(words, evidence, self._key))
        try:
            make_private_folder(self._path.parent)
            if not self.count:
                self._remove_old()
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
            descriptor = os.open(self._path, flags, _PRIVATE)
            try:
                # The line break comes first too, so that a torn line before it stays alone.
                os.write(descriptor, f"\n{line}\n".encode())
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            self.count += 1
        except OSError as error:
            self._is_written = False
            self.told.append(f"{self._path} cannot be written, so another run begins again: {error.strerror}")

    def _remove_old(self) -> None:
        """Remove files of demands that were long not asked about: of a live recording, each run has another."""
        for file in self._path.parent.glob("*.jsonl"):
            with suppress(OSError):
                if file != self._path and time.time() - file.stat().st_mtime > _KEPT:
                    file.unlink()


def _to_json(words: Sequence[str], evidence: Evidence, key: str) -> dict[str, Any]:
    content = {
        "changes": list(words),
        "refusal": evidence.refusal,
        "calibration": evidence.calibration and evidence.calibration._asdict(),
        "roles": {role: figures._asdict() for role, figures in evidence.roles.items()},
    }
    return content | {"digest": _digest(content, key)}


def _from_json(value: Any, key: str) -> tuple[tuple[str, ...], Evidence]:
    """Raises AttributeError, LookupError, TypeError or ValueError unless it was written like this, for this key."""
    if value.pop("digest") != _digest(value, key):
        raise ValueError("it is not what was written")
    calibration = value["calibration"]
    roles = {role: RoleFigures(**figures) for role, figures in value["roles"].items()}
    return tuple(value["changes"]), Evidence(
        roles, value["refusal"], None if calibration is None else ReplayDeviation(**calibration)
    )


def _digest(content: Mapping[str, Any], key: str) -> str:
    return hashlib.blake2s(f"{key}\n{_compact(content)}".encode(), digest_size=8).hexdigest()


def _compact(value: Mapping[str, Any]) -> str:
    return json.dumps(value, separators=(",", ":"))
