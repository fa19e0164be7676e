"""The first script of the page about pipelines ends as the page says."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import ROOT
from tests.documentation.pages import fences

pytestmark = [pytest.mark.process, pytest.mark.shell]

PIPELINES = ROOT / "docs" / "how-to" / "pipelines.md"
CLUSTER = """[[agents]]
resources = "cpus:{cpus};mem:4GiB"
"""


def script() -> str:
    return next(one.text for one in fences(PIPELINES) if one.title == "set-quota.sh")


@pytest.mark.parametrize(
    ("cpus", "master", "status", "said"),
    [(8, None, 0, "ads has its quota"), (7, None, 1, ""), (8, "http://127.0.0.1:1", 7, "")],
)
def test_the_script_ends_with_the_reason(tmp_path: Path, cpus: int, master: str | None, status: int, said: str):
    cluster = tmp_path / "cluster.toml"
    cluster.write_text(CLUSTER.format(cpus=cpus))
    program = tmp_path / "mesosctl"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m mesosctl "$@"\n')
    program.chmod(0o755)
    ended = subprocess.run(
        ["bash", "-c", script()],
        env={
            **os.environ,
            "PATH": f"{tmp_path}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "XDG_STATE_HOME": str(tmp_path / "state"),
            "MESOSCTL_MASTER": master or f"fake:{cluster}",
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (ended.returncode, said in ended.stdout) == (status, True), ended.stderr
