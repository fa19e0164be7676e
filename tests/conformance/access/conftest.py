"""Masters with the rules of the test's module, of both minds about what no rule speaks of."""

import pytest

from tests.conformance.masters.carriers import Carrier, Pool
from tests.conformance.masters.cluster import Cluster


@pytest.fixture(params=[True, False], ids=["permissive", "strict"])
def permissive(request: pytest.FixtureRequest) -> bool:
    """Whether what no rule speaks of is allowed."""
    return request.param


@pytest.fixture
def master(request: pytest.FixtureRequest, carrier: Carrier, pool: Pool, permissive: bool) -> Cluster:
    """A master of the pool with one of the two `SETUPS` of the test's module."""
    return pool.lend(carrier, request.module.SETUPS[permissive])
