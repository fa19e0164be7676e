"""Fixtures: which carrier a test runs on, and the pool that its master comes from."""

from collections.abc import Iterator

import pytest

from .carriers import EVERY_CARRIER, Carrier, Pool


@pytest.fixture(scope="session")
def pool() -> Iterator[Pool]:
    masters = Pool()
    yield masters
    masters.close()


@pytest.fixture(scope="session", params=EVERY_CARRIER, ids=str)
def carrier(request: pytest.FixtureRequest) -> Carrier:
    """Each carrier in turn; session scope makes pytest run one carrier's tests together."""
    reason = request.param.why_not()
    if reason is not None:
        pytest.skip(reason)
    return request.param
