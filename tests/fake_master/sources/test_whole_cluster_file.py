"""A whole cluster in one file: quotas, weights, reservations, volumes, rate limits and what frameworks run."""

import json
import tomllib
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from fake_master.registry.sqlite import SqliteRegistry
from fake_master.sources.cluster_file import read_cluster
from fake_master.sources.cluster_writing import cluster_file
from fake_master.sources.snapshot import RestoredCluster
from fake_master.state.clock import VirtualClock
from fake_master.transports.address import open_on_call
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota
from mesosctl.mesos.amounts.resource import Disk, DiskSource, Labels, Reservation, Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.agents import ClusterAgent
from mesosctl.mesos.cluster.snapshot import ClusterSnapshot, FrameworkUsage, SnapshotFramework
from mesosctl.mesos.errors import BadInput
from tests.fake_master.sources.shown_state import shown_state
from tests.helpers.lab import Lab
from tests.helpers.lab.command_line import CommandLine
from tests.helpers.profiles import examples
from tests.mesosctl.mesos.messages.snapshots.strategies import snapshots

WHOLE = """
mesos_version = "1.11"

[[quotas]]
role = "web"
guarantee = "cpus:4"
limit = "cpus:8"

[weights]
ads = 3

[[reservations]]
agent = "a"
role = "db"
resources = "cpus:2;disk:500"
principal = "ops"

[[volumes]]
agent = "a"
id = "v1"
size = "disk:200"
role = "db"

[rate_limits]
aggregate_default_qps = 5
limits = [{ principal = "p", qps = 2.5, capacity = 10 }]

[[agents]]
hostname = "a"
resources = "cpus:12;mem:6144;disk:1000"

[[frameworks]]
name = "shop"
role = "web"
answer = "hold"

[[frameworks.running]]
agent = "a"
tasks = 2
resources = "cpus:3;mem:1024"
"""


def test_every_section_is_in_the_master():
    master = read_cluster(WHOLE, "x.toml").start()
    assert master.state.quotas["web"].meaning == Quota(Quantities({"cpus": 4000}), Limits({"cpus": 8000}))
    assert master.state.weights == {"ads": 3.0}
    (agent,) = master.state.agents.values()
    (volume,) = agent.volumes()
    assert volume.disk is not None
    assert (volume.role, volume.disk.persistence_id, volume.value) == ("db", "v1", 200_000)
    assert agent.total.reserved().quantities() == Quantities({"cpus": 2000, "disk": 500_000})
    assert dict(master.state.flags.rate_limits.entries)["p"].qps == 2.5
    (framework,) = master.state.frameworks.values()
    assert [task.state for task in framework.all_tasks().values()] == ["TASK_RUNNING"] * 2
    assert framework.used().scalar_quantities() == Quantities({"cpus": 3000, "mem": 1_024_000})


def test_the_tasks_that_run_end_as_others_do():
    spec = read_cluster(WHOLE + '[tasks]\noutcome = "finished"\nseconds = 30\n', "x.toml")
    lab = Lab()
    lab.start(spec, takes_over=False)
    lab.wait(29)
    assert lab.used() == 3
    lab.wait(2)
    assert lab.used() == 0


WRONG = {
    'limit = "cpus:8"': ('limit = "cpus:2"', "x.toml, line 4: quotas[0]: the guarantee of cpus"),
    'guarantee = "cpus:4"': ('guarantee = "cpus:none"', "line 6: quotas[0].guarantee"),
    'role = "web"\nguarantee': ('role = "web/a"\nguarantee', "line 4: quotas[0]"),
    "ads = 3": ("ads = 0", "line 10: weights.ads: it is not above zero"),
    'resources = "cpus:2;disk:500"': ('resources = "cpus:20"', "reservations[0].resources"),
    'agent = "a"\nrole': ('agent = "b"\nrole', "line 13: reservations[0].agent: no agent is named 'b'"),
    'size = "disk:200"': (
        'size = "disk:600"',
        "line 21: volumes[0].size: a does not have disk:600 reserved for db",
    ),
    'id = "v1"': ('id = "v/1"', "volumes[0]"),
    "qps = 2.5": ("qps = -1", "line 26: rate_limits.limits[0].qps: Invalid qps"),
    "aggregate_default_qps": ("aggregate_qps", "rate_limits"),
    'agent = "a"\ntasks': ('agent = "c"\ntasks', "no agent is named 'c'"),
    'resources = "cpus:3;mem:1024"': ('resources = "cpus:11"', "there is no room for 11 cpus, only for 10 cpus"),
}


@pytest.mark.parametrize("right", WRONG)
def test_what_is_wrong_is_named_with_its_place(right: str):
    wrong, told = WRONG[right]
    assert right in WHOLE
    with pytest.raises(BadInput) as refused:
        read_cluster(WHOLE.replace(right, wrong), "x.toml").start()
    assert told in refused.value.message
    assert "x.toml" in refused.value.message or told.startswith(("no agent is named 'c'", "cpus:11"))


