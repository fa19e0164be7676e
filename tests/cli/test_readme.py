"""The commands and the script in the README do what the README says."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.process, pytest.mark.shell]

ROOT = Path(__file__).parents[2]
CLUSTER = """[[agents]]
resources = "cpus:{cpus};mem:4GiB"
"""


def script() -> str:
    """The block that begins with a shebang."""
    block = (ROOT / "README.md").read_text(encoding="utf-8").partition("    #!/bin/bash\n")[2].partition("\n\n")[0]
    return "\n".join(line.removeprefix("    ") for line in block.splitlines())


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


ASKS = "mesosctl unreserve --all --role web"


def test_the_first_five_minutes_can_be_typed_as_they_stand(tmp_path: Path):
    section = (ROOT / "README.md").read_text(encoding="utf-8").partition("## The first five minutes\n")[2]
    commands = section.partition("In a script:")[0].splitlines()
    typed = [shlex.split(line, comments=True) for line in commands if line.startswith("    mesosctl ")]
    assert len(typed) > 20
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    surroundings = {
        **{name: value for name, value in os.environ.items() if not name.startswith("MESOSCTL_")},
        "PYTHONPATH": str(ROOT),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "MESOSCTL_MASTER": "fake:",
    }
    for words in typed:
        ended = subprocess.run(
            [sys.executable, "-m", *words],
            cwd=tmp_path,
            env=surroundings,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        # A script is not asked: it has to say --yes.
        expected = 2 if shlex.join(words) == ASKS else 0
        assert ended.returncode == expected, (words, ended.stderr)
