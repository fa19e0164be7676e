"""The masters of the situations: those of 1.11, each with its own setup."""

from collections.abc import Callable, Iterator

import pytest

from tests.conformance.callers.joining import Join, joining, quick
from tests.conformance.masters.carriers import IN_PROCESS, REAL, Carrier, Pool
from tests.conformance.masters.cluster import Cluster

Begin = Callable[..., tuple[Cluster, Join]]
TWO_CPUS = "cpus:2;mem:512;disk:100;ports:[31000-31003]"


@pytest.fixture(scope="session", params=[REAL, IN_PROCESS], ids=str)
def carrier(request: pytest.FixtureRequest) -> Carrier:
    found: Carrier = request.param
    return found


@pytest.fixture
def begin(carrier: Carrier, pool: Pool) -> Iterator[Begin]:
    """Start a master with these agents, by default as many as asked for with two cpus each."""
    ending = []

    def run(*agents: str, count: int = 0, **more: object) -> tuple[Cluster, Join]:
        flags = {"allocation_interval": "50ms", **more.pop("flags", {})}  # type: ignore[dict-item]
        master = pool.start(carrier, quick(*agents, *[TWO_CPUS] * count, flags=flags, **more))
        context = joining(master)
        ending.append((master, context))
        return master, context.__enter__()

    yield run
    for master, context in ending:
        context.__exit__(None, None, None)
        master.stop()
