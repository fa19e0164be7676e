"""`fake:` addresses (`FORMS`): the cluster, the version, and the place of the saved state.

Each file (by its absolute path) and version has its own state, in SQLite, so that each command sees the whole cluster
as the previous one left it.  Time stands still between commands.  A file that was edited starts over.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from fake_master.registry.interface import SECONDS_TO_WAIT, RegistryFailure, UnreadableRegistry
from fake_master.registry.sqlite import SqliteRegistry
from fake_master.transports.connections import DirectConnection, LazyConnection
from mesosctl.files.user_folders import state_folder
from mesosctl.mesos.amounts.notation import parse_span
from mesosctl.mesos.errors import BadInput
from mesosctl.mesos.rules.version_profile import (
    DOCUMENTS,
    MESOS_1_4,
    PROFILES,
    Profile,
    check_profile_named,
)

if TYPE_CHECKING:
    from fake_master.sources.cluster_file import ClusterSpec
    from fake_master.sources.snapshot import RestoredCluster
    from fake_master.state.clock import VirtualClock

SCHEME = "fake:"
FORMS = (
    ("fake:", "A small cluster that is built in. Changes last from one command to the next."),
    ("fake:FILE", "The cluster of a file: a cluster file (TOML), or a snapshot (JSON). All of it lasts."),
    ("fake:FILE?fresh", "The same from the beginning: what commands have changed is forgotten."),
    ("fake:FILE?advance=60s", "The same after this much time has passed; without it, time stands still."),
    (
        "fake:?version=1.11",
        "Like Mesos 1.11. The default is the documents' master, or what the file says. Join options with &.",
    ),
)
"""Each form and its meaning, for help."""
_OPTIONS = ("fresh", "advance", "version")
_LONGEST_ADVANCE = 100 * 365 * 86400.0
"""Seconds."""


@dataclass(frozen=True, slots=True)
class FakeAddress:
    """A `fake:` address taken apart."""

    file: Path | None = None
    fresh: bool = False
    version: str | None = None
    advance: float = 0.0
    """Seconds to pass before the first answer."""

    @classmethod
    def parse(cls, address: str) -> "FakeAddress":
        """Raises BadInput for an option that is not known, and for standard input."""
        path, _, query = address.removeprefix(SCHEME).partition("?")
        options = dict(parse_qsl(query, keep_blank_values=True))
        for name in options:
            if name not in _OPTIONS:
                raise BadInput(f"'{name}' is not an option of a fake: address", hint=f"known: {', '.join(_OPTIONS)}")
        version = options.get("version")
        if version is not None:
            check_profile_named(version, "version")
        if options.get("fresh", "") not in ("", "1", "true"):
            raise BadInput(
                "fresh takes no value: it forgets the kept state", field="fresh", hint="leave it out to keep the state"
            )
        if path == "-":
            raise BadInput(
                "a cluster on standard input has no state to keep",
                field="--master",
                hint="save it to a file; mesosctl whatif --from - shows what a change would do to it",
            )
        advance = 0.0
        if "advance" in options:
            if not path:
                raise BadInput(
                    "the built-in cluster runs no tasks, so time changes nothing",
                    field="advance",
                    hint="name a cluster file: fake:cluster.toml?advance=60s",
                )
            advance = parse_span(options["advance"], "advance")
            if advance > _LONGEST_ADVANCE:
                raise BadInput(
                    f"'{options['advance']}' is more than 100 years",
                    field="advance",
                    hint="for example, 60s, 8h or 30d",
                )
        return cls(Path(path) if path else None, "fresh" in options, version, advance)

    def spec(self) -> "ClusterSpec | RestoredCluster":
        """The cluster.  Raises BadInput."""
        # Imported late, here and below: requests that the registry alone can answer need no master and no cluster.
        from fake_master.sources.cluster_file import BUILT_IN
        from fake_master.sources.source_file import read_source

        if self.file is not None:
            return read_source(self.file, self.version)
        return BUILT_IN if self.version is None else replace(BUILT_IN, mesos_version=self.version)

    @property
    def profile(self) -> Profile | None:
        """The rules that its version chooses; those of a file decide if it has none."""
        if self.version is not None:
            return check_profile_named(self.version, "version")
        return DOCUMENTS if self.file is None else None

    def state_file(self) -> Path:
        """Where the state of this cluster, as this version, is kept."""
        return state_folder() / "fake" / f"{self._stem()}{_ending(self.profile)}.sqlite"

    def former_state_file(self) -> Path | None:
        """Where that of the documents' master was kept while it was called 1.4; None of another one."""
        if self.profile is not DOCUMENTS:
            return None
        return state_folder() / "fake" / f"{self._stem()}-{MESOS_1_4.name}.sqlite"

    def _stem(self) -> str:
        if self.file is None:
            return "built-in"
        import hashlib

        digest = hashlib.blake2s(os.fsencode(os.path.realpath(self.file)), digest_size=8).hexdigest()
        return f"{self.file.stem}-{digest}"


