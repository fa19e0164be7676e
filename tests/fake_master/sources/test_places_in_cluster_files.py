"""A refusal of a cluster file names the file and the line, whenever the fault is found."""

from pathlib import Path

import pytest

from fake_master.sources.cluster_file import ClusterDocument, ClusterSpec
from fake_master.sources.simulation import simulate
from mesosctl.files.desired_state import CLUSTER_FILE_KEYS, Sections
from mesosctl.mesos.errors import BadInput
from tests.helpers.cluster_files import read_cluster_file

FILE = """mesos_version = "1.11"
[flags]
roles = "ads,web"
[rate_limits]
aggregate_default_qps = 10
[[agents]]
resources = "cpus:4"
[[agents]]
resources = "cpus:12;mem:6GiB"
count = 2
oversubscribed = "cpus:1"
[tasks]
seconds = 3
[[frameworks]]
role = "ads"
task = "cpus:1"
[[frameworks]]
role = "web"
answer = "hold"
[[frameworks.running]]
agent = "agent-1"
resources = "cpus:1"
[[frameworks.running]]
agent = "agent-2"
resources = "cpus:1"
"""


@pytest.mark.parametrize(
    ("good", "bad", "line", "field"),
    [
        ('mesos_version = "1.11"', 'mesos_version = "2.0"', 1, "mesos_version"),
        ('mesos_version = "1.11"', "agent = 3", 1, "agent"),
        ('roles = "ads,web"', "roles = []", 3, "flags.roles"),
        ('roles = "ads,web"', 'roles = "-ads"', 3, "flags.roles"),
        ('roles = "ads,web"', 'rolls = "ads"', 3, "flags.rolls"),
        ("aggregate_default_qps = 10", "aggregate_default_qps = -1", 5, "rate_limits.aggregate_default_qps"),
        ("aggregate_default_qps = 10", 'aggregate_default_qps = "x"', 5, "rate_limits.aggregate_default_qps"),
        ('resources = "cpus:4"', "hostname = 'h1'", 6, "agents[0].resources"),
        ("mem:6GiB", "mem:6GiBB", 9, "agents[1].resources"),
        ("count = 2", "count = 0", 10, "agents[1].count"),
        ("count = 2", "cuont = 2", 10, "agents[1].cuont"),
        ('oversubscribed = "cpus:1"', 'oversubscribed = "cpus"', 11, "agents[1].oversubscribed"),
        ('count = 2\noversubscribed = "cpus:1"', 'hostname = "agent-1"', 10, "agents[1].hostname"),
        ("seconds = 3", "seconds = -3", 13, "tasks.seconds"),
        ('role = "ads"', 'role = "db"', 15, "frameworks[0].role"),
        ('task = "cpus:1"', 'task = "cpus:x"', 16, "frameworks[0].task"),
        ('agent = "agent-2"', 'agent = "agent-9"', 24, "frameworks[1].running[1].agent"),
        ('agent = "agent-2"', "agent = 2", 24, "frameworks[1].running[1].agent"),
        ('agent = "agent-2"', 'agent = "agent-2"\nvolumes = ["v"]', 25, "frameworks[1].running[1].volumes"),
    ],
)
def test_a_refusal_names_the_line(tmp_path: Path, good: str, bad: str, line: int, field: str):
    path = tmp_path / "cluster.toml"
    path.write_text(FILE.replace(good, bad))
    with pytest.raises(BadInput) as refused:
        read_cluster_file(path).start()
    assert refused.value.message.startswith(f"{path}, line {line}: ")
    assert refused.value.field == field


def test_every_fault_of_keys_and_types_is_told_at_once_in_the_order_of_the_file(tmp_path: Path):
    path = tmp_path / "cluster.toml"
    bad = FILE.replace('roles = "ads,web"', "roles = []").replace("count = 2", "cuont = 2")
    bad = bad.replace('resources = "cpus:4"', "count = 0").replace('agent = "agent-2"', "tasks = -1")
    path.write_text(bad + '[weights]\nads = "x"\n')
    with pytest.raises(BadInput) as refused:
        read_cluster_file(path)
    assert [told.split(": ")[:2] for told in refused.value.message.split("; ")] == [
        [f"{path}, line 3", "flags.roles"],
        [f"{path}, line 6", "agents[0].resources"],
        [f"{path}, line 7", "agents[0].count"],
        [f"{path}, line 10", "agents[1].cuont"],
        [f"{path}, line 23", "frameworks[1].running[1].agent"],
        [f"{path}, line 24", "frameworks[1].running[1].tasks"],
        [f"{path}, line 27", "weights.ads"],
    ]


def test_the_keys_that_only_a_cluster_file_has_are_those_of_its_shape():
    only = {field for field in ClusterDocument.__struct_fields__ if field not in Sections.__struct_fields__}
    assert only == set(CLUSTER_FILE_KEYS)


def test_a_flag_of_the_command_line_is_not_in_the_file(tmp_path: Path):
    path = tmp_path / "cluster.toml"
    path.write_text(FILE)
    spec = read_cluster_file(path)
    with pytest.raises(BadInput) as refused:
        ClusterSpec(spec.agents, flags={**spec.flags, "roles": "-x"}, file=spec.file, flags_of_file=spec.flags).start()
    assert refused.value.message.startswith("--roles: ")
    assert refused.value.field == "roles"


def test_a_cluster_without_frameworks_is_named(tmp_path: Path):
    path = tmp_path / "cluster.toml"
    path.write_text('[[agents]]\nresources = "cpus:1"\n')
    with pytest.raises(BadInput, match=f"{path} has no frameworks"):
        simulate(read_cluster_file(path), 10)