def test_what_the_version_does_not_have_is_refused():
    with pytest.raises(BadInput, match=r"a limit needs Mesos 1\.9") as refused:
        read_cluster(WHOLE.replace('"1.11"', '"documents"'), "x.toml").start()
    assert 'mesos_version = "1.11"' in (refused.value.hint or "")


def test_what_commands_change_stays_until_the_file_begins_otherwise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    path = tmp_path / "cluster.toml"
    path.write_text(WHOLE)

    def quotas() -> Iterator[str]:
        with closing(open_on_call(f"fake:{path}")) as transport:
            answer = transport.answer("GET", "/quota", {}, b"")
        yield from (info["role"] for info in json.loads(answer.body).get("infos", ()))

    assert list(quotas()) == ["web"]
    with closing(open_on_call(f"fake:{path}")) as transport:
        assert transport.answer("DELETE", "/quota/web", {}, b"").status == 200
    assert list(quotas()) == []
    path.write_text(WHOLE.replace("ads = 3", "ads = 4"))
    assert list(quotas()) == ["web"]


def test_a_registry_that_has_been_given_it_keeps_what_it_has(tmp_path: Path):
    spec = read_cluster(WHOLE, "x.toml")
    master = spec.start(SqliteRegistry(tmp_path / "r"), takes_over=True)
    with master.transaction():
        master.quotas.remove(None, "web")
    master.close()
    master = spec.start(SqliteRegistry(tmp_path / "r"), takes_over=True)
    assert master.state.quotas == {}
    assert master.state.weights == {"ads": 3.0}
    master.close()


# --- Export -------------------------------------------------------------------------------------------


def state_of(master: Any) -> dict[str, Any]:
    """What an operator sees, by the names that people gave."""
    state = shown_state(master)
    hosts = {agent.id: agent.hostname for agent in state.agents}
    names = {framework.id: framework.name for framework in state.frameworks}
    held: dict[tuple[str, str, str], Resources] = {}
    for usage in state.usages:
        key = (names[usage.framework_id], hosts[usage.agent_id], usage.role)
        held[key] = held.get(key, Resources()) + usage.resources
    return {
        "agents": {
            agent.hostname: (agent.total, agent.attributes, agent.active, agent.region) for agent in state.agents
        },
        "frameworks": {
            f.name: (set(f.roles), f.principal, f.capabilities, f.suppressed or frozenset(), f.connected)
            for f in state.frameworks
        },
        "held": {key: resources for key, resources in held.items() if len(resources)},
        "quotas": master.state.quota_meanings(),
        "weights": dict(master.state.weights),
        "flags": master.state.flags.shown,
        "version": master.state.profile.version,
    }


OPS = Reservation("DYNAMIC", "db", "ops", Labels([("why", "batch")]))
PATH, MOUNT = DiskSource("PATH", "/mnt/data"), DiskSource("MOUNT", "/mnt/two")
TOTAL = Resources(
    [
        *parse_resources("cpus:8;mem:4096;disk:500;ports:[31000-31009];cpus(ads):2;mem(ads):1024"),
        Resource("cpus", 2000, (OPS,)),
        Resource("cpus", 1000, (OPS, Reservation("DYNAMIC", "db/main"))),
        Resource("disk", 100_000, (OPS,)),
        Resource("disk", 50_000, (OPS,), disk=Disk("v1", None, "ops", "data", "RW")),
        # Separate disks: free, reserved, refined, and with a volume; three disks are alike.
        Resource("disk", 700_000, disk=Disk(source=PATH)),
        Resource("disk", 80_000, (OPS,), disk=Disk(source=PATH)),
        Resource("disk", 20_000, (OPS,), disk=Disk("v2", PATH, "ops", "data", "RW")),
        Resource("disk", 400_000, (OPS,), disk=Disk(source=DiskSource("MOUNT", "/mnt/one", profile="ssd"))),
        Resource("disk", 300_000, (Reservation("STATIC", "db"),), disk=Disk("v3", MOUNT, None, "data", "RW")),
        Resource("disk", 30_000, disk=Disk(source=DiskSource("BLOCK"))),
        Resource("disk", 30_000, (OPS,), disk=Disk(source=DiskSource("BLOCK"))),
        Resource("disk", 30_000, (OPS,), disk=Disk(source=DiskSource("BLOCK"))),
    ]
)
SNAPSHOT = ClusterSnapshot(
    "1.11.0",
    1000.0,
    (
        ClusterAgent(
            "m-S0", "one.example", "slave(1)@h:5051", TOTAL, {"rack": "r1", "floor": 2.0}, region="eu", zone="a"
        ),
        ClusterAgent("m-S1", "two.example", "slave(1)@i:5051", parse_resources("cpus:4;mem:2048"), active=False),
    ),
    (
        SnapshotFramework(
            "m-0000", "shop", ("web", "db"), "p", frozenset({"MULTI_ROLE"}), suppressed=frozenset({"db"})
        ),
        SnapshotFramework("m-0001", "away", ("ads",), None, frozenset(), active=False, connected=False),
    ),
    (
        FrameworkUsage("m-0000", "m-S0", "web", parse_resources("cpus:3;mem:1024;ports:[31000-31001]"), 2),
        FrameworkUsage(
            "m-0000", "m-S0", "db", Resources([entry for entry in TOTAL if entry.disk and entry.is_reserved]), 1
        ),
        FrameworkUsage("m-0001", "m-S1", "ads", parse_resources("cpus:1"), 1),
    ),
    quotas={"web": Quota(Quantities({"cpus": 4000}), Limits({"cpus": 6000}))},
    weights={"web": 2.0},
    flags={"filter_gpu_resources": "false", "min_allocatable_resources": "cpus:0.5"},
)


