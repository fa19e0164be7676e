"""Cluster files and `fake:` addresses: what they mean, and how they are refused."""

import json
import os
from contextlib import closing
from pathlib import Path

import pytest

from fake_master.registry.sqlite import SqliteRegistry
from fake_master.sources.cluster_file import ClusterSpec
from fake_master.sources.source_file import read_source
from fake_master.transports.address import FakeAddress, open_on_call
from mesosctl.mesos.errors import BadInput
from tests.helpers.cluster_files import read_cluster_file

FILE = """
mesos_version = "1.11"
[flags]
roles = "ads,web"
authenticate_http_readonly = false
[[agents]]
resources = "cpus:12;mem:6GiB"
hostname = "node"
count = 2
attributes = { rack = "r1", floor = 3 }
[[agents]]
resources = "cpus:4"
active = false
"""


@pytest.fixture
def cluster_file(tmp_path: Path) -> Path:
    path = tmp_path / "cluster.toml"
    path.write_text(FILE)
    return path


@pytest.fixture(autouse=True)
def state_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


def test_a_cluster_file_makes_a_master(cluster_file: Path):
    master = read_cluster_file(cluster_file).start()
    agents = list(master.state.agents.values())
    assert [agent.hostname for agent in agents] == ["node-1", "node-2", "agent-3"]
    assert agents[0].attributes == {"rack": "r1", "floor": 3.0}
    assert [agent.active for agent in agents] == [True, True, False]
    assert str(agents[0].total) == "cpus:12; mem:6144"
    assert master.state.profile.version == "1.11.0"
    assert master.state.flags.whitelist == frozenset({"ads", "web"})


def test_an_agent_may_lose_messages_or_be_late(tmp_path: Path):
    path = tmp_path / "faulty.toml"
    path.write_text('[[agents]]\nresources = "cpus:1"\nloses = -1\n[[agents]]\nresources = "cpus:1"\ndelay = 2\n')
    deaf, late = (agent.faults for agent in read_cluster_file(path).start().state.agents.values())
    assert (deaf.loses, late.delay) == (-1, 2.0)


@pytest.mark.parametrize("listed", ["abc,edf,hgi", "abc,edf,hgi,", ",abc,edf,hgi", "abc,,edf,hgi"])
def test_empty_places_in_a_list_of_roles_do_not_count(listed: str):
    master = ClusterSpec(flags={"roles": listed}).start()
    assert master.state.flags.whitelist == frozenset({"abc", "edf", "hgi"})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[[agents]]\nresources = "cpus:1"\nloses = -2', "loses"),
        ('[[agents]]\nresources = "cpus:1"\ndelay = "soon"', "delay"),
        ("agents = 3", "line 1: agents: it is not an array of tables"),
        ("[[agents]]\nresources = 3", "line 2: agents[0].resources: it is not a string"),
        ("[[agents]]\nresources = 'cpus:x'", "cpus: 'x' is not a number"),
        ("[[agents]]\nresources = 'cpus:1'\ncount = 0", "count"),
        ("[[agents]]\nresources = 'cpus:1'\nhostnme = 'x'", "line 3: agents[0].hostnme: there is no such key"),
        (
            "[[agents]]\nresources = 'cpus:1'\nhostname = 'x'\n[[agents]]\nresources = 'cpus:1'\nhostname = 'x'",
            "must be unique",
        ),
        ("mesos_version = '0.27'", "'0.27' is neither documents nor a release of Mesos from 1.4 to 1.11"),
        ("[flags]\nnope = 1", "--nope is not a flag"),
        ("[flags]\nroles = 'a,.'", "--roles"),
        ("[flags]\nroles = 'foo,.,*'", "--roles"),
        ("[flags]\nweights = 'a=0'", "--weights"),
        ("[flags]\nweights = 'a=inf'", "--weights"),
        ("[flags]\nallocation_interval = 'soon'", "--allocation_interval"),
        ("[flags]\nallocation_interval = '0ns'", "--allocation_interval must be at least 1ms"),
        ("[flags]\nregistry_gc_interval = '0secs'", "--registry_gc_interval must be at least 1ms"),
        ("[flags]\nregistry_gc_interval = '999us'", "--registry_gc_interval must be at least 1ms"),
        ("[flags]\nauthenticate_http_readwrite = true", "needs --credentials"),
        ("[flags]\nacls = '{\"permissive\": 3}'", "--acls"),
        ("x = ", "is not TOML"),
    ],
)
def test_a_mistake_in_a_cluster_file_is_named(tmp_path: Path, text: str, said: str):
    path = tmp_path / "broken.toml"
    path.write_text(text)
    with pytest.raises(BadInput) as refused:
        read_cluster_file(path).start()
    assert said in refused.value.message


def test_a_file_that_is_not_there_is_named(tmp_path: Path):
    with pytest.raises(BadInput, match=r"missing\.toml cannot be read"):
        read_cluster_file(tmp_path / "missing.toml")


def test_an_address_keeps_its_state_and_fresh_forgets_it(cluster_file: Path):
    def weights(address: str, add: str | None = None) -> list[str]:
        with closing(open_on_call(address)) as carrier:
            if add:
                body = json.dumps([{"role": add, "weight": 2.0}]).encode()
                carrier.answer("PUT", "/weights", {}, body)
            return [entry["role"] for entry in json.loads(carrier.answer("GET", "/weights", {}, b"").body)]

    assert weights(f"fake:{cluster_file}", add="ads") == ["ads"]
    assert weights(f"fake:{cluster_file}") == ["ads"]
    assert weights("fake:") == []
    assert weights(f"fake:{cluster_file}?version=documents") == []
    assert weights(f"fake:{cluster_file}?fresh") == []
    assert weights(f"fake:{cluster_file}") == []


@pytest.mark.parametrize("address", ["fake:?frsh", "fake:?fresh=0", "fake:?version=2", "fake:/nowhere/at/all.toml"])
def test_a_bad_address_is_refused(address: str):
    with pytest.raises(BadInput):
        open_on_call(address)


def test_a_damaged_state_says_how_to_start_over(state_home: Path):
    address = FakeAddress.parse("fake:")
    path = address.state_file()
    path.parent.mkdir(parents=True)
    path.write_bytes(b"not a database at all" * 200)
    with pytest.raises(BadInput) as refused:
        open_on_call("fake:")
    assert "fresh" in (refused.value.hint or "")
    open_on_call("fake:?fresh").close()
    assert path.with_suffix(".damaged").read_bytes().startswith(b"not a database")
    open_on_call("fake:").close()


def test_a_record_that_is_none_of_ours_is_named(state_home: Path):
    address = FakeAddress.parse("fake:")
    registry = SqliteRegistry(address.state_file())
    with registry.transaction():
        registry.write("quota", "r1", {"nothing": "known"})
    registry.close()
    carrier = open_on_call("fake:")
    with pytest.raises(BadInput, match=r"record quota/r1 cannot be read .*missing required field `guarantees`"):
        carrier.answer("GET", "/quota", {}, b"")
    carrier.close()


def test_a_spec_without_agents_is_an_empty_cluster():
    assert ClusterSpec().start().state.agents == {}


@pytest.mark.parametrize("path", ["/dev/zero", "pipe"])
def test_what_may_never_end_is_refused_at_once(path: str, tmp_path: Path) -> None:
    there = tmp_path / path
    if path == "pipe":
        os.mkfifo(there)
    with pytest.raises(BadInput, match=r"cannot be read: it is a (device|FIFO)"):
        read_source(there)
