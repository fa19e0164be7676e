"""The scripts for pipelines, as users write them: bash with `set -euo pipefail`, a fake master on a socket."""

import os
import signal
import subprocess
import sys

import pytest

from tests import ROOT
from tests.helpers.needs import needs

SCRIPTS = ROOT / "tests" / "scripts"
PIPELINES = ROOT / "docs" / "how-to" / "pipelines.md"
RECIPES = sorted(path.name for path in SCRIPTS.glob("*.sh"))


@pytest.fixture(params=["documents", "1.11"])
@needs("process", "socket", "shell")
def master(request):
    """The URL of a fake master with two agents."""
    command = [sys.executable, "-m", "fake_master", "--port", "0", "--mesos-version", request.param]
    command += ["--agent", "cpus:8;mem:4096", "--agent", "cpus:2;mem:4096"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
    ) as serving:
        assert serving.stdout is not None
        yield serving.stdout.readline().strip()
        serving.send_signal(signal.SIGTERM)
        serving.wait(60)


@pytest.fixture
def bash(tmp_path, master):
    """Run words of a shell with mesosctl on its path."""
    program = tmp_path / "bin" / "mesosctl"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m mesosctl "$@"\n')
    program.chmod(0o755)
    left_out = [name for name in os.environ if name.startswith("MESOSCTL_")]
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    environment = kept | {
        "PATH": f"{program.parent}:{SCRIPTS}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "HOME": str(tmp_path),
        "MESOSCTL_MASTER": master,
    }

    def run(words, **variables):
        return subprocess.run(
            ["bash", "-euo", "pipefail", "-c", words],
            capture_output=True,
            text=True,
            env=environment | variables,
            cwd=tmp_path,
            timeout=120,
            check=False,
        )

    return run


@pytest.mark.parametrize("name", RECIPES)
def test_the_page_has_the_script_that_is_tried_here(name):
    text = (SCRIPTS / name).read_text(encoding="utf-8")
    assert text.startswith("#!/bin/bash\n")
    assert os.access(SCRIPTS / name, os.X_OK)
    assert f'```bash title="{name}"\n{text}```\n' in PIPELINES.read_text(encoding="utf-8")


class TestChangingAQuota:
    QUOTAS = "mesosctl quota list -o csv | cut -d , -f 1-2 | tail -n +2"

    def test_a_change_that_passes_its_test_stays(self, bash):
        assert bash("mesosctl quota set web cpus:1 mem:256MiB").returncode == 0
        assert bash("change-quota.sh web 'cpus:2;mem:512' mesosctl quota show web").returncode == 0
        assert bash(self.QUOTAS).stdout == "web,cpus:2;mem:512\n"

    def test_a_change_that_fails_it_is_taken_back(self, bash):
        assert bash("mesosctl quota set web cpus:1 mem:256MiB").returncode == 0
        ran = bash("change-quota.sh web 'cpus:2;mem:512' sh -c 'exit 3'")
        assert (ran.returncode, "failed with status 3: back to cpus:1;mem:256" in ran.stderr) == (1, True)
        assert bash(self.QUOTAS).stdout == "web,cpus:1;mem:256\n"

    @pytest.mark.parametrize(("words", "status"), [("nobody cpus:1", 5), ("web cpus:1000", 6), ("web cpus:-1", 3)])
    def test_what_is_refused_ends_the_script_with_its_status(self, bash, words, status):
        assert bash("mesosctl quota set web cpus:1 mem:256MiB").returncode == 0
        assert bash(f"change-quota.sh {words} touch tested").returncode == status
        assert bash(f"test ! -e tested; {self.QUOTAS}").stdout == "web,cpus:1;mem:256\n"


class TestDrift:
    KEEP = "mesosctl quota list -o csv | cut -d , -f 1-3 | sort >kept.csv"

    def test_nothing_differs_until_something_changes(self, bash):
        assert bash(f"mesosctl quota set web cpus:1; {self.KEEP}; quota-drift.sh kept.csv").returncode == 0
        ran = bash("mesosctl quota set ads cpus:1 -o name >&2; quota-drift.sh kept.csv")
        assert (ran.returncode, "+ads,cpus:1," in ran.stdout) == (1, True)

    def test_a_master_that_is_away_is_no_drift(self, bash):
        ran = bash(f"{self.KEEP}; MESOSCTL_MASTER=http://127.0.0.1:1 quota-drift.sh kept.csv")
        assert (ran.returncode, ran.stdout) == (7, "")


class TestReservingOnAll:
    HELD = "mesosctl reservations -o name"

    def test_on_all(self, bash):
        ran = bash("reserve-all.sh web cpus:2 S0 S1")
        assert ran.returncode == 0, ran.stderr
        assert len(bash(self.HELD).stdout.split()) == 2

    def test_or_on_none(self, bash):
        """The second agent has two cpus."""
        ran = bash("reserve-all.sh web cpus:4 S0 S1")
        assert ran.returncode == 6, ran.stderr
        assert bash(self.HELD).stdout == ""

    def test_an_agent_that_is_not_there(self, bash):
        assert bash("reserve-all.sh web cpus:1 S0 nowhere").returncode == 5
        assert bash(self.HELD).stdout == ""