def test_a_snapshot_written_as_a_cluster_file_is_the_same_cluster():
    text, left_out = cluster_file(SNAPSHOT)
    assert left_out == []
    again = state_of(read_cluster(text, "x.toml").start())
    assert again == state_of(RestoredCluster(SNAPSHOT).start(clock=lambda: 1000.0))


FULL = replace(
    SNAPSHOT,
    frameworks=(replace(SNAPSHOT.frameworks[0], suppressed=frozenset({"web", "db"})), SNAPSHOT.frameworks[1]),
)


def test_a_full_framework_is_written_as_one_that_wants_as_many_tasks_as_it_runs():
    text, _ = cluster_file(FULL)
    (shop, away) = tomllib.loads(text)["frameworks"]
    assert (shop["answer"], shop["tasks"], "suppressed" in shop) == ("accept", 3, False)
    assert (away["answer"], "tasks" in away) == ("hold", False)
    again = state_of(read_cluster(text, "x.toml").start())
    assert again == state_of(RestoredCluster(FULL).start(clock=lambda: 1000.0))


def test_a_full_framework_of_an_exported_cluster_asks_again_when_a_task_ends():
    clock = VirtualClock(1000.0)
    master = read_cluster(cluster_file(FULL)[0], "x.toml").start(clock=clock)
    (shop,) = [one for one in master.state.frameworks.values() if one.name == "shop"]
    assert shop.suppressed == {"web", "db"}
    ran = set(shop.all_tasks())
    master.task_runner.kill(shop, shop.all_tasks()[min(ran)])
    clock.sleep(1.0)
    master.advance()
    assert set(shop.all_tasks()) - ran == {"task-1"}
    assert (shop.alive, sorted(shop.suppressed)) == (3, ["db", "web"])


def test_agents_that_share_a_host_are_numbered_and_that_is_said():
    alike = replace(SNAPSHOT, agents=tuple(replace(agent, hostname="h") for agent in SNAPSHOT.agents))
    text, left_out = cluster_file(alike)
    assert [agent["hostname"] for agent in tomllib.loads(text)["agents"]] == ["h-1", "h-2"]
    (shared,) = left_out
    assert shared.startswith("the host name h, which 2 agents share")


@settings(max_examples=examples(100), deadline=None)
@given(snapshots())
def test_any_snapshot_can_be_written_and_the_file_is_toml(snapshot: ClusterSnapshot):
    text, _ = cluster_file(snapshot)
    document = tomllib.loads(text)
    assert len(document.get("agents", [])) == len(snapshot.agents)
    assert len(document.get("frameworks", [])) == len(snapshot.frameworks)


def test_the_average_task_of_a_framework_is_in_the_file():
    frameworks = tomllib.loads(cluster_file(SNAPSHOT)[0])["frameworks"]
    assert frameworks[1]["task"] == "cpus:1"
    assert {framework["answer"] for framework in frameworks} == {"hold"}


# --- The commands -------------------------------------------------------------------------------------


def test_export_writes_the_whole_cluster_and_a_snapshot_of_it_is_alike(tmp_path: Path):
    lab = Lab()
    lab.start(read_cluster(WHOLE, "x.toml"), takes_over=False)
    line = CommandLine(lab)
    path = tmp_path / "again.toml"
    ran = line.run("export", "--cluster", "-f", str(path))
    assert (ran.status, ran.out) == (0, "")
    assert "outstanding offers" in ran.err
    lasting, live = state_of(read_cluster(path.read_text(), str(path)).start()), state_of(lab.master)
    assert {**live, "flags": None} == {**lasting, "flags": None}

    snapshot = line.run("snapshot").out
    assert line.run("export", "--cluster", "--from", "-", stdin=snapshot).out == path.read_text()


def test_export_of_a_snapshot_without_cluster_is_the_desired_state():
    lab = Lab()
    lab.start(read_cluster(WHOLE, "x.toml"), takes_over=False)
    line = CommandLine(lab)
    assert line.run("export", "--from", "-", stdin=line.run("snapshot").out).out == line.run("export").out


def test_a_cluster_file_is_toml_alone():
    ran = CommandLine(Lab()).run("export", "--cluster", "-o", "json")
    assert ran.status == 2
    assert "TOML" in ran.err
