"""Volumes that several tasks and frameworks share, and what is left of one that its own ACCEPT has shrunk."""

from typing import Any

from tests.conformance.callers.frameworks import Framework
from tests.conformance.callers.joining import quick
from tests.conformance.callers.operations import reserve
from tests.conformance.callers.owning import owned
from tests.conformance.callers.tasks import executor, group, launch, refusal, task
from tests.conformance.masters.carriers import Carrier, skip_before
from tests.conformance.scenarios.scenario import scalars

SETUP = quick("cpus:12;mem:6144;disk:1000;ports:[31000-31009]")
SHARING = ("MULTI_ROLE", "RESERVATION_REFINEMENT", "SHARED_RESOURCES")


def volume(size: float = 100, **more: Any) -> dict[str, Any]:
    (disk,) = owned("ads", disk=size)
    info = {"persistence": {"id": "v1"}, "volume": {"mode": "RW", "container_path": "data"}}
    return disk | {"disk": info, **more}


def with_volume(framework: Framework, made: dict[str, Any]) -> Any:
    """The next offer, with the volume."""
    framework.accept(
        framework.offers(), reserve(owned("ads", disk=100)), {"type": "CREATE", "create": {"volumes": [made]}}
    )
    return framework.offers()[0]


def disks(offer: Any) -> dict[str, float]:
    """Sizes by kind: "free", "reserved", "volume"."""
    sizes: dict[str, float] = {}
    for entry in offer["resources"]:
        if entry["name"] == "disk":
            kind = "volume" if "disk" in entry else "reserved" if entry.get("reservations") else "free"
            sizes[kind] = sizes.get(kind, 0.0) + entry["scalar"]["value"]
    return sizes


def test_what_a_volume_is_shrunk_by_is_offered_again(start: Any, carrier: Carrier) -> None:
    skip_before("1.6.2", carrier, "volumes keep their size")
    with start(SETUP) as (_, join):
        framework = join("ads").subscribe()
        offer = with_volume(framework, volume())
        shrink = {"type": "SHRINK_VOLUME", "shrink_volume": {"volume": volume(), "subtract": {"value": 40}}}
        framework.accept([offer], shrink)
        assert disks(framework.offers()[0]) == {"free": 900.0, "reserved": 40.0, "volume": 60.0}


def test_tasks_of_one_accept_share_a_volume(start: Any) -> None:
    with start(SETUP) as (master, join):
        framework = join("ads", capabilities=SHARING).subscribe()
        shared = volume(shared={})
        offer = with_volume(framework, shared)
        uses = [*scalars(cpus=0.1, mem=32), shared]
        framework.accept(
            [offer],
            launch(task(offer, "t1", resources=uses), task(offer, "t2", resources=uses)),
            launch(task(offer, "t3", resources=[*uses, shared])),  # one copy was offered, and this needs two
            group(executor(framework), task(offer, "g1", resources=uses), task(offer, "g2", resources=uses)),
            launch(task(offer, "t4", resources=uses)),
        )
        framework.settle()

        def told() -> dict[str, str]:
            """The reason of each task that the master refused."""
            updates = [event["update"]["status"] for event in framework.stream.events if event["type"] == "UPDATE"]
            said = [status for status in updates if status["source"] == "SOURCE_MASTER"]
            return {status["task_id"]["value"]: status["reason"] for status in said}

        invalid_group = dict.fromkeys(("g1", "g2"), "REASON_TASK_GROUP_INVALID")
        assert told() == {"t3": "REASON_TASK_INVALID", **invalid_group}
        reserved = master.read("/slaves")["slaves"][0]["reserved_resources"]["ads"]
        assert reserved["disk"] == 100.0


def test_a_destroyed_volume_is_rescinded_from_others(start: Any) -> None:
    with start(quick("cpus:4;mem:1024;disk:100;ports:[31000-31009];cpus(ads):2;mem(ads):512;disk(ads):100")) as (
        _,
        join,
    ):
        first = join("web").subscribe()
        unreserved = first.offers()
        framework = join("ads", capabilities=SHARING).subscribe()
        (plain,) = [entry for entry in framework.offers()[0]["resources"] if entry["name"] == "disk"]
        shared = {"disk": volume()["disk"], "shared": {}, "reservations": [{"type": "STATIC", "role": "ads"}]}
        made = {key: value for key, value in plain.items() if key != "allocation_info"} | shared
        last = [event for event in framework.stream.events if event["type"] == "OFFERS"][-1]["offers"]["offers"]
        framework.accept(last, {"type": "CREATE", "create": {"volumes": [made]}})
        offer = framework.offers()[0]
        other = join("ads", capabilities=SHARING).subscribe()
        other.none_of("OFFERS")
        first.decline(unreserved, refuse=1000)
        (same,) = other.offers()
        assert disks(same) == {"free": 100.0, "volume": 100.0}
        framework.accept([offer], {"type": "DESTROY", "destroy": {"volumes": [made]}}, refuse=1000)
        assert other.next("RESCIND")["rescind"]["offer_id"] == same["id"]
        other.accept([same], launch(task(same, "t", resources=[*scalars(cpus=0.1, mem=32), made])))
        assert refusal(other, "t", state="TASK_LOST")[0] == "REASON_INVALID_OFFERS"
