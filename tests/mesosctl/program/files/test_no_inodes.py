"""A file system without inodes, a tmpfs in a mount namespace of its own: every program that makes a file says so."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

NAMESPACE = ["unshare", "--user", "--map-root-user", "--mount"]
FULL = """
mount -t tmpfs -o size=4m,nr_inodes=6 none "$0" || exit 99
i=0
while touch "$0/file$i" 2>/dev/null; do i=$((i + 1)); done
exec "$@"
"""
MESOSCTL = [sys.executable, "-m", "mesosctl"]
FAKE = [sys.executable, "-m", "fake_master", "--port", "0", "--agent", "cpus:1"]
COMMANDS = {
    "the state of a fake master": [*MESOSCTL, "--master", "fake:", "quota", "list"],
    "a context": [*MESOSCTL, "context", "set", "lab", "--master", "http://127.0.0.1:1"],
    "a registry": [*FAKE, "--registry", "sqlite", "--work-dir", "HERE/work"],
    "a ready file": [*FAKE, "--ready-file", "HERE/ready"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_without_inodes_there_is_a_sentence(name: str, tmp_path: Path) -> None:
    tried = [*NAMESPACE, "mount", "-t", "tmpfs", "none", str(tmp_path)]
    if shutil.which("unshare") is None or subprocess.run(tried, check=False, capture_output=True).returncode:
        pytest.skip("no tmpfs can be mounted here")
    words = [word.replace("HERE", str(tmp_path)) for word in COMMANDS[name]]
    folders = dict.fromkeys(("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"), str(tmp_path))
    ended = subprocess.run(
        [*NAMESPACE, "sh", "-c", FULL, str(tmp_path), *words],
        env=os.environ | folders,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (3, ""), ended.stderr
    assert "No space left on device" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert "at: field" not in ended.stderr
