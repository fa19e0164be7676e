"""Fixtures: which carrier a test runs on, its master from the pool, and the frameworks on it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.conformance.callers.joining import Join, joining, quick
from tests.conformance.masters.carriers import EVERY_CARRIER, Carrier, Pool
from tests.conformance.masters.cluster import Cluster, Setup

ONE_AGENT = quick("cpus:4;mem:2048;disk:100;ports:[31000-31009]")


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
def master(request: pytest.FixtureRequest, carrier: Carrier, pool: Pool) -> Iterator[Cluster]:
    """A master of the pool with the `SETUP` of the test's module, or with one agent.

    With `OWN_MASTER = True` in the module, each test has one of its own, for what cannot be undone.
    """
    setup = getattr(request.module, "SETUP", ONE_AGENT)
    if not getattr(request.module, "OWN_MASTER", False):
        yield pool.lend(carrier, setup)
        return
    cluster = pool.start(carrier, setup)
    yield cluster
    cluster.stop()


@pytest.fixture
def join(master: Cluster) -> Iterator[Join]:
    """Make frameworks that end with the test."""
    with joining(master) as new:
        yield new


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