def _ending(profile: Profile | None) -> str:
    """The part of a file's name that tells the version; `-1.4` belonged to the documents' master."""
    if profile is None:
        return ""
    return f"-{profile.version if profile is MESOS_1_4 else profile.name}"


def open_on_call(
    address: str,
    longest_wait: float | None = None,
    *,
    clock: "VirtualClock | None" = None,
    notice: Callable[[str], None] = lambda _: None,
) -> LazyConnection:
    """The master behind an address, with the state that its last command left.

    `longest_wait`, `clock`, `notice`: see `fake_master.open_transport`. It starts with the first request that needs
    a master, or at once if a clock is given. Raises BadInput, and so may that request.
    """
    parsed = FakeAddress.parse(address)
    path = _kept_path(parsed)
    spec = None
    if parsed.file is not None and not (parsed.file.is_file() and path.exists()):
        spec = parsed.spec()  # refused before anything is made
    with _explained(address, path):
        registry = _registry(
            parsed, path, SECONDS_TO_WAIT if longest_wait is None else min(longest_wait, SECONDS_TO_WAIT)
        )

    def start_built_in() -> DirectConnection:
        if clock is None:
            return DirectConnection(parsed.spec().start(registry))
        return DirectConnection(parsed.spec().start(registry, clock=clock), clock.sleep)

    if parsed.file is None:
        return LazyConnection(start_built_in, registry, parsed.profile, lambda: _explained(address, path))

    from fake_master.sources.kept_cluster import KeptCluster, kept_time
    from fake_master.transports.connections import KeptConnection

    try:
        with _explained(address, path):
            at_rest = _follow_file(parsed, spec, registry, notice)
    except BaseException:
        registry.close()
        raise

    def start() -> DirectConnection:
        from fake_master.state.clock import WaitingClock

        now = kept_time(registry)
        waiting = WaitingClock(now)
        time = waiting if clock is None else clock
        if now is not None:
            time.now = now
        kept = KeptCluster()
        master = (spec or parsed.spec()).start(registry, clock=time, kept=kept)
        if parsed.advance:
            kept.settle()
            time.sleep(parsed.advance)
        if clock is not None:
            return KeptConnection(master, kept, clock.sleep, _nothing, passes_time=True, settles=False)
        return KeptConnection(master, kept, waiting.wait, waiting.sleep, passes_time=parsed.advance > 0)

    profile = None if parsed.advance else at_rest
    connection = LazyConnection(start, registry, profile, lambda: _explained(address, path))
    if clock is not None:
        # The start moves the clock to the time that was kept: in the middle of a request, its deadline would pass.
        try:
            connection.start()
        except BaseException:
            connection.close()
            raise
    return connection


def _kept_path(parsed: FakeAddress) -> Path:
    """Where the state is kept, under its present name."""
    path, former = parsed.state_file(), parsed.former_state_file()
    if former is not None and former.exists() and not path.exists():
        _rename_state(former, path)
    return path


def _rename_state(former: Path, path: Path) -> None:
    """Give the kept state its new name; the database comes last, so that no part of it is without the others."""
    with suppress(OSError):  # another process did it, or the state cannot be written, which opening it will say
        for beside in ("-wal", "-shm", ".good"):
            with suppress(FileNotFoundError):
                former.with_name(former.name + beside).rename(path.with_name(path.name + beside))
        former.rename(path)


