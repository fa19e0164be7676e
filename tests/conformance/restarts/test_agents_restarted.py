"""OP-10 to OP-12: what was reserved, once master and agents are started anew upon the same folders."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.callers.frameworks import amounts
from tests.conformance.callers.joining import joining
from tests.conformance.callers.owning import owned
from tests.conformance.masters.carriers import REAL, SOCKET, SOCKET_DOCUMENTS, Carrier
from tests.conformance.masters.cluster import Cluster, Setup

Start = Callable[[str], Cluster]
BEFORE = "cpus:8;mem:4096;disk:2048;ports:[31000-31009]"
VOLUME = {"persistence": {"id": "v1"}, "volume": {"mode": "RW", "container_path": "data"}}


@pytest.fixture(params=[REAL, SOCKET, SOCKET_DOCUMENTS], ids=str)
def start(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """Start a master with one agent, always upon the same folder."""
    carrier: Carrier = request.param
    kept = {"registry": "replicated_log"} if carrier is REAL else {"registry": "sqlite", "work_dir": str(tmp_path)}
    started: list[Cluster] = []

    def run(agent: str) -> Cluster:
        for cluster in started:
            cluster.stop()
        # An agent with other resources gets another id, unless it is told that it is somebody new.
        for latest in (tmp_path / "work" / "agents").rglob("meta/slaves/latest"):
            latest.unlink()
        started.append(carrier.start(Setup(agents=(agent,), flags={"allocation_interval": "200ms", **kept}), tmp_path))
        return started[-1]

    yield run
    for cluster in started:
        cluster.stop()


def reserve(master: Cluster, *, volume: bool = False) -> None:
    agent_id = {"value": master.agents()[0]["id"]}
    mine = owned("ads", cpus=8, mem=2048, **({"disk": 1024} if volume else {}))
    body = {"agent_id": agent_id, "resources": mine}
    assert master.call("RESERVE_RESOURCES", reserve_resources=body).status == 202
    if volume:
        disk = next(entry for entry in mine if entry["name"] == "disk") | {"disk": VOLUME}
        made = master.call("CREATE_VOLUMES", create_volumes={"agent_id": agent_id, "volumes": [disk]})
        assert made.status == 202, made
    own = (
        "/state"
        if "slave(" not in master.agents()[0]["pid"]
        else f"/{master.agents()[0]['pid'].partition('@')[0]}/state"
    )

    def applied() -> bool:
        entries = master.read(own)["reserved_resources_full"].get("ads", [])
        return len(entries) == len(mine) and (not volume or any("disk" in entry for entry in entries))

    assert master.subscribers.wait(applied)


def test_a_reservation_is_offered_again(start: Start) -> None:
    reserve(start(BEFORE))
    with joining(start(BEFORE)) as join:
        held = amounts(join("ads").subscribe().offers()[0]["resources"])
    assert (held["cpus(ads)"], held["mem(ads)"], held["mem"]) == (8.0, 2048.0, 2048.0)


def test_a_static_reservation_changes_with_the_resources_of_the_agent(start: Start) -> None:
    for ads in (8, 2):
        with joining(start(f"cpus:4;mem:2048;disk:1024;ports:[31000-31009];cpus(ads):{ads}")) as join:
            assert amounts(join("ads").subscribe().offers()[0]["resources"])["cpus(ads)"] == ads


def test_an_agent_with_less_than_was_reserved_does_not_start(start: Start) -> None:
    reserve(start(BEFORE))
    with pytest.raises(AssertionError, match=r"ended before it was ready|instead of its address"):
        start("cpus:4;mem:2048;disk:2048;ports:[31000-31009]")


def test_an_agent_with_other_resources_starts_where_they_fit(start: Start) -> None:
    reserve(start(BEFORE), volume=True)
    with joining(start("cpus:12;mem:2048;disk:1024;ports:[31000-31009]")) as join:
        offered = join("ads").subscribe().offers()[0]["resources"]
    held = amounts(offered)
    assert (held["cpus"], held["cpus(ads)"], held["mem(ads)"]) == (4.0, 8.0, 2048.0)
    assert (held["disk(ads)"], "disk" in held, "mem" in held) == (1024.0, False, False)
    assert [entry["disk"]["persistence"]["id"] for entry in offered if "disk" in entry] == ["v1"]
