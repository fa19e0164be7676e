"""The public names of the fake master for tests, and what its import costs."""

import subprocess
import sys

import pytest

import fake_master
from fake_master import FakeMaster, testing

# --- The names ----------------------------------------------------------------------------------------


def test_they_are_in_the_package_for_tests_too():
    assert [getattr(testing, name) for name in fake_master.__all__] == [
        getattr(fake_master, name) for name in fake_master.__all__
    ]
    with pytest.raises(AttributeError, match="has no attribute 'Cluster'"):
        _ = testing.Cluster


def test_the_public_names_are_these():
    assert fake_master.__all__ == [
        "Agent",
        "AgentConfig",
        "FakeMaster",
        "Framework",
        "FrameworkConfig",
        "Offer",
        "QuotaConfig",
        "Role",
        "Task",
        "TaskConfig",
    ]
    assert [name for name in dir(FakeMaster) if not name.startswith("_")] == [
        "add",
        "advance",
        "agents",
        "asettle",
        "bring_back",
        "close",
        "drop_next",
        "fail_over",
        "frameworks",
        "lose",
        "now",
        "offers",
        "roles",
        "settle",
        "tasks",
        "transport",
        "url",
    ]


@pytest.mark.parametrize("name", fake_master.__all__)
def test_each_of_them_is_there_and_documented(name):
    assert getattr(fake_master, name).__doc__


def test_no_other_name_is():
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        fake_master.Nothing  # noqa: B018


@pytest.mark.process
@pytest.mark.parametrize("module", ["fake_master", "fake_master.testing.pytest_plugin"])
def test_importing_loads_nothing_of_a_master(module):
    code = f"import sys, {module}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name for name in done.stdout.split() if name.startswith(("fake_master", "httpx", "mesosctl"))}
    assert loaded <= {"fake_master", "fake_master.testing", module}