def _nothing(_seconds: float) -> None:
    """Leave a clock that was given to the one who moves it."""


_SOURCE, _FILES, _PROFILE = "source", "files", "mesos_profile"
"""The record of the files that a registry was made from, and of the profile's name."""


def _follow_file(
    parsed: FakeAddress,
    spec: "ClusterSpec | RestoredCluster | None",
    registry: SqliteRegistry,
    notice: Callable[[str], None],
) -> Profile | None:
    """Start over if the file has been edited since its last command.

    Return the profile of a master whose registry alone can answer: one without flags that hide anything. Raises
    BadInput for the file, RegistryFailure for the registry.
    """
    from fake_master.sources.cluster_file import ClusterSpec

    assert parsed.file is not None, "the built-in cluster has no file"
    known = registry.record(_SOURCE, _FILES)
    if known is not None and known["digests"] == _digests(known["digests"]):
        return PROFILES.get(known.get(_PROFILE, "")) if known["answers_at_rest"] else None
    spec = spec or parsed.spec()
    for note in spec.notes():
        notice(note)
    if known is not None:
        registry.forget_everything()
        if parsed.file.is_file():
            notice(f"{parsed.file} has been edited since the last command: the fake cluster starts over")
    files = [parsed.file, *(spec.task_files if isinstance(spec, ClusterSpec) else ())]
    with registry.transaction():
        registry.write(
            _SOURCE,
            _FILES,
            {
                "digests": _digests(map(str, files)),
                _PROFILE: spec.profile.name,
                "answers_at_rest": isinstance(spec, ClusterSpec) and not spec.flags,
            },
        )
    return None


def _digests(files: Iterable[str]) -> dict[str, str]:
    """The content of files, by their paths; what cannot be read, or read only once, is never the same."""
    import hashlib
    import uuid

    found = {}
    for name in files:
        path = Path(os.path.realpath(name))
        found[str(path)] = uuid.uuid4().hex
        if path.is_file():
            with suppress(OSError), path.open("rb") as file:
                found[str(path)] = hashlib.file_digest(file, hashlib.blake2s).hexdigest()
    return found


def _registry(parsed: FakeAddress, path: Path, longest_wait: float) -> SqliteRegistry:
    return _fresh_registry(path, longest_wait) if parsed.fresh else SqliteRegistry(path, longest_wait)


@contextmanager
def _explained(address: str, path: Path) -> Iterator[None]:
    """Raise BadInput if the state that is kept in `path` cannot be used."""
    try:
        yield
    except RegistryFailure as failure:
        hint = failure.hint
        if isinstance(failure, UnreadableRegistry):
            told, mark, options = address.partition("?")
            fresh = f"{told}?{options}&fresh" if mark and options else f"{told}?fresh"
            hint = f"'{fresh}' starts over, and moves the old file away"
        where = "" if str(path) in str(failure) else f" in {path}"
        raise BadInput(f"the state of the fake master{where}: {failure}", hint=hint) from failure


def _fresh_registry(path: Path, longest_wait: float) -> SqliteRegistry:
    """An empty registry at `path`; a file that is not a registry is moved aside, not overwritten.

    One that cannot be written now, for example because the disk is full, stays in place.  Raises RegistryFailure.
    """
    try:
        registry = SqliteRegistry(path, longest_wait)
        registry.forget_everything()
    except UnreadableRegistry:
        _put_aside(path)
        return SqliteRegistry(path, longest_wait)
    return registry


def _put_aside(path: Path) -> None:
    import itertools

    numbers = itertools.count(2)
    aside = path.with_suffix(".damaged")
    while aside.exists():
        aside = path.with_suffix(f".damaged-{next(numbers)}")
    try:
        path.replace(aside)
        for rest in ("-wal", "-shm", ".good"):
            with suppress(FileNotFoundError):
                path.with_name(path.name + rest).replace(aside.with_name(aside.name + rest))
    except OSError as error:
        raise RegistryFailure(f"{path} cannot be moved away: {error.strerror}") from error
