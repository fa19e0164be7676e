"""Offers mean the same in the old format of reservations and in the new one."""

from typing import Any

import pytest

from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.messages.protobuf_json.messages import read
from mesosctl.mesos.messages.protobuf_json.resource_messages import RESOURCE
from mesosctl.mesos.messages.resources import to_model
from tests.conformance.callers.frameworks import Framework
from tests.conformance.callers.joining import quick
from tests.conformance.callers.owning import reserve
from tests.conformance.scenarios.reserving import cpus, disk, dynamic, mem, ports

SETUP = quick("cpus:6;cpus(ads):1;mem:2048;mem(ads):64;disk:200;ports:[31000-31009]")
OWNED = [
    cpus(1, dynamic("ads", "p", why="batch", who="me")),
    cpus(1, dynamic("ads", "q")),
    mem(64, dynamic("ads", k="")),
    mem(64, dynamic("ads")),
    disk(10, dynamic("ads", "p", why="other")),
    ports((31002, 31003), by=dynamic("ads", "p", a="1")),
    cpus(1, dynamic("web", "p")),
]
REFINED = [cpus(1, dynamic("ads", "p"), dynamic("ads/x", "q", k="v"))]
CAPABILITIES = {
    "old": (),
    "roles": ("MULTI_ROLE",),
    "refinement": ("RESERVATION_REFINEMENT",),
    "both": ("MULTI_ROLE", "RESERVATION_REFINEMENT"),
}


def meant(offer: dict[str, Any]) -> Resources:
    """The resources of an offer, whichever format it has."""
    return Resources(to_model(read(RESOURCE, entry)) for entry in offer["resources"])


def offered(framework: Framework) -> dict[str, Any]:
    (offer,) = framework.subscribe().offers()
    framework.decline([offer], refuse=0.0)
    framework.leave()
    found: dict[str, Any] = offer
    return found


@pytest.mark.parametrize("kind", CAPABILITIES)
def test_owners_principals_and_labels_are_in_every_offer(start: Any, kind: str) -> None:
    with start(SETUP) as (master, join):
        assert reserve(master, OWNED) == 202
        capabilities = CAPABILITIES[kind]
        named = {} if "MULTI_ROLE" in capabilities else {"roles": None, "role": "ads"}
        offer = offered(join("ads", capabilities=capabilities, **named))
        for entry in offer["resources"]:
            assert ("reservations" in entry) == ("RESERVATION_REFINEMENT" in capabilities and _is_owned(entry))
            assert ("allocation_info" in entry) == ("MULTI_ROLE" in capabilities)
        assert ("allocation_info" in offer) == ("MULTI_ROLE" in capabilities)
        shown = [to_model(read(RESOURCE, entry)) for entry in _of_agent(master)]
        expected = Resources(entry for entry in shown if entry.role in ("ads", "*"))
        assert meant(offer).allocated_to(None) == expected


def test_what_is_refined_is_offered_in_the_new_format_alone(start: Any) -> None:
    with start(SETUP) as (master, join):
        assert reserve(master, [cpus(1, dynamic("ads", "p"))]) == 202
        assert reserve(master, REFINED) == 202
        for kind, capabilities in CAPABILITIES.items():
            if "MULTI_ROLE" in capabilities:
                offer = offered(join("ads/x", capabilities=capabilities))
                refined = [entry for entry in meant(offer).allocated_to(None) if entry.is_refined]
                expected = [to_model(read(RESOURCE, entry)) for entry in REFINED]
                assert refined == (expected if "RESERVATION_REFINEMENT" in capabilities else []), kind


def _of_agent(master: Any) -> list[dict[str, Any]]:
    (agent,) = master.agents()
    parts = (agent["unreserved_resources_full"], *agent["reserved_resources_full"].values())
    return [entry for part in parts for entry in part]


def _is_owned(entry: dict[str, Any]) -> bool:
    owned: Resource = to_model(read(RESOURCE, entry))
    return owned.is_reserved
