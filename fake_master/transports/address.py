"""`fake:` addresses: the cluster, the version, and the place of the saved state.

    fake:                       the built-in cluster
    fake:FILE                   a cluster file (TOML), or a snapshot of a cluster (JSON)
    fake:FILE?fresh             …with its saved state reset first
    fake:?version=1.11          …as the last release instead of the documents' master

Each cluster and version has its own state, in SQLite, so that each command sees the changes of the previous one.  A new
snapshot is another cluster, even in a file of the same name.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from fake_master.registry.interface import SECONDS_TO_WAIT, RegistryFailure, UnreadableRegistry
from fake_master.registry.sqlite import SqliteRegistry
from fake_master.transports.connections import DirectConnection, LazyConnection
from mesosctl.model.errors import BadInput
from mesosctl.model.version_profile import MESOS_1_4, PROFILES
from mesosctl.user_folders import state_folder

if TYPE_CHECKING:
    from fake_master.sources.cluster_file import ClusterSpec
    from fake_master.sources.snapshot import RestoredCluster
    from fake_master.state.clock import VirtualClock

SCHEME = "fake:"
_OPTIONS = ("fresh", "version")


@dataclass(frozen=True, slots=True)
class FakeAddress:
    """A `fake:` address taken apart."""

    file: Path | None = None
    fresh: bool = False
    version: str | None = None

    @classmethod
    def parse(cls, address: str) -> "FakeAddress":
        """Raises BadInput for an option that is not known, and for standard input."""
        path, _, query = address.removeprefix(SCHEME).partition("?")
        options = dict(parse_qsl(query, keep_blank_values=True))
        for name in options:
            if name not in _OPTIONS:
                raise BadInput(f"'{name}' is not an option of a fake: address", hint=f"known: {', '.join(_OPTIONS)}")
        version = options.get("version")
        if version is not None and version not in PROFILES:
            raise BadInput(f"the fake master imitates Mesos {' or '.join(PROFILES)}, not '{version}'", field="version")
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
        return cls(Path(path) if path else None, "fresh" in options, version)

    def spec(self) -> "ClusterSpec | RestoredCluster":
        """The cluster.  Raises BadInput."""
        # Imported late, here and below: requests that the registry alone can answer need no master and no cluster.
        from fake_master.sources.cluster_file import BUILT_IN, ClusterSpec
        from fake_master.sources.source_file import read_source

        spec = BUILT_IN if self.file is None else read_source(self.file, self.version)
        if isinstance(spec, ClusterSpec) and self.version is not None:
            return replace(spec, mesos_version=self.version)
        return spec

    def state_file(self, spec: "ClusterSpec | RestoredCluster") -> Path:
        """Where the state of this cluster, as this version, is kept."""
        from fake_master.sources.snapshot import RestoredCluster

        if self.file is None:
            return self.built_in_state_file()
        import hashlib

        digest = hashlib.blake2s(os.fsencode(self.file.resolve()), digest_size=4).hexdigest()
        name = f"{self.file.stem}-{digest}"
        if isinstance(spec, RestoredCluster):
            return state_folder() / "fake" / f"{name}-{spec.fingerprint}-{spec.profile.name}.sqlite"
        # Other quotas, weights, reservations or volumes to begin with make another cluster, too.
        begins = f"-{spec.lasting.fingerprint}" if spec.lasting.fingerprint else ""
        return state_folder() / "fake" / f"{name}{begins}-{spec.mesos_version}.sqlite"

    def built_in_state_file(self) -> Path:
        """The file of the built-in cluster's state."""
        return state_folder() / "fake" / f"built-in-{self.version or MESOS_1_4.name}.sqlite"


def open_on_call(
    address: str, longest_wait: float | None = None, *, clock: "VirtualClock | None" = None
) -> LazyConnection:
    """The master behind an address, with the state that its last command left.

    `longest_wait`, `clock`: see `fake_master.open_transport`. It starts with the first request that needs
    a master. Raises BadInput, and so may that request.
    """
    parsed = FakeAddress.parse(address)
    spec = None if parsed.file is None else parsed.spec()
    path = parsed.built_in_state_file() if spec is None else parsed.state_file(spec)
    with _explained(address, path):
        registry = _registry(
            parsed, path, SECONDS_TO_WAIT if longest_wait is None else min(longest_wait, SECONDS_TO_WAIT)
        )

    def start() -> DirectConnection:
        if clock is None:
            return DirectConnection((spec or parsed.spec()).start(registry))
        return DirectConnection((spec or parsed.spec()).start(registry, clock=clock), clock.sleep)

    profile = PROFILES[parsed.version or MESOS_1_4.name] if spec is None else None
    return LazyConnection(start, registry, profile, lambda: _explained(address, path))


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
