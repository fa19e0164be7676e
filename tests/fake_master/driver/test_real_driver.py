"""The driver of a real libmesos, against the fake and the real master: it is told the same."""

from collections.abc import Callable
from typing import Any

from tests.conformance.callers.frameworks import amounts
from tests.conformance.masters.cluster import SECRET, Cluster, Setup
from tests.fake_master.driver.hosting import RealDriver
from tests.helpers.waiting import wait_until

AGENTS = ("cpus:12;mem:6144;disk:1000;ports:[31000-32000]", "cpus:4;mem:2048;disk:500;cpus(ads):2")
SETUP = Setup(agents=AGENTS, flags={"allocation_interval": "50ms"})
Start = Callable[[Setup], Cluster]
Make = Callable[[], RealDriver]


def info(*roles: str, **more: Any) -> dict[str, Any]:
    capabilities = [{"type": name} for name in ("MULTI_ROLE", "RESERVATION_REFINEMENT")]
    return {"user": "u", "name": "driver", "roles": list(roles), "capabilities": capabilities, **more}


def address(master: Cluster) -> str:
    return master.address.removeprefix("http://")


def offered(driver: RealDriver, agents: int = 2) -> list[Any]:
    """All offers so far, once there are so many."""
    assert driver.wait(lambda: sum(map(len, driver.of("resourceOffers"))) >= agents), driver.last_words()
    return [offer for offers in driver.of("resourceOffers") for offer in offers]


def only(master: Cluster, key: str = "frameworks") -> dict[str, Any]:
    (framework,) = master.read("/frameworks")[key]
    return dict(framework)


def test_it_registers_and_is_offered(start: Start, driver: Make) -> None:
    master, one = start(SETUP), driver()
    one.start(address(master), info("ads", hostname="here", webui_url="http://here"))
    framework_id, told = one.next("registered")
    assert told["pid"] == f"master@{address(master)}"
    shown = only(master)
    assert shown["id"] == framework_id["value"]
    assert shown["pid"].startswith("scheduler-")
    assert (shown["hostname"], shown["webui_url"], shown["connected"]) == ("here", "http://here", True)
    found = offered(one)
    assert sorted(amounts(offer["resources"])["cpus"] for offer in found) == [4.0, 12.0]
    assert {offer["framework_id"]["value"] for offer in found} == {framework_id["value"]}
    one.do("stop", "false")
    wait_until(lambda: not master.read("/frameworks")["frameworks"], "teardown")
    assert only(master, "completed_frameworks")["id"] == framework_id["value"]


def test_what_is_reserved_comes_back_and_offers_are_rescinded(start: Start, driver: Make) -> None:
    master, one = start(SETUP), driver()
    one.start(address(master), info("ads"))
    first = max(offered(one), key=lambda offer: amounts(offer["resources"])["cpus"])
    reserved = {
        "name": "cpus",
        "type": "SCALAR",
        "scalar": {"value": 3},
        "allocation_info": {"role": "ads"},
        "reservations": [{"type": "DYNAMIC", "role": "ads"}],
    }
    one.accept([first], [{"type": "RESERVE", "reserve": {"resources": [reserved]}}])
    again = offered(one, 3)[-1]
    assert amounts(again["resources"])["cpus(ads)"] == 3.0
    quota = {"quota_request": {"role": "web", "guarantee": [_scalar("cpus", 9), _scalar("mem", 4000)]}}
    assert master.call("SET_QUOTA", set_quota=quota).status == 200
    one.next("offerRescinded")


