"""Offers as a master shows them, and as one that errs might."""

import json
from typing import Any

import pytest

from mesosctl.mesos.errors import UnexpectedAnswer
from mesosctl.mesos.messages import frameworks
from mesosctl.mesos.messages.snapshots import outstanding_offers
from mesosctl.mesos.rules.offers.offers import OutstandingOffer

CPU = {"name": "cpus", "type": "SCALAR", "scalar": {"value": 1}}


def message(**changes: Any) -> dict[str, Any]:
    whole = {
        "id": {"value": "o"},
        "framework_id": {"value": "f"},
        "agent_id": {"value": "a"},
        "hostname": "h",
        "allocation_info": {"role": "web"},
        "resources": [{**CPU, "allocation_info": {"role": "web"}}],
    }
    return whole | changes


def shown(offer: Any) -> dict[str, Any]:
    return {
        "get_frameworks": {"frameworks": [{"framework_info": {"id": {"value": "f"}, "name": "n"}, "offers": [offer]}]}
    }


def outstanding(answer: Any) -> list[OutstandingOffer]:
    found, known = (
        outstanding_offers.outstanding([json.dumps(answer, separators=separators).encode()])
        for separators in ((",", ":"), (", ", " : "))  # as a master writes it, and in another layout
    )
    assert found == known
    return found.offers


def test_an_offer() -> None:
    [found] = outstanding(shown(message()))
    assert (found.framework, found.role, found.hostname, str(found.resources)) == ("n", "web", "h", "cpus:1")


@pytest.mark.parametrize(
    "answer",
    [
        {},
        [],
        {"version": "1.4.0"},
        {"type": "GET_AGENTS", "get_agents": {}},
        {"get_frameworks": None},
        {"type": "GET_FRAMEWORKS", "get_frameworks": {"frameworks": None}},
        {"type": "GET_FRAMEWORKS", "get_frameworks": {"frameworks": {}}},
    ],
)
def test_the_answer_to_another_question_is_no_list_without_offers(answer: Any) -> None:
    with pytest.raises(UnexpectedAnswer):
        outstanding(answer)


def test_a_cluster_without_frameworks() -> None:
    assert outstanding({"type": "GET_FRAMEWORKS", "get_frameworks": {}}) == []
    assert outstanding({"type": "GET_FRAMEWORKS"}) == []


@pytest.mark.parametrize("name", [None, 7, ["n"], {}])
def test_a_name_is_a_text_or_the_master_errs(name: Any) -> None:
    answer = shown(message())
    answer["get_frameworks"]["frameworks"][0]["framework_info"]["name"] = name
    with pytest.raises(UnexpectedAnswer, match="expected a string"):
        outstanding(answer)


@pytest.mark.parametrize(
    "offer",
    [
        "text",
        {},
        message(id="o"),
        message(resources=[{**CPU, "reservations": [{"type": "DYNAMIC", "role": "a b"}]}]),
        message(resources=[{**CPU, "scalar": {"value": -1}}]),
        message(resources=[{"name": "cpus"}]),
        message(allocation_info=3),
        message(id={"value": None}),
        message(framework_id={"value": 7}),
        message(agent_id={"value": ["a"]}),
        message(hostname=None),
    ],
)
def test_what_is_no_offer_is_the_masters_fault(offer: Any) -> None:
    with pytest.raises(UnexpectedAnswer):
        outstanding(shown(offer))
    with pytest.raises(UnexpectedAnswer):
        frameworks.offered({"type": "OFFERS", "offers": {"offers": [offer]}})
