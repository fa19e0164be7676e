"""The cluster file that the pages show is one, and shows every key."""

import tomllib

import pytest

import fake_master
from fake_master.sources.cluster_file import read_cluster_file
from mesosctl.model.errors import BadInput

ENTRY = {"agents": "resources = 'cpus:1'", "frameworks": "task = 'cpus:1'"}


@pytest.fixture
def path(tmp_path):
    made = tmp_path / "cluster.toml"
    made.write_text(fake_master.example_cluster(), encoding="utf-8")
    return made


def test_it_makes_a_master(path):
    spec = read_cluster_file(path)
    assert [len(spec.agents), len(spec.frameworks)] == [3, 3]
    assert len(spec.start().state.agents) == 3


@pytest.mark.parametrize("table", ["agents", "frameworks", "tasks", None])
def test_it_has_every_key_that_is_known(path, table):
    shown = tomllib.loads(path.read_text(encoding="utf-8"))
    if table is not None:
        shown = shown[table] if table == "tasks" else shown[table][0]
    lines = {None: "nonsense = 1", "tasks": "[tasks]\nnonsense = 1"}
    path.write_text(lines[table] if table in lines else f"[[{table}]]\n{ENTRY[table]}\nnonsense = 1", encoding="utf-8")
    with pytest.raises(BadInput) as refused:
        read_cluster_file(path)
    assert refused.value.hint is not None
    known = set(refused.value.hint.removeprefix("known: ").split(", "))
    assert known - {"roles"} == set(shown) - {"roles"}
