"""A master with one agent, and frameworks that end with the test."""

from collections.abc import Iterator

import pytest

from tests.conformance.callers.joining import Join, joining, quick
from tests.conformance.masters.carriers import Carrier, Pool
from tests.conformance.masters.cluster import Cluster

AGENTS = quick("cpus:4;mem:2048;disk:100;ports:[31000-31009]")


@pytest.fixture
def master(carrier: Carrier, pool: Pool) -> Cluster:
    return pool.lend(carrier, AGENTS)


@pytest.fixture
def join(master: Cluster) -> Iterator[Join]:
    with joining(master) as new:
        yield new
