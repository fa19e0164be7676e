"""Programs that others wrote for a real Mesos, against `FakeMaster`: a scheduler, an exporter, an autoscaler.

| program | what it is | what it asks |
| --- | --- | --- |
| task_processing (Yelp) | runs tasks through pymesos | the scheduler API |
| asgard-api-plugin-metrics-mesos | metrics of a cluster | /redirect, /health, /metrics/snapshot, /slaves, /tasks |
| paasta-tools (Yelp) | autoscaler and health checks | /state, /metrics/snapshot, /frameworks |
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from fake_master import AgentConfig, FakeMaster, FrameworkConfig
from tests.conformance.clients.driving import Driver
from tests.conformance.clients.installing import NotInstalled, pure_part, python_with
from tests.helpers.needs import lacking

HERE = Path(__file__).parent


def installed(name: str, folder: Path, packages: list[str], without_dependencies: list[str]) -> Path:
    """The interpreter of an environment with a program; skips the test where it cannot be had."""
    try:
        return python_with(packages, folder / "environment", without_dependencies=without_dependencies)
    except NotInstalled as reason:
        lacking(name, str(reason))


def test_a_scheduler_runs_tasks_and_kills_one(tmp_path: Path) -> None:
    """The scenario "Running single task" of its integration tests, and its example of a kill."""
    interpreter = installed(
        "task_processing", tmp_path, ["addict", "six", "requests", "pyrsistent"], ["pymesos", "task-processing"]
    )
    try:
        parser = pure_part("http-parser", tmp_path / "parser")
    except NotInstalled as reason:
        lacking("task_processing", str(reason))
    # It takes what is reserved for its role, as the agents of its own test cluster have it.
    reserved = "cpus(taskproc):4;mem(taskproc):2048;disk(taskproc):1000;ports(taskproc):[31200-31500]"
    agents: list[AgentConfig] = [
        {"resources": reserved, "attributes": {"pool": "batch"}},
        {"resources": reserved, "attributes": {"pool": "web"}},
    ]
    with FakeMaster(agents, tasks={"outcome": "finished", "seconds": 5}, real_time=True) as fake:
        address = fake.url.removeprefix("http://")
        with Driver([interpreter, HERE / "drive_task_processing.py", address], {"PYTHONPATH": str(parser)}) as driver:
            fake.settle(lambda: [task.state for task in fake.tasks] == ["TASK_FINISHED"], timeout=60)
            assert driver.wait_for("ran") == ["ran", True, "finished"]
            assert {task.agent for task in fake.tasks} == {"agent-1"}
            fake.settle(lambda: "TASK_KILLED" in [task.state for task in fake.tasks], timeout=60)
            driver.wait_for("running")
            assert driver.wait_for("ended") == ["ended", False, "killed"]
            driver.wait_for("stopped")


def test_an_exporter_shows_what_the_master_counts(tmp_path: Path) -> None:
    """The endpoints of its own tests."""
    packages = ["flask", "requests", "asgard-api-sdk", "asgard-api-plugin-metrics-mesos"]
    interpreter = installed("asgard", tmp_path, packages, [])
    agents: list[AgentConfig] = [
        {"resources": "cpus:4;mem:8000", "attributes": {"dc": "bit", "server": "slave0"}},
        {"resources": "cpus:8;mem:16000", "attributes": {"dc": "bit", "server": "slave1"}},
        {"resources": "cpus:2;mem:1000", "attributes": {"dc": "elsewhere"}},
    ]
    frameworks: list[FrameworkConfig] = [{"name": "web", "task": "cpus:3;mem:4000", "tasks": 2}]
    paths = {
        "/metrics/attrs/count": {"total_attrs": 2},
        "/metrics/slaves-with-attrs/count?dc=bit": {"total_slaves": 2},
        "/metrics/attr-usage?dc=bit": {
            "cpu_total": 12.0,
            "cpu_used": 6.0,
            "cpu_pct": 50.0,
            "ram_total": 24,
            "ram_used": 8,
            "ram_pct": 33.3,
        },
        "/metrics/leader?prefix=master/slaves_": {
            "master/slaves_active": 3.0,
            "master/slaves_connected": 3.0,
            "master/slaves_disconnected": 0.0,
            "master/slaves_inactive": 0.0,
            "master/slaves_unreachable": 1.0,
        },
    }
    with FakeMaster(agents, frameworks=frameworks) as fake:
        fake.add("cpus:1;mem:100")
        fake.lose("agent-4")
        fake.settle()
        done = subprocess.run(
            [interpreter, HERE / "drive_asgard.py", *paths, "/metrics/tasks/count", "/metrics/masters/alive"],
            env={**os.environ, "HOLLOWMAN_MESOS_ADDRESS_0": fake.url},
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
        told: dict[str, Any] = dict(json.loads(line) for line in done.stdout.splitlines())
        assert {path: told[path] for path in paths} == paths
        assert (told["/metrics/tasks/count"]["total"], told["/metrics/tasks/count"]["task_running"]) == (2, 2)
        assert told["/metrics/masters/alive"] == {fake.url: 1, "all_ok": 1, "masters_down": 0}


PAASTA = (
    *("a_sync", "boto3", "mypy_extensions", "requests", "aiohttp", "kazoo", "humanize", "retry", "kubernetes==12.0.1"),
    *("service-configuration-lib==2.5.4", "choice", "jsonschema", "pytz", "python-dateutil", "ruamel.yaml<0.18"),
    *("PyStaticConfiguration", "ephemeral-port-reserve", "isodate", "argcomplete", "setuptools<66", "pytimeparse"),
    *("docker-py==1.10.6", "requests-cache", "marathon", "utaw", "typing-extensions"),
)
"""What those modules import that are looked at here; the package itself asks for sixty, some of which build no more."""


def test_an_autoscaler_sees_how_full_the_cluster_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its measure of use, its choice of agents, and its health checks, before and after tasks and a loss."""
    old = tmp_path / "constraints"
    old.write_text("setuptools<66\n", encoding="utf-8")  # its setup.py is of that time
    for variable in "PIP_CONSTRAINT", "PIP_BUILD_CONSTRAINT":  # where it is built, newer versions of pip ask the second
        monkeypatch.setenv(variable, str(old))
    interpreter = installed("paasta", tmp_path, list(PAASTA), ["paasta-tools==0.92.1"])
    for variable in "PIP_CONSTRAINT", "PIP_BUILD_CONSTRAINT":
        monkeypatch.delenv(variable)
    attributes = {"pool": "default", "datacenter": "west"}
    agents: list[AgentConfig] = [{"resources": "cpus:10;mem:10000;disk:1000", "attributes": attributes, "count": 2}]
    frameworks: list[FrameworkConfig] = [
        {"name": "web", "task": "cpus:3;mem:1000", "tasks": 3, "per_offer": 3, "after": 60}
    ]
    with FakeMaster(agents, frameworks=frameworks) as fake:

        def look() -> dict[str, Any]:
            folder = tmp_path / "etc"
            folder.mkdir(exist_ok=True)
            (tmp_path / "mesos-cli.json").write_text(
                json.dumps({"default": {"master": fake.url.removeprefix("http://"), "scheme": "http"}}),
                encoding="utf-8",
            )
            (folder / "paasta.json").write_text(
                json.dumps({"mesos_config": {"path": str(tmp_path / "mesos-cli.json")}}), encoding="utf-8"
            )
            done = subprocess.run(
                [interpreter, "-W", "ignore", HERE / "drive_paasta.py"],
                env={**os.environ, "PAASTA_SYSTEM_CONFIG_DIR": str(folder)},
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            assert done.returncode == 0, done.stderr
            return dict(json.loads(done.stdout))

        empty = look()
        assert empty["error"] == pytest.approx(-0.8)
        assert empty["agents"] == [[0, "agent-1"], [0, "agent-2"]]
        fake.advance(70)
        busy = look()
        assert busy["error"] == pytest.approx(0.45 - 0.8)
        assert sorted(count for count, _ in busy["agents"]) == [0, 3]
        fake.lose(busy["agents"][0][1])
        assert look()["error"] == pytest.approx(0.9 - 0.8)
        assert any("CPU" in message for _, message in busy["health"]), busy["health"]
