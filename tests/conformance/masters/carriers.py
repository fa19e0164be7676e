"""The carriers by name, and the pool that keeps started masters for as long as they are of use."""

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pytest

from mesosctl.mesos.messages.protobuf_json.releases import has
from mesosctl.mesos.rules.version_profile import Profile, check_profile_named
from tests.conformance.masters import fakes, real
from tests.conformance.masters.cluster import Cluster, Setup
from tests.conformance.masters.codec import Codec

POOL_SIZE = 4


@dataclass(frozen=True, slots=True)
class Carrier:
    """One way to have a master: its name, the Mesos version it speaks, how it starts."""

    name: str
    version: str
    start: Callable[[Setup, Path], Cluster]
    needs: tuple[str, ...] = ()
    """The markers of every test on it."""

    def __str__(self) -> str:
        return self.name

    @property
    def profile(self) -> Profile:
        """How a master of its version behaves."""
        return check_profile_named(self.version, "version")


VERSION = check_profile_named(os.environ.get(real.RELEASE, "1.11.0"), real.RELEASE).name
"""The release that the real master is of; the fake masters beside it are of the same."""
REAL = Carrier("real", VERSION, real.start, ("real_master", "process", "socket"))
IN_PROCESS = Carrier("in-process", VERSION, partial(fakes.start_in_process, VERSION))
SOCKET = Carrier("socket", VERSION, partial(fakes.start_on_socket, VERSION), ("process", "socket"))
IN_PROCESS_DOCUMENTS = Carrier("in-process-documents", "documents", partial(fakes.start_in_process, "documents"))
SOCKET_DOCUMENTS = Carrier(
    "socket-documents", "documents", partial(fakes.start_on_socket, "documents"), ("process", "socket")
)


def real_of(release: str) -> Carrier:
    """The real master of a release."""
    return Carrier(f"real-{release}", release, partial(real.start, release=release), REAL.needs)


def in_process_of(release: str) -> Carrier:
    """The fake master of a release, in process."""
    return Carrier(f"in-process-{release}", release, partial(fakes.start_in_process, release))


def each_of(*releases: str) -> list[Carrier]:
    """The real and the fake master of each of these releases."""
    return [of(release) for release in releases for of in (real_of, in_process_of)]


def skip_before(first: str, carrier: Carrier, reason: str) -> None:
    """Skip the test that runs on a release before `first`, which lacks something."""
    if not has(carrier.profile.release, first):
        pytest.skip(f"before Mesos {first}, {reason}")


def judged(*releases: str) -> list[tuple[Carrier, Carrier]]:
    """The real and the fake master of each of these releases, or of the one that is chosen alone."""
    if real.RELEASE in os.environ:
        return [(REAL, IN_PROCESS)]
    return [(real_of(release), in_process_of(release)) for release in releases]


def speaking(codec: Codec, carrier: "Carrier") -> "Carrier":
    """The same carrier; calls, answers and events are written as `codec` does."""

    def start(setup: Setup, folder: Path) -> Cluster:
        cluster = carrier.start(setup, folder)
        cluster.speak(codec)
        return cluster

    return replace(carrier, name=f"{carrier.name}-{codec.name}", start=start)


EVERY_CARRIER = (REAL, IN_PROCESS, SOCKET, IN_PROCESS_DOCUMENTS, SOCKET_DOCUMENTS)


class Pool:
    """Started masters, by carrier and setup; the one that was used longest ago makes room for a new one."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="conformance-", ignore_cleanup_errors=True)
        self._started: list[Cluster] = []
        self._clusters: dict[tuple[str, Setup], Cluster] = {}

    def lend(self, carrier: Carrier, setup: Setup) -> Cluster:
        """A running master without quota and dynamic reservations; started now unless one of this kind is alive."""
        key = (carrier.name, setup)
        cluster = self._clusters.pop(key, None)
        if cluster is not None and cluster.alive:
            cluster.clear_quota()
            cluster.clear_reservations()
        else:
            if cluster is not None:
                cluster.stop()
            cluster = self.start(carrier, setup)
        self._clusters[key] = cluster
        if len(self._clusters) > POOL_SIZE:
            self._clusters.pop(next(iter(self._clusters))).stop()
        return cluster

    def discard(self, cluster: Cluster) -> None:
        """Stop a lent master that must not be used again."""
        self._clusters = {key: kept for key, kept in self._clusters.items() if kept is not cluster}
        cluster.stop()

    def start(self, carrier: Carrier, setup: Setup) -> Cluster:
        """A new master that the pool does not lend: the caller stops it, or else it ends with the pool."""
        cluster = carrier.start(setup, Path(tempfile.mkdtemp(prefix=f"{carrier}-", dir=self._folder.name)))
        self._started.append(cluster)
        return cluster

    def close(self) -> None:
        for cluster in self._started:
            cluster.stop()
        self._folder.cleanup()
