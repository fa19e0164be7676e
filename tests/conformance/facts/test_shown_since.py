"""Each flag, member and metric of `shown_since` is shown from its release on, and not by the one before it."""

import re
from typing import Any

import pytest

from fake_master.state.shown_since import FLAGS, MEMBERS, METRICS
from mesosctl.mesos.messages.protobuf_json.releases import has
from mesosctl.mesos.rules.version_profile import PROFILES, RELEASES
from tests.conformance.callers.joining import joining, quick
from tests.conformance.facts.cases import asked
from tests.conformance.masters.carriers import Carrier, Pool, in_process_of, real_of
from tests.conformance.masters.cluster import Cluster
from tests.conformance.scenarios.reserving import cpus, dynamic, reserve
from tests.conformance.scenarios.scenario import post_quota

SETUP = quick("cpus:4;mem:2048;disk:100;ports:[31000-31009]")
EXISTS = {"selector": {"pseudoattribute_type": "HOSTNAME"}, "predicate": {"exists": {}}}
CONSTRAINTS = {"role_constraints": {"ads": {"groups": [{"attribute_constraints": [EXISTS]}]}}}
ROWS = {**{f"flag {name}": first for name, first in FLAGS.items()}, **MEMBERS, **METRICS}


def shown(master: Cluster) -> set[str]:
    """The rows that a master shows that has an agent, a quota, a reservation, and a framework with constraints."""
    assert asked(master, post_quota("ads", cpus=1)).status == 200
    assert asked(master, reserve(cpus(1, dynamic("ads")))).status == 202
    with joining(master) as join:
        framework = join("ads").subscribe(offer_constraints=CONSTRAINTS)
        framework.settle()
        state, metrics = master.read("/state"), master.read("/metrics/snapshot")
        (agent,), (entry,) = state["slaves"], state["frameworks"]
        found = {f"flag {name}" for name in FLAGS if name in state["flags"]}
        found |= {pattern for pattern in METRICS if any(re.fullmatch(pattern, name) for name in metrics)}
        places: dict[str, Any] = {"/state": state, "agent": agent, "framework": entry}
        for row in MEMBERS:
            place, _, member = row.partition(" ")
            if member in places[place]:
                found.add(row)
        return found


def expected(release: str | None) -> set[str]:
    return {row for row, first in ROWS.items() if has(release, first)}


CARRIERS = [*map(real_of, RELEASES), *(in_process_of(profile.name) for profile in PROFILES.values() if profile.release)]


@pytest.mark.parametrize("carrier", CARRIERS, ids=str)
def test_rows_are_shown_from_their_release_on(pool: Pool, carrier: Carrier) -> None:
    """A real master of each release is asked in the same situation, so each row was seen on both of its sides."""
    release = carrier.version if carrier.needs else carrier.profile.release
    master = pool.start(carrier, SETUP)
    assert shown(master) == expected(release)
    master.stop()
