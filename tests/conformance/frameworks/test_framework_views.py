"""Frameworks and offers have the same keys in the answers of every carrier."""

from typing import Any

import pytest

from mesosctl.mesos.messages.protobuf_json.defaults import WRITTEN_AS_THEY_ARE
from mesosctl.mesos.messages.protobuf_json.releases import has
from tests.conformance.callers.frameworks import HEADERS, Framework, amounts
from tests.conformance.callers.joining import Join, quick
from tests.conformance.masters.carriers import Carrier
from tests.conformance.masters.cluster import Cluster

SETUP = quick(
    "cpus:4;mem:2048;disk:100;licences:3;ports:[31000-31009]",
    "cpus:2;mem:1024;cpus(ads):2;disk:100;ports:[31000-31009]",
)
SUMMARY = "active capabilities connected hostname id name offered_resources recovered used_resources webui_url"
COUNTS = (
    "TASK_ERROR TASK_FAILED TASK_FINISHED TASK_KILLED TASK_KILLING TASK_LOST TASK_RUNNING TASK_STAGING TASK_STARTING "
    "TASK_UNREACHABLE"
)
WHOLE = (
    f"{SUMMARY} checkpoint completed_tasks executors failover_timeout labels offer_constraints offers principal "
    "registered_time resources roles tasks unreachable_tasks unregistered_time user"
)
MESSAGE = "active connected framework_info recovered registered_time reregistered_time"
INFO = "capabilities checkpoint failover_timeout id labels name principal roles user"


@pytest.fixture
def framework(join: Join) -> Framework:
    """One that holds both agents' offers."""
    labels = {"labels": [{"key": "k", "value": "v"}]}
    made: Framework = join("ads", principal="p", name="a b/c", failover_timeout=5.0, labels=labels).subscribe()
    made.offers(agents=2)
    return made


def only(entries: list[dict[str, Any]], wanted: str | None) -> dict[str, Any]:
    (found,) = (entry for entry in entries if wanted in (entry.get("id"), entry.get("framework_info", {}).get("name")))
    return found


def has_keys(value: dict[str, Any], keys: str, carrier: Carrier) -> None:
    later = set() if has(carrier.profile.release, "1.11.0") else {"offer_constraints"}
    assert sorted(value) == sorted(set(keys.split()) - later)


def test_frameworks_and_state(master: Cluster, framework: Framework, carrier: Carrier) -> None:
    for answer in (master.read("/frameworks"), master.read("/state")):
        entry = only(answer["frameworks"], framework.id)
        has_keys(entry, WHOLE, carrier)
        assert (entry["name"], entry["roles"], entry["principal"]) == ("a b/c", ["ads"], "p")
        assert entry["offered_resources"]["cpus"] == entry["resources"]["cpus"] == 8.0
        assert entry["used_resources"]["cpus"] == 0.0
        assert len(entry["offers"]) == 2
        has_keys(entry["offers"][0], "allocation_info framework_id id resources slave_id", carrier)


def test_state_summary(master: Cluster, framework: Framework, carrier: Carrier) -> None:
    answer = master.read("/state-summary")
    has_keys(only(answer["frameworks"], framework.id), f"{SUMMARY} {COUNTS} slave_ids", carrier)


def test_a_framework_of_one_role(master: Cluster, join: Join) -> None:
    old = join(capabilities=(), roles=None, role="old").subscribe()
    entry = only(master.read("/frameworks")["frameworks"], old.id)
    assert (entry["role"], "roles" in entry, entry["capabilities"]) == ("old", False, [])


def test_agents_show_what_is_offered(master: Cluster, framework: Framework) -> None:
    slaves = master.read("/slaves")["slaves"]
    assert sorted(slave["offered_resources"]["cpus"] for slave in slaves) == [4.0, 4.0]
    reserving = next(slave for slave in slaves if slave["reserved_resources"])
    offered = reserving["offered_resources_full"]
    assert {entry["role"] for entry in offered} == {"*", "ads"}
    assert all(entry["allocation_info"] == {"role": "ads"} for entry in offered)


def test_roles(master: Cluster, framework: Framework, carrier: Carrier) -> None:
    (entry,) = master.read("/roles")["roles"]
    assert (entry["name"], entry["frameworks"]) == ("ads", [framework.id])
    # Ports that both agents have count once.
    if carrier.profile.roles_are_a_tree:
        assert entry["offered"] == {"cpus": 8.0, "mem": 3072.0, "disk": 200.0, "licences": 3.0, "ports": 10.0}
        assert (entry["resources"], entry["allocated"]) == (entry["offered"], {})
    (entry,) = master.call("GET_ROLES").json()["get_roles"]["roles"]
    assert entry["frameworks"] == [{"value": framework.id}]
    if not carrier.profile.roles_are_a_tree:
        return
    # Of these names alone, whatever else there is.
    assert {part["name"]: part["scalar"]["value"] for part in entry["resources"]} == {
        "cpus": 8.0,
        "mem": 3072.0,
        "disk": 200.0,
    }


