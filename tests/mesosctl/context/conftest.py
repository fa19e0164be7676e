"""A home of its own for commands that obey or edit contexts."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers.surroundings import Ran


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "mesosctl" / "config.toml"
    path.parent.mkdir()
    return path


@pytest.fixture
def ctl(run: Callable[..., Ran], tmp_path: Path) -> Callable[..., Ran]:
    """Run a command at home in `tmp_path`; the environment names no master."""

    def run_at_home(*words: str, stdin: str = "", terminal: bool = False, **variables: str) -> Ran:
        home = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")}
        return run(*words, stdin=stdin, terminal=terminal, **home | {"MESOSCTL_MASTER": ""} | variables)

    return run_at_home