def test_tasks_that_cannot_be_launched(start: Start, driver: Make) -> None:
    master, one = start(SETUP), driver()
    one.start(address(master), info("ads"))
    first = max(offered(one), key=lambda offer: amounts(offer["resources"])["cpus"])
    many = [_scalar("cpus", 100, allocation_info={"role": "ads"})]
    task = {
        "name": "t",
        "task_id": {"value": "t1"},
        "agent_id": first["agent_id"],
        "resources": many,
        "command": {"value": "true"},
    }
    one.launch([first], [task])
    (status,) = one.next("statusUpdate")
    assert (status["state"], status["source"], status["reason"]) == (
        "TASK_ERROR",
        "SOURCE_MASTER",
        "REASON_TASK_INVALID",
    )
    one.launch([first], [{**task, "task_id": {"value": "t2"}}])
    (status,) = one.next("statusUpdate", after=1)
    assert (status["state"], status["reason"]) == ("TASK_LOST", "REASON_INVALID_OFFERS")
    one.kill("nobody")
    (status,) = one.next("statusUpdate", after=2)
    assert (status["task_id"]["value"], status["state"]) == ("nobody", "TASK_LOST")
    assert "uuid" not in status


def test_it_fails_over_and_its_predecessor_hears_of_it(start: Start, driver: Make) -> None:
    master, one, other = start(SETUP), driver(), driver()
    one.start(address(master), info("ads", failover_timeout=100))
    framework_id, _ = one.next("registered")
    offered(one)
    other.start(address(master), info("ads", id=framework_id, failover_timeout=100))
    same, _ = other.next("registered")
    assert same == framework_id
    assert one.next("error") == ["Framework failed over"]
    assert len(offered(other)) == 2
    assert only(master)["reregistered_time"] > 0


def test_a_driver_that_dies_leaves_its_framework_for_a_while(start: Start, driver: Make) -> None:
    master, one, other = start(SETUP), driver(), driver()
    one.start(address(master), info("ads", failover_timeout=100))
    framework_id, _ = one.next("registered")
    one.close()
    wait_until(lambda: not only(master)["connected"], "disconnected")
    assert only(master)["active"] is False
    other.start(address(master), info("ads", id=framework_id, failover_timeout=100))
    other.next("registered")
    wait_until(lambda: bool(only(master)["connected"]), "connected")
    other.do("stop", "true")
    other.close()
    wait_until(lambda: not only(master)["connected"], "disconnected again")


def test_an_abort_ends_offers_and_keeps_the_framework(start: Start, driver: Make) -> None:
    master, one = start(SETUP), driver()
    one.start(address(master), info("ads", failover_timeout=100))
    offered(one)
    one.do("abort")
    wait_until(lambda: not only(master)["active"], "inactive")
    assert only(master)["connected"] is True
    assert only(master)["offers"] == []


def test_an_update_changes_roles(start: Start, driver: Make) -> None:
    master, one = start(SETUP), driver()
    one.start(address(master), info("ads"))
    framework_id, _ = one.next("registered")
    offered(one)
    one.update(info("ads", "web", id=framework_id), "ads")
    wait_until(lambda: sorted(only(master)["roles"]) == ["ads", "web"], "roles")
    one.do("suppress", "web")
    one.do("revive", "web", "ads")
    one.update(info("ads", id=framework_id, user="another"))
    assert "user" in one.next("error")[0].lower()


def test_a_driver_that_is_refused(start: Start, driver: Make) -> None:
    master, one = (
        start(Setup(agents=AGENTS[:1], flags={"authenticate_frameworks": "true"}, principals=("ads",))),
        driver(),
    )
    one.start(address(master), info("ads"))
    assert "is not authenticated" in one.next("error")[0]
    refused = driver()
    refused.start(address(master), info("-"))
    refused.next("error")


def test_it_authenticates(start: Start, driver: Make) -> None:
    master = start(Setup(agents=AGENTS[:1], flags={"authenticate_frameworks": "true"}, principals=("ads", "web")))
    one = driver()
    one.start(address(master), info("ads", principal="ads"), credential=("ads", SECRET.format("ads")))
    one.next("registered")
    liar = driver()
    liar.start(address(master), info("ads", principal="web"), credential=("ads", SECRET.format("ads")))
    assert "does not match authenticated principal" in liar.next("error")[0]
    stranger = driver()
    stranger.start(address(master), info("ads", principal="ads"), credential=("ads", "wrong"))
    assert stranger.next("error")


def _scalar(name: str, value: float, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": "SCALAR", "scalar": {"value": value}, **more}
