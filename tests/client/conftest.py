"""The command line on real sockets, and masters to find there."""

import io
from collections.abc import Callable, Iterator

import pytest

from mesosctl.__main__ import main
from mesosctl.cli.environment import Environment
from tests.conftest import Ran

from .ensemble import Ensemble


@pytest.fixture
def ensemble() -> Iterator[Ensemble]:
    masters = Ensemble()
    yield masters
    masters.stop()


@pytest.fixture
def type_words() -> Callable[..., Ran]:
    """Run the command line over the network; variables are those of its environment, and no other."""

    def run(*words: str, timeout: float = 30, **variables: str) -> Ran:
        environment = Environment(stdin=io.StringIO(), stdout=io.StringIO(), stderr=io.StringIO(), variables=variables)
        status = main([*words, "--timeout", str(timeout)], environment)
        return Ran(status, environment.stdout.getvalue(), environment.stderr.getvalue())

    return run
