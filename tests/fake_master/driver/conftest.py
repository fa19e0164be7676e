"""Masters that real drivers speak to, and the program that these are."""

from collections.abc import Callable, Iterator

import pytest

from tests.conformance.conftest import pool
from tests.conformance.masters import fakes
from tests.conformance.masters.carriers import REAL, Carrier, Pool
from tests.conformance.masters.cluster import Cluster, Setup
from tests.conformance.scenarios.setups import NO_AGENTS
from tests.fake_master.driver.hosting import Program, RealDriver, program
from tests.helpers.needs import needs

__all__ = ["pool"]


FAKE = Carrier("fake", "1.11", fakes.start_for_drivers, ("process", "socket"))


@pytest.fixture(scope="session")
@needs(*REAL.needs)
def host(pool: Pool, tmp_path_factory: pytest.TempPathFactory) -> Program:
    """The compiled host."""
    master = pool.start(REAL, NO_AGENTS)
    assert master.pid is not None
    made = program(master.pid, tmp_path_factory.mktemp("host"))
    master.stop()
    return made


@pytest.fixture
def driver(host: Program) -> Iterator[Callable[[], RealDriver]]:
    """Makes real drivers, which end with the test."""
    made: list[RealDriver] = []

    def make() -> RealDriver:
        made.append(RealDriver(host))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture(params=(FAKE, REAL), ids=str)
def start(request: pytest.FixtureRequest, pool: Pool) -> Iterator[Callable[[Setup], Cluster]]:
    """Starts masters, the fake and the real one, which end with the test."""
    started: list[Cluster] = []

    def run(setup: Setup) -> Cluster:
        started.append(pool.start(request.param, setup))
        return started[-1]

    yield run
    for master in started:
        master.stop()
