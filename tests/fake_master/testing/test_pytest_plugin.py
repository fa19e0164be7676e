"""The pytest plugin, in projects of others."""

import subprocess
import sys
import venv
import zipfile

import pytest

from tests import ROOT

PROJECT = """
import httpx
import pytest


def test_one_agent_unless_more_is_said(fake_master):
    assert [agent.hostname for agent in fake_master.agents] == ["agent-1"]


@pytest.mark.fake_master(["cpus:2", "cpus:2"], quotas={"web": "cpus:3"}, version="documents")
class TestWeb:
    def test_the_marker_of_the_class(self, fake_master):
        assert len(fake_master.agents) == 2
        with httpx.Client(transport=fake_master.transport, base_url="http://mesos") as client:
            assert client.get("/version").json()["version"] == "1.4.0"
            assert [quota["role"] for quota in client.get("/quota").json()["infos"]] == ["web"]

    @pytest.mark.fake_master(quotas={})
    def test_a_marker_of_its_own(self, fake_master):
        assert len(fake_master.agents) == 2
        assert "web" not in fake_master.roles


def test_two_masters(fake_master_factory):
    first, second = fake_master_factory(["cpus:1"]), fake_master_factory(["cpus:2", "cpus:3"])
    assert (len(first.agents), len(second.agents)) == (1, 2)


@pytest.mark.fake_master(cluster="cluster.toml")
def test_a_cluster_file(fake_master):
    assert [agent.resources for agent in fake_master.agents] == [{"cpus": 7.0}]
"""
CLUSTER = '[[agents]]\nresources = "cpus:7"\n'


def test_fixtures_and_marker(pytester):
    pytester.makepyfile(PROJECT)
    pytester.path.joinpath("cluster.toml").write_text(CLUSTER, encoding="utf-8")
    pytester.runpytest_inprocess("-p", "no:cacheprovider", "--strict-markers").assert_outcomes(passed=5)


def test_a_mistake_in_the_marker(pytester):
    pytester.makepyfile("""
        import pytest

        @pytest.mark.fake_master("cpus:2", "cpus:2")
        def test_texts(fake_master): ...

        @pytest.mark.fake_master(["cpus:2"], agents=["cpus:1"], colour="red")
        def test_options(fake_master): ...
    """)
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(["*takes only the agents by position*", "*'colour'*"])


@pytest.mark.process
@pytest.mark.slow
def test_in_a_fresh_project(tmp_path):
    """The wheel, installed by pip into an environment that has pytest alone."""
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")
    subprocess.run([*pip, "wheel", "--no-deps", "--wheel-dir", tmp_path, ROOT], check=True, timeout=300)
    (wheel,) = tmp_path.glob("mesosctl-*.whl")
    assert "mesosctl/schemas/quota.list.json" in zipfile.ZipFile(wheel).namelist()
    venv.create(tmp_path / "env")
    interpreter = tmp_path / "env" / "bin" / "python"
    into = (*pip, "--python", interpreter, "install")
    subprocess.run([*into, wheel, "pytest"], check=True, timeout=300)
    project = tmp_path / "project"
    project.mkdir()
    (project / "test_project.py").write_text(PROJECT, encoding="utf-8")
    (project / "cluster.toml").write_text(CLUSTER, encoding="utf-8")
    done = subprocess.run(
        [interpreter, "-m", "pytest", "-q", "-W", "error", "--strict-markers"],
        cwd=project,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "5 passed" in done.stdout
