"""Requests that end a real master of one release: the fake one of it refuses them, and that of another takes them.

The real master is asked, and ends.
"""

import json
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.conformance.masters.carriers import REAL, Carrier, Pool, in_process_of, judged
from tests.conformance.masters.cluster import Cluster, MasterDied
from tests.conformance.scenarios.reserving import cpus, disk, dynamic, ports
from tests.conformance.scenarios.setups import STANDARD
from tests.helpers.needs import needs

Asked = tuple[str, int, list[dict[str, Any]]]
R, Q = dynamic("r"), dynamic("q")
PORTS = ports((31000, 31001), by=R)
VOLUME = disk(1, Q, persistence={"id": "v"}, volume={"mode": "RW", "container_path": "p"})


def reserve(agent: int, *resources: dict[str, Any]) -> Asked:
    return "/reserve", agent, list(resources)


def unreserve(agent: int, *resources: dict[str, Any]) -> Asked:
    return "/unreserve", agent, list(resources)


FORGOTTEN = (reserve(0, cpus(1, R)), reserve(1, PORTS), unreserve(0, cpus(1, R)))
"""After these, an allocator of 1.4 does not know that the second agent has ports of the role r."""
LETHAL: dict[str, tuple[Asked, ...]] = {
    "RESERVE where ports of a forgotten role are": (*FORGOTTEN, reserve(1, cpus(1, Q))),
    "UNRESERVE of ports of a forgotten role": (*FORGOTTEN, unreserve(1, PORTS)),
    "CREATE where ports of a forgotten role are": (
        reserve(1, disk(1, Q)),
        *FORGOTTEN,
        ("/create-volumes", 1, [VOLUME]),
    ),
    "UNRESERVE of ports that another agent has too": (
        reserve(0, PORTS),
        reserve(1, PORTS),
        unreserve(1, PORTS),
        unreserve(0, PORTS),
    ),
}
HARMLESS: dict[str, tuple[Asked, ...]] = {
    "ports alone": (reserve(1, PORTS), reserve(1, cpus(1, Q))),
    "on another agent": (*FORGOTTEN, reserve(0, cpus(1, Q))),
    "known again": (*FORGOTTEN, reserve(0, cpus(1, R)), reserve(1, cpus(1, Q))),
    "of one agent alone": (reserve(1, cpus(1, R), PORTS), unreserve(1, cpus(1, R)), reserve(1, cpus(1, Q))),
}


def ask(master: Cluster, asked: Asked) -> int:
    path, number, entries = asked
    field = "volumes" if "volumes" in path else "resources"
    content = urlencode({"slaveId": master.agents()[number]["id"], field: json.dumps(entries)})
    return master.request("POST", path, content=content).status


@pytest.mark.parametrize("case", LETHAL)
@pytest.mark.parametrize(("real", "fake"), judged("1.4.3", "1.5.3"), ids=str)
@needs(*REAL.needs)
def test_the_real_master_ends_and_the_fake_one_refuses(pool: Pool, real: Carrier, fake: Carrier, case: str) -> None:
    *before, last = LETHAL[case]
    masters = [pool.start(carrier, STANDARD) for carrier in (real, fake)]
    assert [[ask(master, one) for one in before] for master in masters] == [[202] * len(before)] * 2
    if fake.profile.forgets_roles_without_scalars:
        with pytest.raises(MasterDied, match="reservationScalarQuantities"):
            ask(masters[0], last)
        assert ask(masters[1], last) == 400
    else:
        assert [ask(master, last) for master in masters] == [202, 202]
    for master in masters:
        master.stop()


@pytest.mark.parametrize("case", HARMLESS)
@pytest.mark.parametrize("carrier", [pair[0] for pair in judged("1.4.3")], ids=str)
@needs(*REAL.needs)
def test_the_real_master_goes_on(pool: Pool, carrier: Carrier, case: str) -> None:
    master = pool.start(carrier, STANDARD)
    assert {ask(master, one) for one in HARMLESS[case]} == {202}
    master.stop()


@pytest.mark.parametrize("case", LETHAL | HARMLESS)
@pytest.mark.parametrize("release", ["1.4", "1.5", "1.11", "documents"])
def test_the_fake_master_refuses_what_ends_its_release(pool: Pool, release: str, case: str) -> None:
    master = pool.start(in_process_of(release), STANDARD)
    *before, last = (LETHAL | HARMLESS)[case]
    assert {ask(master, one) for one in before} == {202}
    assert ask(master, last) == (400 if release == "1.4" and case in LETHAL else 202)
    master.stop()
