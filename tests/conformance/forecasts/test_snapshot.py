"""A snapshot of a master, a fake master made from it, and a snapshot of that: on every carrier."""

import json
from typing import Any

import httpx
import pytest

from fake_master.transports.in_process import InProcessTransport
from tests.conformance.callers.joining import Join, quick
from tests.conformance.callers.owning import owned, reserve
from tests.conformance.callers.tasks import launch_on, started
from tests.conformance.forecasts.snapshots import again, comparable, read_from, snapshot_of
from tests.conformance.masters.carriers import REAL, SOCKET, SOCKET_DOCUMENTS, Carrier
from tests.conformance.masters.cluster import Cluster
from tests.conformance.scenarios.scenario import quota_request, scalars

SETUP = quick(
    "cpus:4;mem:2048;disk:100;ports:[31000-31009]", "cpus:2;mem:1024;cpus(ads):1;mem(ads):256;ports:[31000-31009]"
)
OWN_MASTER = True  # weights cannot be taken away again


def test_an_empty_cluster(master: Cluster) -> None:
    snapshot = snapshot_of(master)
    assert len(snapshot.agents) == 2
    assert snapshot.flags["allocation_interval"] == "200ms"
    assert comparable(again(snapshot)[0]) == comparable(snapshot)


def test_frameworks_reservations_quotas_and_weights(master: Cluster, join: Join) -> None:
    weights = [{"role": "web", "weight": 2.5}, {"role": "ads/x", "weight": 0.5}]
    assert master.request("PUT", "/weights", content=json.dumps(weights)).status == 200
    assert master.request("POST", "/quota", content=json.dumps(quota_request("web", cpus=1, mem=128))).status == 200
    assert reserve(master, owned("db", cpus=0.5, mem=100)) == 202
    web = join("web", name="shop").subscribe()
    held = web.offers()
    ads = join("ads/x", "ads", name="ads", principal="p").subscribe(suppressed_roles=["ads"])
    ads.offers(agents=1)
    join("db", name="old", capabilities=(), roles=None, role="db").subscribe().offers()
    web.settle()
    snapshot = snapshot_of(master)
    assert {offer.id for offer in snapshot.offers} >= {offer["id"]["value"] for offer in held}
    assert snapshot.weights == {"ads/x": 0.5, "web": 2.5}
    assert str(snapshot.quotas["web"].guarantees) == "cpus:1; mem:128"
    assert {framework.name: framework.suppressed for framework in snapshot.frameworks} == {
        "shop": frozenset(),
        "ads": frozenset({"ads"}),
        "old": frozenset(),
    }
    second, fake = again(snapshot)
    assert comparable(second) == comparable(snapshot)
    shown = InProcessTransport(fake).handle_request(httpx.Request("GET", "http://fake.invalid/roles"))
    assert by_role(json.loads(shown.read())) == by_role(master.read("/roles"))


def by_role(answer: Any) -> dict[str, Any]:
    return {entry["name"]: entry | {"frameworks": sorted(entry["frameworks"])} for entry in answer["roles"]}


def test_tasks_and_executors(master: Cluster, join: Join, carrier: Carrier) -> None:
    if carrier is REAL:
        pytest.skip("the agents of a real master in one process start no tasks")
    framework = join("web", name="shop").subscribe()
    for offer in framework.offers(agents=2):
        executor = {
            "executor_id": {"value": "e"},
            "framework_id": {"value": framework.id},
            "resources": scalars(cpus=0.1, mem=32),
            "command": {"value": "true"},
        }
        framework.accept([offer], launch_on(offer, scalars(cpus=1, mem=128), executor), refuse=1000)
        started(framework)
    snapshot = snapshot_of(master)
    assert [(usage.tasks, str(usage.resources)) for usage in snapshot.usages] == [(1, "cpus:1.1; mem:160")] * 2
    assert snapshot.offers == ()
    second, _ = again(snapshot)
    # A snapshot has no filters: what was refused is offered again, and what tasks and executors hold is not.
    assert sorted(offer.resources.scalar_quantities()["cpus"] for offer in second.offers) == [900, 2900]
    assert comparable(second)["usages"] == comparable(snapshot)["usages"]
    assert comparable(second)["agents"] == comparable(snapshot)["agents"]


def test_a_framework_that_is_away_is_offered_nothing(master: Cluster, join: Join, carrier: Carrier) -> None:
    framework = join("web", name="shop", failover_timeout=1000.0).subscribe()
    framework.offers()
    framework.stream.hang_up()
    gone = lambda: not snapshot_of(master).frameworks[0].connected  # noqa: E731
    assert master.subscribers.wait(gone)
    snapshot = snapshot_of(master)
    assert comparable(again(snapshot)[0]) == comparable(snapshot)


def test_progress_is_told_in_sentences(master: Cluster, carrier: Carrier) -> None:
    told: list[str] = []
    read_from(master.address, master.transport, progress=lambda sentence, _part=None: told.append(sentence))
    assert told[0].startswith("asking")
    assert any("MiB" in sentence for sentence in told) or carrier not in (REAL, SOCKET, SOCKET_DOCUMENTS)
