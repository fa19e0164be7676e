"""A fake and a real master given the same random offer operations on volumes: same outcomes, same resources after."""

import json
from collections import Counter
from typing import Any

import pytest

from mesosctl.mesos.messages.protobuf_json.message_tables import mesos_message
from tests.conformance.callers.frameworks import Framework
from tests.conformance.callers.joining import quick
from tests.conformance.callers.launching import CAPABILITIES
from tests.conformance.histories.playing import SEED, SLOW_STEPS
from tests.conformance.histories.random_volumes import Operation, VolumeDice
from tests.conformance.masters.carriers import Carrier, Pool, judged
from tests.conformance.masters.cluster import Cluster
from tests.conformance.masters.judges import JUDGES_OF_HISTORIES
from tests.conformance.scenarios.scenario import scalars

SETUP = quick("cpus:12;mem:6144;disk:1000;ports:[31000-31009]", flags={"allocation_interval": "20ms"})
FRESH_EVERY = 40
"""Steps after which everything is undone."""
JUDGED = {
    "type": "LAUNCH",
    "launch": {
        "task_infos": [
            {
                "name": "t",
                "task_id": {"value": "judged"},
                "agent_id": {"value": "$AGENT"},
                "resources": scalars(cpus=1e6),
                "command": {"value": "true"},
            }
        ]
    },
}
"""A task that every master refuses."""


def sorted_texts(resources: list[Any]) -> list[str]:
    """Resources without the role that they are offered to, in no particular order."""
    plain = ({key: part for key, part in entry.items() if key != "allocation_info"} for entry in resources)
    return sorted(json.dumps(entry, sort_keys=True) for entry in plain)


def total(master: Cluster) -> list[str]:
    agent = master.agents()[0]
    owned = [entry for entries in agent["reserved_resources_full"].values() for entry in entries]
    return sorted_texts([*agent["unreserved_resources_full"], *owned])


def is_free(master: Cluster) -> bool:
    agent = master.agents()[0]
    return not any(agent[key].get("cpus") for key in ("used_resources", "offered_resources"))


def outcome(
    framework: Framework, offer: Any, operations: list[Operation], *, has_ids: bool
) -> tuple[list[str], dict[str, str]]:
    """The tasks that the master refused, and the state of every operation with an id; the framework leaves.

    1.4 knows no ids: there, only what the agent has afterwards tells of an operation.  A master judges an ACCEPT when
    it has found out who may do that, perhaps after calls that came later, and nothing of it if the framework has left:
    the last task asks for more than there is, so that an update comes of it.
    """
    master = framework.cluster
    own = json.loads(json.dumps([*operations, JUDGED]).replace("$AGENT", offer["agent_id"]["value"]))
    framework.accept([offer], *own)

    def events(kind: str) -> list[Any]:
        return [event[kind.lower()]["status"] for event in framework.stream.events if event["type"] == kind]

    def states() -> dict[str, str]:
        return {one["operation_id"]["value"]: one["state"] for one in events("UPDATE_OPERATION_STATUS")}

    assert master.subscribers.wait(lambda: any(one["task_id"]["value"] == "judged" for one in events("UPDATE")))
    wanted = {operation["id"]["value"] for operation in operations if "id" in operation and has_ids}
    assert master.subscribers.wait(lambda: wanted <= states().keys()), (operations, states())
    refused = [one["task_id"]["value"] for one in events("UPDATE") if one.get("reason") == "REASON_TASK_INVALID"]
    framework.leave()
    framework.stream.hang_up()
    assert master.subscribers.wait(lambda: is_free(master))
    return sorted(refused), states()


@pytest.mark.real_master
@pytest.mark.process
@pytest.mark.socket
@pytest.mark.parametrize(("real", "fake"), judged(*JUDGES_OF_HISTORIES), ids=str)
def test_operations_on_volumes_end_alike(pool: Pool, real: Carrier, fake: Carrier) -> None:
    known = mesos_message("mesos.v1.Offer.Operation", real.profile.release).fields
    has_ids = "id" in known
    dice = VolumeDice(SEED, resizes="grow_volume" in known, of_nothing=real.profile.operates_on_nothing)
    masters = [pool.lend(carrier, SETUP) for carrier in (real, fake)]
    states: Counter[str] = Counter()
    changes = 0
    for number in range(SLOW_STEPS):
        if number % FRESH_EVERY == 0:
            if not real.profile.framework_leaves_nothing and number:
                for master in masters:
                    pool.discard(master)  # the reservation of what it has lost cannot be undone
                masters = [pool.lend(carrier, SETUP) for carrier in (real, fake)]
            for master in masters:
                master.clear_reservations()
        frameworks = [Framework(master, "ads", capabilities=CAPABILITIES).subscribe() for master in masters]
        offers = [framework.offers()[0] for framework in frameworks]
        before = total(masters[0])
        shown = [sorted_texts(offer["resources"]) for offer in offers]
        assert shown[1] == shown[0]
        operations = dice.operations(offers[0]["resources"])
        real_end, fake_end = (
            outcome(*pair, operations, has_ids=has_ids) for pair in zip(frameworks, offers, strict=True)
        )
        assert fake_end == real_end, operations
        assert total(masters[1]) == total(masters[0]), operations
        states.update(real_end[1].values())
        changes += total(masters[0]) != before
    for master in masters:
        pool.discard(master)
    # Otherwise little would have been tried.
    assert SLOW_STEPS / 5 < changes < SLOW_STEPS
    assert not has_ids or min(states["OPERATION_FINISHED"], states["OPERATION_ERROR"]) > SLOW_STEPS / 5, states
