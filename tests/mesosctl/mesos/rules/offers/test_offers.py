"""Operations upon an offer as it was received, in both formats."""

import json
from typing import Any

import pytest

from mesosctl.mesos.amounts.notation import parse_entries
from mesosctl.mesos.errors import BadInput, Conflict, RuleViolation
from mesosctl.mesos.messages.offers import accept_call, read_offer
from mesosctl.mesos.rules.offers.offers import OutstandingOffer, Reserver, reserve, unreserve

STATIC = [{"type": "STATIC", "role": "ads"}]
DYNAMIC = [{"type": "DYNAMIC", "role": "ads", "principal": "p"}]


def scalar(name: str, value: float, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": "SCALAR", "scalar": {"value": value}, "allocation_info": {"role": "ads"}, **more}


def message(*resources: dict[str, Any], role: str = "ads") -> dict[str, Any]:
    return {
        "id": {"value": "O1"},
        "framework_id": {"value": "F1"},
        "agent_id": {"value": "S1"},
        "hostname": "h",
        "allocation_info": {"role": role},
        "resources": list(resources),
    }


NEW = message(scalar("cpus", 4), scalar("mem", 100), scalar("cpus", 2, reservations=DYNAMIC))
OLD = message(
    scalar("cpus", 4, role="*"),
    scalar("cpus", 2, role="ads", reservation={"principal": "p"}),
    scalar("cpus", 1, role="ads"),
)


def received(offer: dict[str, Any]) -> OutstandingOffer:
    return read_offer(json.dumps(offer), "file")


def resources_of(call: dict[str, Any]) -> list[dict[str, Any]]:
    (operation,) = call["accept"]["operations"]
    found: list[dict[str, Any]] = operation[operation["type"].lower()]["resources"]
    return found


def test_reserving_pushes_onto_the_stack() -> None:
    offer = received(NEW)
    call = accept_call([offer], reserve(parse_entries("cpus:3"), offer, Reserver("p", {"k": "v"}))).content()
    assert (call["type"], call["framework_id"], call["accept"]["offer_ids"]) == (
        "ACCEPT",
        {"value": "F1"},
        [{"value": "O1"}],
    )
    labels = {"labels": [{"key": "k", "value": "v"}]}
    assert resources_of(call) == [
        scalar("cpus", 3.0, reservations=[{"type": "DYNAMIC", "role": "ads", "principal": "p", "labels": labels}])
    ]


def test_reserving_in_the_old_format() -> None:
    offer = received(OLD)
    call = accept_call([offer], reserve(parse_entries("cpus:3"), offer, Reserver("p"))).content()
    assert resources_of(call) == [scalar("cpus", 3.0, role="ads", reservation={"principal": "p"})]


def test_refining() -> None:
    offer = received(message(scalar("cpus", 2, reservations=STATIC), role="ads/web"))
    call = accept_call([offer], reserve(parse_entries("cpus(ads):1"), offer, Reserver())).content()
    (resource,) = resources_of(call)
    assert resource["reservations"] == [*STATIC, {"type": "DYNAMIC", "role": "ads/web"}]


def test_the_old_format_cannot_refine() -> None:
    offer = received(message(scalar("cpus", 2, role="ads"), role="ads/web"))
    with pytest.raises(RuleViolation) as raised:
        accept_call([offer], reserve(parse_entries("cpus(ads):1"), offer, Reserver())).content()
    assert raised.value.rule == "operation.format"


def test_unreserving_names_what_is_there() -> None:
    offer = received(NEW)
    assert resources_of(accept_call([offer], unreserve(parse_entries("cpus:1"), offer)).content()) == [
        scalar("cpus", 1.0, reservations=DYNAMIC)
    ]
    offer = received(OLD)
    assert resources_of(accept_call([offer], unreserve(parse_entries("cpus:2"), offer)).content()) == [
        scalar("cpus", 2.0, role="ads", reservation={"principal": "p"})
    ]


@pytest.mark.parametrize(
    ("words", "kind"),
    [("cpus:4.001", Conflict), ("gpus:1", Conflict), ("cpus(web):1", Conflict), ("cpus:0", RuleViolation)],
)
def test_what_cannot_be_reserved(words: str, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        reserve(parse_entries(words), received(NEW), Reserver("p"))


def test_rules_of_role_and_principal() -> None:
    with pytest.raises(RuleViolation) as raised:
        reserve(parse_entries("cpus:1"), received(NEW), Reserver("p"), role="web")
    assert raised.value.rule == "reserve.offer-role"


@pytest.mark.parametrize("words", ["cpus:2.001", "mem:1", "cpus(web):1"])
def test_what_cannot_be_unreserved(words: str) -> None:
    with pytest.raises((Conflict, RuleViolation)):
        unreserve(parse_entries(words), received(NEW))


def test_an_event_of_several_offers_needs_an_id() -> None:
    event = json.dumps({"type": "OFFERS", "offers": {"offers": [NEW, {**NEW, "id": {"value": "O2"}}]}})
    assert read_offer(event, "file", "O2").id == "O2"
    with pytest.raises(BadInput):
        read_offer(event, "file")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"id":{"value":"x"}}', '{"offers":[]}', '{"id":3,"resources":[]}'])
def test_what_is_no_offer(text: str) -> None:
    with pytest.raises(BadInput):
        read_offer(text, "file")