def test_ports_of_two_agents_are_gone_with_the_first_of_the_offers(
    master: Cluster, join: Join, carrier: Carrier
) -> None:
    framework = join("ads").subscribe()
    offers = framework.offers(agents=2)
    framework.decline(offers[:1], refuse=1e6)
    framework.settle()
    (entry,) = master.read("/frameworks")["frameworks"]
    assert len(entry["offers"]) == 1
    assert "ports" not in entry["offered_resources"]
    (role,) = master.read("/roles")["roles"]
    if carrier.profile.roles_are_a_tree:
        assert "ports" not in role["offered"]
    framework.decline(offers[1:], refuse=1e6)
    framework.settle()
    framework.ask("REVIVE")
    framework.offers(agents=2)
    (entry,) = master.read("/frameworks")["frameworks"]
    assert entry["offered_resources"]["ports"] == "[31000-31009]"


def test_ports_of_two_frameworks_count_twice(master: Cluster, join: Join, carrier: Carrier) -> None:
    first = join("ads").subscribe()
    both = first.offers(agents=2)
    second = join("ads").subscribe()
    first.decline(both, refuse=0)
    second.offers()
    first.offers()
    if not carrier.profile.roles_are_a_tree:
        pytest.skip("this release does not tell what is offered to a role")
    (role,) = master.read("/roles")["roles"]
    assert role["offered"]["ports"] == 20.0


def test_the_calls_of_the_operator_api(master: Cluster, framework: Framework, carrier: Carrier) -> None:
    entry = only(master.call("GET_FRAMEWORKS").json()["get_frameworks"]["frameworks"], "a b/c")
    has_keys(entry, f"{MESSAGE} offer_constraints offered_resources offers", carrier)
    has_keys(entry["framework_info"], INFO, carrier)
    state = master.call("GET_STATE").json()["get_state"]
    assert only(state["get_frameworks"]["frameworks"], "a b/c") == entry
    agents = master.call("GET_AGENTS").json()["get_agents"]["agents"]
    assert all("offered_resources" in agent and "allocated_resources" not in agent for agent in agents)
    shows_empty_lists = has(carrier.profile.release, WRITTEN_AS_THEY_ARE)
    tasks = ("tasks", "unreachable_tasks", "completed_tasks") if shows_empty_lists else ()
    executors = ("executors",) if shows_empty_lists else ()
    assert master.call("GET_TASKS").json() == {"type": "GET_TASKS", "get_tasks": {name: [] for name in tasks}}
    wanted = {"type": "GET_EXECUTORS", "get_executors": {name: [] for name in executors}}
    assert master.call("GET_EXECUTORS").json() == wanted
    if has(carrier.profile.release, "1.6.2"):
        assert master.call("GET_OPERATIONS").json() == {"type": "GET_OPERATIONS", "get_operations": {}}


def test_events_tell_of_a_framework_without_its_offers(master: Cluster, join: Join, carrier: Carrier) -> None:
    listener = master.subscribers.open("/api/v1", '{"type":"SUBSCRIBE"}', HEADERS)
    try:
        join("web", principal="p", labels={"labels": []}).subscribe()

        def added() -> list[dict[str, Any]]:
            return [event for event in listener.events if event["type"] == "FRAMEWORK_ADDED"]

        assert master.subscribers.wait(lambda: bool(added()))
        has_keys(added()[0]["framework_added"]["framework"], f"{MESSAGE} unregistered_time", carrier)
    finally:
        listener.hang_up()


def test_metrics_count(master: Cluster, framework: Framework, carrier: Carrier) -> None:
    (event,) = (event for event in framework.stream.events if event["type"] == "OFFERS")
    offers = event["offers"]["offers"]
    framework.decline([offer for offer in offers if amounts(offer["resources"])["mem"] == 2048.0], refuse=1000)
    figures: dict[str, float] = {}

    def counted() -> bool:
        figures.update(master.read("/metrics/snapshot"))
        return figures["allocator/mesos/offer_filters/roles/ads/active"] == 1.0

    assert master.subscribers.wait(counted), "the refusal leaves no filter"
    if has(carrier.profile.release, "1.7.3"):
        own = {
            name.split(f"{framework.id}/")[1]: value for name, value in figures.items() if f"/{framework.id}/" in name
        }
        assert f"master/frameworks/a%20b%2Fc/{framework.id}/subscribed" in figures
        heartbeats = own["events/heartbeat"]  # one or none so far, or two on a slow machine
        assert {name: value for name, value in own.items() if value and name != "events/heartbeat"} == {
            "calls": 2.0,
            "calls/decline": 1.0,
            "calls/subscribe": 1.0,
            "events": 2.0 + heartbeats,
            "events/offers": 1.0,
            "events/subscribed": 1.0,
            "offers/declined": 1.0,
            "offers/sent": 2.0,
            "subscribed": 1.0,
        }
        assert len(own) == (61 if has(carrier.profile.release, "1.9.0") else 60)
    assert figures["allocator/mesos/roles/ads/shares/dominant"] == 0.5
    assert figures["allocator/mesos/resources/cpus/offered_or_allocated"] == 4.0
    assert (figures["master/frameworks_active"], figures["master/outstanding_offers"]) == (1.0, 1.0)
    assert figures["allocator/mesos/allocation_runs"] > 0
    assert figures["allocator/mesos/allocation_run_ms/count"] > 0
