"""A new leader, and agents of a cluster file that had left the former one: "80 % came back" can be watched."""

from pathlib import Path

import pytest

from fake_master.registry.sqlite import SqliteRegistry
from fake_master.sources.cluster_file import read_cluster
from tests.helpers.lab import Lab
from tests.helpers.lab.master import START

CLUSTER = """
mesos_version = "1.11"
[flags]
registry = "sqlite"

[[agents]]
resources = "cpus:4;mem:2048"
count = 3
hostname = "stays"

[[agents]]
hostname = "returns"
resources = "cpus:4;mem:2048"
leaves_after = 30
returns_after = 200

[[agents]]
hostname = "lost"
resources = "cpus:4;mem:2048"
leaves_after = 30

[[quotas]]
role = "q"
guarantee = "cpus:1"

[[frameworks]]
name = "f"
role = "web"
answer = "hold"
"""


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """A leader that took over when two of five agents had left the one before it."""
    path = tmp_path / "registry"
    made = Lab(registry=lambda: SqliteRegistry(path))
    made.master.close()
    path.unlink()
    spec = read_cluster(CLUSTER, "cluster.toml")
    made.start(spec, takes_over=True)
    made.wait(40)
    made.restart(spec, down=60)
    made.wait(1)
    return made


def hosts(lab: Lab) -> set[str]:
    return {agent["hostname"] for agent in lab.agents}


def offered(lab: Lab) -> set[str]:
    return {lab.master.state.agents[offer.agent_id].hostname for offer in lab.master.state.offers}


STAY = {"stays-1", "stays-2", "stays-3"}


def test_agents_that_left_the_former_leader_are_awaited(lab: Lab):
    assert hosts(lab) == STAY
    recovered = {agent["hostname"] for agent in lab.read("/slaves")["recovered_slaves"]}
    assert recovered == {"returns", "lost"}


def test_offers_wait_until_four_fifths_are_back(lab: Lab):
    lab.wait(50)
    assert offered(lab) == set()
    lab.at(199)
    assert offered(lab) == set()
    lab.at(203)
    assert hosts(lab) == {*STAY, "returns"}
    assert offered(lab) == {*STAY, "returns"}


def test_an_agent_that_never_returns_counts_as_unreachable_in_the_end(lab: Lab):
    lab.at(102 + 601)
    assert hosts(lab) == {*STAY, "returns"}
    assert lab.read("/slaves")["recovered_slaves"] == []
    assert lab.metric("slave_unreachable_completed") == 1


def test_the_timeout_ends_the_waiting_too(tmp_path: Path):
    lab = Lab(registry=lambda: SqliteRegistry(tmp_path / "registry"))
    lab.master.close()
    (tmp_path / "registry").unlink()
    text = CLUSTER.replace("returns_after = 200\n", "").replace(
        "[flags]", '[flags]\nallocator_recovery_timeout = "2mins"'
    )
    spec = read_cluster(text, "cluster.toml")
    lab.start(spec, takes_over=True)
    lab.wait(40)
    lab.restart(spec)
    taken_over = lab.clock() - START
    lab.at(taken_over + 119)
    assert offered(lab) == set()
    lab.at(taken_over + 122)
    assert offered(lab) == STAY
