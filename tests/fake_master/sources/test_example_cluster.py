"""The cluster file that the pages show is one, and shows every key."""

import tomllib
from pathlib import Path

import pytest

import fake_master
from fake_master import sources
from mesosctl.model.errors import BadInput
from tests.helpers.cluster_files import read_cluster_file

SOURCES = Path(sources.__file__).parent
LINES = {
    None: "nonsense = 1",
    "agents": "[[agents]]\nresources = 'cpus:1'\nnonsense = 1",
    "frameworks": "[[frameworks]]\ntask = 'cpus:1'\nnonsense = 1",
    "frameworks.running": "[[frameworks]]\ntask = 'cpus:1'\n[[frameworks.running]]\nagent = 'a'\nnonsense = 1",
    "tasks": "[tasks]\nnonsense = 1",
    "quotas": "[quotas.web]\nnonsense = 1",
    "reservations": "[[reservations]]\nnonsense = 1",
    "volumes": "[[volumes]]\nnonsense = 1",
    "rate_limits": "[rate_limits]\nnonsense = 1",
}


@pytest.fixture
def path(tmp_path):
    made = tmp_path / "cluster.toml"
    made.write_text(fake_master.example_cluster(), encoding="utf-8")
    (tmp_path / "example_tasks.csv").write_bytes((SOURCES / "example_tasks.csv").read_bytes())
    return made


def test_it_makes_a_master(path):
    spec = read_cluster_file(path)
    assert [len(spec.agents), len(spec.frameworks)] == [3, 6]
    assert len(spec.start().state.agents) == 3


def keys(document, path):
    """Of every table of that name, however deep."""
    tables = [document]
    for part in path.split(".") if path else ():
        below = [table[part] for table in tables if part in table]
        tables = [one for found in below for one in (found if isinstance(found, list) else [found])]
    if path == "quotas":
        tables = [quota for table in tables for quota in table.values()]
    return {key for table in tables for key in table}


@pytest.mark.parametrize("table", LINES)
def test_it_has_every_key_that_is_known(path, table):
    shown = keys(tomllib.loads(path.read_text(encoding="utf-8")), table)
    path.write_text(LINES[table], encoding="utf-8")
    with pytest.raises(BadInput) as refused:
        read_cluster_file(path)
    assert refused.value.hint is not None
    known = set(refused.value.hint.removeprefix("known: ").split(", "))
    assert known - {"roles"} == shown - {"roles"}
