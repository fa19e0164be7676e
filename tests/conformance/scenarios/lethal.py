"""Requests that end a real 1.11.0 master.  The fake one refuses each with 400; the real one is never asked."""

from typing import Any

from tests.conformance.scenarios.reserving import (
    cpus,
    create,
    destroy,
    disk,
    dynamic,
    ports,
    reserve,
    static,
    unreserve,
)
from tests.conformance.scenarios.scenario import Row, Step, api, get, post_quota, quota_request, scheduler
from tests.conformance.scenarios.setups import STANDARD

TRILLION = 10**12
EXABYTE = 1099511627776  # in megabytes
TEXT_RESOURCE = {"name": "note", "type": "TEXT", "text": {"value": "x"}}
STILL_THERE = get("/quota").gives(200, {})


def volume(size: float, name: str = "v1") -> dict[str, Any]:
    return disk(size, dynamic("r"), persistence={"id": name}, volume={"mode": "RW", "container_path": "data"})


SHARED = {**volume(1), "shared": {}}


def minimum(**amounts: float) -> dict[str, Any]:
    """The least that is offered to a role."""
    quantities = {"quantities": {name: {"value": value} for name, value in amounts.items()}}
    return {"min_allocatable_resources": {"quantities": [quantities]}}


def subscribe(**offer_filters: Any) -> Step:
    info = {
        "user": "u",
        "name": "f",
        "roles": ["ads"],
        "capabilities": [{"type": "MULTI_ROLE"}],
        "offer_filters": offer_filters,
    }
    return scheduler("SUBSCRIBE", subscribe={"framework_info": info})


def refused(name: str, step: Step) -> Row:
    return Row(f"lethal: {name}", STANDARD, step.gives(400), STILL_THERE, lethal=True)


ROWS = (
    refused("REMOVE_QUOTA for a role without quota", api("REMOVE_QUOTA", remove_quota={"role": "r1"})),
    refused("POST of more than a trillion", post_quota("r1", cpus=TRILLION + 1, force=True)),
    refused("POST of more than an exabyte", post_quota("r1", mem=EXABYTE + 1, force=True)),
    refused(
        "SET_QUOTA of more than a trillion",
        api("SET_QUOTA", set_quota={"quota_request": quota_request("r1", cpus=TRILLION + 1, force=True)}),
    ),
    refused("a resource of type TEXT", post_quota("r1", [TEXT_RESOURCE])),
    refused("/reserve of zero", reserve(cpus(0, dynamic("r")))),
    refused("/unreserve of zero", unreserve(cpus(0, dynamic("r")))),
    refused("/unreserve of something and zero", unreserve(cpus(1, dynamic("r")), disk(0, dynamic("r")))),
    refused("/reserve of no ports at all", reserve(ports(by=dynamic("r")))),
    refused("/create-volumes of nothing", create(volume(0))),
    refused("/create-volumes of something and nothing", create(volume(5), volume(0, "w"))),
    Row(
        "lethal: /destroy-volumes of something and nothing",
        STANDARD,
        reserve(disk(10, dynamic("r"))).gives(202),
        create(volume(5)).gives(202),
        destroy(volume(5), volume(0, "w")).gives(400),
        STILL_THERE,
        lethal=True,
    ),
    Row(
        "lethal: /create-volumes of a shared volume that is there",
        STANDARD,
        reserve(disk(10, dynamic("r"))).gives(202),
        create(SHARED, SHARED).gives(400),
        create(SHARED).gives(202),
        create(SHARED).gives(400),
        STILL_THERE,
        lethal=True,
    ),
    # The first number whose thousandths do not fit into 64 bits, and larger ones, for any name and any role.
    *(
        refused(f"SUBSCRIBE with a minimum of an offer of {value:g} {name} for {role}", subscribe(**filters))
        for role, name, value in (("ads", "cpus", 9223372036854775.0), ("ads", "mem", 1e16), ("eng", "rays", 1e300))
        for filters in [{role: minimum(**{name: value})}]
    ),
    refused("SUBSCRIBE with a second minimum of 1e16 cpus", subscribe(ads=minimum(cpus=1), eng=minimum(cpus=1e16))),
    # The master accepts these three, and the agent, which cannot keep them, dies.
    refused(
        "/reserve of one port for two owners",
        reserve(ports((31000, 31002), by=dynamic("r")), ports((31002, 31004), by=dynamic("q"))),
    ),
    refused(
        "/reserve from a static reservation to none",
        reserve(cpus(5, dynamic("r")), source=[cpus(5, static("ads"))], on="@A2"),
    ),
    refused(
        "/reserve from none to a static reservation",
        reserve(cpus(1, static("r"), dynamic("r/x")), source=[cpus(1)]),
    ),
)
