"""The cluster file that the pages show is one, and shows every key."""

import tomllib
from pathlib import Path

import msgspec
import pytest

import fake_master
from fake_master import sources
from fake_master.sources.agent_tables import AgentTable
from fake_master.sources.cluster_file import ClusterDocument
from fake_master.sources.cluster_tables import FrameworkTable, RunningTable, TasksTable
from fake_master.sources.initial_state import VolumeTable
from mesosctl.files.desired_state import QuotaTable, ReservationTable
from mesosctl.files.rate_limits import RateLimitsMessage
from mesosctl.mesos.messages.strict.shapes import Table
from tests.helpers.cluster_files import read_cluster_file

SOURCES = Path(sources.__file__).parent
TABLES: dict[str, type[Table]] = {
    "": ClusterDocument,
    "agents": AgentTable,
    "frameworks": FrameworkTable,
    "frameworks.running": RunningTable,
    "tasks": TasksTable,
    "quotas": QuotaTable,
    "reservations": ReservationTable,
    "volumes": VolumeTable,
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


@pytest.mark.parametrize("table", TABLES)
def test_it_has_every_key_that_is_known(path, table):
    known = {field.encode_name for field in msgspec.structs.fields(TABLES[table])}
    assert known - {"roles"} == keys(tomllib.loads(path.read_text(encoding="utf-8")), table) - {"roles"}


def test_it_has_every_key_of_rate_limits(path):
    assert keys(tomllib.loads(path.read_text(encoding="utf-8")), "rate_limits") == set(RateLimitsMessage.model_fields)
