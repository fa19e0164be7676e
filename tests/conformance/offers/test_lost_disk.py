"""Disk that SHRINK_VOLUME frees beside other disk of the kind is lost sight of; on 1.8 it is never offered again."""

from typing import Any

import pytest

from tests.conformance.callers.frameworks import Framework
from tests.conformance.callers.joining import quick
from tests.conformance.callers.launching import CAPABILITIES
from tests.conformance.masters.carriers import Carrier, Pool, in_process_of, real_of
from tests.conformance.masters.cluster import Cluster
from tests.conformance.scenarios.scenario import scalar

SETUP = quick("cpus:1;mem:512;disk:100", flags={"allocation_interval": "20ms"})
OWNER = [{"type": "DYNAMIC", "role": "ads"}]
VOLUME = scalar(
    "disk",
    10,
    reservations=OWNER,
    disk={"persistence": {"id": "v"}, "volume": {"mode": "RW", "container_path": "data"}},
)
LEFT_OVER = {"1.8.1": 4, "1.11.0": 7}
"""The plain reserved disk that the next framework is offered, of 4 and 3 that was freed."""


def accepted(framework: Framework, *operations: dict[str, Any]) -> None:
    with_id = [{**operation, "id": {"value": str(number)}} for number, operation in enumerate(operations)]
    framework.accept([framework.offers()[-1]], *with_id)
    wanted = set(map(str, range(len(operations))))
    assert framework.cluster.subscribers.wait(lambda: wanted <= _finished(framework))


def _finished(framework: Framework) -> set[str]:
    found = [
        event["update_operation_status"]["status"] for event in framework.stream.events if "OPERATION" in event["type"]
    ]
    return {one["operation_id"]["value"] for one in found if one["state"] == "OPERATION_FINISHED"}


def gone(framework: Framework) -> None:
    framework.leave()
    framework.stream.hang_up()
    agent = framework.cluster.agents
    assert framework.cluster.subscribers.wait(lambda: not agent()[0]["offered_resources"].get("cpus"))


def joined(master: Cluster) -> Framework:
    return Framework(master, "ads", capabilities=CAPABILITIES).subscribe()


CARRIERS = [make(release) for make in (in_process_of, real_of) for release in LEFT_OVER]


@pytest.mark.parametrize("carrier", CARRIERS, ids=str)
def test_the_next_framework_is_offered_what_the_allocator_still_sees(pool: Pool, carrier: Carrier) -> None:
    master = pool.start(carrier, SETUP)
    first = joined(master)
    reserve = {"type": "RESERVE", "reserve": {"resources": [scalar("disk", 14, reservations=OWNER)]}}
    accepted(first, reserve, {"type": "CREATE", "create": {"volumes": [VOLUME]}})
    gone(first)
    second = joined(master)
    accepted(second, {"type": "SHRINK_VOLUME", "shrink_volume": {"volume": VOLUME, "subtract": {"value": 3}}})
    gone(second)
    offered = joined(master).offers()[0]["resources"]
    plain = [entry for entry in offered if entry.get("reservations") and "disk" not in entry]
    assert [entry["scalar"]["value"] for entry in plain] == [LEFT_OVER[carrier.profile.version]]
    (agent,) = master.agents()
    assert agent["reserved_resources"]["ads"]["disk"] == 14, "the agent has it all the same"
    master.stop()
