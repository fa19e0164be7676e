"""Fixtures: which carrier a test runs on, and the pool that its master comes from."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.conformance.callers.joining import Join, joining
from tests.conformance.masters.carriers import EVERY_CARRIER, Carrier, Pool
from tests.conformance.masters.cluster import Cluster, Setup


@pytest.fixture(scope="session")
def pool() -> Iterator[Pool]:
    masters = Pool()
    yield masters
    masters.close()


@pytest.fixture(scope="session", params=EVERY_CARRIER, ids=str)
def carrier(request: pytest.FixtureRequest) -> Carrier:
    """Each carrier in turn; session scope makes pytest run one carrier's tests together."""
    return request.param


@pytest.fixture
def start(carrier: Carrier, pool: Pool) -> Iterator[Any]:
    """Masters of a test's own, where agents leave them for good, or what is reserved stays reserved."""
    started: list[Cluster] = []

    @contextmanager
    def run(setup: Setup) -> Iterator[tuple[Cluster, Join]]:
        master = pool.start(carrier, setup)
        started.append(master)
        with joining(master) as join:
            yield master, join

    yield run
    for master in started:
        master.stop()
