"""Operations that releases take differently: of nothing, on what the same request has reserved, and of a volume twice.

A case is the status of its last request by release; `ENDS` is 400 of a fake master, and a real one is not asked.
"""

from typing import Any

import pytest

from tests.conformance.masters.carriers import REAL, Carrier, Pool, in_process_of, judged
from tests.conformance.masters.cluster import Setup
from tests.conformance.scenarios.reserving import cpus, create, destroy, disk, dynamic, ports, reserve, unreserve
from tests.conformance.scenarios.scenario import Step, api
from tests.conformance.scenarios.setups import A1
from tests.helpers.needs import needs

SETUP = Setup(agents=(f"{A1};zones:{{a,b,c}}",))
RELEASES = ("1.4.3", "1.8.1", "1.11.0")
ENDS = None
R, Q, BELOW = dynamic("r"), dynamic("q"), dynamic("r/x")
Entry = dict[str, Any]


def volume(size: float, name: str, *stack: Entry) -> Entry:
    return disk(size, *stack, persistence={"id": name}, volume={"mode": "RW", "container_path": "data"})


def names(by: Entry, *items: str) -> Entry:
    return {"name": "zones", "type": "SET", "set": {"item": list(items)}, "reservations": [by]}


def v1(kind: str, **lists: list[Entry]) -> Step:
    return api(kind, **{kind.lower(): {"agent_id": {"value": "@A1"}, **lists}})


HELD = reserve(cpus(2, R), disk(100, R), ports((31000, 31003), by=R), names(R, "a"))
ZERO, ZERO_DISK = cpus(0, R), volume(0, "z", R)
V = volume(10, "v", R)
ONLY_OLD = {"1.4.3": 202, "1.8.1": ENDS, "1.11.0": ENDS}
MISSING = {"1.4.3": 409, "1.8.1": ENDS, "1.11.0": ENDS}
CASES: dict[str, tuple[tuple[Step, ...], dict[str, int | None]]] = {
    "RESERVE of zero": ((reserve(ZERO),), ONLY_OLD),
    "RESERVE_RESOURCES of zero": ((v1("RESERVE_RESOURCES", resources=[ZERO]),), ONLY_OLD),
    "RESERVE of no ports": ((reserve(ports(by=R)),), ONLY_OLD),
    "RESERVE of no names": ((reserve(names(R)),), ONLY_OLD),
    "RESERVE of something and zero": ((reserve(cpus(1, R), ZERO),), {"1.4.3": 202, "1.8.1": ENDS, "1.11.0": 202}),
    "UNRESERVE of zero where there is some": ((HELD, unreserve(ZERO)), ONLY_OLD),
    "UNRESERVE of zero where there is none": ((unreserve(ZERO),), MISSING),
    "UNRESERVE of no ports where there are some": ((HELD, unreserve(ports(by=R))), ONLY_OLD),
    "UNRESERVE of no ports where there are none": ((unreserve(ports(by=R)),), MISSING),
    "UNRESERVE of no names where there are some": ((HELD, unreserve(names(R))), ONLY_OLD),
    "UNRESERVE of something and zero of another": ((HELD, unreserve(cpus(1, R), cpus(0, Q))), MISSING),
    "UNRESERVE of zero and then of all": ((HELD, unreserve(ZERO, cpus(2, R))), ONLY_OLD),
    "UNRESERVE of all and then of zero": ((HELD, unreserve(cpus(2, R), ZERO)), MISSING),
    "CREATE of zero where there is disk": ((HELD, create(ZERO_DISK)), ONLY_OLD),
    "CREATE of zero where there is none": ((create(ZERO_DISK),), MISSING),
    "CREATE of zero with an id that is taken": ((HELD, create(V), create(volume(0, "v", R))), ONLY_OLD),
    "CREATE of something and zero": ((HELD, create(V, ZERO_DISK)), ONLY_OLD),
    "CREATE_VOLUMES of something and zero": ((HELD, v1("CREATE_VOLUMES", volumes=[V, ZERO_DISK])), ONLY_OLD),
    "DESTROY of zero": ((HELD, destroy(ZERO_DISK)), {"1.4.3": 409, "1.8.1": 400, "1.11.0": 400}),
    "DESTROY of something and zero": ((HELD, create(V), destroy(V, ZERO_DISK)), MISSING),
    "DESTROY of plain disk of zero": ((HELD, destroy(disk(0, R))), {"1.4.3": 409, "1.8.1": 400, "1.11.0": 400}),
    "DESTROY of a volume and plain disk of zero": (
        (HELD, create(V), destroy(V, disk(0, R))),
        {"1.4.3": 409, "1.8.1": 409, "1.11.0": 409},
    ),
    "DESTROY of free disk of zero and a volume": (
        (HELD, create(V), destroy(disk(0), V)),
        {"1.4.3": 409, "1.8.1": 409, "1.11.0": 409},
    ),
    "DESTROY of a volume twice": ((HELD, create(V), destroy(V, V)), {"1.4.3": 400, "1.8.1": 409, "1.11.0": 409}),
    "RESERVE of one port for two roles": (
        (reserve(ports((31000, 31002), by=R), ports((31002, 31004), by=Q)),),
        {"1.4.3": 409, "1.8.1": 409, "1.11.0": ENDS},
    ),
    "RESERVE of what the request itself has reserved": (
        (reserve(cpus(1, R), cpus(1, R, BELOW)),),
        {"1.4.3": 202, "1.8.1": 202, "1.11.0": 409},
    ),
    "RESERVE of what the request itself reserves later": (
        (reserve(cpus(1, R, BELOW), cpus(1, R)),),
        {"1.4.3": 409, "1.8.1": 409, "1.11.0": 409},
    ),
}


def played(pool: Pool, carrier: Carrier, case: str) -> list[int]:
    master = pool.start(carrier, SETUP)
    statuses = [
        master.request(step.method, step.path, content=master.fill(step.content), headers=step.headers).status
        for step in CASES[case][0]
    ]
    assert master.read("/slaves")["slaves"], "the master is there"
    master.stop()
    return statuses


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("release", RELEASES)
def test_the_fake_master_answers_as_its_release(pool: Pool, release: str, case: str) -> None:
    *before, last = played(pool, in_process_of(release), case)
    assert set(before) <= {202}
    assert last == (CASES[case][1][release] or 400)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("carrier", [pair[0] for pair in judged(*RELEASES)], ids=str)
@needs(*REAL.needs)
def test_the_real_master_does(pool: Pool, carrier: Carrier, case: str) -> None:
    expected = CASES[case][1][carrier.profile.version]
    if expected is ENDS:
        pytest.skip("this would end a real master")
    assert played(pool, carrier, case)[-1] == expected
