"""Offer operations with an id, and volumes that a framework grows and shrinks."""

from typing import Any

from tests.conformance.callers.joining import quick
from tests.conformance.callers.operations import acknowledge, operation_status, reserve
from tests.conformance.callers.owning import owned
from tests.conformance.masters.carriers import Carrier, skip_before

SETUP = quick("cpus:12;mem:6144;disk:1000;ports:[31000-31009]")


TOLD = "1.8.1"
"""The first release that tells of each operation with an id."""
UNTOLD = "an operation with an id is not done, or the release knows no ids"


def test_an_operation_with_an_id_is_told_of_until_it_is_acknowledged(start: Any, carrier: Carrier) -> None:
    skip_before(TOLD, carrier, UNTOLD)
    with start(SETUP) as (_, join):
        framework = join("ads", principal="p").subscribe()
        offer = framework.offers()[0]
        framework.accept(
            [offer],
            reserve(owned("ads", "p", cpus=3), id={"value": "one"}),
            reserve(owned("ads", "p", mem=100), id={"value": "two"}),
        )
        by_id = {
            status["operation_id"]["value"]: status
            for status in (operation_status(framework), operation_status(framework))
        }
        for name, status in by_id.items():
            assert status == {
                "operation_id": {"value": name},
                "state": "OPERATION_FINISHED",
                "uuid": status["uuid"],
                "agent_id": offer["agent_id"],
            }
        acknowledge(framework, by_id["one"])
        assert operation_status(framework) == by_id["two"]
        framework.none_of("UPDATE_OPERATION_STATUS")


def test_volumes_are_grown_and_shrunk(start: Any, carrier: Carrier) -> None:
    skip_before(TOLD, carrier, UNTOLD)
    with start(SETUP) as (master, join):
        framework = join("ads", principal="p").subscribe()
        (free,) = owned("ads", "p", disk=100)
        framework.accept(framework.offers(), reserve([free]))

        def volume(size: float) -> dict[str, Any]:
            disk = {
                "persistence": {"id": "v1", "principal": "p"},
                "volume": {"mode": "RW", "container_path": "data"},
            }
            return free | {"scalar": {"value": size}, "disk": disk}

        def perform(kind: str, **body: Any) -> str:
            """What it comes to.  Everything is given back together, so that the next offer has it all."""
            framework.accept(framework.offers(), {"type": kind, kind.lower(): body, "id": {"value": kind}})
            status = operation_status(framework)
            if "uuid" in status:
                acknowledge(framework, status)
            return str(status["state"])

        def sizes() -> list[float]:
            agent = master.read("/slaves")["slaves"][0]
            kept = agent["reserved_resources_full"]["ads"]
            return sorted(entry["scalar"]["value"] for entry in kept if "disk" in entry)

        assert perform("CREATE", volumes=[volume(50)]) == "OPERATION_FINISHED"
        assert sizes() == [50.0]
        grown = {"volume": volume(50), "addition": free | {"scalar": {"value": 10.0}}}
        assert perform("GROW_VOLUME", **grown) == "OPERATION_FINISHED"
        assert sizes() == [60.0]
        assert perform("GROW_VOLUME", **grown) == "OPERATION_ERROR"
        assert perform("SHRINK_VOLUME", volume=volume(60), subtract={"value": 20}) == "OPERATION_FINISHED"
        assert sizes() == [40.0]
