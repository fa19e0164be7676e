"""The command line on real sockets, and masters to find there."""

from collections.abc import Callable, Iterator

import pytest

from mesosctl.__main__ import main
from tests.helpers.needs import needs
from tests.helpers.surroundings import InMemory, Ran
from tests.mesosctl.client.leader.ensemble import Ensemble
from tests.mesosctl.client.one_master import clock, net, notices, open_master  # noqa: F401  # fixtures


@pytest.fixture
@needs("socket")
def ensemble() -> Iterator[Ensemble]:
    masters = Ensemble()
    yield masters
    masters.stop()


@pytest.fixture
def type_words() -> Callable[..., Ran]:
    """Run the command line over the network; variables are those of its environment, and no other."""

    def run(*words: str, timeout: float = 30, **variables: str) -> Ran:
        environment = InMemory(variables=variables)
        status = main([*words, "--timeout", str(timeout)], environment)
        return Ran(status, environment.out, environment.err)

    return run
