"""Recorded demand of real clusters, which is not part of the project; tests of it skip by name where it is missing."""

import os
from pathlib import Path

import pytest

from tests import ROOT

FOLDER = Path(os.environ.get("MESOS_TRACES", ROOT.parent / "shared" / "traces"))


def trace(name: str) -> Path:
    """The file of that name; skips the test if there is none."""
    path = FOLDER / name
    if not path.is_file():
        pytest.skip(f"{path} is missing: MESOS_TRACES names the folder of {name}")
    return path
