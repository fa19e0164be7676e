"""Commands that are typed on the master of a test, with a state folder of its own."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conformance.callers.command_line import run_command
from tests.conformance.masters.cluster import Cluster
from tests.helpers.surroundings import Ran

Run = Callable[..., Ran]


@pytest.fixture
def run(master: Cluster, tmp_path: Path) -> Run:
    """Run words that end with this status."""

    def words(*typed: str, gives: int = 0, stdin: str = "") -> Ran:
        ran = run_command(master, *typed, stdin=stdin, XDG_STATE_HOME=str(tmp_path))
        assert ran.status == gives, ran.err
        return ran

    return words
