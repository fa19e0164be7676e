"""The pytest plugin: fixtures `fake_master` and `fake_master_factory`, and a marker with the options of the first.

    @pytest.mark.fake_master(["cpus:4;mem:2048"], quotas={"web": "cpus:2"})
    def test_my_scheduler(fake_master): ...

pytest finds it by the entry point of this distribution.  A run that uses neither fixture loads nothing more.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from fake_master.testing.fake import FakeMaster


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line(
        "markers",
        "fake_master(agents, **options): the cluster of the fixture fake_master, with the arguments of FakeMaster",
    )


@pytest.fixture
def fake_master_factory() -> "Iterator[Callable[..., FakeMaster]]":
    """Start as many fake masters as a test needs, with the arguments of `FakeMaster`; they end with the test."""
    from fake_master.testing.fake import FakeMaster

    with ExitStack() as started:
        yield lambda *args, **options: started.enter_context(FakeMaster(*args, **options))


@pytest.fixture
def fake_master(request: pytest.FixtureRequest) -> "Iterator[FakeMaster]":
    """A fake master with the cluster of the marker `fake_master`; without one it has a single agent.

    The marker of a test adds to that of its class or module, and takes precedence.
    """
    from fake_master.testing.fake import FakeMaster

    agents: object = None
    options: dict[str, object] = {}
    for mark in reversed(list(request.node.iter_markers("fake_master"))):
        options |= mark.kwargs
        if len(mark.args) > 1:
            raise pytest.UsageError(
                "the marker fake_master takes only the agents by position; give all other options by name"
            )
        if mark.args:
            (agents,) = mark.args
    if "agents" in options:
        agents = options.pop("agents")
    if agents is None:
        agents = 0 if "cluster" in options else 1
    with FakeMaster(agents, **options) as started:  # type: ignore[arg-type]  # FakeMaster itself checks them
        yield started
